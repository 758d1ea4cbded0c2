"""The Python API on every store, as a program would use it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from perdure import ActivationContext, ActivationError, Perdure, Result
from perdure.errors import DocumentInvalid, IllegalCommand, KeyReused, NotFound, RunEnded, SettingsInvalid, StoreLocked
from perdure.service.fsck import fsck

Open = Callable[[], AbstractAsyncContextManager[Perdure]]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """An application; whatever a test does with it, the database must be sound afterwards."""
    match request.param:
        case "sqlite":
            url = f"sqlite:///{tmp_path / 'app.db'}"
        case "postgres":
            url = request.getfixturevalue("postgres_url")
        case _:
            url = "memory://"

    @asynccontextmanager
    async def make() -> AsyncIterator[Perdure]:
        async with Perdure.open(url) as app:
            yield app
            report = await fsck(app.store, app.library)
            assert report.is_clean, report.findings

    return make


def flow(id: str, *nodes: dict[str, Any], edges: list[str] | None = None, **settings: Any) -> dict[str, Any]:
    """Nodes one after another, unless edges are given as "a b outcome"."""
    names = ["start", *(node["id"] for node in nodes)]
    pairs = [edge.split() for edge in edges] if edges else [list(pair) for pair in pairwise(names)]
    return {
        "id": id,
        "nodes": [{"id": "start", "type": "start"}, *nodes],
        "edges": [{"source": p[0], "target": p[1], **({"outcome": p[2]} if len(p) > 2 else {})} for p in pairs],
        "settings": settings,
    }


def step(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "python", "config": {"step": name}, **more}


async def test_steps_hand_their_outputs_on_and_the_last_one_is_the_result(opened: Open) -> None:
    async with opened() as app:

        async def first(n: int) -> int:
            return n + 1

        def second(n: int) -> dict[str, int]:
            return {"n": n * 10}

        app.register(first, second)
        await app.deploy(flow("f", step("first"), step("second")))
        run = await app.start("f", 4)
        assert await run.result() == {"n": 50}
        view = await run.view()
        assert (view.status, view.version, view.trigger) == ("COMPLETED", 1, "api")


async def test_a_step_sees_where_it_is_and_may_choose_an_edge_and_set_shared_data(opened: Open) -> None:
    async with opened() as app:
        seen: dict[str, Any] = {}

        async def decide(ctx: ActivationContext) -> Result:
            seen.update(key=ctx.key, node=ctx.node_id, run=ctx.run_id, namespace=ctx.namespace, attempt=ctx.attempt)
            return Result({"done": True}, outcome="left", vars={"side": "left"})

        async def left(ctx: ActivationContext) -> Any:
            return ctx.vars["side"]

        async def right() -> None:
            raise AssertionError

        app.register(decide, left, right)
        edges = ["start decide", "decide left left", "decide right right"]
        await app.deploy(flow("f", step("decide"), step("left"), step("right"), edges=edges))
        run = await app.start("f")
        assert await run.result() == "left"
        assert seen == {
            "key": f"{run.id}/decide/1",
            "node": "decide",
            "run": run.id,
            "namespace": "default",
            "attempt": 1,
        }


async def test_a_failed_run_says_why_and_a_retry_goes_on_where_it_failed(opened: Open) -> None:
    async with opened() as app:
        calls: list[str] = []
        broken = [True]

        async def before(ctx: ActivationContext) -> str:
            calls.append("before")
            return "kept"

        async def breaks(ctx: ActivationContext) -> Any:
            calls.append("breaks")
            if broken[0]:
                raise ActivationError("OUT_OF_PAPER", "the printer has no paper")
            return ctx.input

        app.register(before, breaks)
        await app.deploy(flow("f", step("before"), step("breaks")))
        run = await app.start("f")
        with pytest.raises(RunEnded, match="no paper") as caught:
            await run.result()
        assert caught.value.failure is not None
        assert (caught.value.failure["code"], caught.value.failure["node"]) == ("OUT_OF_PAPER", "breaks")
        broken[0] = False
        await run.retry()
        assert await run.result() == "kept"
        assert calls == ["before", "breaks", "breaks"]
        with pytest.raises(IllegalCommand):
            await run.retry()


async def test_cancel_has_a_reason_and_the_running_step_is_told(opened: Open) -> None:
    async with opened() as app:
        begun, told = asyncio.Event(), asyncio.Event()

        async def endless(ctx: ActivationContext) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                told.set()

        app.register(endless)
        await app.deploy(flow("f", step("endless")))
        run = await app.start("f")
        await begun.wait()
        await run.cancel("nobody needs it")
        with pytest.raises(RunEnded) as caught:
            await run.result()
        assert told.is_set()
        assert caught.value.status_name == "CANCELLED"
        last = (await run.history())[-1].event
        assert type(last).__name__ == "RunCancelled"
        assert getattr(last, "reason", None) == "nobody needs it"
        with pytest.raises(IllegalCommand):
            await run.cancel()


async def test_a_key_gives_the_same_run_again_and_another_request_is_refused(opened: Open) -> None:
    async with opened() as app:
        await app.deploy(flow("f", {"id": "end", "type": "end"}))
        first = await app.start("f", 1, key="k")
        assert (await app.start("f", 1, key="k")).id == first.id
        with pytest.raises(KeyReused):
            await app.start("f", 2, key="k")


async def test_a_run_keeps_the_version_it_began_with(opened: Open) -> None:
    async with opened() as app:
        wait = {"id": "wait", "type": "wait-for-signal", "config": {"name": "go"}}
        old = flow("f", wait, {"id": "end", "type": "end", "config": {"output": "old"}})
        await app.deploy(old)
        parked = await app.start("f")
        await app.deploy(flow("f", {"id": "end", "type": "end", "config": {"output": "new"}}))
        assert await (await app.start("f")).result() == "new"
        await parked.signal("go")
        assert await parked.result() == "old"
        assert (await parked.view()).version == 1
        await app.activate("f", 1)
        again = await app.start("f")
        assert (await again.view()).version == 1
        await again.cancel()


async def test_the_same_content_is_the_same_version_whatever_its_order_and_layout(opened: Open) -> None:
    async with opened() as app:
        document = flow("f", {"id": "end", "type": "end", "position": {"x": 1, "y": 2}})
        first = await app.deploy(document)
        moved = {key: document[key] for key in reversed(document)}
        moved["nodes"] = [{**node, "position": {"x": 9.0, "y": 9.0}} for node in document["nodes"]]
        assert (await app.deploy(moved)).version == first.version
        other = await app.deploy(flow("f", {"id": "end", "type": "end", "config": {"output": 1}}))
        assert other.version == 2
        assert [summary.id for summary in await app.list_definitions()] == ["f"]


async def test_a_document_with_mistakes_is_refused_whole(opened: Open) -> None:
    async with opened() as app:
        with pytest.raises(DocumentInvalid) as caught:
            await app.deploy(flow("f", {"id": "x", "type": "nonsense"}, edges=["start x", "x y"]))
        assert {problem["code"] for problem in caught.value.problems} >= {"NODE_TYPE_UNKNOWN", "EDGE_DANGLING"}
        with pytest.raises(NotFound):
            await app.start("f")


async def test_suspended_runs_start_nothing_until_they_are_resumed(opened: Open) -> None:
    async with opened() as app:
        wait = {"id": "wait", "type": "wait-for-signal", "config": {"name": "go"}}
        ran: list[str] = []

        async def after(ctx: ActivationContext) -> None:
            ran.append("after")

        app.register(after)
        await app.deploy(flow("f", wait, step("after")))
        run = await app.start("f")
        await run.suspend("night")
        await run.signal("go")
        assert (await run.status(), ran) == ("SUSPENDED", [])
        assert any("night" in reason for reason in await run.why())
        await run.resume()
        await run.result()
        assert ran == ["after"]


async def test_messages_reach_their_subscribers_in_order(opened: Open) -> None:
    async with opened() as app:
        heard: list[Any] = []
        both = asyncio.Event()

        async def hear(message: Any) -> None:
            heard.append((message.type, message.payload))
            if len(heard) == 2:
                both.set()

        app.on_message("order.*", hear)
        nodes = [
            {"id": "one", "type": "publish", "config": {"type": "order.paid", "payload": {"n": "${input}"}}},
            {"id": "two", "type": "publish", "config": {"type": "order.sent", "payload": {"n": 2}}},
        ]
        await app.deploy(flow("f", *nodes))
        await (await app.start("f", 1)).result()
        await asyncio.wait_for(both.wait(), 20)
        assert heard == [("order.paid", {"n": 1}), ("order.sent", {"n": 2})]


async def test_everything_is_there_after_a_restart(opened: Open, request: pytest.FixtureRequest) -> None:
    if "memory" in request.node.name:
        return
    wait = {"id": "wait", "type": "wait-for-signal", "config": {"name": "go"}}
    async with opened() as app:
        await app.deploy(flow("f", wait))
        run = (await app.start("f")).id
    async with opened() as app:
        await app.run(run).signal("go", {"late": True})
        assert await app.run(run).result() == {"late": True}


async def test_a_second_server_on_the_same_file_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'app.db'}"
    async with Perdure.open(url):
        with pytest.raises(StoreLocked, match=r"app\.db"):
            await Perdure.open(url).__aenter__()


def test_an_unknown_database_is_named() -> None:
    with pytest.raises(SettingsInvalid, match="oracle"):
        Perdure.open("oracle://x")


async def test_of_many_who_deploy_one_definition_at_once_each_gets_the_version_of_his_own_document(
    opened: Open,
) -> None:
    async with opened() as app:
        documents = [flow("f", {"id": "end", "type": "end", "config": {"output": n}}) for n in range(20)]
        versions = await asyncio.gather(*(app.deploy(document) for document in documents))
        assert [version.document for version in versions] == documents
        assert sorted(version.version for version in versions) == list(range(1, 21))
        assert (await app.definitions.active("default", "f")).version in versions
        assert (await app.definitions.draft("default", "f")).document in documents
