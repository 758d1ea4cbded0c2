"""Commits whose answer never comes, stores that cannot be reached: decided once, done once, told the truth."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from perdure.engine import ActivationContext
from perdure.errors import CommitUnknown, StoreFull, StoreUnavailable
from perdure.model.commands import Signal
from perdure.ports.journal import TurnWrite
from perdure.testing.faults import Fault
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import NAMESPACE, child, output_of, signal, sleep, step, steps, until, world

T = TypeVar("T")
FAULTS = [Fault.LOST_AFTER, Fault.LOST_BEFORE, Fault.LATE, Fault.UNAVAILABLE, Fault.FULL]
COMMITS = 9
"""Of the scenario below: two starts, two steps of the child, five turns of the parent."""


def number(wanted: int) -> Any:
    count = itertools.count(1)
    return lambda turn: next(count) == wanted


async def again_if_full(ask: Callable[[], Awaitable[T]]) -> T:
    """Whoever is told that there is no room knows that nothing was recorded, and may ask again without an id."""
    try:
        return await ask()
    except StoreFull:
        return await ask()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
@pytest.mark.parametrize("place", range(1, COMMITS + 1))
def test_whatever_happens_to_one_commit_everything_is_done_exactly_once(place: int, fault: Fault) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            w.handlers.add("inc", lambda context: context.input + 1)
            await w.define("child", step("inc"), step("inc"))
            await w.define("parent", step("inc"), child("child"), sleep(30), signal("go"), step("inc"))
            engine = await w.engine(poll=5)
            w.store.next_commit(fault, number(place))
            run = await again_if_full(lambda: w.start(engine, "parent", 0))
            await pass_time(40)
            await again_if_full(lambda: engine.send(NAMESPACE, run, Signal("go", 10)))
            assert output_of(await w.ended(engine, run)) == 11
            assert len(w.store.struck) == 1
            assert w.handlers.count("inc") == 4, "no handler was repeated"
            names = await w.event_names(run)
            assert names.count("SignalReceived") == 1

    check()


@simulated()
async def test_after_a_lost_answer_the_same_turn_is_handed_in_again_not_another_one() -> None:
    async with world() as w:
        await w.define("two", *steps(["echo", "echo"]))
        engine = await w.engine()
        w.store.next_commit(Fault.LOST_BEFORE, number(2))
        await w.run(engine, "two")
        ids = [turn.turn_id for turn in w.store.commits]
        assert len(ids) == len(set(ids)) + 1
        assert ids[1] == ids[2]


@simulated()
async def test_a_turn_that_is_durable_already_is_not_handed_in_again() -> None:
    async with world() as w:
        await w.define("two", *steps(["echo", "echo"]))
        engine = await w.engine()
        w.store.next_commit(Fault.LOST_AFTER, number(2))
        await w.run(engine, "two")
        ids = [turn.turn_id for turn in w.store.commits]
        assert len(ids) == len(set(ids))


@simulated()
async def test_nothing_executes_before_the_turn_that_asks_for_it_is_durable() -> None:
    async with world() as w:
        await w.define("two", *steps(["echo", "echo"]))
        engine = await w.engine()
        with w.store.held() as gate:
            starting = asyncio.ensure_future(w.start(engine, "two"))
            await pass_time(5)
            assert not starting.done(), "nor is the start answered"
            assert not w.handlers.calls
            gate.set()
            run = await starting
        await w.ended(engine, run)
        assert len(w.handlers.calls) == 2


@simulated()
async def test_while_a_commit_is_under_way_commands_gather_for_the_next_turn() -> None:
    async with world() as w:
        await w.define("one", signal("first"), signal("last"))
        engine = await w.engine()
        run = await w.start(engine, "one")
        await until(lambda: not engine.runtime.roster.owned)
        await engine.send(NAMESPACE, run, Signal("noise"))
        handler_free = len(w.store.commits)
        with w.store.held() as gate:
            sends = [asyncio.ensure_future(engine.send(NAMESPACE, run, Signal("noise", n))) for n in range(50)]
            await pass_time(1)
            gate.set()
            await asyncio.gather(*sends)
        assert len(w.store.commits) - handler_free <= 4
        await engine.send(NAMESPACE, run, Signal("first"))
        await engine.send(NAMESPACE, run, Signal("last", "end"))
        assert output_of(await w.ended(engine, run)) == "end"
        assert (await w.event_names(run)).count("SignalReceived") == 53


@simulated()
async def test_a_short_outage_is_sat_out() -> None:
    async with world() as w:

        async def slow(context: ActivationContext) -> Any:
            await pass_time(1)
            return context.input

        w.handlers.add("slow", slow)
        await w.define("three", *steps(["slow"] * 3))
        engine = await w.engine(lease=30)
        run = await w.start(engine, "three", "kept")
        await pass_time(0.5)
        with w.store.down():
            await pass_time(5)
        assert output_of(await w.ended(engine, run)) == "kept"
        assert w.handlers.count("slow") == 3
        assert not w.diary.lost


@simulated()
async def test_an_outage_longer_than_the_lease_can_bear_costs_the_runs_and_the_name() -> None:
    async with world() as w:
        stopped: list[bool] = []

        async def long(context: ActivationContext) -> Any:
            if w.handlers.count("long") == 1:
                try:
                    await pass_time(1_000)
                except asyncio.CancelledError:
                    stopped.append(True)
                    raise
            return "second time"

        w.handlers.add("long", long)
        await w.define("one", step("long"))
        engine = await w.engine(lease=30)
        run = await w.start(engine, "one")
        name = engine.worker
        await pass_time(1)
        with w.store.down():
            await pass_time(21)
            assert stopped == [True], "handlers end at two thirds of the lease"
            assert w.diary.lost == [name]
            assert engine.worker != name
            with pytest.raises(StoreUnavailable):
                await w.start(engine, "one")
            await pass_time(20)
        assert output_of(await w.ended(engine, run)) == "second time"
        assert w.handlers.calls[0][1] == w.handlers.calls[1][1], "under the same key"


@simulated()
async def test_whoever_waits_when_the_lease_is_lost_in_the_middle_of_a_commit_is_told_that_nobody_knows() -> None:
    async with world() as w:
        await w.define("one", step(), signal("go"))
        engine = await w.engine(lease=30)
        run = await w.start(engine, "one")
        await until(lambda: not engine.runtime.roster.owned)
        with w.store.held():
            answer = asyncio.ensure_future(engine.send(NAMESPACE, run, Signal("go")))
            await pass_time(0.1)
            engine.runtime.lease.lose()
            with pytest.raises(CommitUnknown):
                await answer


@simulated()
async def test_a_start_that_was_committed_late_after_its_answer_was_lost_starts_one_run() -> None:
    async with world() as w:
        await w.define("one", step())
        engine = await w.engine(retry_first=0.1)
        w.store.late = 0.15  # after the head was looked for, before the turn is handed in again
        w.store.next_commit(Fault.LATE)
        started = await engine.begin(NAMESPACE, "one", key="k")
        assert not started.existed
        await w.ended(engine, started.run)
        assert w.handlers.count("echo") == 1


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_turn_that_lands_after_it_was_looked_for_and_before_it_is_handed_in_again_counts(place: int) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            await w.define("one", step(), step())
            engine = await w.engine()
            w.store.next_commit(Fault.LOST_BEFORE, number(place))
            head = w.beneath.journal.head
            landed: list[str] = []

            async def head_then_land(run: str) -> Any:
                found = await head(run)
                if w.store.struck and not landed:
                    turn = w.store.struck[0][1]
                    landed.append(turn.turn_id)
                    await w.beneath.journal.commit(turn)
                return found

            w.beneath.journal.head = head_then_land  # type: ignore[method-assign]
            started = await engine.begin(NAMESPACE, "one", 1, key="k")
            assert not started.existed
            assert output_of(await w.ended(engine, started.run)) == 1
            assert landed
            assert w.handlers.count("echo") == 2

    check()


@simulated()
async def test_a_turn_that_landed_and_was_built_upon_by_a_new_owner_counts_as_recorded() -> None:
    async with world() as w:
        await w.define("one", signal("a"), signal("b"))
        first = await w.engine(poll=1, retry_first=2.0, retry_most=2.0)
        second = await w.engine(poll=1)
        run = await w.start(first, "one")
        await until(lambda: not first.runtime.roster.owned)

        def takes_the_signal(turn: TurnWrite) -> bool:
            return b"SignalReceived" in turn.data

        w.store.next_commit(Fault.LOST_AFTER, takes_the_signal)
        answer = asyncio.ensure_future(first.send(NAMESPACE, run, Signal("a", 1)))
        await pass_time(0.5)
        await second.send(NAMESPACE, run, Signal("b", 2))
        await answer
        assert output_of(await w.ended(second, run)) == 2
        assert (await w.event_names(run)).count("SignalReceived") == 2


@simulated()
async def test_an_error_that_no_store_should_raise_sets_the_run_aside_and_nothing_else() -> None:
    async with world() as w:
        await w.define("one", step())
        await w.define("two", step())
        engine = await w.engine(retry_most=0.1)
        commit = w.beneath.journal.commit

        def odd(turn: TurnWrite) -> Any:
            if turn.new is None and turn.run == cursed:
                raise ArithmeticError("no store raises this")
            return commit(turn)

        cursed = ""
        w.beneath.journal.commit = odd  # type: ignore[method-assign]
        with w.store.held() as gate:
            starting = asyncio.ensure_future(w.start(engine, "one"))
            await until(lambda: bool(engine.runtime.roster.owned))
            cursed = next(iter(engine.runtime.roster.owned))
            gate.set()
            run = await starting
        await until(lambda: w.diary.aside == [run])
        assert (await w.run(engine, "two")).status == "COMPLETED"
        w.beneath.journal.commit = commit  # type: ignore[method-assign]
