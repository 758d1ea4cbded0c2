"""What people's part of a run must hold as an application meets it: rows E04, J01, and views that scripts compute."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from perdure import ActivationContext, Perdure
from perdure.errors import RunEnded
from perdure.model.statuses import Status
from perdure.model.waits import Sleep
from tests.people.world import READ, SHOW, asked, flow, until


@pytest.fixture
async def app() -> AsyncIterator[Perdure]:
    async with Perdure.open("memory://") as app:
        yield app


@pytest.mark.parametrize("ending", ["COMPLETED", "FAILED", "CANCELLED"])
async def test_e04_completion_nodes_run_after_every_end_and_change_none(ending: str, app: Perdure) -> None:
    seen: list[str] = []

    async def tell(ctx: ActivationContext) -> None:
        seen.append(ctx.input["status"])

    async def break_down(ctx: ActivationContext) -> None:
        seen.append("broken")
        raise RuntimeError("it never works")

    app.register(tell, break_down)
    fail = {"id": "no", "type": "fail", "config": {"code": "NO", "message": "no"}}
    yes = {"id": "yes", "type": "end"}
    decide = {"id": "decide", "type": "approval", "config": {"title": "Go on?"}}
    document = {
        **flow(decide, yes, fail, edges=["start decide", "decide yes approved", "decide no rejected"]),
        "settings": {"after": ["broken", "tell"]},
    }
    document["nodes"] += [
        {"id": "tell", "type": "python", "config": {"step": "tell"}},
        {"id": "broken", "type": "python", "config": {"step": "break_down"}},
    ]
    run = await asked(app, document)
    if ending == "CANCELLED":
        await run.cancel("enough")
    else:
        await run.answer({"decision": "approve" if ending == "COMPLETED" else "reject"})
    await until(app, run, Status(ending))
    assert seen == ["broken", ending]
    if ending == "COMPLETED":
        assert await run.result() == {"selectedOptions": {"decision": "approve"}}
    else:
        with pytest.raises(RunEnded) as ended:
            await run.result()
        assert ended.value.status_name == ending


async def test_texts_of_a_view_may_be_computed_by_scripts(app: Perdure) -> None:
    config = {
        **SHOW["config"],
        "layoutId": {"script": "'layout-' + str(_global.orderId)"},
        "disposition": {"script": "return _global.orderId > 100 ? 'LARGE' : 'SMALL'", "language": "groovy"},
        "workflowStatus": "WAITS_FOR_${input.orderId}",
    }
    run = await asked(app, flow({**SHOW, "config": config}, READ))
    (task,) = await run.tasks()
    assert task.view["layoutId"] == "layout-123"
    assert task.details == {"disposition": "LARGE", "workflowStatus": "WAITS_FOR_123", "assignees": ["ada"]}
    await run.answer({"reason": "lost"})
    assert (await run.result())["merged"] == "lost"


async def test_a_script_that_gives_no_text_fails_the_node(app: Perdure) -> None:
    await app.deploy(flow({**SHOW, "config": {**SHOW["config"], "layoutId": {"script": "[1]"}}}, READ))
    run = await app.start("ask", {"orderId": 1})
    with pytest.raises(RunEnded) as ended:
        await run.result()
    assert ended.value.failure is not None
    assert ended.value.failure["code"] == "VIEW_INVALID"


async def test_a_step_may_answer_with_a_wait(app: Perdure) -> None:
    async def nap(ctx: ActivationContext) -> Sleep:
        return Sleep(ctx.now() + 1000, {"slept": True})

    app.register(nap)
    await app.deploy(flow({"id": "nap", "type": "python", "config": {"step": "nap"}}))
    run = await app.start("ask")
    assert await run.result() == {"slept": True}


async def test_a_wait_that_is_not_well_made_fails_the_step(app: Perdure) -> None:
    async def nap() -> Sleep:
        return Sleep("tomorrow")  # type: ignore[arg-type]

    app.register(nap)
    await app.deploy(flow({"id": "nap", "type": "python", "config": {"step": "nap"}}))
    run = await app.start("ask")
    with pytest.raises(RunEnded) as ended:
        await run.result()
    assert ended.value.failure is not None
    assert ended.value.failure["code"] == "OUTPUT_INVALID"
