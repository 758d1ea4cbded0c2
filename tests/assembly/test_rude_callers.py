"""Steps and callers that do what nobody should: each gets a clear answer, and nothing of it harms the log."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from perdure import ActivationContext, Result
from perdure.errors import IllegalCommand, InvalidInput, RunEnded
from perdure.model.policies import Limits
from tests.rows.worlds import World, flow, node, on_every_store, step


async def leaves() -> None:
    sys.exit(3)


def stops() -> Any:
    return next(item for item in [1, 2] if item > 5)


async def interrupts() -> None:
    raise KeyboardInterrupt


async def looks() -> Any:
    return {}["by"]


async def chooses_badly(ctx: ActivationContext) -> Result:
    return Result(1, outcome=5)  # type: ignore[arg-type]


@on_every_store
async def test_whatever_a_step_raises_is_the_failure_of_its_run_and_of_nothing_else(world: World) -> None:
    told = {}
    steps = (leaves, stops, interrupts, looks, chooses_badly)
    async with world.app(*steps) as app:
        for function in steps:
            await app.deploy(flow(function.__name__, step(function.__name__)))
            with pytest.raises(RunEnded) as caught:
                await (await app.start(function.__name__)).result()
            assert caught.value.failure is not None
            told[function.__name__] = caught.value.failure["message"]
        await app.deploy(flow("fine", node("end", "end", {"output": "still here"})))
        assert await (await app.start("fine")).result() == "still here"
    assert told["leaves"] == "SystemExit: 3"
    assert told["looks"] == "KeyError: 'by'"
    assert "StopIteration" in told["stops"]


async def meddles(ctx: ActivationContext, order: Any) -> Any:
    order["amount"] = ctx.input["order"]["amount"] = 999_999  # type: ignore[index, call-overload]
    ctx.vars["seen"].append("mine")
    return order


def meddles_in_a_thread(order: Any) -> Any:
    order["amount"] = 999_999
    return order["amount"]


class Called:
    """Neither a function nor a coroutine function, but it is called like one."""

    __name__ = "called"

    async def __call__(self, ctx: ActivationContext) -> Any:
        return "awaited"


@on_every_store
async def test_a_step_that_changes_what_it_was_given_changes_nothing_in_its_run(world: World) -> None:
    async with world.app(meddles, meddles_in_a_thread) as app:
        arguments = {"arguments": {"order": "${input.order}"}}
        document = flow(
            "f",
            node("see", "set", {"vars": {"seen": ["first"]}}),
            node("one", "python", {"step": "meddles", **arguments}),
            node("two", "python", {"step": "meddles_in_a_thread", **arguments}),
            node("end", "end", {"output": "${[input.order.amount, vars.seen, nodes.start.output.order.amount]}"}),
        )
        await app.deploy(document)
        run = await app.start("f", {"order": {"amount": 1}})
        assert await run.result() == [1, ["first"], 1]


@on_every_store
async def test_an_object_that_is_called_like_an_async_function_is_a_step(world: World) -> None:
    async with world.app() as app:
        app.register(Called())
        await app.deploy(flow("f", step("called")))
        assert await (await app.start("f")).result() == "awaited"


@on_every_store
async def test_names_that_are_no_text_are_refused_before_they_reach_the_log(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f", node("wait", "wait-for-signal", {"name": "go"})))
        run = await app.start("f")
        bad: list[Any] = [5, "", "a\0b", "\ud800", "x" * 300]
        for name in bad:
            with pytest.raises(InvalidInput):
                await app.start("f", key=name)
            with pytest.raises(InvalidInput):
                await run.signal(name)
            with pytest.raises(InvalidInput):
                await run.signal("go", id=name)
        with pytest.raises(InvalidInput):
            await run.cancel(5)  # type: ignore[arg-type]
        for id in ("a/b", "a b", "", "...", "x" * 200):
            with pytest.raises(InvalidInput):
                await app.deploy({**flow("f", node("end", "end")), "id": None}, id=id)
        await run.signal("go")
        await run.result()


@on_every_store
async def test_a_signal_whose_answer_was_lost_may_be_sent_again_even_after_the_end(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f", node("wait", "wait-for-signal", {"name": "go"})))
        run = await app.start("f")
        await run.signal("go", 1, id="form-17")
        assert await run.result() == 1
        await run.signal("go", 1, id="form-17")
        with pytest.raises(IllegalCommand):
            await run.signal("go", 1, id="form-18")


@on_every_store
async def test_a_name_that_no_run_can_have_is_refused_before_the_store_is_asked(world: World) -> None:
    async with world.app() as app:
        for id in ("\ud800", "\0", "", "x" * 257, 7):
            run = app.run(id)  # type: ignore[arg-type]
            for ask in (run.view, run.result, run.cancel, run.suspend, run.resume, run.retry, run.history, run.why):
                with pytest.raises(InvalidInput) as told:
                    await ask()
                assert told.value.pointer == "/id"
            with pytest.raises(InvalidInput):
                await run.signal("go")
            with pytest.raises(InvalidInput):
                await app.list_runs(before=id)  # type: ignore[arg-type]
            with pytest.raises(InvalidInput):
                await app.activate(id, 1)  # type: ignore[arg-type]


@on_every_store
async def test_limits_and_versions_that_are_none_are_refused(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f"))
        for limits in ({"iterations": 5}, Limits(iterations="5"), Limits(data=-1), Limits(activations=True)):  # type: ignore[arg-type]
            with pytest.raises(InvalidInput) as told:
                await app.start("f", limits=limits)  # type: ignore[arg-type]
            assert str(told.value.pointer).startswith("/limits")
        for version in (0, -1, 2**31, 2**70, True, "1", 1.0):
            with pytest.raises(InvalidInput):
                await app.start("f", version=version)  # type: ignore[arg-type]
            with pytest.raises(InvalidInput):
                await app.activate("f", version)  # type: ignore[arg-type]
        await (await app.start("f", limits=Limits(iterations=5), version=1)).result()
