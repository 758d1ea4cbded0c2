"""Rows B07–B11, B14, D01, D02, D04, as far as scripts are concerned: on virtual time, in real sandboxes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from perdure import ActivationContext
from perdure.errors import DocumentInvalid, RunEnded
from perdure.nodes.scripts.script import compilations
from tests.rows.worlds import World, events, flow, node, on_every_store, step


def script(source: Any, language: str = "python", id: str = "script", **config: Any) -> dict[str, Any]:
    return node(id, "script", {"script": source, "language": language, **config})


def by_reference(ref: str, **version: Any) -> dict[str, Any]:
    return node("script", "script", {"script": {"ref": ref, **version}})


async def result(app: Any, document: dict[str, Any], input: Any = None, **start: Any) -> Any:
    await app.deploy(document)
    return await (await app.start(document["id"], input, **start)).result()


@on_every_store
async def test_b07_a_script_gives_the_same_inline_and_by_reference(world: World) -> None:
    async with world.app() as app:
        for language, source in (
            ("python", "{'total': sum(x.price for x in input.items), 'who': _thread.tenant}"),
            ("groovy", "[total: input.items.sum { it.price }, who: _thread.tenant]"),
        ):
            await app.parts.deploy("default", "script", "pricing", {"script": source, "language": language})
            order = {"items": [{"price": 3}, {"price": 4}]}
            inline = await result(app, flow("inline", script(source, language)), order, thread={"tenant": "shop"})
            stored = await result(app, flow("stored", by_reference("pricing")), order, thread={"tenant": "shop"})
            assert inline == stored == {"total": 7, "who": "shop"}


@on_every_store
async def test_b07_a_reference_is_to_a_version(world: World) -> None:
    async with world.app() as app:
        await app.parts.deploy("default", "script", "s", {"script": "1"})
        await app.parts.deploy("default", "script", "s", {"script": "2"})
        assert await result(app, flow("first", by_reference("s", version=1))) == 1
        assert await result(app, flow("active", by_reference("s"))) == 2


@on_every_store
async def test_b07_a_missing_reference_fails_at_save(world: World) -> None:
    async with world.app() as app:
        with pytest.raises(DocumentInvalid) as error:
            await app.deploy(flow("f", by_reference("nowhere")))
        [problem] = [each for each in error.value.problems if each["severity"] == "error"]
        assert problem["pointer"] == "/nodes/1/config/script"
        assert "nowhere" in problem["message"]


@on_every_store
async def test_b07_drift_says_scripttype_in_capitals(world: World) -> None:
    async with world.app() as app:
        for kind, source in (("PYTHON", "input.n + 1"), ("GROOVY", "input.n + 1")):
            typed = node("script", "script", {"source": source, "scriptType": kind})
            assert await result(app, flow("f", typed), {"n": 1}) == 2


@on_every_store
async def test_b08_a_script_reads_global_enum_store_and_thread(world: World) -> None:
    async with world.app() as app:
        await app.lookups.put("default", {"ims.vip": "http://ims", "reasons": ["late", "broken"]})
        for language, source in (
            (
                "python",
                "[_global.one.amount, _enum_store.ims.vip, _enum_store.reasons[1], _thread.tenant, _global.n]",
            ),
            (
                "groovy",
                "[_global.one.amount, _enum_store.ims.vip, _enum_store.reasons[1], _thread.tenant, _global.n]",
            ),
        ):
            document = flow("f", script("{'amount': 1500.0}", id="one"), script(source, language))
            found = await result(app, document, {"n": 5}, thread={"tenant": "shop"})
            assert found == [1500.0, "http://ims", "broken", "shop", 5]


@on_every_store
async def test_b08_a_script_reads_input_data_vars_nodes_run_metadata_and_loop_variables(world: World) -> None:
    async with world.app() as app:
        inside = script("[item.n, index, vars.base, input.items[0].n, run.definition]", id="inside")
        inside["parent"] = "each"
        document = flow(
            "f",
            node("set", "set", {"vars": {"base": 10}}),
            node("each", "loop", {"items": "input.items"}),
            inside,
            script("[nodes.each.output.results, data.count, len(_metadata.executedNodes) > 0]"),
        )
        found = await result(app, document, {"items": [{"n": 7}, {"n": 8}]})
        assert found == [[[7, 0, 10, 7, "f"], [8, 1, 10, 7, "f"]], 2, True]


@on_every_store
async def test_b09_no_file_no_module_no_network_no_way_out_and_an_end(world: World) -> None:
    async with world.app() as app:
        for source in (
            "open('/etc/passwd').read()",
            "import os\nos.environ",
            "import socket",
            "().__class__.__bases__",
        ):
            with pytest.raises(DocumentInvalid) as refused:
                await app.deploy(flow("f", script(source)))
            assert refused.value.problems[0]["code"] in ("SCRIPT_SYNTAX", "SCRIPT_NAME")
        with pytest.raises(RunEnded) as ended:
            await result(app, flow("f", script("while True: pass", timeout="100ms")))
        assert ended.value.failure is not None
        assert (ended.value.failure["code"], ended.value.failure["details"]) == ("SCRIPT_LIMIT", {"limit": "time"})
        assert await result(app, flow("f", script("1 + 1"))) == 2


@on_every_store
async def test_b10_syntax_is_checked_at_save_with_line_and_column(world: World) -> None:
    async with world.app() as app:
        for kind in ("python", "groovy"):
            with pytest.raises(DocumentInvalid) as error:
                await app.deploy(flow("f", script("x = 1\ny = (x +\n", kind)))
            problem = error.value.problems[0]
            assert problem["code"] == ("SCRIPT_SYNTAX" if kind == "python" else "GROOVY_SYNTAX")
            assert problem["pointer"] == "/nodes/1/config/script"
            assert problem["line"] >= 2
            assert problem["column"] >= 1
            with pytest.raises(DocumentInvalid) as error:
                await app.parts.deploy("default", "script", "s", {"script": "x = 1\ny = (x +\n", "language": kind})
            assert error.value.problems[0]["pointer"] == "/script"
            assert error.value.problems[0]["line"] >= 2


@on_every_store
async def test_b11_syntax_runtime_and_unknown_variables_have_three_codes_each_with_node_and_line(world: World) -> None:
    async with world.app() as app:
        with pytest.raises(DocumentInvalid) as syntax:
            await app.deploy(flow("f", script("1\n2 +")))
        assert (syntax.value.problems[0]["code"], syntax.value.problems[0]["line"]) == ("SCRIPT_SYNTAX", 2)
        with pytest.raises(DocumentInvalid) as name:
            await app.deploy(flow("f", script("1\nordr.id")))
        assert (name.value.problems[0]["code"], name.value.problems[0]["line"]) == ("SCRIPT_NAME", 2)
        codes = {}
        for language, source in (
            ("python", "x = 1\nx / 0"),
            ("python", "x = 1\nif x > 1:\n    y = 2\ny"),
            ("groovy", "def x = 1\n_global.order.id"),
        ):
            with pytest.raises(RunEnded) as ended:
                await result(app, flow("f", script(source, language)))
            failure = ended.value.failure
            assert failure is not None
            assert failure["node"] == "script"
            codes[source] = (failure["code"], failure["details"]["line"])
        assert list(codes.values()) == [("SCRIPT_RUNTIME", 2), ("SCRIPT_NAME", 4), ("SCRIPT_RUNTIME", 2)]


@on_every_store
async def test_b14_a_loop_of_scripts_compiles_once(world: World) -> None:
    async with world.app() as app:
        inside = script("item * 2  # of this test's own", id="inside")
        inside["parent"] = "each"
        document = flow("f", node("each", "loop", {"items": "input"}), inside)
        await app.deploy(document)
        before = compilations()
        found = await (await app.start("f", list(range(50)))).result()
        assert found["results"] == [number * 2 for number in range(50)]
        assert compilations() == before


@on_every_store
async def test_d01_every_output_is_in_global_by_the_name_of_its_node(world: World) -> None:
    async def refund(ctx: ActivationContext) -> Any:
        return {"refundAmount": 1500.00}

    async with world.app(refund) as app:
        document = flow("f", step("node002", "refund"), script("_global.node002.refundAmount"))
        assert await result(app, document) == 1500.00


@on_every_store
async def test_d02_a_look_up_that_changes_changes_new_runs_only_and_no_script_changes_it(world: World) -> None:
    async with world.app() as app:
        await app.lookups.put("default", {"a.b": 1})
        await app.deploy(
            flow("f", node("wait", "wait-for-signal", {"name": "go"}), script("_enum_store.a.b += 10\n_enum_store.a.b"))
        )
        early = await app.start("f")
        await app.lookups.put("default", {"a.b": 2})
        late = await app.start("f")
        for run in (early, late):
            await run.signal("go")
        assert [await early.result(), await late.result()] == [11, 12]
        assert (await app.lookups.get("default")).values == {"a.b": 2}


@on_every_store
async def test_d04_the_thread_reaches_scripts_of_children_too(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("child", script("_thread.tenant + _thread.client")))
        document = flow("f", node("call", "sub-flow", {"definition": "child"}))
        assert await result(app, document, thread={"tenant": "a", "client": "b"}) == "ab"


@on_every_store
async def test_a_script_may_choose_which_edge_is_taken(world: World) -> None:
    async with world.app() as app:
        choosing = script(
            "if input.n > 5:\n    return {'outcome': 'big', 'output': input.n}\n'small'", outcomes=["big", "small"]
        )
        document = flow(
            "f",
            choosing,
            node("b", "json", {"data": ["big", "${data}"]}),
            node("s", "json", {"data": ["small", "${data}"]}),
            edges=["start script", "script b big", "script s small"],
        )
        assert (await result(app, document, {"n": 7}))["data"] == ["big", 7]
        assert (await result(app, document, {"n": 3}))["data"] == ["small", {"n": 3}]
        with pytest.raises(RunEnded) as ended:
            await result(app, flow("f", script("'other'", outcomes=["big", "small"])))
        assert ended.value.failure is not None
        assert ended.value.failure["code"] == "SCRIPT_OUTCOME"


@on_every_store
async def test_the_output_may_also_become_a_variable(world: World) -> None:
    async with world.app() as app:
        assert await result(app, flow("f", script("input + 1", variable="x"), script("vars.x + 1", id="last")), 1) == 3


@on_every_store
async def test_a_script_that_is_repeated_gives_the_same(world: World) -> None:
    """Its clock stands at the moment when its turn came, and chance comes from its key: another attempt, on another
    worker perhaps, sees both again."""
    source = "import random\nfrom datetime import datetime\n[datetime.now().isoformat(), random.random()]"
    async with world.app() as app:
        one = await result(app, flow("f", script(source)))
        two = await result(app, flow("f", script(source)))
        assert one[1] != two[1]  # another run, other chance
        spec = app.handlers["script"]
        calls: list[Any] = []

        async def twice(ctx: ActivationContext) -> Any:
            calls.extend([(await spec.call(ctx)).output, (await spec.call(ctx)).output])  # type: ignore[misc]
            return calls

        app.handlers["script"] = msgspec.structs.replace(spec, call=twice)
        first, second = await result(app, flow("f", script(source)))
        assert first == second


@on_every_store
async def test_secrets_are_out_of_reach_and_leave_no_trace(world: World) -> None:
    def hide(app: Any) -> None:
        app.secrets._given = {"KEY": "s3cr3t-canary"}

    async with world.app(prepare=hide) as app:
        for source in ("[_global, _thread, input, vars, nodes, run, _metadata, _enum_store]", "repr(_thread)"):
            run = await app.start((await app.deploy(flow("f", script(source)))).id, {"secret": "KEY"})
            assert "s3cr3t" not in repr(await run.result())
            assert "s3cr3t" not in repr(await events(app, run.id))
