"""What came before a run was closed is not lost by its closing, however much came at once."""

from __future__ import annotations

import pytest

from perdure.engine import Reply
from perdure.model.codec import encode_command
from perdure.model.commands import Cancel, Signal
from perdure.model.events import SignalReceived
from perdure.testing.simloop import simulated
from tests.engine.world import NAMESPACE, World, signal, step, until
from tests.reliability.places import STORES, world_on
from tests.reliability.test_late_answers import hold


async def received(w: World, run: str) -> list[str | None]:
    return [event.id for event in await w.events(run) if isinstance(event, SignalReceived)]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("at_once", [1, 2, 256])
def test_signals_that_were_accepted_before_the_run_was_closed_stand_in_its_log(store: str, at_once: int) -> None:
    @simulated()
    async def check() -> None:
        async with world_on(store) as (w, _):
            go_on = hold(w)
            await w.define("one", step("held"))
            owner, other = await w.engine(turn_commands=at_once), await w.engine()
            run = await w.start(owner, "one")
            owned = owner.runtime.roster.owned[run]
            with w.store.held() as gate:
                owned.deliver(Signal("hold", None, "first"))
                await until(lambda: owned.in_flight is not None)
                go_on.set()
                await until(lambda: len(owned.mailbox) == 1)
                for id in ("second", "third"):
                    assert await other.send(NAMESPACE, run, Signal("extra", None, id)) is Reply.ACCEPTED
                await until(lambda: len(owned.mailbox) == 3)
                gate.set()
                await w.ended(owner, run)
            assert sorted(str(id) for id in await received(w, run)) == ["first", "second", "third"]

    check()


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("at_once", [1, 2, 256])
def test_a_cancel_with_signals_behind_it_cancels_and_they_stand_in_the_log(store: str, at_once: int) -> None:
    @simulated()
    async def check() -> None:
        async with world_on(store) as (w, _):
            await w.define("one", signal("never"))
            owner, other = await w.engine(turn_commands=at_once), await w.engine()
            run = await w.start(owner, "one")
            await until(lambda: run not in owner.runtime.roster.owned)
            await owner.close()
            said = [Cancel("enough"), Signal("a", 1, "a"), Cancel("again"), Signal("b", 2, "b")]
            for number, command in enumerate(said):
                await w.beneath.inbox.send(NAMESPACE, run, encode_command(command), f"request {number}")
            assert (await w.ended(other, run)).status == "CANCELLED"
            assert sorted(str(id) for id in await received(w, run)) == ["a", "b"]

    check()
