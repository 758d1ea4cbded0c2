"""Programs with different steps and node types on one database: runs find those who have what they need."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure import ActivationContext, Perdure
from perdure.engine import HandlerSpec
from perdure.errors import DocumentInvalid, NotInstalled
from perdure.nodes import python
from perdure.programs.flow.nodetypes import NodeType
from perdure.testing.simloop import pass_time
from tests.rows.worlds import World, flow, node, on_every_store, step


async def charge(n: int) -> int:
    return n + 1


async def ship(n: int) -> int:
    return n * 10


async def rest(ctx: ActivationContext) -> Any:
    await pass_time(5)
    return ctx.input


def rare(app: Perdure) -> None:
    """A node type of its own."""

    def work(ctx: ActivationContext) -> Any:
        return ctx.input

    config: Any = python.PythonConfig
    type = NodeType(name="rare", title="", description="", config=config, prepare=python.prepare, plan=python.plan)
    app.add_node_type(type, HandlerSpec(work))


@on_every_store
async def test_a_run_finds_the_program_that_has_its_step(world: World) -> None:
    async with world.app(charge) as one, world.app(ship):
        await one.deploy(flow("order", step("charge"), step("ship")))
        run = await one.start("order", 1)
        assert await run.result() == 20
        names = [type(recorded.event).__name__ for recorded in await run.history()]
        assert "ActivationFailed" not in names


@on_every_store
async def test_a_run_of_which_nobody_has_the_step_says_which(world: World) -> None:
    async with world.app(charge) as one:
        await one.deploy(flow("order", step("charge"), step("ship")))
        run = await one.start("order", 1)
        await pass_time(100)
        assert await run.status() == "RUNNING"
        (why,) = await run.why()
        assert why.startswith("ship waits: no worker that is running has the step 'ship'")
        (reason,) = await one.runs.explain("default", run.id)
        assert (reason.kind, reason.node, reason.subject) == ("lacking", "ship", "ship")
        one.register(ship)
        begun = asyncio.get_running_loop().time()
        assert await run.result() == 20
        assert asyncio.get_running_loop().time() - begun < 0.1


@on_every_store
async def test_who_has_the_step_and_is_not_running_is_no_reason_to_say_that_nobody_has_it(world: World) -> None:
    async with world.app(charge) as one:
        await one.deploy(flow("order", step("ship")))
        run = await one.start("order", 1)
        await pass_time(1)
    able = Perdure(world.store)
    able.register(ship)
    able._assemble()
    assert await able.run(run.id).why() == ["ship waits for a worker to take it up"]


@on_every_store
async def test_what_follows_beside_a_missing_step_is_left_to_whoever_has_both(world: World) -> None:
    edges = ["start rest", "rest charge", "start ship"]
    async with world.app(charge, rest) as one:
        await one.deploy(flow("order", step("rest"), step("charge"), step("ship"), edges=edges))
        run = await one.start("order", 1)
        await pass_time(4)
        assert {reason.kind for reason in await one.runs.explain("default", run.id)} == {"executing"}
        await pass_time(2)
        # What had begun has ended; what came after it has not begun, because ship might wait for ever else.
        assert sorted(await run.why()) == [
            "charge waits for a worker to take it up",
            "ship waits: no worker that is running has the step 'ship', or none that has it has room",
        ]
        async with world.app(charge, ship, rest) as two:
            await two.run(run.id).result()
            assert await two.run(run.id).status() == "COMPLETED"


@on_every_store
async def test_a_run_with_a_node_type_that_is_not_installed_here_is_left_alone(world: World) -> None:
    document = flow("f", node("nap", "sleep", {"duration": "5s"}), node("rare", "rare", {"step": "x"}))
    async with world.app(prepare=rare) as able:
        await able.deploy(document)
        run = await able.start("f", 7)
        waiting = await able.start("f", 8)
    async with world.app() as one:
        with pytest.raises(DocumentInvalid):
            await one.deploy({**document, "id": "g"})
        with pytest.raises(NotInstalled, match="rare"):
            await one.start("f")
        here = one.run(waiting.id)
        assert await here.why() == ["what it waits for cannot be said here, without the node type 'rare'"]
        await pass_time(20)
        (why,) = await here.why()
        assert why.startswith("the run waits: no worker that is running has the node type 'rare'")
        await one.run(run.id).signal("early", 1)
        rare(one)
        assert (await one.run(run.id).result())["data"] == 7
        assert (await here.result())["data"] == 8
        events = [type(recorded.event).__name__ for recorded in await one.run(run.id).history()]
        assert "SignalReceived" in events


@on_every_store
async def test_a_sub_flow_with_a_node_type_that_is_not_installed_here_is_started_elsewhere(world: World) -> None:
    async with world.app(prepare=rare) as able:
        await able.deploy(flow("inner", node("rare", "rare", {"step": "x"})))
    call = node("call", "sub-flow", {"definition": "inner", "input": "${input}"})
    async with world.app(charge) as one:
        await one.deploy(flow("outer", step("charge"), call))
        run = await one.start("outer", 1)
        await pass_time(1)
        (why,) = await run.why()
        assert why.startswith("call waits: no worker that is running has the node type 'rare'")
        async with world.app(prepare=rare):
            assert await run.result() == 1
        rare(one)  # only so that it can check the database


@on_every_store
async def test_a_run_that_cannot_go_on_can_be_cancelled_and_its_done_steps_undone(world: World) -> None:
    undone: list[int] = []

    async def refund(n: int) -> None:
        undone.append(n)

    document = flow(
        "order",
        step("charge", compensate="refund", compensate_on_cancel=True),
        step("ship"),
        step("refund"),
        edges=["start charge", "charge ship"],
    )
    async with world.app(charge, refund) as one:
        await one.deploy(document)
        run = await one.start("order", 1)
        await pass_time(30)
        await run.cancel("nobody can ship it")
        await pass_time(60)
        assert await run.status() == "CANCELLED"
        assert len(undone) == 1
