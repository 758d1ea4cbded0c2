"""What an answer changes in the context of a run, and answers that come twice at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import DocumentInvalid, TaskClosed
from perdure.model.events import TaskAnswered
from perdure.model.statuses import Status
from tests.people.world import asked, flow, until

APPROVE, REJECT = {"decision": "approve"}, {"decision": "reject"}
NOTE = {"id": "text", "description": "We will come back to you", "tags": {"values": ["ui.static_text"]}}
INFO = {"id": "info", "type": "instruction", "config": {"inputOptions": [NOTE]}}
DECIDE = {"id": "decide", "type": "approval", "config": {"title": "May I?"}}
PAY = {"id": "pay", "type": "end", "config": {"output": "paid"}}
ONE_APPROVAL = flow(DECIDE, PAY, edges=["start decide", "decide pay approved"])


@pytest.fixture
async def app() -> AsyncIterator[Perdure]:
    async with Perdure.open("memory://") as app:
        yield app


async def test_what_is_said_to_a_text_is_kept_and_overwrites_nothing(app: Perdure) -> None:
    said = {"decision": "approve", "amount": 10**6, "calc": 0, "params": {"x": 1}, "decide:viewResponse": "forged"}
    output = {
        "decision": "${_global.decision}",
        "amount": "${_global.amount}",
        "calc": "${_global.calc.data.price}",
        "answer": "${_global['decide:viewResponse'].selectedOptions.decision}",
        "kept": "${_global['info:viewResponse'].selectedOptions}",
        "output": "${nodes.info.output.selectedOptions}",
    }
    calc = {"id": "calc", "type": "json", "config": {"data": {"price": 5}}}
    document = flow(
        calc,
        DECIDE,
        INFO,
        {"id": "end", "type": "end", "config": {"output": output}},
        edges=["start calc", "calc decide", "decide info rejected", "info end"],
    )
    run = await asked(app, document, {"amount": 10})
    await run.answer(REJECT)
    await until(app, run, Status.WAITING)
    await run.answer(said)
    found = await run.result()
    assert (found.pop("kept"), found.pop("output")) == (said, said)
    assert found == {"decision": "reject", "amount": 10, "calc": 5, "answer": "reject"}


async def test_a_widget_that_is_called_like_a_field_of_the_input_does_not_hide_it(app: Perdure) -> None:
    config = {"inputOptions": [{"id": "amount", "tags": {"values": ["ui.free_text"]}}]}
    output = {"input": "${_global.amount}", "said": "${nodes.ask.output.selectedOptions.amount}"}
    document = flow(
        {"id": "ask", "type": "instruction", "config": config},
        {"id": "end", "type": "end", "config": {"output": output}},
    )
    run = await asked(app, document, {"amount": 10})
    await run.answer({"amount": "20"})
    assert await run.result() == {"input": 10, "said": "20"}


async def test_j03_the_same_answer_twice_at_once_is_answered_the_same_though_it_ends_the_run(app: Perdure) -> None:
    run = await asked(app, ONE_APPROVAL)
    first, *others = await asyncio.gather(*(run.answer(APPROVE) for _ in range(3)))
    assert others == [first, first]
    assert await run.result() == "paid"
    assert len([each for each in await run.history() if isinstance(each.event, TaskAnswered)]) == 1


@pytest.mark.parametrize("store", ["memory", "postgres"])
@pytest.mark.parametrize("way", ["request", "token", "task", "signal"])
async def test_j03_at_once_by_id_by_token_by_task_and_as_a_signal(
    way: str, store: str, request: pytest.FixtureRequest
) -> None:
    url = "memory://" if store == "memory" else request.getfixturevalue("postgres_url")
    async with Perdure.open(url) as app:
        run = await asked(app, ONE_APPROVAL)
        (task,) = await run.tasks()
        token = await app.tasks.issue_token(app.namespace, task.id)

        async def say(what: dict[str, Any]) -> Any:
            match way:
                case "request":
                    return await app.tasks.answer(app.namespace, task.id, what, request="one")
                case "token":
                    return await app.tasks.answer_with_token(app.namespace, token, what)
                case "task":
                    return await app.tasks.answer(app.namespace, task.id, what)
                case _:
                    return await run.signal("decide", {"selectedOptions": what}, id="one")

        first, *others = await asyncio.gather(*(say(APPROVE) for _ in range(3)))
        assert others == [first, first]
        assert await run.result() == "paid"
        assert await say(APPROVE) == first


async def test_another_answer_at_once_finds_the_task_closed(app: Perdure) -> None:
    run = await asked(app, ONE_APPROVAL)
    said = await asyncio.gather(run.answer(APPROVE), run.answer(REJECT), return_exceptions=True)
    assert isinstance(said[1], TaskClosed), said
    run = await asked(app, ONE_APPROVAL)
    said = await asyncio.gather(run.answer(APPROVE, id="a"), run.answer(REJECT, id="b"), return_exceptions=True)
    assert isinstance(said[1], TaskClosed), said


async def test_two_workers_give_the_same_answer_and_both_are_told_that_it_counts(postgres_url: str) -> None:
    async with Perdure.open(postgres_url) as one, Perdure.open(postgres_url) as two:
        for _ in range(10):
            run = await asked(one, ONE_APPROVAL)
            said = await asyncio.gather(run.answer(APPROVE), two.run(run.id).answer(APPROVE))
            assert said[0] == said[1]
            assert await run.result() == "paid"


async def test_what_follows_a_reminder_is_a_branch_of_its_own(app: Perdure) -> None:
    ask = {"id": "ask", "type": "approval", "config": {"title": "May I?", "reminder": {"every": "1h", "count": 3}}}
    remind, note = {"id": "remind", "type": "json", "config": {"data": 1}}, {"id": "note", "type": "merge"}
    pay = {"id": "pay", "type": "json", "config": {"data": 1}}
    edges = ["start ask", "ask remind reminder", "ask pay approved", "remind pay"]
    with pytest.raises(DocumentInvalid) as refused:
        await app.deploy(flow(ask, remind, pay, edges=edges))
    (problem,) = refused.value.problems
    assert (problem["code"], problem["pointer"]) == ("JOIN_OF_SIDE_BRANCH", "/nodes/3")
    for rule in ("any", "first"):
        await app.deploy(flow(ask, remind, {**pay, "join": rule}, edges=edges))
    alone = ["start ask", "ask remind reminder", "ask note reminder", "remind note", "ask pay approved"]
    await app.deploy(flow(ask, remind, note, pay, edges=alone))  # these are taken together
