"""Rows A06–A10, A13, A16–A18, A20: definitions, versions, node types."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from pydantic import BaseModel

from perdure import Perdure
from perdure.engine import HandlerSpec
from perdure.errors import DocumentInvalid, InvalidInput, NotFound
from perdure.programs.flow.nodetypes import Execute, NodeKind, NodeType
from tests.rows.worlds import World, flow, names, node, on_every_store, step


@on_every_store
async def test_a06_versions_are_found_by_number_and_listed_in_order(world: World) -> None:
    async with world.app() as app:
        for number in range(12):
            await app.deploy(flow("f", node("end", "end", {"output": number})))
        listed = await app.definitions.versions("default", "f")
        assert [version.version for version in listed] == list(range(1, 13))
        tenth = await app.definitions.version("default", "f", 10)
        assert tenth.document["nodes"][1]["config"] == {"output": 9}


@on_every_store
async def test_a07_a_type_of_ones_own_runs_and_an_unknown_one_is_refused_when_saved(world: World) -> None:
    class Config(BaseModel):
        word: str

    async def shout(ctx: Any) -> str:
        return str(ctx.config["word"]).upper()

    def prepare(app: Perdure) -> None:
        shouting = NodeType(
            name="shout",
            title="Shout",
            description="Says it louder.",
            config=Config,
            kind=NodeKind.EFFECT,
            prepare=lambda config: config,
            plan=lambda prepared, moment: Execute(),
        )
        app.add_node_type(shouting, HandlerSpec(shout))

    document = flow("f", node("say", "shout", {"word": "hello"}))
    async with world.app(prepare=prepare) as app:
        await app.deploy(document)
        assert await (await app.start("f")).result() == "HELLO"
        with pytest.raises(DocumentInvalid) as caught:
            await app.deploy(flow("g", node("say", "whisper", {"word": "hello"})))
        assert caught.value.problems[0]["code"] == "NODE_TYPE_UNKNOWN"
        assert "conditional" in str(caught.value.problems[0]["expected"])


@on_every_store
async def test_a08_a09_what_was_saved_is_what_runs_and_exporting_it_changes_nothing(world: World) -> None:
    document = flow(
        "f", node("load", "json", {"data": {"users": [1, 2]}}, label="Load Data", position={"x": 1, "y": 2})
    )
    document["edges"] = [{"id": "e1", "source": "start", "target": "load"}]
    async with world.app() as app:
        saved = await app.deploy(document)
        run = await app.start("f")
        await run.result()
        assert (await run.view()).hash == saved.hash
        exported = (await app.definitions.version("default", "f")).document
        assert exported == document
        again = await app.deploy({**exported, "id": "g"}, id="g")
        second = await app.start(again.id)
        await second.result()
        assert await names(app, second.id) == await names(app, run.id)


@on_every_store
async def test_a10_positions_change_neither_the_hash_nor_the_order(world: World) -> None:
    async with world.app() as app:
        document = flow("f", *[node(name, "json", {"data": {"name": name}}) for name in "abcd"])
        first = await app.deploy(document)
        chance = random.Random(7)
        for part in document["nodes"]:
            part["position"] = {"x": chance.random(), "y": chance.random()}
        assert (await app.deploy(document)).hash == first.hash
        run = await app.start("f")
        await run.result()
        order = [event.event.node for event in await run.history() if hasattr(event.event, "node")]
        assert order == ["start", "a", "b", "c", "d"]


@on_every_store
async def test_a13_a20_the_same_content_is_one_version_and_bad_numbers_and_types_are_refused(world: World) -> None:
    async with world.app() as app:
        document = flow("f", node("end", "end", {"output": {"a": 1, "b": 2}}))
        assert (await app.deploy(document)).version == 1
        shuffled = flow("f", node("end", "end", {"output": {"b": 2, "a": 1}}))
        assert (await app.deploy(shuffled)).version == 1
        assert (await app.deploy(flow("f", node("end", "end", {"output": 3})))).version == 2
        for number in (0, -1, 99):
            with pytest.raises((NotFound, InvalidInput)):
                await app.activate("f", number)
        with pytest.raises(InvalidInput):
            await app.deploy({**document, "name": float("nan")})


@on_every_store
async def test_a16_a17_a_run_replays_and_finishes_on_the_version_it_began_with(world: World) -> None:
    async with world.app() as app:
        wait = node("wait", "wait-for-signal", {"name": "go"})
        await app.deploy(flow("f", wait, node("end", "end", {"output": "one"})))
        run = (await app.start("f")).id
        await app.deploy(flow("f", wait, node("end", "end", {"output": "two"})))
    async with world.app() as app:
        await app.run(run).signal("go")
        assert await app.run(run).result() == "one"
        assert (await app.run(run).view()).version == 1


@on_every_store
async def test_a18_a_definition_is_read_once_and_publishing_counts_at_once_everywhere(world: World) -> None:
    reads = 0
    definitions = world.store.definitions
    plain = definitions.active

    async def counting(namespace: str, id: str) -> Any:
        nonlocal reads
        reads += 1
        return await plain(namespace, id)

    async with world.app() as here, world.app() as there:
        await here.deploy(flow("f", node("end", "end", {"output": "old"})))
        assert await (await there.start("f")).result() == "old"
        definitions.active = counting  # type: ignore[method-assign]
        for _ in range(5):
            await (await there.start("f")).result()
        assert reads == 0
        await here.deploy(flow("f", node("end", "end", {"output": "new"})))
        assert await (await there.start("f")).result() == "new", "a stale start is refused by the store and read anew"
        definitions.active = plain  # type: ignore[method-assign]


@on_every_store
async def test_e17_a_step_that_names_the_next_edge_is_obeyed_and_an_unknown_one_fails(world: World) -> None:
    from perdure import Result
    from perdure.errors import RunEnded

    async def choose(way: str) -> Result:
        return Result(None, outcome=way)

    async def left() -> str:
        return "left"

    async with world.app(choose, left) as app:
        chooser = step("choose", arguments={"way": "${input}"})
        chooser["config"]["outcomes"] = ["left", "right"]
        await app.deploy(flow("f", chooser, step("left"), edges=["start choose", "choose left left"]))
        assert await (await app.start("f", "left")).result() == "left"
        with pytest.raises(RunEnded):
            await (await app.start("f", "up")).result()


@on_every_store
async def test_of_many_who_deploy_one_definition_at_once_each_gets_the_version_of_his_own_document(
    world: World,
) -> None:
    async with world.app() as app:

        async def deployed_and_run(number: int) -> Any:
            document = flow("f", node("end", "end", {"output": number}))
            version = await app.deploy(document)
            assert version.document == document
            assert await app.definitions.version("default", "f", version.version) == version
            return await (await app.start("f", version=version.version)).result()

        assert await asyncio.gather(*(deployed_and_run(number) for number in range(20))) == list(range(20))
        active = await app.definitions.active("default", "f")
        draft = await app.definitions.draft("default", "f")
        stored = await app.definitions.versions("default", "f")
        assert active.version in stored
        assert draft.document in [version.document for version in stored]
        assert len(stored) == 20


@on_every_store
async def test_what_is_published_while_others_save_is_one_of_their_documents_as_it_was_saved(world: World) -> None:
    documents = [flow("f", node("end", "end", {"output": [number] * 100})) for number in range(10)]
    async with world.app() as app:
        await app.definitions.save("default", "f", documents[0])
        saves = [app.definitions.save("default", "f", document) for document in documents]
        publishes = [app.definitions.publish("default", "f") for _ in documents]
        both = [each for pair in zip(saves, publishes, strict=True) for each in pair]
        await asyncio.gather(*both)
        for version in await app.definitions.versions("default", "f"):
            assert version.document in documents


@on_every_store
async def test_a_document_that_is_changed_while_it_is_deployed_is_deployed_as_it_was_given(world: World) -> None:
    document = flow("f", node("end", "end", {"output": 1}))
    async with world.app() as app:
        deploying = asyncio.create_task(app.deploy(document))
        await asyncio.sleep(0)
        document["nodes"][1]["config"]["output"] = 2
        version = await deploying
        assert version.document["nodes"][1]["config"] == {"output": 1}
        assert (await app.definitions.draft("default", "f")).document == version.document
        assert await (await app.start("f")).result() == 1
