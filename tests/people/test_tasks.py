"""Tasks for people on every store: rows J01, J02, J03, J04, J07, B15, D17."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import (
    Conflict,
    IllegalCommand,
    InvalidInput,
    KeyReused,
    NotFound,
    TaskClosed,
    TokenExpired,
    TokenInvalid,
)
from perdure.model.events import TaskAnswered
from perdure.model.schemas import Schema
from perdure.model.statuses import Status
from perdure.model.views import VIEW_SCHEMA
from perdure.service.fsck import fsck
from perdure.service.tokens import TaskTokens, TokenKey
from tests.people.world import READ, SHOW, asked, flow, until

Open = Callable[..., AbstractAsyncContextManager[Perdure]]
LATE = {"selectedOptions": {"reason": "late"}}
LOST = {"selectedOptions": {"reason": "lost"}}


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    match request.param:
        case "sqlite":
            url = f"sqlite:///{tmp_path / 'app.db'}"
        case "postgres":
            url = request.getfixturevalue("postgres_url")
        case _:
            url = "memory://"

    @asynccontextmanager
    async def make(**options: Any) -> AsyncIterator[Perdure]:
        async with Perdure.open(url, **options) as app:
            yield app
            report = await fsck(app.store, app.library)
            assert report.is_clean, report.findings

    return make


@pytest.fixture
async def app() -> AsyncIterator[Perdure]:
    async with Perdure.open("memory://") as app:
        yield app


async def test_j01_a_run_that_asks_is_waiting_holds_no_worker_and_is_in_the_inbox(opened: Open) -> None:
    async with opened() as app:
        run = await asked(app, flow(SHOW, READ))
        assert await run.status() is Status.WAITING
        head = await app.store.journal.head(run.id)
        assert head is not None
        assert head.owner is None
        page = await app.tasks.list(app.namespace)
        assert [(task.run, task.node, task.title, task.assignees) for task in page.items] == [
            (run.id, "show_status", "Order #123", ["ada"])
        ]
        assert page.next is None
        assert (await app.tasks.list(app.namespace, assignee="bob")).items == []
        assert (await app.tasks.list("elsewhere")).items == []
        (why,) = await run.why()
        assert why.startswith("show_status waits for an answer to 'Order #123' since 20")
        assert "perdure.tasks" not in (await run.view()).attributes
        await run.answer(LATE)
        await run.result()
        assert (await app.tasks.list(app.namespace)).items == []


async def test_j02_b15_the_view_is_resolved_here_and_fits_the_published_schema(app: Perdure) -> None:
    run = await asked(app, flow(SHOW, READ))
    (task,) = await run.tasks()
    assert task == await app.tasks.get(app.namespace, task.id)
    assert task.view["layoutId"] == "status"
    assert [option["description"] for option in task.view["inputOptions"]] == ["Order #123", "What is wrong with 123?"]
    assert Schema(VIEW_SCHEMA).first_misfit(task.view) is None


async def test_j03_j04_d17_an_answer_is_stored_merged_and_readable_by_both_paths(opened: Open) -> None:
    async with opened() as app:
        run = await asked(app, flow(SHOW, READ))
        accepted = await run.answer(LATE, by="ada")
        assert (accepted.run, accepted.node, accepted.response) == (run.id, "show_status", LATE)
        assert await run.result() == {"path": "late", "merged": "late", "output": "late"}
        (event,) = [each.event for each in await run.history() if isinstance(each.event, TaskAnswered)]
        assert (event.response, event.by) == (LATE, "ada")


async def test_j03_a_second_identical_resume_is_answered_the_same_and_does_nothing(opened: Open) -> None:
    async with opened() as app:
        run = await asked(app, flow(SHOW, READ))
        first = await app.tasks.resume(app.namespace, run.id, LATE)
        assert await app.tasks.resume(app.namespace, run.id, LATE) == first
        await run.result()
        assert await app.tasks.resume(app.namespace, run.id, LATE) == first
        assert await app.tasks.answer(app.namespace, first.task, LATE) == first
        with pytest.raises(TaskClosed):
            await app.tasks.answer(app.namespace, first.task, LOST)
        answers = [each for each in await run.history() if isinstance(each.event, TaskAnswered)]
        assert len(answers) == 1


async def test_j03_the_same_request_id_is_answered_the_same_and_another_one_is_refused(app: Perdure) -> None:
    run = await asked(app, flow(SHOW, READ))
    first = await run.answer(LATE, id="one")
    again = await run.answer(LATE, id="one")
    assert again == first
    with pytest.raises(KeyReused):
        await run.answer(LOST, id="one")
    with pytest.raises((TaskClosed, NotFound)):
        await run.answer(LATE, id="two")


@pytest.mark.parametrize(
    ("response", "pointer"),
    [
        ({"selectedOptions": {"reason": "stolen"}}, "/selectedOptions/reason"),
        ({"selectedOptions": {}}, "/selectedOptions/reason"),
        ({"selectedOptions": {"reason": "late", "colour": "red"}}, "/selectedOptions/colour"),
        ({"selectedOptions": {"reason": "late", "text": "mine"}}, "/selectedOptions/text"),
        ({"selectedOptions": {"reason": ["late"]}}, "/selectedOptions/reason"),
        ({"selectedOptions": LATE["selectedOptions"], "more": 1}, None),
        ([], None),
        ("late", None),
    ],
)
async def test_a_bad_answer_fails_the_request_and_never_the_run(
    response: Any, pointer: str | None, app: Perdure
) -> None:
    run = await asked(app, flow(SHOW, READ))
    before = await run.history()
    with pytest.raises(InvalidInput) as refused:
        await run.answer(response)
    assert (refused.value.pointer or None) == pointer
    assert refused.value.expected
    assert await run.history() == before
    assert await run.status() is Status.WAITING
    await run.answer({"reason": "lost"})  # only what is selected will do
    assert (await run.result())["merged"] == "lost"


@pytest.mark.parametrize("name", ["show_status", "show_status:viewResponse"])
async def test_j07_a_signal_with_the_name_of_the_node_does_the_same(name: str, app: Perdure) -> None:
    run = await asked(app, flow(SHOW, READ))
    with pytest.raises(InvalidInput) as refused:
        await run.signal(name, {"selectedOptions": {"reason": "stolen"}})
    assert refused.value.pointer == "/selectedOptions/reason"
    with pytest.raises(InvalidInput):
        await run.signal(name, "late")
    await run.signal(name, LATE, id="one")
    await run.signal(name, LATE, id="one")
    assert await run.result() == {"path": "late", "merged": "late", "output": "late"}


async def test_an_answer_to_a_run_that_has_no_task_says_so(app: Perdure) -> None:
    await app.deploy(flow({"id": "w", "type": "wait-for-signal", "config": {"name": "go"}}, id="other"))
    run = await app.start("other")
    await until(app, run, Status.WAITING)
    with pytest.raises(NotFound, match="no task is open"):
        await run.answer(LATE)
    with pytest.raises(NotFound):
        await app.tasks.get(app.namespace, f"{run.id}.77")
    with pytest.raises(NotFound):
        await app.tasks.get(app.namespace, "nothing")


async def test_of_several_open_tasks_the_answer_says_which_it_is_for(app: Perdure) -> None:
    other = {**SHOW, "id": "other"}
    run = await asked(app, flow(SHOW, other, edges=["start show_status", "start other"]))
    with pytest.raises(Conflict, match="2 tasks are open"):
        await run.answer(LATE)
    await run.answer(LATE, node="other")
    await run.answer(LOST)
    await run.result()


async def test_a_cancelled_run_has_no_task_any_more(app: Perdure) -> None:
    run = await asked(app, flow(SHOW, READ))
    (task,) = await run.tasks()
    await run.cancel("enough")
    await until(app, run, Status.CANCELLED)
    assert (await app.tasks.list(app.namespace)).items == []
    with pytest.raises(TaskClosed):
        await app.tasks.answer(app.namespace, task.id, LATE)


async def test_tasks_come_in_pages(app: Perdure) -> None:
    runs = [await asked(app, flow(SHOW, READ)) for _ in range(5)]
    seen: list[str] = []
    before = None
    while True:
        page = await app.tasks.list(app.namespace, before=before, limit=2)
        seen += [task.run for task in page.items]
        if page.next is None:
            break
        before = page.next
    assert seen == [run.id for run in reversed(runs)]


# -- tokens ------------------------------------------------------------------------------------------


async def test_a_token_answers_its_task_once(opened: Open) -> None:
    async with opened(secrets={"task-token-key": "k" * 32}) as app:
        run = await asked(app, flow(SHOW, READ))
        (task,) = await run.tasks()
        token = await app.tasks.issue_token(app.namespace, task.id)
        with pytest.raises(InvalidInput):
            await app.tasks.answer_with_token(app.namespace, token, {"reason": "stolen"})
        accepted = await app.tasks.answer_with_token(app.namespace, token, LATE, by="a link")
        await run.result()
        assert await app.tasks.answer_with_token(app.namespace, token, LATE) == accepted
        with pytest.raises(TaskClosed, match="used before"):
            await app.tasks.answer_with_token(app.namespace, token, LOST)


async def test_without_a_secret_the_key_is_made_once_and_kept_in_the_database(opened: Open) -> None:
    async with opened() as app:
        run = await asked(app, flow(SHOW, READ))
        (task,) = await run.tasks()
        token = await app.tasks.issue_token(app.namespace, task.id)
        other = TaskTokens(TokenKey(app.secrets, app.store.cells, app.namespace))
        said = await other.read(app.namespace, token, await app.store.ownership.now())
        assert f"{said.run}.{said.activation}" == task.id
        await app.tasks.answer_with_token(app.namespace, token, LATE)
        await run.result()


async def test_a_token_is_good_for_its_task_only(app: Perdure) -> None:
    first, second = await asked(app, flow(SHOW, READ)), await asked(app, flow(SHOW, READ))
    ((one,), (two,)) = await first.tasks(), await second.tasks()
    token = await app.tasks.issue_token(app.namespace, one.id)
    with pytest.raises(TokenInvalid, match="another task"):
        await app.tasks.answer_with_token(app.namespace, token, LATE, task=two.id)


async def test_a_token_whose_task_was_answered_otherwise_is_used_up(app: Perdure) -> None:
    run = await asked(app, flow(SHOW, READ))
    (task,) = await run.tasks()
    token = await app.tasks.issue_token(app.namespace, task.id)
    await run.answer(LATE)
    with pytest.raises(TaskClosed):
        await app.tasks.answer_with_token(app.namespace, token, LOST)


async def test_a_token_that_was_changed_or_made_up_is_refused(app: Perdure) -> None:
    run = await asked(app, flow(SHOW, READ))
    (task,) = await run.tasks()
    token = await app.tasks.issue_token(app.namespace, task.id)
    head, expiry, signature = token.split(".")
    longer = expiry[:-1] + ("A" if expiry[-1] != "A" else "B")
    for forged in ("", "x", "a.b.c", f"{head}.{longer}.{signature}", f"{head}.{expiry}.{signature[:-2]}AA", "é.é.é"):
        with pytest.raises(TokenInvalid):
            await app.tasks.answer_with_token(app.namespace, forged, LATE)
    with pytest.raises(TokenInvalid):
        await app.tasks.answer_with_token("elsewhere", token, LATE)
    assert await run.status() is Status.WAITING


async def test_a_token_expires(app: Perdure) -> None:
    run = await asked(app, flow(SHOW, READ))
    (task,) = await run.tasks()
    token = await app.tasks.issue_token(app.namespace, task.id, lifetime=0)
    with pytest.raises(TokenExpired, match="good until"):
        await app.tasks.answer_with_token(app.namespace, token, LATE)
    with pytest.raises(InvalidInput):
        await app.tasks.issue_token(app.namespace, task.id, lifetime="soon")
    assert await run.status() is Status.WAITING


# -- several workers -----------------------------------------------------------------------------------


async def test_where_another_worker_has_the_run_a_bad_answer_is_refused_and_a_good_one_is_waited_for(
    postgres_url: str,
) -> None:
    gate, begun = asyncio.Event(), asyncio.Event()

    async def busy() -> str:
        begun.set()
        await gate.wait()
        return "done"

    document = flow(
        SHOW, {"id": "busy", "type": "python", "config": {"step": "busy"}}, edges=["start show_status", "start busy"]
    )
    async with Perdure.open(postgres_url) as owner, Perdure.open(postgres_url) as other:
        owner.register(busy)
        await owner.deploy(document)
        run = await owner.start("ask", {"orderId": 1})
        await begun.wait()
        remote = other.run(run.id)
        with pytest.raises(InvalidInput):
            await remote.answer({"reason": "stolen"})
        with pytest.raises(InvalidInput):
            await remote.signal("show_status", {"selectedOptions": {"reason": "stolen"}})
        assert (await remote.answer(LATE, id="one")).node == "show_status"
        with pytest.raises(TaskClosed):
            await remote.answer(LOST, node="show_status")
        gate.set()
        await run.result()


async def test_two_answers_at_once_are_one_and_a_refusal(app: Perdure) -> None:
    run = await asked(app, flow(SHOW, READ))
    said = await asyncio.gather(run.answer(LATE, id="a"), run.answer(LOST, id="b"), return_exceptions=True)
    refused = [each for each in said if isinstance(each, Exception)]
    assert len(refused) == 1
    assert isinstance(refused[0], TaskClosed | NotFound | IllegalCommand), refused
    await run.result()
