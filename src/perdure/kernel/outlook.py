"""What follows from a state: effects still to be done, the next wake time, the status that people see, and why it is
not moving."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.kernel.program import Program
from perdure.kernel.state import Activation, RunState, Task
from perdure.kernel.undone import why_not_undone
from perdure.model.effects import AnyEffect, Continue, Execute, LoadItems, StartChild, StopHandler
from perdure.model.policies import MINUTE, SECOND
from perdure.model.statuses import Phase, Status
from perdure.model.times import iso

HOUR = 60 * MINUTE
_TITLE = 80
_MOST_LINES = 50
WAITS_FOR, TASKS = "perdure.waits_for", "perdure.tasks"
"""Search attributes of runs in which a person is asked. They follow from the state and are never set."""


def outstanding(program: Program, state: RunState) -> list[AnyEffect]:
    """All effects that the state asks for. After a crash the new owner reissues exactly these."""
    if state.final is not None:
        return []
    found: list[AnyEffect] = []
    for activation in state.activations.values():
        if activation.phase is Phase.EXECUTING:
            found.append(Execute(activation.id))
        elif activation.phase is Phase.CANCELLING:
            found.append(StopHandler(activation.id))
        elif activation.phase is Phase.CHILD:
            found.append(child_effect(activation))
        elif activation.phase is Phase.LOOPING and (wanted := program.wanted(state, activation)):
            found.append(LoadItems(activation.id, *wanted))
    if state.suspended is None and state.closing is None and program.has_ready(state):
        found.append(Continue())
    return found


def child_effect(activation: Activation) -> StartChild:
    assert activation.child is not None
    assert activation.child_of is not None
    definition, version, input = activation.child_of
    return StartChild(activation.id, activation.child, definition, version, input)


def next_wake(state: RunState) -> int | None:
    """When a timer of the run is due next; None while it has none, is suspended or has ended."""
    if state.final is not None or state.suspended is not None:
        return None
    return state.timer_heap[0][0] if state.timer_heap else None


def active_deadline(state: RunState) -> int | None:
    """When the run will have used up its active time, if it goes on executing."""
    if state.final is not None or not state.executing:
        return None
    return state.active_since + state.limits.active_time - state.active_total


def status_of(program: Program, state: RunState) -> Status:
    """RUNNING before WAITING before SLEEPING."""
    if state.final is not None:
        return Status(state.final)
    if state.suspended is not None:
        return Status.SUSPENDED
    if state.activation_total == 0:
        return Status.QUEUED
    if state.executing or state.closing is not None or program.has_ready(state):
        return Status.RUNNING
    if state.waiting or program.is_waiting(state):
        return Status.WAITING
    return Status.SLEEPING if state.timers else Status.RUNNING


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """One cause why a run is where it is, in words and as data."""

    kind: str
    text: str
    node: str | None = None
    due: int | None = None
    subject: str | None = None


def explain(program: Program, state: RunState, now: int | None = None) -> list[Reason]:
    """Why a run that has not ended is not further on; and of any run, what could not be undone."""
    not_undone = [Reason("not undone", why_not_undone(each), each.node, subject=each.key) for each in state.not_undone]
    if state.final is not None:
        return not_undone
    reasons = []
    if state.suspended is not None:
        reasons.append(Reason("suspended", f"suspended: {state.suspended}" if state.suspended else "suspended"))
    if state.closing is not None:
        reasons.append(Reason("closing", f"winding up as {state.closing.status}"))
    reasons.extend(_reason(state, activation, now) for activation in state.activations.values())
    for kind, node, subject in program.kept_back(state):
        reasons.append(Reason(kind, _KEPT_BACK[kind].format(node=node, subject=subject), node, subject=subject))
    if not reasons:
        kind = "queued" if state.activation_total == 0 else "ready"
        reasons.append(Reason(kind, "waits for a worker to take it up"))
    return reasons + not_undone


_KEPT_BACK = {
    "items": "{node} waits for items, or for their end, by the signal {subject!r}",
    "mutex": "{node} waits until nobody else is in {subject!r}",
    "milestone": "{node} waits for {subject}",
    "layer": "{node} waits until everything before it has ended",
    "slot": "{node} waits until fewer nodes are executing",
    "ready": "{node} waits for a worker to take it up",
}


def title_of(task: Task) -> str:
    """What the person is asked, in one line."""
    details = task.details or {}
    for said in (details.get("title"), *(option.get("description") for option in task.view.get("inputOptions", ()))):
        if isinstance(said, str) and said.strip():
            line = said.strip().splitlines()[0]
            return line if len(line) <= _TITLE else f"{line[: _TITLE - 1]}…"
    return str(task.view.get("layoutId") or "a view")


def search_attributes(state: RunState) -> dict[str, Any]:
    """What runs are found by: what was set, and whether a person is asked, with the lines of an inbox."""
    if not state.asking:
        return state.attributes
    open_tasks = [state.activations[id] for of_node in state.asking.values() for id in of_node]
    return {**state.attributes, WAITS_FOR: "person", TASKS: [_line(each) for each in open_tasks[:_MOST_LINES]]}


def _line(activation: Activation) -> dict[str, Any]:
    task = activation.task
    assert task is not None
    found = {"id": activation.id, "node": activation.node, "title": title_of(task), "opened_at": task.opened_at}
    if activation.due is not None:
        found["due"] = activation.due
    for name in ("assignees", "candidates"):
        said = (task.details or {}).get(name)
        if isinstance(said, str):
            found[name] = said[:_TITLE]
        elif isinstance(said, list):
            found[name] = [str(each)[:_TITLE] for each in said[:_MOST_LINES]]
    return found


def _when(due: int | None, now: int | None) -> str:
    if due is None:
        return "later"
    if now is None:
        return f"at {iso(due)}"
    return f"at {iso(due)} (in {_span(due - now)})" if due > now else f"since {iso(due)}"


def _span(micros: int) -> str:
    """As people say it: the coarser, the longer."""
    for size, name in ((24 * HOUR, "d"), (HOUR, "h"), (MINUTE, "min")):
        if micros >= 2 * size:
            return f"{round(micros / size)} {name}"
    return f"{round(micros / SECOND)} s" if micros >= 10 * SECOND else f"{micros / SECOND:.2g} s"


def _reason(state: RunState, activation: Activation, now: int | None) -> Reason:
    node = activation.node
    match activation.phase:
        case Phase.EXECUTING:
            return Reason("executing", f"{node} is executing (attempt {activation.attempt})", node)
        case Phase.CANCELLING:
            return Reason("cancelling", f"{node} was told to stop and has not answered yet", node)
        case Phase.RETRYING:
            due = state.timers[activation.timer].due if activation.timer else None
            cause = f" with {activation.failure}" if activation.failure is not None else ""
            text = f"{node} failed{cause}; attempt {activation.attempt} is due {_when(due, now)}"
            return Reason("retrying", text, node, due)
        case Phase.SLEEPING:
            return Reason("sleeping", f"{node} is sleeping", node, activation.due)
        case Phase.SIGNAL:
            return Reason(
                "signal", f"{node} waits for the signal {activation.signal!r}", node, activation.due, activation.signal
            )
        case Phase.PERSON:
            assert activation.task is not None
            title = title_of(activation.task)
            text = f"{node} waits for an answer to {title!r} since {iso(activation.task.opened_at)}"
            return Reason("person", text, node, activation.due, str(activation.id))
        case Phase.CHILD:
            return Reason("child", f"{node} waits for the child run {activation.child}", node, subject=activation.child)
        case _ if activation.due is not None:
            return Reason("sleeping", f"{node} pauses before its next iteration", node, activation.due)
        case _:
            return Reason("loop", f"{node} waits for its iterations", node)
