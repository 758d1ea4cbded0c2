"""Children of workflows, as a client sees them: what they are called, how they are found, and who answers for them."""

from __future__ import annotations

import pytest

from perdure.errors import TooSlow
from tests.dialects.drift.documents import Doc, good, state, workflow
from tests.rows.worlds import World, on_every_store

ANSWER = {"viewResponse": {"selectedOptions": {"why": "because"}}}
QUICK = workflow({"a": state(good("SUCCESS", comment="quick"))}, id="quick")
ASKING = workflow(
    {"ask": state(good("INSTRUCTION", disposition="ASKED"), "b"), "b": state(good("SUCCESS", comment="{{why}}"))},
    id="asking",
)


def calls(id: str, mode: str = "ASYNC") -> Doc:
    return good("CHILD", childWorkflowId=id, executionMode=mode)


def begin(id: str, workflow: str = "P1") -> Doc:
    return {"params": {"workflowId": id, "version": "LATEST"}, "workflowId": workflow}


@on_every_store
async def test_each_child_has_an_id_and_the_id_of_the_first_finds_the_one_that_waits(world: World) -> None:
    parent = workflow(
        {
            "one": state(calls("quick"), "two"),
            "two": state(calls("asking"), "done"),
            "done": state(good("SUCCESS")),
        },
        id="parent",
    )
    async with world.app() as app:
        for document in (QUICK, ASKING, parent):
            await app.deploy(document)
        assert (await app.drift.start("default", begin("parent")))["workflowStatus"] == "COMPLETED"
        told = await app.drift.state("default", "P1")
        assert told["childWorkflowIds"] == ["CH-P1", "CH-P1-two"]
        first = app.run(next(run.id for run in await app.list_runs(definition="quick")))
        await first.result()
        second = next(run.id for run in await app.list_runs(definition="asking"))
        assert await app.drift.find("default", "CH-P1-two") == second
        assert await app.drift.find("default", "CH-P1") == second, "the one that is open"
        answered = await app.drift.resume("default", "CH-P1", ANSWER)
        assert answered == {"workflowId": "CH-P1-two", "workflowStatus": "COMPLETED"}
        assert await app.drift.find("default", "CH-P1") == first.id, "the one that is called so, now that none is open"


@on_every_store
async def test_of_children_that_a_circle_starts_the_open_one_is_found(world: World) -> None:
    ask = good("INSTRUCTION", inputOptions=[{"id": "more", "tags": {"values": ["ui.free_text"]}}])
    parent = workflow(
        {
            "one": state(calls("asking"), "ask"),
            "ask": state(ask, "one"),
        },
        id="parent",
    )
    async with world.app() as app:
        for document in (ASKING, parent):
            await app.deploy(document)
        await app.drift.start("default", begin("parent"))
        await app.drift.resume("default", "CH-P1", ANSWER)
        await app.drift.resume("default", "P1", {"viewResponse": {"selectedOptions": {"more": "yes"}}})
        told = await app.drift.resume("default", "CH-P1", ANSWER)
        assert told["workflowStatus"] == "COMPLETED"
        assert (await app.drift.state("default", "P1"))["childWorkflowIds"] == ["CH-P1", "CH-P1"]
        await app.drift.terminate("default", "P1")


@pytest.mark.parametrize("deep", [False, True])
def test_a_parent_that_waits_for_a_child_that_asks_shows_the_question_and_takes_the_answer(deep: bool) -> None:
    @on_every_store
    async def check(world: World) -> None:
        def through(id: str, child: str) -> Doc:
            done = state(good("SUCCESS", comment="${_global.one.comment}"))
            return workflow({"one": state(calls(child, "SYNC"), "done"), "done": done}, id=id)

        documents = [ASKING, through("middle", "asking"), through("parent", "middle" if deep else "asking")]
        async with world.app() as app:
            for document in documents:
                await app.deploy(document)
            told = await app.drift.start("default", begin("parent"), wait=1.0)
            assert (told["workflowStatus"], told["disposition"]) == ("WAITING", "ASKED")
            assert told["view"]["inputOptions"][0]["id"] == "why"
            assert (await app.drift.state("default", "P1"))["currentNodeRef"] == "one"
            done = await app.drift.resume("default", "P1", ANSWER)
            assert done == {"workflowId": "P1", "workflowStatus": "COMPLETED"}
            run = app.run(await app.drift.find("default", "P1"))
            assert await run.result() == {"comment": "because"}

    for store in ("memory", "sqlite"):
        check(kind=store)


@on_every_store
async def test_whoever_waits_too_long_is_told_which_workflow_goes_on(world: World) -> None:
    slow = workflow({"a": state(good("WAIT"), "b"), "b": state(good("SUCCESS"))}, id="slow")
    parent = workflow({"one": state(calls("slow", "SYNC"), "b"), "b": state(good("SUCCESS"))}, id="parent")
    async with world.app() as app:
        for document in (slow, parent):
            await app.deploy(document)
        request = begin("slow")
        del request["workflowId"]
        with pytest.raises(TooSlow) as caught:
            await app.drift.start("default", request, wait=1.0)
        told = caught.value.as_dict()
        assert (told["code"], told["status"]) == ("TOO_SLOW", "SCHEDULER_WAITING")
        assert told["workflowId"] in told["message"]
        assert (await app.drift.state("default", told["workflowId"]))["currentNodeRef"] == "a"
        with pytest.raises(TooSlow) as caught:
            await app.drift.start("default", begin("parent"), wait=1.0)
        assert (caught.value.details["workflowId"], caught.value.details["status"]) == ("P1", "RUNNING")
        for id in told["workflowId"], "P1":
            await app.run(await app.drift.find("default", id)).result()
