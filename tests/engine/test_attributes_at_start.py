"""Search attributes with which a run begins."""

from __future__ import annotations

from perdure.model.events import AttributesSet, RunStarted
from tests.rows.worlds import World, events, flow, node, on_every_store


@on_every_store
async def test_a_run_is_found_by_what_it_was_started_with(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f", node("end", "end")))
        wanted = await app.runs.start("default", "f", attributes={"incident": "IN-1", "arm": "control"})
        await app.runs.start("default", "f", attributes={"incident": "IN-2"})
        await app.run(wanted).result()
        found = await app.list_runs(attributes={"incident": "IN-1"})
        assert [view.id for view in found] == [wanted]
        assert found[0].attributes == {"incident": "IN-1", "arm": "control"}
        assert [type(event) for event in await events(app, wanted)][:2] == [RunStarted, AttributesSet]


@on_every_store
async def test_b18_a_failure_that_ends_the_run_is_found_by_its_code(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f", node("no", "fail", {"code": "NO_STOCK", "message": "sold out", "terminate": True})))
        run = await app.start("f")
        await app.deploy(flow("g", node("end", "end")))
        await (await app.start("g")).result()
        await app.runs._engine.result("default", run.id)
        found = await app.list_runs(attributes={"errorCode": "NO_STOCK"})
        assert [view.id for view in found] == [run.id]
        assert found[0].failure is not None
        assert (found[0].failure["code"], found[0].failure["message"]) == ("NO_STOCK", "sold out")
