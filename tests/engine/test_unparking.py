"""A run that was parked here is taken up again by the write of its next turn, if nobody has had it since."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.engine import Engine, Reply
from perdure.errors import IllegalCommand
from perdure.model.codec import encode_command
from perdure.model.commands import Resume, Signal
from perdure.model.events import SignalReceived
from perdure.testing.simloop import simulated
from tests.engine.world import NAMESPACE, World, output_of, signal, sleep, step, until, world


class Counted:
    """Counts the calls of one method of a port."""

    def __init__(self, port: Any, name: str) -> None:
        self.calls = 0
        method = getattr(port, name)

        async def call(*args: Any) -> Any:
            self.calls += 1
            return await method(*args)

        setattr(port, name, call)


async def parked(w: World, engine: Engine) -> str:
    run = await w.start(engine, "one")
    await until(lambda: not engine.runtime.roster.owned)
    return run


async def received(w: World, run: str) -> list[str | None]:
    return [event.id for event in await w.events(run) if isinstance(event, SignalReceived)]


@simulated()
async def test_a_signal_to_a_run_that_was_parked_here_costs_one_write_and_no_claim() -> None:
    async with world() as w:
        await w.define("one", signal("go"), signal("on"))
        engine = await w.engine()
        run = await parked(w, engine)
        claims = [Counted(w.beneath.ownership, name) for name in ("acquire", "claim")]
        reads = [Counted(w.beneath.journal, name) for name in ("load", "head")]
        before = len(w.store.commits)
        assert await engine.send(NAMESPACE, run, Signal("go", 1)) is Reply.DECIDED
        assert len(w.store.commits) - before == 1
        assert [one.calls for one in (*claims, *reads)] == [0, 0, 0, 0]
        await engine.send(NAMESPACE, run, Signal("on", 2))
        assert output_of(await w.ended(engine, run)) == 2


@simulated()
async def test_a_run_that_another_worker_has_had_since_is_asked_for_anew() -> None:
    async with world() as w:
        await w.define("one", signal("go"), signal("on"))
        here, there = await w.engine(), await w.engine()
        run = await parked(w, here)
        assert await there.send(NAMESPACE, run, Signal("go", 1, "first")) is Reply.DECIDED
        assert await here.send(NAMESPACE, run, Signal("on", 2, "second")) in (Reply.DECIDED, Reply.ACCEPTED)
        assert output_of(await w.ended(here, run)) == 2
        assert await received(w, run) == ["first", "second"]
        assert not w.diary.fenced_runs, "a guess that was wrong is not a stale owner"


@simulated()
async def test_a_refusal_is_not_given_from_a_memory_that_is_out_of_date() -> None:
    async with world() as w:
        await w.define("one", signal("go"))
        here, there = await w.engine(), await w.engine()
        run = await parked(w, here)
        await there.send(NAMESPACE, run, Signal("go", 1))
        await w.ended(there, run)
        with pytest.raises(IllegalCommand, match="COMPLETED"):
            await here.send(NAMESPACE, run, Resume())


@simulated()
async def test_what_came_to_the_inbox_meanwhile_is_not_overtaken() -> None:
    async with world() as w:
        await w.define("one", signal("never"))
        engine = await w.engine(poll=1_000)
        run = await parked(w, engine)
        w.store.troubles.lost_hints = 1.0
        await w.beneath.inbox.send(NAMESPACE, run, encode_command(Signal("extra", None, "first")), "request")
        await engine.send(NAMESPACE, run, Signal("extra", None, "second"))
        assert await received(w, run) == ["first", "second"]


@simulated()
async def test_a_timer_that_is_due_is_heard_in_the_same_turn() -> None:
    async with world() as w:
        await w.define("one", sleep(10), signal("go"), step())
        engine = await w.engine(poll=1_000)
        run = await parked(w, engine)
        engine.runtime.claimer.close()
        w.clock.jump(20)
        await engine.runtime.time.measure(w.beneath.ownership)
        before = len(w.store.commits)
        await engine.send(NAMESPACE, run, Signal("go", 5))
        assert len(w.store.commits) - before == 1
        assert output_of(await w.ended(engine, run)) == 5


@pytest.mark.parametrize("order", range(8))
def test_a_claim_of_our_own_that_comes_first_costs_the_sender_nothing(order: int) -> None:
    @simulated(seed=order)
    async def check() -> None:
        async with world() as w:
            await w.define("one", sleep(10), signal("go"))
            engine = await w.engine()
            run = await parked(w, engine)
            with w.store.held() as gate:
                w.clock.jump(20)
                await engine.runtime.time.measure(w.beneath.ownership)
                sent = asyncio.ensure_future(engine.send(NAMESPACE, run, Signal("go", 5)))
                await until(lambda: bool(engine.runtime.roster.owned))
                engine.runtime.claimer.nudge()
                await until(lambda: w.diary.claims != [])
                gate.set()
                assert await sent in (Reply.DECIDED, Reply.ACCEPTED)
            assert output_of(await w.ended(engine, run)) == 5

    check()


@simulated()
async def test_of_many_senders_at_once_all_are_answered_and_the_writes_are_few() -> None:
    async with world() as w:
        await w.define("one", signal("never"))
        engine = await w.engine()
        run = await parked(w, engine)
        before = len(w.store.commits)
        answers = await asyncio.gather(*(engine.send(NAMESPACE, run, Signal("x", n)) for n in range(100)))
        assert set(answers) == {Reply.DECIDED}
        assert len(w.store.commits) - before <= 4
