"""webhook-response: what a run answers before it ends, once, to whoever waits for it."""

import asyncio
from typing import Any

import pytest

from perdure.errors import NotFound, RunEnded
from perdure.model.replies import Reply
from tests.rows.worlds import World, flow, on_every_store

ANSWER = {
    "id": "answer",
    "type": "webhook-response",
    "config": {"status": "${input.status}", "headers": {"X-Id": "{{input.id}}"}, "body": {"id": "${input.id}"}},
}
SLEEP = {"id": "sleep", "type": "sleep", "config": {"duration": "1m"}}


@on_every_store
async def test_the_answer_comes_before_the_run_ends(world: World) -> None:
    async with world.app() as app, world.app() as other:
        await app.deploy(flow("f", ANSWER, SLEEP))
        run = await app.start("f", {"status": 202, "id": 7})
        asked = asyncio.gather(run.reply(), other.run(run.id).reply())
        expected = Reply(202, {"X-Id": "7"}, {"id": 7})
        assert await asked == [expected, expected]
        assert not (await run.view()).status.is_final
        assert (await run.result())["status"] == 202  # a minute later; the node hands on its input
        assert await run.reply() == expected


@on_every_store
async def test_a_run_that_ends_without_an_answer(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f", SLEEP))
        assert await (await app.start("f")).reply() is None
        with pytest.raises(NotFound):
            await app.run("nobody").reply()


@on_every_store
async def test_a_run_answers_once(world: World) -> None:
    async with world.app() as app:
        again: dict[str, Any] = {"id": "again", "type": "webhook-response", "config": {"body": "second"}}
        await app.deploy(flow("fails", ANSWER, again))
        await app.deploy(flow("ignores", ANSWER, {**again, "config": {"body": "second", "again": "ignore"}}))
        run = await app.start("fails", {"status": 200, "id": 1})
        with pytest.raises(RunEnded, match="answered already"):
            await run.result()
        run = await app.start("ignores", {"status": 200, "id": 1})
        await run.result()
        reply = await run.reply()
        assert reply is not None
        assert reply.body == {"id": 1}


@on_every_store
async def test_a_computed_answer_that_is_none(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f", ANSWER))
        for input in ({"status": 99, "id": 1}, {"status": "200", "id": 1}, {"status": 200, "id": "a\nb"}):
            with pytest.raises(RunEnded) as ended:
                await (await app.start("f", input)).result()
            assert ended.value.details["failure"]["code"] == "REPLY_INVALID"
