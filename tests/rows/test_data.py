"""Rows C15, C16, D01–D16: what nodes can read, what they hand on, what survives."""

from __future__ import annotations

from typing import Any

import pytest

from perdure import ActivationContext, ActivationError
from perdure.errors import DocumentInvalid, InvalidInput, RunEnded
from tests.rows.worlds import World, events, flow, node, on_every_store, step


@on_every_store
async def test_c15_a_step_knows_its_node_configuration_input_shared_data_run_and_namespace(world: World) -> None:
    async def echo(ctx: ActivationContext) -> Any:
        return [ctx.node_id, ctx.config["step"], ctx.input, dict(ctx.vars), ctx.run_id, ctx.namespace]

    async with world.app(echo) as app:
        await app.deploy(flow("f", node("set", "set", {"vars": {"a": 1}}), step("echo")))
        run = await app.start("f", {"in": 1})
        found = await run.result()
        assert found[0:2] == ["echo", "echo"]
        assert found[3:] == [{"a": 1}, run.id, "default"]


@on_every_store
async def test_c16_a_failure_keeps_what_there_was_before_it(world: World) -> None:
    async def halves(ctx: ActivationContext) -> None:
        raise ActivationError("HALF", "only half was done", output={"done": 1})

    async def rescue(ctx: ActivationContext) -> Any:
        return ctx.input

    async with world.app(halves, rescue) as app:
        await app.deploy(flow("f", step("halves"), step("rescue"), edges=["start halves", "halves rescue error"]))
        told = await (await app.start("f", 7)).result()
        assert told["output"] == {"done": 1}
        assert (told["error"]["code"], told["node"], told["input"]) == ("HALF", "halves", 7)


@on_every_store
async def test_d01_d02_d03_d04_the_names_of_drift_can_be_read(world: World) -> None:
    async def refund() -> dict[str, float]:
        return {"refundAmount": 1500.0}

    reads = {
        "amount": "${_global.node002.refundAmount}",
        "vip": "${_enum_store.vip}",
        "executed": "${_metadata.executedNodes}",
        "tenant": "${_thread.tenant}",
        "created": "${_metadata.createdAt}",
    }
    async with world.app(refund) as app:
        await app.deploy(flow("f", step("node002", "refund"), node("end", "end", {"output": reads})))
        run = await app.engine.start(
            "default", "f", None, thread={"tenant": "acme"}, lookups={"vip": "http://orders.example"}
        )
        found = await app.run(run).result()
        assert found["amount"] == 1500.0
        assert found["vip"] == "http://orders.example"
        assert found["tenant"] == "acme"
        assert found["executed"] == ["start", "node002"]
        assert found["created"].endswith("Z")


@on_every_store
async def test_d04_the_thread_reaches_children_too(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("child", node("end", "end", {"output": "${_thread.tenant}"})))
        await app.deploy(flow("f", node("call", "sub-flow", {"definition": "child"})))
        assert await (await app.start("f", thread={"tenant": "acme"})).result() == "acme"


@on_every_store
async def test_d05_d06_d07_expressions_templates_and_nesting_resolve_with_their_types(world: World) -> None:
    output = {
        "number": "${input.n * 2}",
        "text": "order {{input.id}} of ${input.n}",
        "nested": "${input.by[${input.key}]}",
        "object": "${input.by}",
    }
    async with world.app() as app:
        await app.deploy(flow("f", node("end", "end", {"output": output})))
        given = {"n": 21, "id": "A-1", "key": "k", "by": {"k": [1, 2]}}
        assert await (await app.start("f", given)).result() == {
            "number": 42,
            "text": "order A-1 of 21",
            "nested": [1, 2],
            "object": {"k": [1, 2]},
        }


@on_every_store
async def test_d08_d09_a_missing_value_is_an_error_or_stays_as_it_is_node_by_node(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("strict", node("end", "end", {"output": "${input.nothing.here}"})))
        with pytest.raises(RunEnded) as caught:
            await (await app.start("strict", {})).result()
        assert caught.value.failure is not None
        assert caught.value.failure["code"] == "VALUE_MISSING"
        assert "input.nothing" in caught.value.failure["message"]
        lenient = node("end", "end", {"output": "dear ${input.name}"}, missing="lenient")
        await app.deploy(flow("lenient", lenient))
        assert await (await app.start("lenient", {})).result() == "dear ${input.name}"
        with pytest.raises(DocumentInvalid) as refused:
            await app.deploy(flow("wrong", node("end", "end", {"output": "${1 +}"})))
        problem = refused.value.problems[0]
        assert (problem["code"], problem["line"]) == ("EXPRESSION_SYNTAX", 1)


@on_every_store
async def test_d11_d16_shared_data_and_results_survive_every_restart(world: World) -> None:
    calls: list[str] = []

    async def note(ctx: ActivationContext) -> Any:
        calls.append(ctx.node_id)
        return ctx.vars["total"]

    nodes: list[dict[str, Any]] = [node("set", "set", {"vars": {"total": "${input.n + 1}"}})]
    for number in range(1, 4):
        nodes += [step(f"s{number}", "note"), node(f"w{number}", "wait-for-signal", {"name": f"go{number}"})]
    async with world.app(note) as app:
        await app.deploy(flow("f", *nodes, step("last", "note")))
        run = (await app.start("f", {"n": 41})).id
    for number in range(1, 4):
        async with world.app(note) as app:
            await app.run(run).signal(f"go{number}")
    async with world.app(note) as app:
        assert await app.run(run).result() == 42
    assert calls == ["s1", "s2", "s3", "last"]


@on_every_store
async def test_d12_one_predecessor_gives_its_output_several_give_a_map(world: World) -> None:
    async def value(n: int) -> int:
        return n

    async def take(ctx: ActivationContext) -> Any:
        return ctx.input

    async with world.app(value, take) as app:
        nodes = [step("a", "value", arguments={"n": 1}), step("b", "value", arguments={"n": 2}), step("take")]
        await app.deploy(flow("one", nodes[0], nodes[2]))
        assert await (await app.start("one")).result() == 1
        await app.deploy(flow("two", *nodes, edges=["start a", "start b", "a take", "b take"]))
        assert await (await app.start("two")).result() == {"a": 1, "b": 2}


@on_every_store
async def test_d13_c10_loops_have_their_own_names_and_see_those_around_them(world: World) -> None:
    async with world.app() as app:
        outer = node("rows", "loop", {"items": "${input}", "itemVariable": "row", "indexVariable": "i"})
        inner = node("cells", "loop", {"items": "${row}", "item": "cell", "index": "j"}, parent="rows")
        body = node("say", "json", {"data": {"at": ["${i}", "${j}"], "cell": "${cell}"}}, parent="cells")
        await app.deploy(flow("f", outer, inner, body))
        found = await (await app.start("f", [["a"], [], ["b", "c"]])).result()
        cells = [cell["data"] for row in found["results"] for cell in row["results"]]
        assert cells == [
            {"at": [0, 0], "cell": "a"},
            {"at": [2, 0], "cell": "b"},
            {"at": [2, 1], "cell": "c"},
        ]
        assert (await (await app.start("f", [])).result())["count"] == 0


@on_every_store
async def test_d15_the_input_is_there_even_if_nobody_lived_to_see_the_first_node(world: World) -> None:
    async with world.app() as app:
        await app.deploy(
            flow("f", node("wait", "wait-for-signal", {"name": "go"}), node("end", "end", {"output": "${input}"}))
        )
        run = (await app.start("f", {"order": 7})).id
        started = (await events(app, run))[0]
        assert started.input == {"order": 7}
    async with world.app() as app:
        await app.run(run).signal("go")
        assert await app.run(run).result() == {"order": 7}


@on_every_store
async def test_an_input_that_the_flow_does_not_allow_is_refused_before_anything_is_stored(world: World) -> None:
    async with world.app() as app:
        document = flow("f", node("end", "end"))
        document["input_schema"] = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
        await app.deploy(document)
        with pytest.raises(InvalidInput, match="n") as caught:
            await app.start("f", {"n": "x"})
        assert caught.value.pointer == "/input/n"
        assert await app.list_runs() == []
        await (await app.start("f", {"n": 1})).result()
