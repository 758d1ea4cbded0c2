"""Signals, cancelling, suspending, retrying: answered when they are durable, refused with a reason."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.engine import ActivationContext, Reply
from perdure.errors import Busy, IllegalCommand, InvalidInput, InvariantBroken, NotFound
from perdure.model.commands import Cancel, Resume, RetryRun, SetAttributes, Signal, Suspend
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import NAMESPACE, World, output_of, result_of, signal, sleep, step, until, world


async def waiting_run(w: World, engine: Any) -> str:
    run = await w.start(engine, "waits")
    await until(lambda: not engine.runtime.roster.owned)
    return run


@simulated()
async def test_a_signal_wakes_a_parked_run_with_two_commits() -> None:
    async with world() as w:
        await w.define("waits", signal("go"))
        engine = await w.engine(poll=60)
        run = await waiting_run(w, engine)
        before = len(w.store.commits)
        assert await engine.send(NAMESPACE, run, Signal("go", {"a": 1})) is Reply.DECIDED
        assert output_of(await w.ended(engine, run)) == {"a": 1}
        assert len(w.store.commits) - before == 1, "and one to acquire it"


@simulated()
async def test_early_signals_wait_in_the_order_in_which_they_came() -> None:
    async with world() as w:
        seen: list[Any] = []
        w.handlers.add("see", lambda context: seen.append(context.input))
        await w.define("one", sleep(10), signal("n"), step("see"), signal("n"), step("see"))
        engine = await w.engine()
        run = await w.start(engine, "one")
        for n in (1, 2):
            await engine.send(NAMESPACE, run, Signal("n", n))
        await w.ended(engine, run)
        assert seen == [1, 2]


@simulated()
async def test_a_command_for_an_unknown_run_or_another_namespace_is_not_found() -> None:
    async with world() as w:
        await w.define("waits", signal("go"))
        engine = await w.engine()
        run = await waiting_run(w, engine)
        for namespace, name in ((NAMESPACE, "nobody"), ("elsewhere", run)):
            with pytest.raises(NotFound):
                await engine.send(namespace, name, Signal("go"))
        engine.runtime.roster.parked.pop(run)
        with pytest.raises(NotFound):
            await engine.send("elsewhere", run, Signal("go"))
        await engine.send(NAMESPACE, run, Cancel())


@simulated()
async def test_a_command_that_the_run_refuses_leaves_no_trace() -> None:
    async with world() as w:
        await w.define("waits", signal("go"))
        engine = await w.engine()
        run = await waiting_run(w, engine)
        before = (await w.head(run)).seq
        with pytest.raises(IllegalCommand):
            await engine.send(NAMESPACE, run, Resume())
        with pytest.raises(InvalidInput):
            await engine.send(NAMESPACE, run, Signal(""))
        with pytest.raises(InvalidInput):
            await engine.send(NAMESPACE, run, Signal("go", float("nan")))
        await pass_time(1)
        head = await w.head(run)
        assert (head.seq, head.owner) == (before, None)
        await engine.send(NAMESPACE, run, Signal("go"))
        await w.ended(engine, run)


@simulated()
async def test_a_refusal_is_not_told_before_what_it_rests_on_is_durable() -> None:
    async with world() as w:
        await w.define("waits", signal("go"))
        engine = await w.engine()
        run = await waiting_run(w, engine)
        with w.store.held() as gate:
            ending = asyncio.ensure_future(engine.send(NAMESPACE, run, Signal("go")))
            await pass_time(0.1)
            late = asyncio.ensure_future(engine.send(NAMESPACE, run, Signal("late")))
            await pass_time(1)
            assert not late.done()
            gate.set()
            assert await ending is Reply.DECIDED
            with pytest.raises(IllegalCommand):
                await late


@simulated()
async def test_a_run_that_has_ended_refuses_signals_and_ignores_what_comes_too_late_by_nature() -> None:
    async with world() as w:
        await w.define("one", step())
        engine = await w.engine()
        head = await w.run(engine, "one")
        for command in (Signal("x"), Cancel(), Suspend(), SetAttributes({"a": 1})):
            with pytest.raises(IllegalCommand):
                await engine.send(NAMESPACE, head.run, command)
        from perdure.model.commands import Complete

        assert await engine.send(NAMESPACE, head.run, Complete(1, 1)) is Reply.UNCHANGED


@simulated()
async def test_cancelling_stops_the_handler_and_compensates_what_was_done() -> None:
    async with world() as w:
        undone: list[Any] = []
        w.handlers.add("pay", lambda context: {"paid": 7})
        w.handlers.add("refund", lambda context: undone.append(context.input))

        async def endless(context: ActivationContext) -> None:
            await pass_time(1_000_000)

        w.handlers.add("endless", endless)
        await w.define("one", step("pay", undo="refund"), step("endless"))
        engine = await w.engine()
        run = await w.start(engine, "one")
        await pass_time(1)
        assert await engine.send(NAMESPACE, run, Cancel("too slow")) is Reply.DECIDED
        head = await w.ended(engine, run)
        assert head.status == "CANCELLED"
        assert result_of(head)["failure"] == {"code": "CANCELLED", "message": "too slow"}
        assert undone == [{"paid": 7}]


@simulated()
async def test_a_handler_that_ignores_cancelling_does_not_hold_the_run_up_for_ever() -> None:
    async with world() as w:

        async def stubborn(context: ActivationContext) -> str:
            end = asyncio.get_running_loop().time() + 100
            while asyncio.get_running_loop().time() < end:
                try:
                    await pass_time(1)
                except asyncio.CancelledError:
                    assert context.is_cancelled
            return "late"

        w.handlers.add("stubborn", stubborn)
        await w.define("one", step("stubborn"))
        engine = await w.engine(stop_grace=5)
        run = await w.start(engine, "one")
        await pass_time(1)
        await engine.send(NAMESPACE, run, Cancel())
        head = await w.ended(engine, run)
        assert head.status == "CANCELLED"
        assert 5 <= asyncio.get_running_loop().time() <= 8
        await pass_time(120)
        assert (await w.head(run)).seq == head.seq


@simulated()
async def test_a_handler_that_has_not_begun_when_it_is_cancelled_has_had_no_effect() -> None:
    async with world() as w:

        async def endless(context: ActivationContext) -> None:
            await pass_time(1_000_000)

        w.handlers.add("endless", endless)
        await w.define("one", {"do": "together", "types": ["endless", "endless"]})
        engine = await w.engine(slots=1)
        run = await w.start(engine, "one")
        await pass_time(1)
        await engine.send(NAMESPACE, run, Cancel())
        await w.ended(engine, run)
        from perdure.model.events import ActivationCancelled

        unknown = [event.unknown for event in await w.events(run) if isinstance(event, ActivationCancelled)]
        assert sorted(unknown) == [False, True]
        assert w.handlers.count("endless") == 1


@simulated()
async def test_a_suspended_run_waits_and_goes_on_when_resumed() -> None:
    async with world() as w:
        await w.define("one", sleep(10), step())
        engine = await w.engine()
        run = await w.start(engine, "one", "x")
        await pass_time(1)
        await engine.send(NAMESPACE, run, Suspend("audit"))
        await pass_time(1000)
        head = await w.head(run)
        assert (head.status, head.owner, head.wake_at) == ("SUSPENDED", None, None)
        await engine.send(NAMESPACE, run, Resume())
        assert output_of(await w.ended(engine, run)) == "x"


@simulated()
async def test_a_failed_run_can_be_taken_up_again_where_it_failed() -> None:
    async with world() as w:
        healthy = False

        def flaky(context: ActivationContext) -> Any:
            if not healthy:
                raise ConnectionError("down")
            return "up"

        w.handlers.add("flaky", flaky)
        await w.define("one", step(), step("flaky"))
        engine = await w.engine()
        head = await w.run(engine, "one")
        assert head.status == "FAILED"
        healthy = True
        assert await engine.send(NAMESPACE, head.run, RetryRun()) is Reply.DECIDED
        assert output_of(await w.ended(engine, head.run)) == "up"
        assert w.handlers.count("echo") == 1
        with pytest.raises(IllegalCommand):
            await engine.send(NAMESPACE, head.run, RetryRun())


@simulated()
async def test_a_flood_of_commands_for_one_run_is_refused_beyond_the_bound() -> None:
    async with world() as w:
        await w.define("waits", step(), signal("go"))
        engine = await w.engine(mailbox=10)
        with w.store.held() as gate:
            starting = asyncio.ensure_future(w.start(engine, "waits"))
            await pass_time(0.1)
            run = next(iter(engine.runtime.roster.owned))
            gate.set()
            await starting
        with w.store.held() as gate:
            sends = [asyncio.ensure_future(engine.send(NAMESPACE, run, Signal("noise", n))) for n in range(40)]
            await pass_time(0.1)
            gate.set()
            answers = await asyncio.gather(*sends, return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, Busy)]
        assert len(refused) >= 25
        assert all(answer is Reply.DECIDED for answer in answers if not isinstance(answer, Busy))
        await engine.send(NAMESPACE, run, Signal("go"))
        await w.ended(engine, run)
        assert (await w.event_names(run)).count("SignalReceived") == 41 - len(refused)


@simulated()
async def test_whoever_stops_waiting_for_an_answer_does_not_leave_the_run_stuck() -> None:
    async with world() as w:
        await w.define("waits", signal("go"), step())
        engine = await w.engine(poll=1000, parked_runs=0)
        run = await waiting_run(w, engine)
        acquire = w.beneath.ownership.acquire

        async def slow(worker: str, name: str) -> Any:
            claimed = await acquire(worker, name)
            await pass_time(5)
            return claimed

        w.beneath.ownership.acquire = slow  # type: ignore[method-assign]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(engine.send(NAMESPACE, run, Signal("go", 1)), 1)
        assert output_of(await w.ended(engine, run)) == 1


@simulated()
async def test_a_request_id_that_waits_already_is_a_duplicate() -> None:
    async with world() as w:
        await w.define("waits", step("hang"), signal("go"))

        async def hang(context: ActivationContext) -> None:
            await pass_time(50)

        w.handlers.add("hang", hang)
        first = await w.engine(poll=20)
        second = await w.engine(poll=20)
        run = await w.start(first, "waits")
        give = w.beneath.hints.give
        w.beneath.hints.give = lambda *_: None  # type: ignore[method-assign]
        assert await second.send(NAMESPACE, run, Signal("go", 1), request_id="r") is Reply.ACCEPTED
        assert await second.send(NAMESPACE, run, Signal("go", 1), request_id="r") is Reply.UNCHANGED
        w.beneath.hints.give = give  # type: ignore[method-assign]
        await w.ended(second, run)
        assert (await w.event_names(run)).count("SignalReceived") == 1


# -- bugs ----------------------------------------------------------------------------------------


@simulated()
async def test_a_bug_met_by_a_result_fails_that_activation_and_the_run_goes_on_being_sound() -> None:
    async with world() as w:
        w.handlers.add("cursed", lambda context: "an output that breaks the program")
        await w.define("one", step(), step("cursed"))
        engine = await w.engine()
        head = await w.run(engine, "one")
        failure = result_of(head)["failure"]
        assert (head.status, failure["code"]) == ("FAILED", "INVARIANT_BROKEN")
        assert "ZeroDivisionError" in failure["message"]


@simulated()
async def test_a_bug_met_by_a_command_is_told_to_its_sender_and_others_are_not_harmed() -> None:
    async with world() as w:
        await w.define("waits", signal("go"), signal("end"))
        engine = await w.engine()
        run = await waiting_run(w, engine)
        curse = engine.send(NAMESPACE, run, Signal("go", "an output that breaks the program"))
        good = engine.send(NAMESPACE, run, Signal("other", 1))
        told = await asyncio.gather(curse, good, return_exceptions=True)
        assert isinstance(told[0], InvariantBroken)
        assert told[1] is Reply.DECIDED
        await engine.send(NAMESPACE, run, Signal("go", "fine"))
        await engine.send(NAMESPACE, run, Signal("end", "fine"))
        assert output_of(await w.ended(engine, run)) == "fine"


@simulated()
async def test_a_run_whose_log_cannot_be_read_is_set_aside_and_the_others_run() -> None:
    async with world() as w:
        await w.define("one", sleep(10), step())
        engine = await w.engine(parked_runs=0)
        bad, good = await w.start(engine, "one"), await w.start(engine, "one")
        await pass_time(1)
        load = w.beneath.journal.load

        async def damaged(run: str) -> Any:
            import msgspec

            loaded = await load(run)
            if run == bad and loaded is not None:
                rows = [msgspec.structs.replace(row, data=b'[{"event":"FromTheFuture"}]') for row in loaded.rows]
                loaded = msgspec.structs.replace(loaded, rows=rows)
            return loaded

        w.beneath.journal.load = damaged  # type: ignore[method-assign]
        await w.ended(engine, good)
        assert w.diary.aside == [bad]
        from perdure.errors import HistoryUnreadable

        with pytest.raises(HistoryUnreadable):
            await engine.send(NAMESPACE, bad, Signal("x"))
        w.beneath.journal.load = load  # type: ignore[method-assign]
        await engine.close()
        second = await w.engine()
        assert (await w.ended(second, bad)).status == "COMPLETED"
