"""Tasks for people: which are open, what they show, and how they are answered. No word of HTTP here.

Open tasks are found by a search attribute of the runs that have any, which the head keeps (`kernel.outlook`); so
listing them reads heads and loads no run. A task is called by its run and activation: `<run>.<activation>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from perdure.engine import Engine
from perdure.engine.answers import Reply
from perdure.errors import IllegalCommand, InvalidInput, KeyReused, NotFound, TaskClosed, TokenInvalid
from perdure.kernel.outlook import TASKS, WAITS_FOR, title_of
from perdure.kernel.people import addressed, given_before
from perdure.kernel.state import Activation, RunState
from perdure.model import commands as c
from perdure.model.answers import SELECTED, is_response
from perdure.model.policies import SECOND
from perdure.model.statuses import Phase
from perdure.model.times import iso, parse_duration
from perdure.model.values import Json, check_json, check_name
from perdure.ports.runs import RunFilter
from perdure.ports.store import Store
from perdure.service.runs import RunService
from perdure.service.tokens import TaskTokens

_NOT_HERE = "it is answered, or was never asked"
TOKEN_LIFE = 7 * 24 * 3600 * SECOND


class TaskSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One line of an inbox."""

    id: str
    run: str
    node: str
    definition: str
    title: str
    opened_at: str
    due: str | None = None
    assignees: Any = None
    candidates: Any = None


class TaskView(TaskSummary, frozen=True, kw_only=True):
    view: dict[str, Any]
    details: dict[str, Any] | None = None
    reminded: int = 0


class TaskPage(msgspec.Struct, frozen=True):
    items: Sequence[TaskSummary]
    next: str | None
    """Give it as `before` for the next page; None: this was the last."""


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """What whoever answered is told; the same again for the same request."""

    run: str
    node: str
    task: str
    response: Json


class TaskService:
    def __init__(self, engine: Engine, store: Store, runs: RunService, tokens: TaskTokens) -> None:
        self._engine = engine
        self._store = store
        self._runs = runs
        self._tokens = tokens

    # -- looking ---------------------------------------------------------------------------------------

    async def list(
        self,
        namespace: str,
        *,
        definition: str | None = None,
        assignee: str | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> TaskPage:
        """Open tasks, of the newest runs first. `limit` bounds the runs that are looked at, so a page may hold fewer
        tasks, or more, where runs have several."""
        filter = RunFilter(namespace=namespace, definition=definition, attributes={WAITS_FOR: "person"})
        heads = await self._store.runs.find(filter, before, limit)
        found = [
            TaskSummary(id=f"{head.run}.{task['id']}", run=head.run, definition=head.definition, **_line(task))
            for head in heads
            for task in head.attributes.get(TASKS, ())
            if assignee is None or assignee in _names(task.get("assignees"))
        ]
        return TaskPage(found, heads[-1].run if len(heads) == limit else None)

    async def of_run(self, namespace: str, run: str) -> Sequence[TaskView]:
        """The open tasks of a run with all that they show."""
        _, state = await self._runs.state(namespace, run)
        return [_view(state, state.activations[id]) for of_node in state.asking.values() for id in of_node]

    async def get(self, namespace: str, id: str) -> TaskView:
        run, activation = _parts(id)
        _, state = await self._runs.state(namespace, run)
        return _view(state, _open(state, activation))

    # -- answering -------------------------------------------------------------------------------------

    async def answer(
        self, namespace: str, id: str, response: Json, *, request: str | None = None, by: str | None = None
    ) -> Accepted:
        """The response is `{"selectedOptions": {widget: value}}`, or only what is selected. It is accepted when this
        returns. Raises InvalidInput (it does not fit the view), TaskClosed, NotFound; then the run is as it was."""
        run, activation = _parts(id)
        return await self._answer(namespace, run, c.Answer(as_response(response), activation, None, request, by))

    async def resume(
        self,
        namespace: str,
        run: str,
        response: Json,
        *,
        node: str | None = None,
        request: str | None = None,
        by: str | None = None,
    ) -> Accepted:
        """Answers the only open task of the run, or of this node. The same call again is answered the same."""
        return await self._answer(namespace, run, c.Answer(as_response(response), None, node, request, by))

    async def _answer(self, namespace: str, run: str, command: c.Answer) -> Accepted:
        for name, value in (("node", command.node), ("request", command.id), ("by", command.by)):
            if value is not None:
                check_name(value, f"/{name}")
        check_json(command.response)
        watch = self._engine.watch(run)
        try:
            _, state = await self._runs.state(namespace, run)
            task = addressed(state, command, await self._store.ownership.now() if state.timers else None)
            if task is None:
                return _accepted(state, command)
            # With an id the request must stay what it is: by its content a repetition is known.
            is_exact = command.id is not None
            exact = command if is_exact else msgspec.structs.replace(command, activation=task.id, node=None)
            try:
                reply = await self._sent(namespace, run, exact)
                while reply is Reply.ACCEPTED:
                    await watch.wait()
                    watch = self._engine.watch(run)
                    _, state = await self._runs.state(namespace, run)
                    if addressed(state, exact) is None:
                        break
            except NotFound:
                told = f"the task of {task.node} was closed meanwhile"
                raise TaskClosed(told, run=run, node=task.node) from None
        finally:
            watch.close()
        return Accepted(run=run, node=task.node, task=f"{run}.{task.id}", response=command.response)

    async def _sent(self, namespace: str, run: str, command: c.Answer) -> Reply:
        """A run that has ended meanwhile takes no answer; but if it took this one before it ended, that is well."""
        try:
            return await self._engine.send(namespace, run, command)
        except IllegalCommand:
            _, state = await self._runs.state(namespace, run)
            if addressed(state, command) is not None:
                raise  # it is ending, and the task is still being taken back
            return Reply.UNCHANGED

    # -- tokens ----------------------------------------------------------------------------------------

    async def issue_token(self, namespace: str, id: str, lifetime: str | int | float | None = None) -> str:
        """Whoever has it may answer this task, once, until it has expired: after `lifetime`, or with the task."""
        run, activation = _parts(id)
        _, state = await self._runs.state(namespace, run)
        task = _open(state, activation)
        now = await self._store.ownership.now()
        try:
            life = parse_duration(lifetime) if lifetime is not None else TOKEN_LIFE
        except ValueError as problem:
            raise InvalidInput(str(problem), pointer="/lifetime", expected="a duration, such as 2d") from None
        expires = min(now + life, task.due) if task.due is not None else now + life
        return await self._tokens.issue(namespace, run, activation, expires)

    async def answer_with_token(
        self, namespace: str, token: str, response: Json, *, task: str | None = None, by: str | None = None
    ) -> Accepted:
        """Raises TokenInvalid (also where it is for another task), TokenExpired, TaskClosed (it was used, or the task
        was answered otherwise)."""
        said = await self._tokens.read(namespace, token, await self._store.ownership.now())
        if task not in (None, f"{said.run}.{said.activation}"):
            raise TokenInvalid("this token is for another task", remedy="use the one that was given for this task")
        command = c.Answer(as_response(response), said.activation, None, said.request, by)
        try:
            return await self._answer(namespace, said.run, command)
        except KeyReused:
            raise TaskClosed("this token was used before, for another answer", run=said.run) from None


def as_response(value: Json) -> Json:
    """What is only a selection is wrapped."""
    return value if is_response(value) or not isinstance(value, dict) else {SELECTED: value}


def _accepted(state: RunState, command: c.Answer) -> Accepted:
    id, node = given_before(state, msgspec.structs.replace(command, id=None)) or (command.activation, command.node)
    task = f"{state.run}.{id}" if id is not None else ""
    return Accepted(run=state.run, node=node or "", task=task, response=command.response)


def _parts(id: str) -> tuple[str, int]:
    run, _, activation = check_name(id, "/id").rpartition(".")
    if not run or not activation.isdecimal() or len(activation) > 18:
        raise NotFound(f"there is no task {id!r}")
    return run, int(activation)


def _open(state: RunState, activation: int) -> Activation:
    found = state.activations.get(activation)
    if found is None or found.phase is not Phase.PERSON:
        raise NotFound(f"the task {state.run}.{activation} is not open: {_NOT_HERE}")
    return found


def _view(state: RunState, activation: Activation) -> TaskView:
    task = activation.task
    assert task is not None
    details = task.details or {}
    return TaskView(
        id=f"{state.run}.{activation.id}",
        run=state.run,
        node=activation.node,
        definition=state.definition,
        title=title_of(task),
        opened_at=iso(task.opened_at),
        due=iso(activation.due) if activation.due is not None else None,
        assignees=details.get("assignees"),
        candidates=details.get("candidates"),
        view=task.view,
        details=task.details,
        reminded=task.reminded,
    )


def _line(task: dict[str, Any]) -> dict[str, Any]:
    due = task.get("due")
    return {
        "node": task["node"],
        "title": task["title"],
        "opened_at": iso(task["opened_at"]),
        "due": iso(due) if due is not None else None,
        "assignees": task.get("assignees"),
        "candidates": task.get("candidates"),
    }


def _names(assignees: Json) -> Sequence[Any]:
    return assignees if isinstance(assignees, list) else [assignees]
