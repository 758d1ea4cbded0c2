"""Several engines on one store: who owns a run, what happens when its owner dies, pauses or leaves."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from perdure.engine import ActivationContext, Engine, Reply
from perdure.errors import IllegalCommand, StoreUnavailable
from perdure.model.commands import Fail, Signal
from perdure.model.events import SignalReceived
from perdure.model.failures import Failure
from perdure.testing.crashing import crash
from perdure.testing.simloop import SimClock, pass_time, simulated
from tests.engine.world import (
    NAMESPACE,
    Handlers,
    World,
    output_of,
    result_of,
    signal,
    sleep,
    step,
    steps,
    until,
    world,
)


async def hang(context: ActivationContext) -> Any:
    await pass_time(1_000_000)


def dying(w: World) -> Handlers:
    """Handlers of an engine that will not live to see their end."""
    handlers = Handlers()
    for type in w.handlers:
        handlers.add(type, hang)
    return handlers


@simulated()
async def test_the_work_of_a_dead_engine_is_taken_over_within_the_lease_and_two_seconds() -> None:
    async with world() as w:
        w.handlers.add("work", lambda context: "done")
        await w.define("one", step("work"))
        first = await w.engine(lease=30, handlers=dying(w))
        run = await w.start(first, "one")
        second = await w.engine(lease=30)
        await pass_time(7)
        crash(first)
        died_at = asyncio.get_running_loop().time()
        assert output_of(await w.ended(second, run)) == "done"
        assert asyncio.get_running_loop().time() - died_at <= 32
        assert "ActivationsRedelivered" in await w.event_names(run)


@simulated()
async def test_a_take_over_is_durable_before_anything_executes_again() -> None:
    async with world() as w:
        await w.define("one", step())
        first = await w.engine(handlers=dying(w))
        run = await w.start(first, "one")
        crash(first)
        second = await w.engine()
        with w.store.held() as gate:
            await pass_time(60)
            assert w.store.commits[-1].run == run
            assert not w.handlers.calls
            gate.set()
            assert (await w.ended(second, run)).status == "COMPLETED"


@simulated()
async def test_a_step_that_kills_every_worker_is_set_aside_after_three() -> None:
    async with world() as w:
        await w.define("one", step())
        victim = await w.engine(lease=10, handlers=dying(w))
        run = await w.start(victim, "one")
        for _ in range(2):
            crash(victim)
            victim = await w.engine(lease=10, handlers=dying(w))
            await until(lambda v=victim: run in v.runtime.roster.owned and bool(v.runtime.runner._live))  # type: ignore[misc]
        crash(victim)
        last = await w.engine(lease=10)
        head = await w.ended(last, run)
        failure = result_of(head)["failure"]
        assert (head.status, failure["code"], failure["details"]) == ("FAILED", "WORKER_DIED", {"deliveries": 3})
        assert not w.handlers.calls


@simulated()
async def test_a_step_that_may_run_once_only_is_not_repeated_by_the_next_owner() -> None:
    async with world() as w:
        await w.define("one", step(once=True))
        first = await w.engine(handlers=dying(w))
        run = await w.start(first, "one")
        crash(first)
        second = await w.engine()
        assert result_of(await w.ended(second, run))["failure"]["code"] == "OUTCOME_UNKNOWN"
        assert not w.handlers.calls


@simulated()
async def test_a_paused_engine_finds_its_commits_refused_and_drops_what_it_had() -> None:
    async with world() as w:
        release = asyncio.Event()

        async def slow(context: ActivationContext) -> Any:
            await release.wait()
            return "from the paused one"

        handlers = Handlers()
        handlers.add("work", slow)
        w.handlers.add("work", lambda context: "from the new one")
        await w.define("one", step("work"), sleep(1000))
        first = await w.engine(lease=30, handlers=handlers)
        run = await w.start(first, "one")
        await pass_time(1)
        # It stands still: no renewal, no check of its own lease. Then it goes on as if nothing had happened.
        assert first.runtime.lease._task is not None
        assert first.runtime.lease._watch is not None
        first.runtime.lease._task.cancel()
        first.runtime.lease._watch.cancel()
        first.runtime.claimer.close()
        first.runtime.post.close()
        second = await w.engine(lease=30)
        await pass_time(60)
        release.set()
        await pass_time(1)
        assert w.diary.fenced_runs == [run]
        assert run not in first.runtime.roster.owned
        assert output_of(await w.ended(second, run)) == "from the new one"


@simulated()
async def test_a_worker_whose_lease_has_run_out_goes_on_under_a_new_name() -> None:
    async with world() as w:
        await w.define("one", step())
        engine = await w.engine(lease=30)
        name = engine.worker
        await w.beneath.ownership.leave(name)
        await w.beneath.ownership.renew(name, 1)
        await pass_time(15)
        assert w.diary.lost == [name]
        assert engine.worker != name
        assert (await w.run(engine, "one")).status == "COMPLETED"


@simulated()
async def test_closing_hands_running_work_over_within_a_second_and_the_grace() -> None:
    async with world() as w:
        await w.define("one", step(), step())
        first = await w.engine(handlers=dying(w), grace=1)
        second = await w.engine()
        run = await w.start(first, "one", 7)
        await pass_time(1)
        begun = asyncio.get_running_loop().time()
        await first.close()
        assert output_of(await w.ended(second, run)) == 7
        assert asyncio.get_running_loop().time() - begun <= 2
        assert "ActivationsRedelivered" not in await w.event_names(run), "nobody died"


@simulated()
async def test_closing_lets_handlers_finish_if_they_are_quick_and_begins_no_others() -> None:
    async with world() as w:
        begun: list[str] = []

        async def short(context: ActivationContext) -> Any:
            begun.append(context.node_id)
            await pass_time(0.5)
            return context.input

        w.handlers.add("short", short)
        await w.define("three", *steps(["short"] * 3))
        first = await w.engine(grace=2)
        run = await w.start(first, "three", 1)
        await pass_time(0.1)
        await first.close()
        assert begun == ["0"]
        assert (await w.event_names(run)).count("ActivationCompleted") == 1
        second = await w.engine()
        assert output_of(await w.ended(second, run)) == 1
        assert begun == ["0", "1", "2"]


@simulated()
async def test_closing_does_not_pretend_to_know_the_outcome_of_a_step_that_may_run_once_only() -> None:
    async with world() as w:
        await w.define("one", step(once=True))
        first = await w.engine(handlers=dying(w))
        run = await w.start(first, "one")
        await pass_time(1)
        await first.close()
        second = await w.engine()
        assert result_of(await w.ended(second, run))["failure"]["code"] == "OUTCOME_UNKNOWN"
        assert not w.handlers.calls


@simulated()
async def test_closing_tells_whoever_waits_for_a_result() -> None:
    async with world() as w:
        from perdure.errors import Busy

        await w.define("one", sleep(1000))
        engine = await w.engine()
        waiting = asyncio.ensure_future(w.run(engine, "one"))
        await pass_time(1)
        await engine.close()
        with pytest.raises(Busy):
            await waiting


@pytest.mark.parametrize("seed", range(20))
def test_engines_that_race_for_the_same_runs_never_do_a_step_twice(seed: int) -> None:
    @simulated(seed)
    async def check() -> None:
        async with world() as w:
            w.handlers.add("inc", lambda context: context.input + 1)
            await w.define("one", step("inc"), sleep(5), step("inc"), signal("go"), step("inc"))
            engines = [await w.engine(poll=0.5, claim_batch=4) for _ in range(3)]
            runs = [await w.start(engines[n % 3], "one", 0) for n in range(15)]
            await pass_time(6)
            for n, run in enumerate(runs):
                for engine in engines:
                    with suppress(IllegalCommand):  # that it has ended already
                        await engine.send(NAMESPACE, run, Signal("go", n, "only once"))
            for n, run in enumerate(runs):
                assert output_of(await w.ended(engines[(n + 1) % 3], run)) == n + 1
            assert w.handlers.count("inc") == 45
            assert len(set(w.handlers.calls)) == 45

    check()


@simulated()
async def test_a_signal_for_a_run_that_another_engine_holds_is_accepted_and_decided_there() -> None:
    async with world() as w:
        handlers = Handlers()

        async def wait_a_while(context: ActivationContext) -> Any:
            await pass_time(30)

        handlers.add("wait", wait_a_while)
        await w.define("one", step("wait"), signal("go"))
        first = await w.engine(handlers=handlers, poll=60)
        second = await w.engine(poll=60)
        run = await w.start(first, "one")
        assert await second.send(NAMESPACE, run, Signal("go", 5)) is Reply.ACCEPTED
        await pass_time(0.1)
        assert "SignalReceived" in await w.event_names(run), "a hint, not the poll"
        assert output_of(await w.ended(second, run)) == 5


@simulated()
async def test_the_result_of_a_run_elsewhere_is_pushed_and_found_by_the_poll_if_the_hint_is_lost() -> None:
    async with world() as w:
        await w.define("one", sleep(10), step())
        first = await w.engine()
        second = await w.engine(max_runs=0, poll=1)
        for hints in (True, False):
            if not hints:
                w.beneath.hints.give = lambda *_: None  # type: ignore[method-assign]
            run = await w.start(first, "one", "r")
            head = await w.ended(second, run)
            assert output_of(head) == "r"
            assert head.closed_at is not None
            late = w.clock.now() - head.closed_at
            assert late < (10_000 if hints else 3_000_000)


@simulated()
async def test_a_clock_an_hour_wrong_changes_nothing_about_timers() -> None:
    async with world() as w:
        await w.define("one", sleep(100))
        engines = [await w.engine(clock=SimClock(skew=skew)) for skew in (3600, -3600, 0)]
        runs = [await w.start(engine, "one") for engine in engines]
        for engine, run in zip(engines, runs, strict=True):
            head = await w.ended(engine, run)
            assert head.closed_at is not None
            assert 0 <= head.closed_at - head.created_at - 100_000_000 < 1_000_000


@simulated()
async def test_an_engine_whose_clock_jumps_while_it_sleeps_still_wakes_its_runs() -> None:
    async with world() as w:
        clock = SimClock()
        await w.define("one", sleep(100))
        await w.define("short", sleep(0.9))
        engine: Engine = await w.engine(clock=clock, lease=30)
        run = await w.start(engine, "one")
        await pass_time(1)
        clock.skew = -3600
        assert (await w.ended(engine, run)).status == "COMPLETED"
        assert asyncio.get_running_loop().time() < 115
        assert (await w.run(engine, "short")).status == "COMPLETED"


@simulated()
async def test_closing_is_finished_even_if_nobody_waits_for_it_any_more() -> None:
    async with world() as w:
        await w.define("one", step())
        first = await w.engine(handlers=dying(w), grace=2)
        second = await w.engine()
        run = await w.start(first, "one", 7)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(first.close(), 1)
        assert output_of(await w.ended(second, run)) == 7
        assert asyncio.get_running_loop().time() < 5
        await first.close()


@pytest.mark.parametrize("order", range(24))
def test_who_sent_a_command_to_a_worker_that_loses_the_run_while_it_takes_it_up_is_answered(order: int) -> None:
    @simulated(seed=order)
    async def check() -> None:
        async with world() as w:
            await w.define("one", signal("go"))
            engine = await w.engine(parked_runs=0)
            run = await w.start(engine, "one")
            await until(lambda: not engine.runtime.roster.owned)
            load, losses = w.beneath.journal.load, [1]

            async def taken_meanwhile(run: str) -> Any:
                if losses:
                    losses.pop()
                    ownership = w.beneath.ownership
                    await ownership.renew("another", 1_000_000)
                    await ownership.release(engine.worker, [run])
                    assert await ownership.acquire("another", run) is not None
                    await ownership.release("another", [run])
                return await load(run)

            w.beneath.journal.load = taken_meanwhile  # type: ignore[method-assign]
            reply = await asyncio.wait_for(engine.send(NAMESPACE, run, Signal("go", 7, "first")), 60)
            assert reply in (Reply.DECIDED, Reply.ACCEPTED)
            assert output_of(await w.ended(engine, run)) == 7

    check()


@simulated()
async def test_what_one_sender_was_told_is_accepted_is_decided_before_what_it_sends_next() -> None:
    async with world() as w:
        w.handlers.add("work", hang)
        await w.define("one", step("work"))
        engine = await w.engine(poll=100, grace=0.1)
        run = await w.start(engine, "one")
        w.store.troubles.lost_hints = 1.0
        # The run came here between the look who owns it and the sending.
        assert await engine.runtime.dispatch._post(NAMESPACE, run, Signal("extra", None, "1"), None) is Reply.ACCEPTED
        assert await engine.send(NAMESPACE, run, Signal("extra", None, "2")) is Reply.DECIDED
        received = [event.id for event in await w.events(run) if isinstance(event, SignalReceived)]
        assert received == ["1", "2"]


@simulated()
async def test_an_attempt_that_an_earlier_owner_reports_as_failed_gives_way_to_the_next_one() -> None:
    async with world() as w:
        stopped: list[int] = []

        async def work(context: ActivationContext) -> Any:
            if context.attempt == 1:
                try:
                    await pass_time(60)
                finally:
                    stopped.append(context.attempt)
            return context.attempt

        w.handlers.add("work", work)
        await w.define("one", step("work", attempts=2))
        engine = await w.engine()
        run = await w.start(engine, "one")
        await until(lambda: w.handlers.count("work") == 1)
        activation = next(iter(engine.runtime.roster.owned[run].running))
        late = Fail(activation, 1, Failure("NODE_FAILED", "said by the worker that had it before", retryable=True))
        assert await engine.send(NAMESPACE, run, late) is Reply.DECIDED
        assert output_of(await w.ended(engine, run)) == 2
        assert stopped == [1]
        assert asyncio.get_running_loop().time() < 30


@simulated()
async def test_closing_in_the_moment_in_which_the_lease_is_renewed_ends() -> None:
    async with world() as w:
        engine = await w.engine(lease=30)
        await pass_time(20)
        await asyncio.wait_for(engine.close(), 60)


@simulated()
async def test_a_worker_that_loses_its_lease_while_it_asks_for_the_time_holds_none() -> None:
    async with world() as w:
        await w.define("one", signal("go"))
        engine = await w.engine(lease=30)
        run = await w.start(engine, "one")
        lease, ownership = engine.runtime.lease, w.beneath.ownership
        now, renew, moments = ownership.now, ownership.renew, [1]

        async def lost_meanwhile() -> int:
            if moments:
                moments.pop()
                lease.lose()
            return await now()

        async def only_later(worker: str, micros: int) -> bool:
            if worker == engine.worker and not moments:
                raise StoreUnavailable("not yet")
            return await renew(worker, micros)

        ownership.now, ownership.renew = lost_meanwhile, only_later  # type: ignore[method-assign]
        await until(lambda: not moments)
        await pass_time(1)
        assert not lease.is_held
        ownership.renew = renew  # type: ignore[method-assign]
        await engine.send(NAMESPACE, run, Signal("go", 3))
        assert output_of(await w.ended(engine, run)) == 3
