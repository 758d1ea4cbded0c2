"""What a node may look at when it is planned, and which of its edges are taken when conditions on them decide."""

from __future__ import annotations

from typing import Any

from perdure.errors import PerdureError
from perdure.expressions import Expression
from perdure.kernel.state import ROOT, Activation, RunState
from perdure.model.failures import Failure
from perdure.model.values import Json
from perdure.programs.flow.environment import environment
from perdure.programs.flow.graph import Graph, Node
from perdure.programs.flow.routing import FAILURE, is_candidate, told_of
from perdure.programs.flow.state import FlowScope

TIMEOUTS = ("TIMEOUT", "SIGNAL_TIMEOUT")


class Moment:
    """What a node type's `plan` may look at: the time, its input, and data through expressions."""

    __slots__ = ("_data", "_graph", "_missing", "_scope", "_state", "now")

    def __init__(
        self, graph: Graph, state: RunState, scope: FlowScope, data: Json, now: int, missing: str | None = None
    ) -> None:
        self._graph, self._state, self._scope, self._data = graph, state, scope, data
        self._missing = missing or graph.mode
        self.now = now

    @property
    def input(self) -> Json:
        return self._data

    def evaluate(self, expression: Any) -> Json:
        return expression.evaluate(environment(self._graph, self._state, self._scope, self._data, expression.reads))

    def resolve(self, template: Any) -> Json:
        if template.is_static:
            return template.resolve({})
        env = environment(self._graph, self._state, self._scope, self._data, template.reads)
        return template.resolve(env, self._missing)


def choose(
    graph: Graph, state: RunState, scope: FlowScope, node: Node, output: Json, outcome: str | None
) -> list[int] | None:
    """The places of the edges taken, where conditions decide; these see the node's output as `data`. Else None."""
    if not node.has_when:
        return None
    moment = Moment(graph, state, scope, output, state.at)
    return [
        place
        for place, edge in enumerate(node.outs)
        if is_candidate(edge, outcome) and (edge.when is None or moment.evaluate(edge.when))
    ]


def care_of(
    graph: Graph, state: RunState, activation: Activation, failure: Failure, output: Json
) -> tuple[str, list[int] | None] | None:
    """Which outcome takes care of a failure, and which edges that takes where conditions on them decide."""
    node = graph.by_id[activation.node]
    for name in ("timeout", "error") if failure.code in TIMEOUTS else ("error",):
        if name not in node.outcomes:
            continue
        if not node.has_when:
            return name, None
        told = told_of(node, activation, failure, output)
        taken = _choose_for_failure(graph, state, node, activation, name, told)
        if taken:
            return name, taken
    if activation.scope == ROOT and graph.on_failure is not None and node.id not in graph.after_failure:
        return FAILURE, []
    return None


def _choose_for_failure(
    graph: Graph, state: RunState, node: Node, activation: Activation, name: str, told: Json
) -> list[int]:
    """A condition that cannot be evaluated takes care of nothing: the failure that there is goes on."""
    moment = Moment(graph, state, state.body.scopes[activation.scope], told, state.at)
    found = []
    for place, edge in enumerate(node.outs):
        if edge.outcome == name:
            try:
                if edge.when is None or moment.evaluate(edge.when):
                    found.append(place)
            except PerdureError:
                continue
    return found


def evaluate_with(
    graph: Graph, state: RunState, activation: Activation, expression: Expression, extra: dict[str, Any]
) -> Json:
    """An expression in the place of this activation, with further names."""
    scope = state.body.scopes[activation.scope]
    env = environment(graph, state, scope, activation.input, expression.reads)
    return expression.evaluate(env | extra)
