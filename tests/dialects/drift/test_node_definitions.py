"""Node definitions that are stored by themselves: used by several workflows, each with its version (A03, A05)."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.errors import DocumentInvalid, InvalidInput
from tests.dialects.drift.documents import Doc, good, script, state, workflow
from tests.fixtures.stage import Stage, on_stage
from tests.rows.worlds import World, on_every_store


def using(version: Any, id: str = "wf") -> Doc:
    return workflow({"a": {"type": "NODE", "resourceId": "say", "resourceVersion": version, "end": True}}, id=id)


def saying(text: str) -> Doc:
    return good("SUCCESS", id="say", comment=text)


async def said(app: Any, id: str) -> Any:
    return (await (await app.start(id)).result())["comment"]


@on_every_store
async def test_a03_each_workflow_keeps_the_version_of_a_node_that_it_names(world: World) -> None:
    async with world.app() as app:
        await app.parts.deploy("default", "node", "say", saying("one"))
        await app.deploy(using(1, "first"))
        await app.deploy(using("1", "second"))
        await app.deploy(using("LATEST", "newest"))
        assert [await said(app, id) for id in ("first", "second", "newest")] == ["one", "one", "one"]
        await app.parts.save("default", "node", "say", saying("two"))
        await app.deploy(using("SNAPSHOT", "draft"))
        assert [await said(app, id) for id in ("newest", "draft")] == ["one", "two"]
        await app.parts.publish("default", "node", "say")
        await app.deploy(using(2, "second"))
        assert [await said(app, id) for id in ("first", "second", "newest")] == ["one", "two", "two"]


@on_every_store
async def test_a_definition_that_stands_inside_wins_over_a_stored_one(world: World) -> None:
    async with world.app() as app:
        await app.parts.deploy("default", "node", "say", saying("stored"))
        document = using("LATEST")
        document["states"]["a"]["nodeDefinition"] = saying("inside")
        await app.deploy(document)
        assert await said(app, "wf") == "inside"


@on_every_store
async def test_what_is_wrong_with_a_stored_node_is_told_where_it_is_used(world: World) -> None:
    async with world.app() as app:
        with pytest.raises(DocumentInvalid) as missing:
            await app.deploy(using("LATEST"))
        assert missing.value.problems[0]["pointer"] == "/states/a/resourceId"
        branch = good("BRANCH", id="say", choices=[{"rule": script("return true"), "nextNode": "nowhere"}])
        await app.parts.deploy("default", "node", "say", branch)
        with pytest.raises(DocumentInvalid) as caught:
            await app.deploy(using("LATEST"))
        assert [(each["code"], each["pointer"]) for each in caught.value.problems] == [
            ("STATE_UNKNOWN", "/states/a/resourceId")
        ]


@on_every_store
async def test_a_stored_script_that_needs_a_human_is_refused_with_its_line(world: World) -> None:
    async with world.app() as app:
        wrong = good("GROOVY", transformer=script("def a = 1\nnew File('/etc/passwd').text\nreturn a"))
        with pytest.raises(DocumentInvalid) as caught:
            await app.parts.save("default", "node", "n", wrong)
        problem = caught.value.problems[0]
        assert (problem["pointer"], problem["line"]) == ("/transformer/value/data", 2)
        inside = workflow({"a": state(wrong)})
        with pytest.raises(DocumentInvalid) as again:
            await app.deploy(inside)
        problem = again.value.problems[0]
        assert (problem["pointer"], problem["line"]) == ("/states/a/nodeDefinition/transformer/value/data", 2)


@on_every_store
async def test_a05_a_partial_update_leaves_all_other_fields_and_keeps_the_type(world: World) -> None:
    async with world.app() as app:
        await app.parts.create("default", "node", "say", saying("one"))
        changed = await app.parts.update("default", "node", "say", {"name": "Another"})
        assert changed.document == {**saying("one"), "name": "Another"}
        with pytest.raises(InvalidInput) as caught:
            await app.parts.update("default", "node", "say", {"type": "FAILURE", "error": "x"})
        assert caught.value.pointer == "/type"
        document = workflow({"a": state(saying("one")), "b": state(saying("two"))})
        await app.definitions.save("default", "wf", document)
        await app.definitions.update("default", "wf", {"comment": "why", "states": {"b": state(saying("three"))}})
        draft = (await app.definitions.draft("default", "wf")).document
        assert draft["comment"] == "why"
        assert draft["states"]["a"] == document["states"]["a"]
        assert draft["states"]["b"]["nodeDefinition"]["comment"] == "three"
        assert {key: draft[key] for key in ("id", "startNode")} == {"id": "wf", "startNode": "a"}


@on_every_store
async def test_snapshot_publish_latest_activate(world: World) -> None:
    def document(text: str) -> Doc:
        return workflow({"a": state(saying(text))})

    async with world.app() as app:
        await app.definitions.save("default", "wf", document("one"))
        assert (await app.definitions.publish("default", "wf")).version == 1
        await app.definitions.activate("default", "wf", 1)
        await app.definitions.save("default", "wf", document("two"))
        assert (await app.definitions.publish("default", "wf")).version == 2
        await app.definitions.save("default", "wf", document("three"))
        found = []
        for version in (None, "LATEST", "SNAPSHOT", 1):
            run = await app.runs.start("default", "wf", version=version)
            found.append((await app.run(run).result())["comment"])
        assert found == ["one", "two", "three", "one"]


@on_stage
async def test_a_stored_http_node_reads_the_parameters_of_the_state_that_uses_it(stage: Stage) -> None:
    node = good("GROOVY", id="double", transformer=script("return _global.nodeParameters.x * 2"))
    document = workflow(
        {
            "a": {"type": "NODE", "resourceId": "double", "parameters": {"x": 4}, "nextNode": "b"},
            "b": {"type": "NODE", "resourceId": "double", "parameters": {"x": "$.a"}, "end": True},
        }
    )
    async with stage.app() as app:
        await app.parts.deploy("default", "node", "double", node)
        await app.deploy(document)
        assert await (await app.start("wf")).result() == 16
