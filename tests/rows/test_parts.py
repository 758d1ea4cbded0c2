"""Rows A03, A05, A19, D02: stored parts, partial updates, comments, look-ups."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.errors import Conflict, DocumentInvalid, InvalidInput, NotFound
from tests.rows.worlds import World, flow, node, on_every_store, step


def greeting(word: str, **more: Any) -> dict[str, Any]:
    return {"type": "json", "config": {"data": {"word": word}}, **more}


def using(id: str, version: Any = "LATEST", ref: str = "greeting") -> dict[str, Any]:
    say = {"id": "say", "use": {"ref": ref, "version": version}}
    return flow(id, say, node("end", "end", {"output": "${nodes.say.output.data.word}"}))


@on_every_store
async def test_a03_one_of_two_flows_moves_to_a_new_node_definition_and_the_other_stays(world: World) -> None:
    async with world.app() as app:
        await app.parts.create("default", "node", "greeting", greeting("hello"))
        assert (await app.parts.publish("default", "node", "greeting")).version == 1
        await app.deploy(using("stays", 1))
        await app.deploy(using("moves", 1))

        await app.parts.update("default", "node", "greeting", greeting("good morning"))
        assert (await app.parts.publish("default", "node", "greeting")).version == 2
        await app.deploy(using("moves", 2))

        assert await (await app.start("stays")).result() == "hello"
        assert await (await app.start("moves")).result() == "good morning"


@on_every_store
async def test_a03_a_flow_that_takes_the_newest_follows_it_and_a_run_keeps_what_it_began_with(world: World) -> None:
    document = flow(
        "f",
        node("wait", "wait-for-signal", {"name": "go"}),
        {"id": "say", "use": {"ref": "greeting"}},
        node("end", "end", {"output": "${nodes.say.output.data.word}"}),
    )
    async with world.app() as app:
        await app.parts.deploy("default", "node", "greeting", greeting("hello"))
        await app.deploy(document)
        early = await app.start("f")
        await app.parts.deploy("default", "node", "greeting", greeting("good morning"))
        late = await app.start("f")  # at once, in the process that has published
        assert (await early.view()).pins == {"node:greeting@LATEST": 1}
        assert (await late.view()).pins == {"node:greeting@LATEST": 2}

    async with world.app() as app:  # another process, with nothing in its memory
        for number in range(3):
            await app.parts.deploy("default", "node", "greeting", greeting(f"later {number}"))
        await app.run(early.id).signal("go")
        await app.run(late.id).signal("go")
        assert await app.run(early.id).result() == "hello"
        assert await app.run(late.id).result() == "good morning"
        started = (await app.run(early.id).history())[0].event
        assert started.pins == {"node:greeting@LATEST": 1}  # type: ignore[attr-defined]


@on_every_store
async def test_a03_a_node_overrides_what_it_is_made_from(world: World) -> None:
    stored = {"type": "json", "config": {"data": {"a": 1}}, "comment": "shared", "name": "Shared"}
    own = {"id": "say", "use": {"ref": "shared"}, "config": {"data": {"b": "${input}"}}, "comment": "mine"}
    async with world.app() as app:
        await app.parts.deploy("default", "node", "shared", stored)
        await app.deploy(flow("f", own, node("end", "end", {"output": "${nodes.say.output.data}"})))
        assert await (await app.start("f", 7)).result() == {"b": 7}
        kept = await app.definitions.version("default", "f")
        assert kept.document["nodes"][1] == own  # stored as it was written


@on_every_store
async def test_words_for_versions_of_parts(world: World) -> None:
    async with world.app() as app:
        parts = app.parts
        await parts.deploy("default", "node", "greeting", greeting("one"))
        await parts.update("default", "node", "greeting", greeting("two"))
        await parts.publish("default", "node", "greeting")
        await parts.update("default", "node", "greeting", greeting("three"))
        for version, word in (("ACTIVE", "one"), ("LATEST", "two"), ("SNAPSHOT", "three"), (1, "one"), (2, "two")):
            assert (await parts.get("default", "node", "greeting", version)).document["config"]["data"]["word"] == word
            await app.deploy(using(f"f{version}", version))
            assert await (await app.start(f"f{version}")).result() == word
        assert (await parts.get("default", "node", "greeting", "SNAPSHOT")).version is None
        assert [each.version for each in await parts.versions("default", "node", "greeting")] == [1, 2]

        run = await app.start("fSNAPSHOT")
        await parts.update("default", "node", "greeting", greeting("four"))
        assert await (await app.start("fSNAPSHOT")).result() == "four"
        assert await run.result() == "three"
        await parts.activate("default", "node", "greeting", 2)
        assert await (await app.start("fACTIVE")).result() == "two"
        for version in (3, 0, "NEWEST", True, 2**40):
            with pytest.raises((NotFound, InvalidInput)):
                await parts.get("default", "node", "greeting", version)


@on_every_store
async def test_words_for_versions_of_flows(world: World) -> None:
    def saying(word: str) -> dict[str, Any]:
        return flow("f", node("wait", "wait-for-signal", {"name": "go"}), node("end", "end", {"output": word}))

    async with world.app() as app:
        await app.deploy(saying("active"))
        await app.definitions.save("default", "f", saying("newest"))
        await app.definitions.publish("default", "f")
        await app.definitions.save("default", "f", saying("draft"))
        runs = {}
        for version, word in (("ACTIVE", "active"), ("LATEST", "newest"), ("SNAPSHOT", "draft"), (2, "newest")):
            found = await app.definitions.version("default", "f", version)
            assert found.document["nodes"][-1]["config"]["output"] == word
            runs[word] = await app.start("f", version=version)
        view = await runs["draft"].view()
        assert (view.version, view.pins) == (0, {"flow:f@SNAPSHOT": 1})
        await app.definitions.save("default", "f", saying("another draft"))
        runs["another draft"] = await app.start("f", version="SNAPSHOT")

    async with world.app() as app:
        for word, run in runs.items():
            await app.run(run.id).signal("go")
            assert await app.run(run.id).result() == word
        assert [each.id for each in await app.list_definitions()] == ["f"]
        for bad in ("NEWEST", 0, -1, 1.0, True):
            with pytest.raises(InvalidInput) as caught:
                await app.start("f", version=bad)  # type: ignore[arg-type]
            assert caught.value.pointer == "/version"


@on_every_store
async def test_a05_an_update_with_only_a_comment_leaves_every_other_field_alone(world: World) -> None:
    first = greeting("hello", name="Greeting", comment="old", retry={"attempts": 2}, timeout="5s")
    async with world.app() as app:
        await app.parts.create("default", "node", "greeting", first)
        updated = await app.parts.update("default", "node", "greeting", {"comment": "new", "name": None})
        assert updated.document == {**first, "comment": "new"}
        with pytest.raises(InvalidInput) as caught:
            await app.parts.update("default", "node", "greeting", {"type": "python"})
        assert caught.value.pointer == "/type"
        with pytest.raises(Conflict):
            await app.parts.create("default", "node", "greeting", first)
        assert (await app.parts.get("default", "node", "greeting", "SNAPSHOT")).document == updated.document

        await app.definitions.create("default", "f", flow("f", node("end", "end", {"output": 1})))
        before = await app.definitions.draft("default", "f")
        after = await app.definitions.update("default", "f", {"description": "why"})
        assert after.document == {**before.document, "description": "why"}
        with pytest.raises(Conflict):
            await app.definitions.create("default", "f", before.document)
        with pytest.raises(NotFound):
            await app.definitions.update("default", "nothing", {})


@on_every_store
async def test_a05_updates_that_meet_are_both_kept(world: World) -> None:
    async with world.app() as app:
        await app.parts.create("default", "node", "greeting", greeting("hello"))
        fields = {"comment": "c", "name": "n", "timeout": "5s", "at_most_once": True}
        changes = ({name: value} for name, value in fields.items())
        await asyncio.gather(*(app.parts.update("default", "node", "greeting", each) for each in changes))
        stored = await app.parts.get("default", "node", "greeting", "SNAPSHOT")
        assert stored.document == {**greeting("hello"), **fields}


@on_every_store
async def test_a19_comments_of_parts_and_nodes_come_back(world: World) -> None:
    async with world.app() as app:
        await app.parts.deploy("default", "script", "s", {"script": "1 + 1", "comment": "adds"})
        assert (await app.parts.get("default", "script", "s")).document["comment"] == "adds"
        await app.parts.update("default", "script", "s", {"comment": "still adds"})
        assert (await app.parts.publish("default", "script", "s")).version == 2  # a comment is worth a version
        document = flow("f", {**node("end", "end"), "comment": "the end"})
        await app.deploy(document)
        assert (await app.definitions.version("default", "f")).document == document


@on_every_store
async def test_a_flow_and_parts_may_have_the_same_id_and_lists_keep_them_apart(world: World) -> None:
    async with world.app() as app:
        await app.parts.deploy("default", "node", "same", greeting("hello"))
        await app.parts.deploy("default", "script", "same", {"script": "1"})
        await app.lookups.put("default", {"a": 1})
        await app.deploy(using("same", ref="same"))
        assert await (await app.start("same")).result() == "hello"
        assert [each.id for each in await app.list_definitions()] == ["same"]
        for kind in ("node", "script"):
            assert [(each.id, each.kind) for each in await app.parts.list("default", kind)] == [("same", kind)]


@on_every_store
async def test_a_missing_part_is_named_when_the_document_is_saved(world: World) -> None:
    async with world.app() as app:
        for version, told in (("LATEST", "no published version"), (3, "no version 3"), ("SNAPSHOT", "no draft")):
            with pytest.raises(DocumentInvalid) as caught:
                await app.deploy(using("f", version))
            (problem,) = caught.value.problems
            assert (problem["code"], problem["pointer"]) == ("PART_UNKNOWN", "/nodes/1/use")
            assert "greeting" in problem["message"]
            assert told in problem["message"]
        wrong = step("say", arguments={"x": [{"script": {"ref": "gone", "version": 2}}]})
        with pytest.raises(DocumentInvalid) as caught:
            await app.deploy(flow("f", wrong, node("end", "end")))
        (problem,) = caught.value.problems
        assert problem["pointer"] == "/nodes/1/config/arguments/x/0/script"
        assert problem["message"] == "the script 'gone' has no version 2"


@on_every_store
async def test_a_document_that_breaks_because_of_a_part_says_which(world: World) -> None:
    async with world.app() as app:
        await app.parts.deploy(
            "default", "node", "shaky", {"type": "sleep", "config": {"duration": "${nodes.gone.output}"}}
        )
        bad = flow("f", {"id": "nap", "use": {"ref": "shaky"}}, node("end", "end"))
        with pytest.raises(DocumentInvalid) as caught:
            await app.deploy(bad)
        (problem,) = caught.value.problems
        assert problem["pointer"] == "/nodes/1/use"
        assert "the node 'shaky' LATEST" in problem["message"]

        own = flow("f", {"id": "nap", "use": {"ref": "shaky"}, "config": {"duration": "6 parsecs"}}, node("end", "end"))
        with pytest.raises(DocumentInvalid) as caught:
            await app.deploy(own)
        (problem,) = caught.value.problems
        assert problem["pointer"] == "/nodes/1/config/duration"
        assert "shaky" not in problem["message"]


@on_every_store
async def test_a_part_that_does_not_fit_any_more_stops_starts_and_leaves_runs_alone(world: World) -> None:
    document = flow(
        "f", node("wait", "wait-for-signal", {"name": "go"}), {"id": "say", "use": {"ref": "p"}}, node("end", "end")
    )
    async with world.app() as app:
        await app.parts.deploy("default", "node", "p", greeting("fine"))
        await app.deploy(document)
        run = await app.start("f")
        await app.parts.save("default", "node", "p", {"type": "sleep", "config": {}})
        await app.parts.publish("default", "node", "p")
        with pytest.raises(DocumentInvalid) as caught:
            await app.start("f")
        assert "node:p@LATEST = 2" in caught.value.message
    async with world.app() as app:
        await app.run(run.id).signal("go")
        await app.run(run.id).result()


@on_every_store
async def test_d02_a_changed_look_up_is_seen_by_new_runs_only(world: World) -> None:
    document = flow(
        "f",
        node("before", "json", {"data": "${_enum_store.ims.vip}"}),
        node("wait", "wait-for-signal", {"name": "go"}),
        node("end", "end", {"output": '${[nodes.before.output.data, _enum_store.ims.vip, _enum_store["ims.vip"]]}'}),
    )
    async with world.app() as app:
        await app.lookups.put("default", {"ims.vip": "http://one"})
        await app.deploy(document)
        early = await app.start("f")
        await app.lookups.patch("default", {"ims.vip": "http://two", "other": [1, 2]})
        late = await app.start("f")
        await app.lookups.patch("default", {"ims.vip": None})
    async with world.app() as app:
        for run, expected in ((early, "http://one"), (late, "http://two")):
            await app.run(run.id).signal("go")
            assert await app.run(run.id).result() == [expected] * 3
        assert (await app.run(early.id).view()).pins == {"lookups:all@LATEST": 1}
        assert (await app.lookups.get("default")).values == {"other": [1, 2]}
        assert (await app.lookups.get("default", 1)).values == {"ims.vip": "http://one"}
        assert [each.version for each in await app.lookups.versions("default")] == [1, 2, 3]


@on_every_store
async def test_d02_a_run_that_began_without_look_ups_never_sees_any(world: World) -> None:
    document = flow(
        "f",
        node("wait", "wait-for-signal", {"name": "go"}),
        node("end", "end", {"output": '${get(_enum_store, "a", "nothing")}'}),
    )
    async with world.app() as app:
        await app.deploy(document)
        run = await app.start("f")
        await app.lookups.put("default", {"a": "something"})
    async with world.app() as app:
        await app.run(run.id).signal("go")
        assert await app.run(run.id).result() == "nothing"


@on_every_store
async def test_d02_no_node_can_change_a_look_up(world: World) -> None:
    def spoil(values: Any) -> Any:
        values["list"].append("spoilt")
        values["more"] = "spoilt"
        return values

    document = flow(
        "f",
        step("spoil", arguments={"values": "${_enum_store.cfg}"}),
        node("end", "end", {"output": "${_enum_store.cfg}"}),
    )
    async with world.app(spoil) as app:
        await app.lookups.put("default", {"cfg": {"list": [1]}})
        await app.deploy(document)
        for _ in range(2):
            assert await (await app.start("f")).result() == {"list": [1]}
        assert (await app.lookups.get("default")).values == {"cfg": {"list": [1]}}


@on_every_store
async def test_d02_a_child_takes_its_own_pins_when_it_starts(world: World) -> None:
    child = flow("child", node("end", "end", {"output": "${_enum_store.a}"}))
    parent = flow(
        "parent",
        node("wait", "wait-for-signal", {"name": "go"}),
        node("call", "sub-flow", {"definition": "child"}),
        node("end", "end", {"output": "${[_enum_store.a, nodes.call.output]}"}),
    )
    async with world.app() as app:
        await app.lookups.put("default", {"a": 1})
        await app.deploy(child)
        await app.deploy(parent)
        run = await app.start("parent")
        await app.lookups.put("default", {"a": 2})
        await run.signal("go")
        assert await run.result() == [1, 2]


@on_every_store
async def test_a_child_may_be_asked_for_by_a_word(world: World) -> None:
    def child(word: str) -> dict[str, Any]:
        return flow("child", node("end", "end", {"output": word}))

    async with world.app() as app:
        await app.deploy(child("active"))
        await app.definitions.save("default", "child", child("newest"))
        await app.definitions.publish("default", "child")
        await app.definitions.save("default", "child", child("draft"))
        for version, expected in ((None, "active"), ("ACTIVE", "active"), ("LATEST", "newest"), ("SNAPSHOT", "draft")):
            call = node("call", "sub-flow", {"definition": "child", "version": version})
            await app.deploy(flow(f"f{version}", call, node("end", "end", {"output": "${nodes.call.output}"})))
            assert await (await app.start(f"f{version}")).result() == expected
