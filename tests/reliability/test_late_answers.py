"""A store that answers late: what was true when it was asked may not be true any more when the answer comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from perdure.engine import ActivationContext
from perdure.errors import Busy
from perdure.model.codec import encode_command
from perdure.model.commands import Signal
from perdure.model.events import SignalReceived
from perdure.testing.simloop import simulated
from tests.engine.world import NAMESPACE, World, signal, step, until, world


class LatePort:
    """A port of which one method's answers wait at a gate; the work itself is done at once."""

    def __init__(self, port: Any, method: str) -> None:
        self._port = port
        self._method = method
        self.open = asyncio.Event()
        self.open.set()
        self.waiting = 0

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Awaitable[Any]] = getattr(self._port, name)
        if name != self._method:
            return method

        async def late(*args: Any, **kwargs: Any) -> Any:
            answer = await method(*args, **kwargs)
            self.waiting += 1
            await self.open.wait()
            self.waiting -= 1
            return answer

        return late


async def ticks(w: World, run: str) -> int:
    return sum(isinstance(event, SignalReceived) for event in await w.events(run))


def hold(w: World) -> asyncio.Event:
    """Steps of type "held" wait for it; meanwhile their run stays where it is."""
    event = asyncio.Event()

    async def wait(context: ActivationContext) -> None:
        await event.wait()

    w.handlers.add("held", wait)
    return event


@simulated()
async def test_a_command_that_was_consumed_while_the_inbox_was_being_read_is_not_decided_again() -> None:
    async with world() as w:
        go_on = hold(w)
        await w.define("one", step("held"))
        owner, other = await w.engine(), await w.engine()
        run = await w.start(owner, "one")
        owned = owner.runtime.roster.owned[run]
        with w.store.held() as gate:
            await other.send(NAMESPACE, run, Signal("tick"))
            await until(lambda: owned.in_flight is not None)
            late = owner.runtime.inbox = LatePort(owner.runtime.inbox, "receive")
            late.open.clear()
            owner.runtime.post.collect()
            await until(lambda: late.waiting > 0)
            gate.set()
            await until(lambda: not owned.busy)
        late.open.set()
        await until(lambda: not late.waiting)
        go_on.set()
        await w.ended(owner, run)
        assert await ticks(w, run) == 1


@simulated()
async def test_an_answer_about_the_inbox_from_before_the_run_was_parked_is_not_heard_when_it_is_back() -> None:
    async with world() as w:
        go_on = hold(w)
        await w.define("one", step("held"), signal("go"), step("held"))
        owner, other = await w.engine(), await w.engine()
        run = await w.start(owner, "one")
        late = LatePort(owner.runtime.inbox, "receive")
        with w.store.held() as gate:
            await other.send(NAMESPACE, run, Signal("tick"))
            await until(lambda: owner.runtime.roster.owned[run].in_flight is not None)
            owner.runtime.inbox = late
            late.open.clear()
            owner.runtime.post.collect()
            await until(lambda: late.waiting > 0)
            gate.set()
            go_on.set()
            await until(lambda: run not in owner.runtime.roster.owned)
        go_on.clear()
        await owner.send(NAMESPACE, run, Signal("go"))
        late.open.set()
        await until(lambda: not late.waiting)
        go_on.set()
        await w.ended(owner, run)
        assert await ticks(w, run) == 2


@simulated()
async def test_a_claim_that_is_answered_after_the_lease_was_lost_is_given_back_and_counts_as_no_death() -> None:
    async with world() as w:
        go_on = hold(w)
        await w.define("one", signal("go"), step("held"))
        late_one = await w.engine(lease=10)
        run = await w.start(late_one, "one")
        await until(lambda: run not in late_one.runtime.roster.owned)
        late = late_one.runtime.ownership = LatePort(late_one.runtime.ownership, "claim")
        late.open.clear()
        await w.beneath.inbox.send(NAMESPACE, run, encode_command(Signal("go")), "request")
        late_one.runtime.claimer.nudge()
        await until(lambda: late.waiting > 0)
        late_one.runtime.lease.lose()
        late.open.set()
        await until(lambda: not late.waiting)
        other = await w.engine(lease=10)
        await until(lambda: w.handlers.count("held") > 0)
        go_on.set()
        await w.ended(other, run)
        assert "ActivationsRedelivered" not in await w.event_names(run)
        assert not any(died for _, died in w.diary.claims)


@simulated()
async def test_whoever_waits_for_a_run_to_be_taken_up_is_told_when_the_engine_closes_meanwhile() -> None:
    async with world() as w:
        await w.define("one", signal("go"))
        engine = await w.engine(farewell=1, parked_runs=0)
        run = await w.start(engine, "one")
        await until(lambda: run not in engine.runtime.roster.owned)
        late = engine.runtime.ownership = LatePort(engine.runtime.ownership, "acquire")
        late.open.clear()
        sent = asyncio.ensure_future(engine.send(NAMESPACE, run, Signal("go")))
        await until(lambda: late.waiting > 0)
        await engine.close()
        with pytest.raises(Busy):
            await sent
        other = await w.engine()
        await other.send(NAMESPACE, run, Signal("go"))
        await w.ended(other, run)
