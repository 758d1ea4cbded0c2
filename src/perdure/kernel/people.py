"""What people ask of a run besides signals: an answer to a task, a node by name. Deciding, like `kernel.decide`.

An answer is checked against the view that was recorded before it is accepted. One that does not fit refuses the
request and leaves the run as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.errors import Conflict, InvalidInput, KeyReused, NotFound, TaskClosed, TooMuch
from perdure.kernel.signal_ids import is_repeated, mark_of
from perdure.kernel.sizes import measured
from perdure.kernel.state import Activation, RunState
from perdure.kernel.turn import Turn
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.answers import check_answer, is_response
from perdure.model.statuses import Phase
from perdure.model.waits import ANSWERED

RESPONSE = ":viewResponse"
"""A signal of this name, after the id of a node, is an answer to its task."""


def answer(turn: Turn, command: c.Answer) -> None:
    activation = addressed(turn.state, command, turn.at)
    if activation is not None:
        _accept(turn, activation, command)


def _content(command: c.Answer) -> int:
    return mark_of(command.node, command.activation, command.response)


def addressed(state: RunState, command: c.Answer, now: int | None = None) -> Activation | None:
    """The open task that the answer is for, if it fits and (where `now` is given) comes in time; None if it has been
    given before. Raises what stands against it."""
    if is_repeated(state, command.id, _content(command), "answer"):
        return None
    found = [
        id
        for node, of_node in state.asking.items()
        if command.node in (None, node)
        for id in of_node
        if command.activation in (None, id)
    ]
    if len(found) > 1:
        raise Conflict(
            f"{len(found)} tasks are open, and the answer does not say to which of them it belongs",
            expected=f"one of {', '.join(str(id) for id in found[:10])}",
            remedy="name the task",
            run=state.run,
        )
    if not found:
        if given_before(state, command) is not None:
            return None
        raise _no_task(state, command)
    activation = state.activations[found[0]]
    task = activation.task
    assert task is not None
    try:
        check_answer(task.view, command.response)
    except InvalidInput:
        if command.activation is None and given_before(state, command) is not None:
            return None  # it was meant for a task before this one
        raise
    if now is not None and activation.due is not None and activation.due <= now:
        # Its timer is late, or waits for the run to be resumed. When it fires must not decide what becomes of the run.
        raise TaskClosed(f"the time for the task of {activation.node} is up", run=state.run, node=activation.node)
    return activation


def given_before(state: RunState, command: c.Answer) -> tuple[int, str] | None:
    """The last task, and its node, to which this very answer was given. With an id of its own it would be a new one."""
    if command.id is not None:
        return None
    mark = mark_of(command.response)
    return next((task for task, known in _answered(state, command) if known == mark), None)


def _answered(state: RunState, command: c.Answer) -> Iterator[tuple[tuple[int, str], int]]:
    """Those that it may mean, the last first, each with the mark of its answer."""
    for id in reversed(state.answers):
        node, known = state.answers[id]
        if command.node in (None, node) and command.activation in (None, id):
            yield (id, node), known


def _no_task(state: RunState, command: c.Answer) -> Exception:
    if command.activation is not None or command.node is not None:
        mark, same = mark_of(command.response), "by another request"
        for (_, node), known in _answered(state, command):
            how = same if known == mark else "and not like this"
            return TaskClosed(f"the task of {node} was answered before, {how}", run=state.run, node=node)
    if command.activation is not None and 0 < command.activation < state.next_activation:
        return TaskClosed("the task is closed: it was answered, its time was up, or it was withdrawn", run=state.run)
    which = f" at {command.node}" if command.node is not None else ""
    return NotFound(f"no task is open{which}", run=state.run)


def _accept(turn: Turn, activation: Activation, command: c.Answer) -> None:
    state, task = turn.state, activation.task
    assert task is not None
    size, most = measured(command.response), state.limits.data
    if size > most:
        raise TooMuch(
            f"an answer of {size} bytes; the run may hold {most}",
            pointer="/response",
            limit=most,
            code_of_limit="LIMIT_DATA",
        )
    turn.emit(e.TaskAnswered(activation.id, command.response, command.by, command.id, _content(command)))
    chosen = command.response["selectedOptions"].get(task.decided_by) if task.decided_by is not None else None
    outcome = (task.outcomes or {}).get(chosen, ANSWERED) if isinstance(chosen, str) else ANSWERED
    turn.program.completed(turn, activation, command.response, outcome, None, size)


def as_answer(state: RunState, signal: c.Signal) -> c.Answer | None:
    """A signal that has the name of a node whose task is open, or was answered, is an answer to it."""
    name = signal.name.removesuffix(RESPONSE)
    if signal.name in state.waiters:
        return None
    if name in state.asking or (
        is_response(signal.payload) and any(node == name for node, _ in state.answers.values())
    ):
        return c.Answer(signal.payload, node=name, id=signal.id)
    return None


def run_node(turn: Turn, command: c.RunNode) -> None:
    state = turn.state
    content = mark_of(command.node, command.parameters)
    known = state.demands.get(command.id) if command.id is not None else None
    if known is not None:
        if known[0] != content:
            raise KeyReused(
                f"the id {command.id!r} was used before, for another request to this run",
                pointer="/id",
                remedy="give every request an id of its own",
                run=state.run,
            )
        return
    turn.program.demanded(turn, command.node, command.parameters, command.id, content)


def task_of(state: RunState, id: int) -> Activation | None:
    activation = state.activations.get(id)
    return activation if activation is not None and activation.phase is Phase.PERSON else None
