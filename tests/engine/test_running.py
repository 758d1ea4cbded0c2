"""Steps, outputs and failures: one engine, and nothing goes wrong with the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from perdure.engine import ActivationContext, ActivationError, Result
from perdure.errors import InvalidInput, NotFound
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import NAMESPACE, output_of, result_of, sleep, step, steps, world


@simulated()
async def test_steps_run_one_after_the_other_and_hand_their_output_on() -> None:
    async with world() as w:
        w.handlers.add("inc", lambda context: context.input + 1)
        await w.define("five", *steps(["inc"] * 5))
        engine = await w.engine()
        assert output_of(await w.run(engine, "five", 0)) == 5
        assert w.handlers.count("inc") == 5


@simulated()
async def test_a_step_costs_one_commit_and_so_does_a_start() -> None:
    async with world() as w:
        await w.define("five", *steps(["echo"] * 5))
        engine = await w.engine()
        await w.run(engine, "five")
        assert len(w.store.commits) == 1 + 5


@simulated()
async def test_steps_that_belong_together_run_at_the_same_time() -> None:
    async with world() as w:

        async def slow(context: ActivationContext) -> Any:
            await pass_time(10)

        w.handlers.add("slow", slow)
        await w.define("wide", {"do": "together", "types": ["slow"] * 50})
        engine = await w.engine()
        begun = asyncio.get_running_loop().time()
        await w.run(engine, "wide")
        assert asyncio.get_running_loop().time() - begun < 11


@simulated()
async def test_results_that_come_together_share_a_turn() -> None:
    async with world() as w:
        await w.define("wide", {"do": "together", "types": ["echo"] * 100})
        engine = await w.engine()
        await w.run(engine, "wide")
        assert len(w.store.commits) <= 1 + 2


@simulated()
async def test_no_more_handlers_run_at_once_than_there_are_slots() -> None:
    async with world() as w:
        running = most = 0

        async def count(context: ActivationContext) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await pass_time(1)
            running -= 1

        w.handlers.add("count", count)
        await w.define("wide", {"do": "together", "types": ["count"] * 20})
        engine = await w.engine(slots=3)
        assert (await w.run(engine, "wide")).status == "COMPLETED"
        assert most == 3


@simulated()
async def test_a_handler_knows_what_it_works_for() -> None:
    async with world() as w:
        seen: list[ActivationContext] = []

        def look(context: ActivationContext) -> None:
            seen.append(context)
            context.logger.info("here")

        w.handlers.add("look", look)
        await w.define("one", step("look", config={"a": 1}))
        engine = await w.engine()
        run = await w.start(engine, "one", {"x": 2}, thread={"tenant": "t"})
        await w.ended(engine, run)
        (context,) = seen
        assert (context.namespace, context.run_id, context.node_id, context.attempt) == (NAMESPACE, run, "0", 1)
        assert (context.input, context.config, context.thread) == ({"x": 2}, {"a": 1}, {"tenant": "t"})
        assert context.key == f"{run}/0/1"
        assert context.now() == w.clock.now()


@simulated()
async def test_a_result_can_change_the_shared_data_and_later_steps_see_it() -> None:
    async with world() as w:
        seen: list[dict[str, Any]] = []
        w.handlers.add("set", lambda context: Result("done", vars={"colour": "red"}))
        w.handlers.add("get", lambda context: seen.append(dict(context.vars)))
        await w.define("two", step("set"), step("get"))
        engine = await w.engine()
        await w.run(engine, "two")
        assert seen == [{"colour": "red"}]


@simulated()
async def test_an_exception_fails_the_run_with_its_message() -> None:
    async with world() as w:

        def broken(context: ActivationContext) -> None:
            raise ValueError("no such account")

        w.handlers.add("broken", broken)
        await w.define("one", step("broken"))
        engine = await w.engine()
        head = await w.run(engine, "one")
        assert head.status == "FAILED"
        failure = result_of(head)["failure"]
        assert (failure["code"], failure["message"], failure["node"]) == ("NODE_FAILED", "no such account", "0")


@simulated()
async def test_an_exception_is_retried_as_often_as_the_policy_says_under_the_same_key() -> None:
    async with world() as w:

        async def flaky(context: ActivationContext) -> Any:
            if context.attempt < 3:
                raise ConnectionError("try again")
            return context.attempt

        w.handlers.add("flaky", flaky)
        await w.define("one", step("flaky", attempts=5))
        engine = await w.engine()
        assert output_of(await w.run(engine, "one")) == 3
        assert len({key for _, key, _ in w.handlers.calls}) == 1
        assert [attempt for _, _, attempt in w.handlers.calls] == [1, 2, 3]


@simulated()
async def test_a_handler_can_say_that_another_attempt_would_not_help() -> None:
    async with world() as w:

        def refuse(context: ActivationContext) -> None:
            raise ActivationError("CARD_DECLINED", "no money", details={"balance": 0}, output={"asked": 7})

        w.handlers.add("refuse", refuse)
        await w.define("one", step("refuse", attempts=5))
        engine = await w.engine()
        head = await w.run(engine, "one")
        assert result_of(head)["failure"]["code"] == "CARD_DECLINED"
        assert w.handlers.count("refuse") == 1
        assert any(getattr(event, "output", None) == {"asked": 7} for event in await w.events(head.run))


@simulated()
async def test_a_retry_waits_at_least_as_long_as_the_other_side_asked() -> None:
    async with world() as w:
        at: list[int] = []

        def busy(context: ActivationContext) -> None:
            at.append(context.now())
            if len(at) == 1:
                raise ActivationError("TOO_MANY", "later", retryable=True, retry_after=90)

        w.handlers.add("busy", busy)
        await w.define("one", step("busy", attempts=2))
        engine = await w.engine()
        assert (await w.run(engine, "one")).status == "COMPLETED"
        assert 90_000_000 <= at[1] - at[0] <= 90_500_000


@simulated()
async def test_an_attempt_that_takes_too_long_is_cancelled_and_fails_with_timeout() -> None:
    async with world() as w:
        cancelled: list[bool] = []

        async def endless(context: ActivationContext) -> None:
            try:
                await pass_time(1_000)
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

        w.handlers.add("endless", endless)
        await w.define("one", step("endless", timeout=3))
        engine = await w.engine()
        head = await w.run(engine, "one")
        assert result_of(head)["failure"]["code"] == "TIMEOUT"
        assert cancelled == [True]


@simulated()
async def test_a_handler_that_ignores_its_timeout_is_left_alone_after_the_grace_period() -> None:
    async with world() as w:
        ended: list[bool] = []

        async def stubborn(context: ActivationContext) -> str:
            for _ in range(30):
                try:
                    await pass_time(1)
                except asyncio.CancelledError:
                    continue
            ended.append(True)
            return "too late"

        w.handlers.add("stubborn", stubborn)
        await w.define("one", step("stubborn", timeout=3))
        engine = await w.engine(stop_grace=2)
        head = await w.run(engine, "one")
        assert result_of(head)["failure"]["code"] == "TIMEOUT"
        assert not ended
        await pass_time(60)
        assert ended == [True]
        assert (await w.head(head.run)).seq == head.seq


@simulated()
async def test_a_handler_that_cancels_itself_has_failed() -> None:
    async with world() as w:

        async def odd(context: ActivationContext) -> None:
            raise asyncio.CancelledError

        w.handlers.add("odd", odd)
        await w.define("one", step("odd"))
        engine = await w.engine()
        assert result_of(await w.run(engine, "one"))["failure"]["code"] == "NODE_FAILED"


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("inf")]}, object(), "a\0b", "\ud800", {(1, 2): 3}])
def test_what_is_not_json_is_refused_as_output(value: Any) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            w.handlers.add("odd", lambda context: value)
            await w.define("one", step("odd", attempts=3))
            engine = await w.engine()
            assert result_of(await w.run(engine, "one"))["failure"]["code"] == "OUTPUT_INVALID"
            assert w.handlers.count("odd") == 1

    check()


@simulated()
async def test_an_output_is_what_a_replay_would_have_and_later_changes_do_not_reach_it() -> None:
    async with world() as w:
        kept: list[Any] = []
        inputs: list[Any] = []

        def first(context: ActivationContext) -> Any:
            value = {"pair": (1, 2), "list": [1]}
            kept.append(value)
            return value

        async def second(context: ActivationContext) -> Any:
            kept[0]["list"].append("changed")
            inputs.append(context.input)
            return context.input

        w.handlers.add("first", first)
        w.handlers.add("second", second)
        await w.define("two", step("first"), step("second"))
        engine = await w.engine()
        assert output_of(await w.run(engine, "two")) == {"pair": [1, 2], "list": [1]}
        assert inputs == [{"pair": [1, 2], "list": [1]}]


@simulated()
async def test_a_large_output_goes_to_a_blob_and_comes_back_after_a_restart() -> None:
    async with world() as w:
        w.handlers.add("large", lambda context: {"text": "x" * 20_000})
        await w.define("one", step("large"), sleep(100))
        first = await w.engine()
        run = await w.start(first, "one")
        await pass_time(1)
        await first.close()
        assert max(len(row.data) for row in await w.beneath.journal.history(run)) < 2_000
        second = await w.engine()
        assert output_of(await w.ended(second, run)) == {"text": "x" * 20_000}


@simulated()
async def test_a_heartbeat_is_recorded_and_the_next_attempt_finds_it() -> None:
    async with world() as w:
        found: list[Any] = []

        async def long(context: ActivationContext) -> None:
            found.append(context.last_heartbeat)
            for page in range(1, 11):
                context.heartbeat({"page": page})
                await pass_time(0.2)
            if context.attempt == 1:
                raise ConnectionError("lost")

        w.handlers.add("long", long)
        await w.define("one", step("long", attempts=2))
        engine = await w.engine(heartbeat_every=1)
        head = await w.run(engine, "one")
        assert found == [None, {"page": 10}]
        recorded = (await w.event_names(head.run)).count("HeartbeatRecorded")
        assert recorded <= 8, "they are recorded no more often than once a second"


@simulated()
async def test_a_handler_can_write_and_read_blobs_of_its_namespace() -> None:
    async with world() as w:

        async def parts() -> AsyncIterator[bytes]:
            yield b"one "
            yield b"two"

        async def write(context: ActivationContext) -> str:
            return (await context.blobs.write(parts())).hash

        async def read(context: ActivationContext) -> str:
            return b"".join([part async for part in context.blobs.open(context.input)]).decode()

        w.handlers.add("write", write)
        w.handlers.add("read", read)
        await w.define("two", step("write"), step("read"))
        engine = await w.engine()
        assert output_of(await w.run(engine, "two")) == "one two"


@simulated()
async def test_a_run_that_uses_up_its_active_time_is_timed_out() -> None:
    async with world() as w:
        from perdure.model.policies import Limits

        async def endless(context: ActivationContext) -> None:
            await pass_time(100_000)

        w.handlers.add("endless", endless)
        await w.define("one", sleep(3600), step("endless"))
        engine = await w.engine(sweep=5, poll=60)
        head = await w.run(engine, "one", limits=Limits(active_time=600_000_000))
        assert head.status == "TIMED_OUT"
        assert result_of(head)["failure"]["code"] == "LIMIT_ACTIVE_TIME"
        assert 4200 <= asyncio.get_running_loop().time() <= 4210, "sleeping does not count"


@simulated()
async def test_messages_and_attributes_become_durable_with_their_turn() -> None:
    async with world() as w:
        await w.define(
            "one", {"do": "label", "values": {"colour": "red"}}, {"do": "publish", "type": "made"}, step("echo")
        )
        engine = await w.engine()
        head = await w.run(engine, "one", {"n": 1})
        assert (await w.head(head.run)).attributes == {"colour": "red"}
        (out,) = await w.beneath.outbox.take("relay", 10, 1_000_000)
        assert (out.message.type, out.message.payload) == ("made", {"n": 1})
        assert out.message.id.startswith(head.run)


@simulated()
async def test_asking_for_what_does_not_exist_is_not_found() -> None:
    async with world() as w:
        await w.define("one", step())
        engine = await w.engine()
        with pytest.raises(NotFound):
            await w.start(engine, "no such definition")
        with pytest.raises(NotFound):
            await w.start(engine, "one", version=7)
        with pytest.raises(NotFound):
            await engine.result(NAMESPACE, "no such run")
        run = await w.start(engine, "one")
        with pytest.raises(NotFound):
            await engine.result("another namespace", run)
        await w.ended(engine, run)


@simulated()
async def test_input_that_is_not_json_is_refused_before_anything_is_stored() -> None:
    async with world() as w:
        await w.define("one", step())
        engine = await w.engine()
        with pytest.raises(InvalidInput):
            await w.start(engine, "one", {"n": float("nan")})
        assert not w.store.commits


@simulated()
async def test_what_one_handler_puts_into_its_context_variables_no_other_sees() -> None:
    import contextvars

    variable = contextvars.ContextVar("variable", default="clean")
    async with world() as w:
        seen: list[str] = []

        async def look(context: ActivationContext) -> None:
            seen.append(variable.get())
            variable.set("dirty")

        w.handlers.add("look", look)
        await w.define("three", *steps(["look"] * 3))
        engine = await w.engine()
        await w.run(engine, "three")
        assert seen == ["clean"] * 3
