"""Runs that wait are let go, and come back when they are due."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.engine import ActivationContext, Reply
from perdure.errors import IllegalCommand
from perdure.model.commands import Cancel, Signal
from perdure.ports.journal import Head, TurnWrite, Verdict
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import NAMESPACE, World, child, output_of, signal, sleep, step, steps, until, world


def parks(turn: TurnWrite) -> bool:
    return turn.owner is None and turn.result is None


def closes(turn: TurnWrite) -> bool:
    return turn.result is not None


@simulated()
async def test_a_run_that_sleeps_is_parked_by_the_commit_that_puts_it_to_sleep() -> None:
    async with world() as w:
        await w.define("one", step(), sleep(60), step())
        engine = await w.engine()
        run = await w.start(engine, "one", 5)
        await until(lambda: any(map(parks, w.store.commits)))
        await pass_time(0.1)
        head = await w.head(run)
        assert (head.owner, head.status) == (None, "SLEEPING")
        assert head.wake_at is not None
        assert not engine.runtime.roster.owned
        assert output_of(await w.ended(engine, run)) == 5
        assert len(w.store.commits) == 4, "start, first step and parking, waking, last step"


@simulated()
async def test_a_parked_run_wakes_on_time_and_without_being_loaded_again() -> None:
    async with world() as w:
        loads: list[str] = []
        load = w.beneath.journal.load

        async def counted(run: str) -> Any:
            loads.append(run)
            return await load(run)

        w.beneath.journal.load = counted  # type: ignore[method-assign]
        await w.define("one", sleep(100))
        engine = await w.engine(poll=30)
        head = await w.run(engine, "one")
        assert head.closed_at is not None
        lateness = head.closed_at - head.created_at - 100_000_000
        assert 0 <= lateness < 10_000
        assert not loads


@simulated()
async def test_a_run_that_was_forgotten_by_the_cache_is_loaded_and_goes_on() -> None:
    async with world() as w:
        await w.define("one", step(), sleep(100), step())
        engine = await w.engine(parked_runs=2)
        runs = [await w.start(engine, "one", n) for n in range(10)]
        await pass_time(10)
        assert len(engine.runtime.roster.parked) == 2
        assert [output_of(await w.ended(engine, run)) for run in runs] == list(range(10))


@simulated()
async def test_a_short_wait_is_not_worth_parking() -> None:
    async with world() as w:
        await w.define("one", sleep(0.5))
        engine = await w.engine(park_after=1)
        head = await w.run(engine, "one")
        assert not any(map(parks, w.store.commits))
        assert head.closed_at is not None
        assert 0 <= head.closed_at - head.created_at - 500_000 < 5_000


@simulated()
async def test_timers_fire_in_the_order_in_which_they_are_due() -> None:
    async with world() as w:
        woken: list[float] = []
        w.handlers.add("note", lambda context: woken.append(context.input))
        for seconds in (30, 5, 0.2, 90, 12, 0.7, 5.5):
            await w.define(f"sleep-{seconds}", sleep(seconds), step("note"))
        engine = await w.engine(poll=60)
        runs = [await w.start(engine, f"sleep-{seconds}", seconds) for seconds in (30, 5, 0.2, 90, 12, 0.7, 5.5)]
        for run in runs:
            await w.ended(engine, run)
        assert woken == sorted(woken)


@simulated()
async def test_many_runs_due_at_the_same_moment_are_claimed_in_batches() -> None:
    async with world() as w:
        await w.define("one", sleep(50))
        engine = await w.engine(claim_batch=64, poll=30)
        runs = [await w.start(engine, "one") for _ in range(500)]
        for run in runs:
            head = await w.ended(engine, run)
            assert head.closed_at is not None
            assert head.closed_at - head.created_at - 50_000_000 < 1_000_000
        sizes = [size for size, _ in w.diary.claims]
        assert max(sizes) <= 64
        assert len(sizes) < 30


@simulated()
async def test_an_engine_that_holds_all_it_may_leaves_the_rest_where_it_is() -> None:
    async with world() as w:

        async def slow(context: ActivationContext) -> None:
            await pass_time(5)

        w.handlers.add("slow", slow)
        await w.define("one", sleep(50), step("slow"))
        engine = await w.engine(max_runs=10)
        runs: list[str] = []
        for _ in range(30):
            runs.append(await w.start(engine, "one"))
            await pass_time(0.1)
        most = 0
        while asyncio.get_running_loop().time() < 80:
            most = max(most, len(engine.runtime.roster.owned))
            await pass_time(0.1)
        assert most == 10
        for run in runs:
            assert (await w.ended(engine, run)).status == "COMPLETED"


@simulated()
async def test_without_any_hint_the_poll_finds_what_is_due() -> None:
    async with world() as w:
        w.beneath.hints.give = lambda *_: None  # type: ignore[method-assign]
        await w.define("one", signal("go"), step())
        first = await w.engine(poll=1)
        second = await w.engine(poll=1)
        run = await w.start(first, "one")
        await until(lambda: not first.runtime.roster.owned)
        begun = asyncio.get_running_loop().time()
        reply = await second.send(NAMESPACE, run, Signal("go", 7))
        assert reply is Reply.DECIDED
        assert output_of(await w.ended(first, run)) == 7
        assert asyncio.get_running_loop().time() - begun < 3


# -- commands that come while a run is being parked or closed ------------------------------------


async def send_during(w: World, when: Any, command: Any, run: str) -> None:
    """Puts a command into the run's inbox after its turn was decided and before it is committed."""
    commit = w.beneath.journal.commit
    done = False

    def late(turn: TurnWrite) -> Any:
        nonlocal done
        if turn.run == run and when(turn) and not done:
            done = True
            from perdure.model.codec import encode_command

            async def first_the_command() -> Any:
                await w.beneath.inbox.send(NAMESPACE, run, encode_command(command), "from-outside")
                return await commit(turn)

            return first_the_command()
        return commit(turn)

    w.beneath.journal.commit = late  # type: ignore[method-assign]


@simulated()
async def test_a_signal_that_comes_while_the_run_is_being_parked_is_not_lost() -> None:
    async with world() as w:
        gate = asyncio.Event()

        async def wait(context: ActivationContext) -> Any:
            await gate.wait()

        w.handlers.add("wait", wait)
        await w.define("one", step("wait"), signal("go"))
        engine = await w.engine(poll=60)
        run = await w.start(engine, "one")
        await send_during(w, parks, Signal("go", "in between"), run)
        gate.set()
        assert output_of(await w.ended(engine, run)) == "in between"
        assert asyncio.get_running_loop().time() < 1


@simulated()
async def test_a_command_that_prevents_parking_is_fetched_at_once_even_if_no_hint_tells_of_it() -> None:
    async with world() as w:
        gate = asyncio.Event()

        async def wait(context: ActivationContext) -> Any:
            await gate.wait()

        w.handlers.add("wait", wait)
        await w.define("one", step("wait"), signal("go"))
        engine = await w.engine(poll=60)
        run = await w.start(engine, "one")
        w.beneath.hints.give = lambda *_: None  # type: ignore[method-assign]
        await send_during(w, parks, Signal("go", "in between"), run)
        gate.set()
        assert output_of(await w.ended(engine, run)) == "in between"
        assert len(w.store.commits) == 4, "start, the refused one, the same again, and the signal"


@simulated()
async def test_a_command_that_comes_between_the_parking_commit_and_its_answer_is_not_taken_for_read() -> None:
    """The run is parked, gets a command, and is claimed anew by the same engine, which learns of all this in the order:
    the command, the parking, the claim."""
    async with world() as w:
        from perdure.model.codec import encode_command

        await w.define("one", step(), signal("go"))
        engine = await w.engine(poll=60)
        await pass_time(1)
        commit, claim = w.beneath.journal.commit, w.beneath.ownership.claim

        async def claim_and_answer_late(*asked: Any) -> Any:
            claimed = await claim(*asked)
            await pass_time(0.3)
            return claimed

        async def commit_and_answer_late(turn: TurnWrite) -> Any:
            outcome = await commit(turn)
            await w.beneath.inbox.send(NAMESPACE, turn.run, encode_command(Signal("go", "in between")), "r")
            await pass_time(0.1)
            engine.runtime.post.collect()
            await pass_time(0.1)
            return outcome

        def patched(turn: TurnWrite) -> Any:
            return commit_and_answer_late(turn) if parks(turn) else commit(turn)

        w.beneath.journal.commit = patched  # type: ignore[method-assign]
        w.beneath.ownership.claim = claim_and_answer_late  # type: ignore[method-assign]
        run = await w.start(engine, "one")
        assert output_of(await asyncio.wait_for(w.ended(engine, run), 30)) == "in between"


@simulated()
async def test_a_signal_that_nobody_waits_for_yet_and_comes_during_parking_waits_in_the_run() -> None:
    async with world() as w:
        gate = asyncio.Event()

        async def wait(context: ActivationContext) -> Any:
            await gate.wait()

        w.handlers.add("wait", wait)
        await w.define("one", step("wait"), sleep(100), signal("go"))
        engine = await w.engine(poll=60)
        run = await w.start(engine, "one")
        await send_during(w, parks, Signal("go", "early"), run)
        gate.set()
        await pass_time(1)
        assert (await w.head(run)).owner is None, "it is parked after all"
        assert output_of(await w.ended(engine, run)) == "early"


@simulated()
async def test_a_signal_that_comes_while_the_run_is_being_closed_is_recorded_before_the_end() -> None:
    async with world() as w:
        gate = asyncio.Event()

        async def wait(context: ActivationContext) -> Any:
            await gate.wait()
            return "result"

        w.handlers.add("wait", wait)
        await w.define("one", step(), step("wait"))
        engine = await w.engine(poll=60)
        run = await w.start(engine, "one")
        await send_during(w, closes, Signal("news", "just in time"), run)
        gate.set()
        assert output_of(await w.ended(engine, run)) == "result"
        names = await w.event_names(run)
        assert names.index("SignalReceived") < names.index("RunCompleted")
        assert w.handlers.count("wait") == 1, "the handler is not repeated"


@simulated()
async def test_a_cancel_that_comes_while_the_run_is_being_closed_wins() -> None:
    async with world() as w:
        gate = asyncio.Event()

        async def wait(context: ActivationContext) -> Any:
            await gate.wait()

        w.handlers.add("wait", wait)
        await w.define("one", step("wait"))
        engine = await w.engine(poll=60)
        run = await w.start(engine, "one")
        await send_during(w, closes, Cancel("changed my mind"), run)
        gate.set()
        assert (await w.ended(engine, run)).status == "CANCELLED"


@simulated()
async def test_a_repeated_signal_wakes_the_run_and_changes_nothing() -> None:
    async with world() as w:
        await w.define("one", signal("a"), signal("b"))
        first = await w.engine(poll=60)
        run = await w.start(first, "one")
        await until(lambda: not first.runtime.roster.owned)
        assert await first.send(NAMESPACE, run, Signal("a", 1, "id-1")) is Reply.DECIDED
        assert await first.send(NAMESPACE, run, Signal("a", 1, "id-1")) is Reply.UNCHANGED
        await pass_time(1)
        head: Head = await w.head(run)
        assert (head.owner, head.status) == (None, "WAITING")
        await first.send(NAMESPACE, run, Signal("b", 2))
        assert output_of(await w.ended(first, run)) == 2


@simulated()
async def test_a_local_signal_during_the_parking_commit_is_answered_after_it() -> None:
    async with world() as w:
        await w.define("one", step(), signal("go"))
        engine = await w.engine(poll=60)
        run = await w.start(engine, "one")
        with w.store.held() as gate:
            await pass_time(0.01)
            answer = asyncio.ensure_future(engine.send(NAMESPACE, run, Signal("go", 3)))
            await pass_time(1)
            assert not answer.done()
            gate.set()
            assert await answer is Reply.DECIDED
        assert output_of(await w.ended(engine, run)) == 3


@simulated()
async def test_a_run_that_is_acquired_for_nothing_is_given_back() -> None:
    async with world() as w:
        await w.define("one", *steps(["fail"]))
        w.handlers.add("fail", lambda context: 1 / 0)
        engine = await w.engine()
        head = await w.run(engine, "one")
        assert head.status == "FAILED"
        with pytest.raises(IllegalCommand):
            await engine.send(NAMESPACE, head.run, Signal("late"))
        assert (await w.head(head.run)).owner is None


@simulated()
async def test_a_clock_that_is_behind_the_stores_fires_no_timer_early_and_does_not_spin() -> None:
    async with world() as w:
        from perdure.testing.simloop import SimClock

        await w.define("one", sleep(100))
        engine = await w.engine(clock=SimClock(skew=-30), poll=60)
        head = await w.run(engine, "one")
        assert head.closed_at is not None
        assert 0 <= head.closed_at - head.created_at - 100_000_000 < 100_000
        assert len(w.store.commits) < 6


def test_verdicts_are_what_the_engine_expects() -> None:
    assert {verdict.name for verdict in Verdict} == {
        "COMMITTED",
        "FENCED",
        "INBOX_MOVED",
        "KEY_EXISTS",
        "STALE_DEFINITION",
    }


@simulated()
async def test_a_run_that_the_store_holds_for_due_is_not_parked_again_by_a_worker_whose_time_is_behind() -> None:
    async with world() as w:
        await w.define("one", sleep(10))
        engine = await w.engine(park_after=0.0, lease=1_000)
        run = await w.start(engine, "one")
        await until(lambda: not engine.runtime.roster.owned)
        engine.runtime.time._said -= 3_000_000
        head = await w.ended(engine, run)
        assert head.closed_at is not None
        assert head.closed_at - head.created_at >= 10_000_000
        assert sum(map(parks, w.store.commits)) == 1


@simulated()
async def test_a_run_wakes_on_time_however_often_there_was_nothing_to_wake_before() -> None:
    async with world() as w:
        await w.define("one", sleep(100.7))
        engine = await w.engine(poll=1)
        head = await w.run(engine, "one")
        assert head.closed_at is not None
        assert 0 <= head.closed_at - head.created_at - 100_700_000 < 10_000


@simulated()
async def test_a_command_for_a_run_that_was_only_stored_does_not_make_anybody_forget_its_steps() -> None:
    async with world() as w:
        await w.define("child", step(), signal("go"))
        await w.define("parent", child("child"))
        engine = await w.engine(max_runs=1)
        engine.runtime.claimer.close()  # nobody takes it up before the command comes
        run = await w.start(engine, "parent", 7)
        await until(lambda: not engine.runtime.roster.owned)
        (stored,) = [turn.run for turn in w.store.commits if turn.new is not None and turn.new.parent == run]
        await engine.send(NAMESPACE, stored, Signal("go", 8))
        assert output_of(await asyncio.wait_for(w.ended(engine, stored), 100)) == 8
