"""What a node may look at when it is planned, and which of its edges are taken when conditions on them decide."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from perdure.errors import ExpressionError, PerdureError
from perdure.expressions import DEFAULT_LIMITS, Env, Expression
from perdure.expressions.expression import charged
from perdure.expressions.gotemplate import GoTemplate
from perdure.expressions.jsonpath import JsonPath
from perdure.expressions.limits import Meter, left, spend
from perdure.kernel.state import ROOT, Activation
from perdure.kernel.turn import Turn
from perdure.model.failures import Failure
from perdure.model.values import Json
from perdure.programs.flow.environment import environment
from perdure.programs.flow.graph import Edge, Graph, Node
from perdure.programs.flow.names import Names, Reads
from perdure.programs.flow.routing import FAILURE, is_candidate, told_of
from perdure.programs.flow.state import FlowScope

TIMEOUTS = ("TIMEOUT", "SIGNAL_TIMEOUT", "TASK_TIMEOUT")

_MADE = ("nodes", "_global")  # objects that are made for an expression; what else it reads is there already
_FEW = 20
_GATHERING = 20  # units of work for a call and for the few names that it reads


class Moment:
    """What a node type's `plan` may look at: the time, its input, and data through expressions.

    All that it evaluates draws on one meter, so that one node costs no more than one template may; and the turn is told
    what it has cost.
    """

    __slots__ = ("_data", "_graph", "_meter", "_missing", "_node", "_scope", "_turn", "now")

    def __init__(
        self, graph: Graph, turn: Turn, scope: FlowScope, data: Json, now: int, node: Node | None = None
    ) -> None:
        self._graph, self._turn, self._scope, self._data = graph, turn, scope, data
        self._node = node
        self._missing = (node.missing if node is not None else None) or graph.mode
        self._meter: Meter = DEFAULT_LIMITS.wide_meter()
        self.now = now

    @property
    def input(self) -> Json:
        return self._data

    @property
    def ways(self) -> Collection[str]:
        return self._node.outcomes if self._node is not None else ()

    @property
    def sources(self) -> Sequence[str]:
        return list(dict.fromkeys(edge.source.id for edge in self._node.ins)) if self._node is not None else ()

    def evaluate(self, expression: Any, more: Env | None = None) -> Json:
        env = self.gather(expression.reads)
        return self.apply(expression, env if more is None else {**env, **more})

    def apply(self, expression: Any, env: Env) -> Json:
        """An expression over values that the node has found itself."""
        meter = self._meter
        before = left(meter)
        try:
            spend(meter, _GATHERING)
            return charged(expression.evaluate, env, meter) if expression.metered else expression.evaluate(env)
        finally:
            self._turn.pay(before - left(meter))

    def resolve(self, template: Any, more: Env | None = None) -> Json:
        if template.is_static:
            return template.resolve({})
        env = self.gather(template.reads)
        if more:
            env = {**env, **more}
        meter = self._meter
        before = left(meter)
        try:
            spend(meter, _GATHERING)
            return template.resolve(env, self._missing, meter)
        finally:
            self._turn.pay(before - left(meter))

    def render(self, template: GoTemplate, data: Json) -> str:
        """A Go template over data that the node has put together."""
        meter = self._meter
        before = left(meter)
        try:
            spend(meter, _GATHERING)
            return template.render(data, meter)
        finally:
            self._turn.pay(before - left(meter))

    def spend(self, units: int) -> None:
        """Pays for work that the node type does itself, before it does it."""
        self._turn.pay(units)
        spend(self._meter, units)

    def query(self, path: JsonPath, value: Json) -> list[Json]:
        """What a JSONPath finds in a value that the node has."""
        meter = self._meter
        before = left(meter)
        try:
            spend(meter, _GATHERING)
            return path.find(value, meter=meter)
        finally:
            self._turn.pay(before - left(meter))

    def holds(self, edge: Edge, condition: Expression, names: Names) -> bool:
        """Whether the condition of an edge is true, by the rules of a dialect: what cannot be said is not."""
        env = names.on_edge(self._graph, self._turn.state, self._scope, edge.source.id, self._data, condition.reads)
        try:
            return self.apply(condition, env) is True
        except ExpressionError:
            return False

    def gather(self, reads: Reads) -> dict[str, Any]:
        env = environment(self._graph, self._turn.state, self._scope, self._data, reads, self._node)
        made = sum(len(env[name]) for name in _MADE if name in env)
        if made > _FEW:
            spend(self._meter, made * 2)
            self._turn.pay(made * 2)
        return env


def choose(
    graph: Graph, turn: Turn, scope: FlowScope, node: Node, output: Json, outcome: str | None
) -> list[int] | None:
    """The places of the edges taken, where conditions decide; these see the node's output as `data`. Else None."""
    if not node.has_when:
        return None
    moment = Moment(graph, turn, scope, output, turn.state.at)
    names = graph.names
    return [
        place
        for place, edge in enumerate(node.outs)
        if is_candidate(edge, outcome)
        and (
            edge.when is None or (moment.evaluate(edge.when) if names is None else moment.holds(edge, edge.when, names))
        )
    ]


def care_of(
    graph: Graph, turn: Turn, activation: Activation, failure: Failure, output: Json
) -> tuple[str, list[int] | None] | None:
    """Which outcome takes care of a failure, and which edges that takes where conditions on them decide."""
    node = graph.by_id[activation.node]
    for name in ("timeout", "error") if failure.code in TIMEOUTS else ("error",):
        if name not in node.outcomes:
            continue
        if not node.has_when:
            return name, None
        told = told_of(node, activation, failure, output)
        taken = _choose_for_failure(graph, turn, node, activation, name, told)
        if taken:
            return name, taken
    if activation.scope == ROOT and graph.on_failure is not None and node.id not in graph.after_failure:
        return FAILURE, []
    return None


def _choose_for_failure(
    graph: Graph, turn: Turn, node: Node, activation: Activation, name: str, told: Json
) -> list[int]:
    """A condition that cannot be evaluated takes care of nothing: the failure that there is goes on."""
    state = turn.state
    moment = Moment(graph, turn, state.body.scopes[activation.scope], told, state.at)
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
    graph: Graph, turn: Turn, activation: Activation, expression: Expression, extra: dict[str, Any]
) -> Json:
    """An expression in the place of this activation, with further names."""
    scope = turn.state.body.scopes[activation.scope]
    moment = Moment(graph, turn, scope, activation.input, turn.state.at)
    env = environment(graph, turn.state, scope, activation.input, expression.reads)
    return moment.apply(expression, env | extra)
