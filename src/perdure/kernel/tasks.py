"""Tasks for people: opened, reminded of, answered; and nodes that somebody asks for by name.

Everything here applies; nothing decides (that is `kernel.people`). It runs the same on replay.
"""

from __future__ import annotations

from perdure.kernel.moves import arm, move
from perdure.kernel.signal_ids import mark_of, remember
from perdure.kernel.state import Activation, RunState, Task
from perdure.model import events as e
from perdure.model.statuses import Phase
from perdure.model.waits import ESCALATION, REMINDER

REMEMBERED_ANSWERS = 1_000
"""Of so many tasks the run knows how they were answered: the same answer again is answered the same."""
REMEMBERED_DEMANDS = 1_000
"""Of so many requests for nodes the run knows what they led to."""


def task_opened(state: RunState, event: e.TaskOpened, at: int) -> Activation:
    activation = move(state, event.activation, event, at)
    before = activation.task
    state.tasks_opened += 1
    activation.due = event.due
    activation.task = Task(
        event.view,
        event.details,
        at,
        event.reminders,
        remind_at=at + event.reminders.after if event.reminders is not None else None,
        escalate_at=at + event.escalate_after if event.escalate_after is not None else None,
        decided_by=event.decided_by,
        outcomes=event.outcomes,
        sent=before.sent if before is not None else {},  # asked again after a failure: these edges have had a token
    )
    ask(state, activation)
    return activation


def ask(state: RunState, activation: Activation) -> None:
    """Puts the task on the list and arms its timers."""
    task = activation.task
    assert task is not None
    state.asking.setdefault(activation.node, {})[activation.id] = True
    if activation.due is not None:
        activation.timer = f"a{activation.id}"
        arm(state, activation.timer, activation.due, Phase.PERSON, activation.id)
    for kind, due in ((REMINDER, task.remind_at), (ESCALATION, task.escalate_at)):
        if due is not None:
            arm(state, f"a{activation.id}/{kind}", due, kind, activation.id)


def task_reminded(state: RunState, event: e.TaskReminded, at: int) -> Activation:
    activation = move(state, event.activation, event, at)
    task = activation.task
    assert task is not None
    if event.kind == ESCALATION:
        task.escalate_at = None
        return activation
    plan = task.reminders
    assert plan is not None
    task.reminded += 1
    task.remind_at = None
    if plan.every is not None and task.reminded < plan.count:
        # On the grid: those that were missed while nobody was there came together as this one.
        first = task.opened_at + plan.after
        task.remind_at = first + ((at - first) // plan.every + 1) * plan.every
        arm(state, f"a{activation.id}/{REMINDER}", task.remind_at, REMINDER, activation.id)
    return activation


def task_answered(state: RunState, event: e.TaskAnswered, at: int) -> Activation:
    activation = move(state, event.activation, event, at)
    state.answers[activation.id] = (activation.node, mark_of(event.response))
    if len(state.answers) > REMEMBERED_ANSWERS:
        del state.answers[next(iter(state.answers))]
    if event.request is not None:
        remember(state, event.request, event.content)
    return activation


def node_requested(state: RunState, event: e.NodeRequested, at: int) -> None:
    if event.request is not None:
        state.demands[event.request] = (event.content, event.activation, state.seq)
        if len(state.demands) > REMEMBERED_DEMANDS:
            del state.demands[next(iter(state.demands))]
