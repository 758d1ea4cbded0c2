"""Stored scripts, node definitions and look-ups on every database, and by several programs at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import Conflict, DocumentInvalid, InvalidInput, NotFound, NotInstalled, TooMuch
from perdure.service.fsck import fsck
from perdure.testing.simloop import pass_time
from tests.assembly.test_lacking import rare
from tests.rows.worlds import World, flow, node, on_every_store

WAIT = node("wait", "wait-for-signal", {"name": "go"})


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def app(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Perdure]:
    url = "memory://"
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'perdure.db'}"
    elif request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
    async with Perdure.open(url) as app:
        yield app
        report = await fsck(app.store, app.library)
        assert report.is_clean, report.findings


def scripted(id: str, version: Any = "LATEST", *before: dict[str, Any]) -> dict[str, Any]:
    work = node("work", "script", {"script": {"ref": "price", "version": version}, "timeout": "5s"})
    return flow(id, *before, work, node("end", "end", {"output": "${nodes.work.output}"}))


async def test_a_stored_script_runs_by_reference_and_a_run_keeps_its_version(app: Perdure) -> None:
    await app.parts.deploy("default", "script", "price", {"script": "input['n'] * 2"})
    await app.deploy(scripted("newest", "LATEST", WAIT))
    await app.deploy(scripted("first", 1))
    early = await app.start("newest", {"n": 4})
    groovy = {"script": "def n = _global.n\nreturn n * 3", "language": "groovy"}
    await app.parts.update("default", "script", "price", groovy)
    await app.parts.publish("default", "script", "price")
    late = await app.start("newest", {"n": 4})
    for run in (early, late):
        await run.signal("go")
    assert (await early.result(), await late.result()) == (8, 12)
    assert await (await app.start("first", {"n": 4})).result() == 8
    assert (await early.view()).pins == {"script:price@LATEST": 1}
    assert (await app.definitions.version("default", "newest")).document["nodes"][2]["config"]["script"] == {
        "ref": "price",
        "version": "LATEST",
    }


async def test_a_stored_script_with_a_mistake_is_refused_with_its_line(app: Perdure) -> None:
    with pytest.raises(DocumentInvalid) as caught:
        await app.parts.create("default", "script", "price", {"script": "x = 1\nreturn x +"})
    (problem,) = caught.value.problems
    assert (problem["pointer"], problem["line"]) == ("/script", 2)
    with pytest.raises(NotFound):
        await app.parts.get("default", "script", "price", "SNAPSHOT")


async def test_a_script_that_reads_what_there_is_not_is_blamed_at_the_reference(app: Perdure) -> None:
    await app.parts.deploy("default", "script", "price", {"script": "total * 2"})
    with pytest.raises(DocumentInvalid) as caught:
        await app.deploy(scripted("f"))
    (problem,) = caught.value.problems
    assert problem["pointer"] == "/nodes/1/config/script"
    assert "total" in problem["message"]
    assert "the script 'price' LATEST" in problem["message"]


async def test_a_part_may_use_a_part_and_look_ups(app: Perdure) -> None:
    await app.lookups.put("default", {"tax.rate": 3})
    await app.parts.deploy("default", "script", "price", {"script": "input['n'] * _enum_store['tax.rate']"})
    await app.parts.deploy("default", "node", "priced", {"type": "script", "config": {"script": {"ref": "price"}}})
    use = {"id": "work", "use": {"ref": "priced"}}
    await app.deploy(flow("f", use, node("end", "end", {"output": "${nodes.work.output}"})))
    run = await app.start("f", {"n": 4})
    assert await run.result() == 12
    pins = {"node:priced@LATEST": 1, "script:price@LATEST": 1, "lookups:all@LATEST": 1}
    assert (await run.view()).pins == pins
    await app.lookups.put("default", {"tax.rate": 5})
    assert await (await app.start("f", {"n": 4})).result() == 20


async def test_look_ups_are_set_changed_and_imported(app: Perdure) -> None:
    lookups = app.lookups
    assert (await lookups.get("default")).values == {}
    first = await lookups.put("default", {"a": 1, "b.c": ["x"]}, label="spring")
    assert (first.version, first.label) == (1, "spring")
    assert (await lookups.put("default", {"b.c": ["x"], "a": 1}, label="spring")).version == 1
    second = await lookups.patch("default", {"a": None, "d": {"e": 1}})
    assert (second.version, second.values, second.label) == (2, {"b.c": ["x"], "d": {"e": 1}}, "spring")
    text = "version=7\nglobal.ims.vip=http\\://ims\nglobal.a=1\nworkflow.289.key=sample\n"
    third = await lookups.import_properties("default", text)
    assert (third.version, third.values, third.label) == (3, {"ims.vip": "http://ims", "a": "1"}, "7")
    assert (await lookups.get("other")).version == 0
    with pytest.raises(NotFound):
        await lookups.get("default", 9)


async def test_changes_of_look_ups_that_meet_are_all_kept(app: Perdure) -> None:
    await asyncio.gather(*(app.lookups.patch("default", {f"key{n}": n}) for n in range(8)))
    assert (await app.lookups.get("default")).values == {f"key{n}": n for n in range(8)}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({f"k{n}": n for n in range(10_001)}, TooMuch),
        ({"": 1}, InvalidInput),
        ({"k" * 257: 1}, InvalidInput),
        ({"a": float("nan")}, InvalidInput),
        ([1], InvalidInput),
        ({"a": "\x00"}, InvalidInput),
    ],
)
async def test_look_ups_that_cannot_be_kept_are_refused(values: Any, kind: type[Exception]) -> None:
    async with Perdure.open("memory://") as app:
        with pytest.raises(kind) as caught:
            await app.lookups.put("default", values)
        assert str(caught.value.pointer).startswith("/values")  # type: ignore[attr-defined]
        assert (await app.lookups.get("default")).version == 0


async def test_ten_thousand_look_ups_are_not_written_into_each_run(app: Perdure) -> None:
    await app.lookups.put("default", {f"group.key{n}": f"value {n}" for n in range(10_000)})
    await app.deploy(flow("f", node("end", "end", {"output": "${_enum_store.group.key9999}"})))
    run = await app.start("f")
    assert await run.result() == "value 9999"
    rows = await app.store.journal.history(run.id)
    assert sum(len(row.data) for row in rows) < 2_000


async def test_the_look_ups_of_the_examples_are_imported() -> None:
    shared = Path(os.environ.get("PERDURE_SHARED", Path(__file__).parents[3] / "shared"))
    file = shared / "examples" / "drift" / "lookup.properties"
    if not file.exists():
        pytest.skip("the examples are not beside the repository")
    async with Perdure.open("memory://") as app:
        found = await app.lookups.import_properties("default", file.read_text("utf-8"))
        assert found.label == "2"
        assert found.values["payments.host"] == "127.0.0.1"
        await app.deploy(flow("f", node("end", "end", {"output": "${_enum_store.payments.port}"})))
        assert await (await app.start("f")).result() == "80"


@pytest.mark.postgres
async def test_while_one_program_publishes_another_starts_runs_and_each_run_is_what_its_pins_say(
    postgres_url: str,
) -> None:
    document = flow(
        "f",
        {"id": "say", "use": {"ref": "number"}},
        node("end", "end", {"output": "${[nodes.say.output.data.n, _enum_store.n]}"}),
    )

    def numbered(n: int) -> dict[str, Any]:
        return {"type": "json", "config": {"data": {"n": n}}}

    async with Perdure.open(postgres_url) as one, Perdure.open(postgres_url) as two:
        await one.parts.deploy("default", "node", "number", numbered(1))
        await one.lookups.put("default", {"n": 1})
        await one.deploy(document)
        runs: list[str] = []
        published = asyncio.Event()

        async def start() -> None:
            while True:
                run = await two.start("f")
                runs.append(run.id)
                pins = (await run.view()).pins or {}
                if published.is_set() and pins.get("node:number@LATEST") == 5 == pins.get("lookups:all@LATEST"):
                    return  # a second later at the latest

        async def publish() -> None:
            for n in range(2, 6):
                await one.parts.deploy("default", "node", "number", numbered(n))
                await one.lookups.put("default", {"n": n})
                while len(runs) < 5 * n:  # noqa: ASYNC110
                    await asyncio.sleep(0)
            published.set()

        async with asyncio.timeout(30):
            await asyncio.gather(start(), publish())
            for id in runs:
                run = one.run(id)
                pins = (await run.view()).pins or {}
                assert await run.result() == [pins["node:number@LATEST"], pins["lookups:all@LATEST"]]
        report = await fsck(one.store, one.library)
        assert report.is_clean, report.findings


@on_every_store
async def test_what_another_program_has_published_is_seen_within_a_second(world: World) -> None:
    async with world.app() as one, world.app() as two:
        await one.lookups.put("default", {"n": 1})
        await one.deploy(flow("f", node("end", "end", {"output": "${_enum_store.n}"})))
        assert await (await two.start("f")).result() == 1
        await one.lookups.put("default", {"n": 2})
        assert await (await one.start("f")).result() == 2
        await pass_time(1.0)
        assert await (await two.start("f")).result() == 2


@on_every_store
async def test_a_start_that_uses_parts_asks_the_store_once_a_second(world: World) -> None:
    async with world.app() as app:
        await app.parts.deploy("default", "node", "p", {"type": "json", "config": {"data": {}}})
        await app.deploy(flow("f", {"id": "p", "use": {"ref": "p"}}, node("end", "end", {"output": "${_enum_store}"})))
        await app.start("f")
        asked: list[str] = []
        definitions: Any = app.library.links._definitions
        for name in ("version", "active", "draft", "versions"):
            real = getattr(definitions, name)

            async def counted(*args: Any, name: str = name, real: Any = real) -> Any:
                asked.append(name)
                return await real(*args)

            setattr(definitions, name, counted)
        for _ in range(20):
            await app.start("f")
        assert asked == []
        await pass_time(1.1)
        for _ in range(20):
            await app.start("f")
        assert 0 < len(asked) <= 6  # which is active, newest, newest; in memory one asks the other
        assert "versions" not in asked or app.store.definitions.__class__.__name__ == "MemoryDefinitions"


@on_every_store
async def test_a_worker_without_the_node_type_of_a_pinned_part_leaves_the_run_to_others(world: World) -> None:
    document = flow("f", WAIT, {"id": "do", "use": {"ref": "p"}}, node("end", "end", {"output": "${nodes.do.output}"}))
    async with world.app(prepare=rare) as able:
        await able.parts.deploy("default", "node", "p", {"type": "rare", "config": {"step": "any"}})
        await able.deploy(document)
        run = await able.start("f", 7)
    async with world.app() as unable:
        handle = unable.run(run.id)
        await handle.signal("go", 7)
        await pass_time(5)
        assert (await handle.view()).status == "WAITING"
        assert any("'rare'" in reason for reason in await handle.why())
        with pytest.raises((NotInstalled, DocumentInvalid)):
            await unable.start("f", 7)
        async with world.app(prepare=rare):
            assert await handle.result() == 7
        rare(unable)  # so that it can check the database


@on_every_store
async def test_a_part_that_cannot_be_saved_twice_at_once(world: World) -> None:
    async with world.app() as app:
        document = {"type": "json", "config": {"data": {}}}
        made = await asyncio.gather(
            *(app.parts.create("default", "node", "p", document) for _ in range(5)), return_exceptions=True
        )
        assert sum(isinstance(each, Conflict) for each in made) == 4


@on_every_store
async def test_who_has_taken_up_a_run_first_still_hears_of_new_versions(world: World) -> None:
    async with world.app() as one:
        await one.lookups.put("default", {"n": 1})
        await one.deploy(flow("f", WAIT, node("end", "end", {"output": "${_enum_store.n}"})))
        run = await one.start("f")
    async with world.app() as two:
        await two.run(run.id).signal("go")
        assert await two.run(run.id).result() == 1
        assert (await (await two.start("f")).view()).pins == {"lookups:all@LATEST": 1}
        await two.store.definitions.publish("default", "lookups:all", "lookups", {"values": {"n": 2}}, "h", None)
        await pass_time(1.1)
        assert (await (await two.start("f")).view()).pins == {"lookups:all@LATEST": 2}


async def test_a_file_without_a_single_look_up_does_not_empty_the_look_ups(app: Perdure) -> None:
    await app.lookups.put("default", {"a": 1})
    for wrong in ("server.port=80", "", 5):
        with pytest.raises(InvalidInput) as refused:
            await app.lookups.import_properties("default", wrong)  # type: ignore[arg-type]
        assert refused.value.pointer == "/text"
    assert (await app.lookups.get("default")).values == {"a": 1}


async def test_a_field_that_no_node_could_have_is_refused_with_the_part_and_one_that_is_left_out_is_not(
    app: Perdure,
) -> None:
    with pytest.raises(DocumentInvalid) as refused:
        await app.parts.save("default", "node", "call", {"type": "http", "config": {"url": "ftp://x"}})
    assert [problem["pointer"] for problem in refused.value.problems] == ["/config/url"]
    await app.parts.save("default", "node", "call", {"type": "http", "config": {"method": "GET"}})
    computed = {"url": {"script": {"ref": "where"}}}
    await app.parts.save("default", "node", "call", {"type": "http", "config": computed})
