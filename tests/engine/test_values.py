"""Values that are not JSON: refused where they come in, with their place, and never kept as something else."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import pytest

from perdure import Perdure
from perdure.engine import ActivationContext, ActivationError, Result
from perdure.engine.execution import Execution
from perdure.engine.outputs import purified
from perdure.errors import InvalidInput, TooMuch
from perdure.model.commands import Cancel, RecordSideEffect, SetAttributes, Signal, Suspend
from perdure.model.policies import Limits
from perdure.model.values import encode_json
from perdure.stores.memory import MemoryStore
from perdure.testing.simloop import simulated
from tests.engine.world import NAMESPACE, output_of, result_of, signal, step, world

NAN = math.nan


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def endless() -> Any:
    value: dict[str, Any] = {}
    value["again"] = value
    return value


BAD: dict[str, tuple[Any, str]] = {
    "nan": ({"a": [1, NAN]}, "/a/1"),
    "infinity": ({"a": {"b": math.inf}}, "/a/b"),
    "too deep": ({"a": nested(70)}, "/a" + "/0" * 64),
    "endless": ({"a": endless()}, "/a" + "/again" * 64),
    "an object": ({"when": (1, 2), "a": [object()]}, "/a/0"),
    "a key that is a pair": ({"a": {(1, 2): 3}}, "/a"),
    "two keys that are one": ({"a": {1: "one", "1": "uno"}}, "/a/1"),
    "half a character": ({"a": ["fine", "\ud800"]}, "/a/1"),
    "half a character in a key": ({"a": {"\ud800": 1}}, "/a"),
    "NUL": ({"a~/b": "x\0y"}, "/a~0~1b"),
    "a huge integer": ({"a": 2**1025}, "/a"),
    "an integer beyond all": ({"a": 10**5000}, "/a"),
}
bad = pytest.mark.parametrize(("value", "place"), BAD.values(), ids=BAD)


def is_there(found: str | None, place: str) -> bool:
    """What is too deep already is found a level earlier where something stands around it."""
    return found == place or (found is not None and len(place) > 100 and place.startswith(found))


@bad
def test_the_refusal_names_the_place(value: Any, place: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        purified(value)
    assert refused.value.pointer == place
    assert refused.value.message
    assert len(refused.value.message) < 200


@pytest.mark.parametrize("value", [NAN, [None, NAN], {"a": (1, math.inf)}, [math.nan, None]])
def test_what_is_written_as_json_never_turns_nan_into_null(value: Any) -> None:
    with pytest.raises(InvalidInput, match="is not a JSON number"):
        encode_json(value)
    assert encode_json([None, {"a": None}]) == b'[null,{"a":null}]'


@bad
def test_a_bad_output_fails_the_step_and_says_where(value: Any, place: str) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            w.handlers.add("odd", lambda context: value)
            w.handlers.add("odd vars", lambda context: Result("fine", vars={"x": value}))
            await w.define("output", step("odd"))
            await w.define("vars", step("odd vars"))
            engine = await w.engine()
            for name, where in (("output", place), ("vars", f"/vars/x{place}")):
                failure = result_of(await w.run(engine, name))["failure"]
                assert failure["code"] == "OUTPUT_INVALID"
                assert is_there(failure["details"]["pointer"], where)
                assert failure["message"].endswith(f" at {failure['details']['pointer']}")

    check()


@simulated()
async def test_vars_that_are_no_object_fail_the_step() -> None:
    async with world() as w:
        wrong: Any = ["a", "b"]
        w.handlers.add("odd", lambda context: Result(vars=wrong))
        await w.define("one", step("odd", attempts=3))
        engine = await w.engine()
        failure = result_of(await w.run(engine, "one"))["failure"]
        assert (failure["code"], failure["details"]) == ("OUTPUT_INVALID", {"pointer": "/vars"})


@bad
def test_a_bad_heartbeat_raises_in_the_step_at_once(value: Any, place: str) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            after: list[str] = []

            async def careless(context: ActivationContext) -> None:
                context.heartbeat(value)
                after.append("never reached")

            async def careful(context: ActivationContext) -> str | None:
                context.heartbeat("fine")
                try:
                    context.heartbeat(value)
                except InvalidInput as problem:
                    return problem.pointer
                return None

            w.handlers.add("careless", careless)
            w.handlers.add("careful", careful)
            await w.define("careless", step("careless", attempts=3))
            await w.define("careful", step("careful"))
            engine = await w.engine()
            failure = result_of(await w.run(engine, "careless"))["failure"]
            assert failure["code"] == "INVALID_INPUT"
            assert failure["message"].startswith("what the heartbeat says: ")
            assert failure["details"]["pointer"] == place
            assert output_of(await w.run(engine, "careful")) == place
            assert (after, w.diary.aside, w.handlers.count("careless")) == ([], [], 1)

    check()


@simulated()
async def test_a_heartbeat_that_is_larger_than_the_run_may_be_raises_in_the_step() -> None:
    async with world() as w:
        w.handlers.add("chatty", lambda context: context.heartbeat("x" * 2_000))
        await w.define("one", step("chatty"))
        engine = await w.engine()
        failure = result_of(await w.run(engine, "one", limits=Limits(data=1_000)))["failure"]
        assert failure["code"] == "TOO_MUCH"


@simulated()
async def test_what_a_heartbeat_said_is_not_changed_by_the_step_later() -> None:
    async with world() as w:
        seen: list[Any] = []

        async def long(context: ActivationContext) -> None:
            seen.append(context.last_heartbeat)
            done: dict[str, Any] = {"pages": [1]}
            context.heartbeat(done)
            done["pages"].append(2)
            if context.attempt == 1:
                raise ConnectionError("lost")

        w.handlers.add("long", long)
        await w.define("one", step("long", attempts=2))
        engine = await w.engine()
        await w.run(engine, "one")
        assert seen == [None, {"pages": [1]}]


async def test_a_plain_function_sends_heartbeats_from_its_thread_and_a_bad_one_raises_there() -> None:
    """The commands of a run are decided on the loop, whoever sends them."""
    app = Perdure(MemoryStore())
    loop_thread = threading.get_ident()
    delivered: list[int] = []

    def work(ctx: ActivationContext) -> str:
        assert threading.get_ident() != loop_thread
        try:
            ctx.heartbeat({"a": NAN})
        except InvalidInput as problem:
            ctx.heartbeat({"page": 1})
            return str(problem.pointer)
        return "accepted"

    app.register(work)
    async with app:
        beats = app.engine.runtime.runner.heartbeats
        hear = beats._hear

        def heard(execution: Execution, details: Any) -> None:
            delivered.append(threading.get_ident())
            hear(execution, details)

        beats._hear = heard  # type: ignore[method-assign]
        nodes = [{"id": "start", "type": "start"}, {"id": "work", "type": "python", "config": {"step": "work"}}]
        await app.deploy({"id": "d", "nodes": nodes, "edges": [{"source": "start", "target": "work"}]})
        assert await (await app.start("d")).result() == "/a"
    assert delivered == [loop_thread]


@bad
def test_a_bad_input_payload_attribute_or_note_is_refused_and_the_run_goes_on(value: Any, place: str) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            await w.define("one", signal("go"))
            engine = await w.engine()
            for option, where in (("input", "/input"), ("thread", "/thread"), ("lookups", "/lookups")):
                with pytest.raises(InvalidInput) as refused:
                    await w.start(engine, "one", **{option: value})
                assert is_there(refused.value.pointer, where + place)
            run = await w.start(engine, "one")
            for command, where in (
                (Signal("go", value), "/payload"),
                (SetAttributes({"x": value}), "/values/x"),
                (RecordSideEffect("k", value), "/value"),
            ):
                with pytest.raises(InvalidInput) as refused:
                    await engine.send(NAMESPACE, run, command)
                assert is_there(refused.value.pointer, where + place)
            await engine.send(NAMESPACE, run, Signal("go", "fine"))
            assert output_of(await w.ended(engine, run)) == "fine"
            assert w.diary.aside == []

    check()


@pytest.mark.parametrize("text", ["\0", "\ud800", 7])
def test_a_text_that_one_store_would_not_keep_is_refused_as_reason_name_or_key(text: Any) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            await w.define("one", signal("go"))
            engine = await w.engine()
            run = await w.start(engine, "one")
            for command, where in (
                (Cancel(text), "/reason"),
                (Suspend(text), "/reason"),
                (Signal(text), "/name"),
                (Signal("go", id=text), "/id"),
                (SetAttributes({text: 1}), "/values"),
                (RecordSideEffect(text, 1), "/key"),
            ):
                with pytest.raises(InvalidInput) as refused:
                    await engine.send(NAMESPACE, run, command)
                assert refused.value.pointer == where
            await engine.send(NAMESPACE, run, Signal("go", "fine"))
            assert output_of(await w.ended(engine, run)) == "fine"

    check()


@simulated()
async def test_an_input_that_is_larger_than_the_run_may_be_is_refused() -> None:
    async with world() as w:
        await w.define("one", step())
        engine = await w.engine()
        with pytest.raises(TooMuch) as refused:
            await w.start(engine, "one", "x" * 2_000, limits=Limits(data=1_000))
        assert (refused.value.pointer, refused.value.details["limit"]) == ("/input", 1_000)


@pytest.mark.parametrize("wait", [NAN, math.inf, -1, "soon"])
def test_a_failure_whose_pause_is_no_duration_is_still_a_failure(wait: Any) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:

            def busy(context: ActivationContext) -> None:
                raise ActivationError("BUSY", "later", retryable=True, retry_after=wait)

            w.handlers.add("busy", busy)
            await w.define("one", step("busy", attempts=2))
            engine = await w.engine()
            async with asyncio.timeout(7 * 86_400):
                assert result_of(await w.run(engine, "one"))["failure"]["code"] == "BUSY"

    check()


@simulated()
async def test_an_error_of_ours_with_details_that_are_not_json_is_still_a_failure() -> None:
    async with world() as w:

        def odd(context: ActivationContext) -> None:
            raise InvalidInput("odd \ud800", thing=object(), ratio=NAN)

        w.handlers.add("odd", odd)
        await w.define("one", step("odd"))
        engine = await w.engine()
        failure = result_of(await w.run(engine, "one"))["failure"]
        assert (failure["code"], failure["message"]) == ("INVALID_INPUT", "odd ?")
        assert w.diary.aside == []
