"""Tasks of a flow: where reminders and the escalation lead, and what becomes of an answer.

The edges with the outcomes `reminder` and `escalation` are taken while the task is open, each time with a token of its
own. An edge that was never taken so dies once, when the task ends.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from perdure.errors import PerdureError
from perdure.kernel.outlook import title_of
from perdure.kernel.people import RESPONSE
from perdure.kernel.program import ProgramApplier
from perdure.kernel.state import ROOT, Activation, RunState
from perdure.kernel.turn import Turn
from perdure.model import events as e
from perdure.model.answers import selections
from perdure.model.times import iso
from perdure.model.values import Json
from perdure.model.waits import ESCALATION
from perdure.programs.flow.choosing import Moment
from perdure.programs.flow.graph import Graph, Node
from perdure.programs.flow.routing import Router
from perdure.programs.flow.state import FlowState


def sent_by(activation: Activation) -> Collection[int]:
    """Places of the edges that a task has sent tokens on while it was open."""
    return activation.task.sent if activation.task is not None else ()


def remind(graph: Graph, turn: Turn, activation: Activation, kind: str) -> None:
    """A condition on the edge that cannot be evaluated is not fulfilled: the task goes on."""
    node = graph.by_id[activation.node]
    taken = None
    if node.has_when:
        moment = Moment(graph, turn, turn.state.body.scopes[activation.scope], told_of(activation, kind), turn.at)
        taken = []
        for place in _places(node, kind):
            edge, names = node.outs[place], graph.names
            when = edge.when
            try:
                if when is None or (moment.evaluate(when) if names is None else moment.holds(edge, when, names)):
                    taken.append(place)
            except PerdureError:
                continue
    turn.emit(e.TaskReminded(activation.id, kind, taken))


def _places(node: Node, kind: str) -> list[int]:
    return [place for place, edge in enumerate(node.outs) if edge.outcome == kind]


def told_of(activation: Activation, kind: str) -> dict[str, Json]:
    """What the edges carry."""
    task = activation.task
    assert task is not None
    return {
        "node": activation.node,
        "task": activation.id,
        "kind": kind,
        "number": task.reminded + 1 if kind != ESCALATION else 1,
        "title": title_of(task),
        "opened_at": iso(task.opened_at),
        "due": iso(activation.due) if activation.due is not None else None,
        "details": task.details,
        "view": task.view,
        "input": activation.input,
    }


class PeopleAppliers:
    """A part of `FlowAppliers`."""

    def __init__(self, router: Router) -> None:
        self.router = router
        self.table: Mapping[type[e.Event], ProgramApplier] = {
            e.TaskReminded: self.task_reminded,
            e.TaskAnswered: self.task_answered,
            e.NodeRequested: self.node_requested,
        }

    def task_reminded(self, state: RunState, event: e.TaskReminded, at: int, activation: Activation | None) -> None:
        assert activation is not None
        assert activation.task is not None
        node = self.router.graph.by_id[activation.node]
        places = event.taken if event.taken is not None else _places(node, event.kind)
        told = told_of(activation, event.kind)
        if event.kind != ESCALATION:
            told["number"] = activation.task.reminded  # it has been counted
        flow: FlowState = state.body
        self.router.remind(flow, flow.scopes[activation.scope], node, told, places)
        activation.task.sent |= dict.fromkeys(places, True)

    def task_answered(self, state: RunState, event: e.TaskAnswered, at: int, activation: Activation | None) -> None:
        assert activation is not None
        assert activation.task is not None
        flow: FlowState = state.body
        scope = flow.scopes[activation.scope]
        response: dict[str, Any] = event.response
        scope.outputs[f"{activation.node}{RESPONSE}"] = response
        scope.selected |= selections(activation.task.view, response)

    def node_requested(self, state: RunState, event: e.NodeRequested, at: int, _: Activation | None) -> None:
        """Its parameters are readable as its output until it has one."""
        flow: FlowState = state.body
        flow.scopes[ROOT].outputs[self.router.graph.by_id[event.node].stored_as] = event.input
