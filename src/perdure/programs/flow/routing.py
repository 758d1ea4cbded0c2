"""Where a node's result goes: its output, the milestones and races that it decides, and a token on every edge.

Everything here applies; nothing decides. It runs the same on replay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from perdure.kernel.state import Activation
from perdure.model.failures import Failure
from perdure.model.values import Json
from perdure.programs.flow import gates, tokens
from perdure.programs.flow.graph import Edge, Graph, Node
from perdure.programs.flow.state import FlowScope, FlowState

FAILURE = "failure"
"""The outcome of a failure that leads to the document's `on_failure` node."""


class Router:
    """Moves the tokens of one graph."""

    __slots__ = ("graph",)

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def hand_on(
        self,
        flow: FlowState,
        scope: FlowScope,
        node: Node,
        visit: int,
        output: Json,
        outcome: str | None,
        taken: list[int] | None,
        sent: Collection[int] = (),
    ) -> None:
        """The node has its result: notes it and sends the tokens, but on edges that have had theirs (`sent`)."""
        scope.outputs[node.stored_as] = output
        if self.graph.uses_trace:
            flow.trace.append(node.id)
        if node.followers:
            gates.passes(self.graph, flow, scope, node, completed=True)
        if node.race is not None:
            self.win(scope, node, visit)
        if node.is_end or not (node.outs or scope.has_end):
            scope.result, scope.has_end = output, node.is_end
        edge = node.only_edge
        if edge is not None:
            tokens.send(flow, scope, edge, True, output)
        else:
            self.route(flow, scope, node, output, outcome, taken, sent)

    def route(
        self,
        flow: FlowState,
        scope: FlowScope,
        node: Node,
        value: Json,
        outcome: str | None,
        taken: list[int] | None,
        sent: Collection[int] = (),
    ) -> None:
        for place, edge in enumerate(node.outs):
            if place in sent:
                continue
            live = place in taken if taken is not None else is_candidate(edge, outcome)
            for _ in range(edge.tokens if live else 1):
                tokens.send(flow, scope, edge, live, value)

    def win(self, scope: FlowScope, node: Node, visit: int) -> None:
        """The race is decided for this visit. It need not be known for visits that all rivals have behind them."""
        assert node.race is not None
        behind = min(scope.visits.get(rival, 0) for rival in self.graph.races[node.parent, node.race])
        still_open = [other for other in scope.won.get(node.race, ()) if other > behind]
        scope.won[node.race] = [*still_open, visit] if visit > behind else still_open

    def leave(self, flow: FlowState, scope: FlowScope, node: Node) -> None:
        """The node has ended and its tokens have been sent."""
        if node.mutex is not None:
            gates.release_mutex(flow, node.mutex)
        tokens.leave(self.graph, flow, scope, node)

    def remind(self, flow: FlowState, scope: FlowScope, node: Node, value: Json, places: Iterable[int]) -> None:
        """Live tokens on these edges, while the node goes on waiting."""
        for place in places:
            for _ in range(node.outs[place].tokens):
                tokens.send(flow, scope, node.outs[place], True, value)

    def die(self, flow: FlowState, scope: FlowScope, node: Node, sent: Collection[int] = ()) -> None:
        """The node is taken back: all its tokens are dead."""
        for place, edge in enumerate(node.outs):
            if place not in sent:
                tokens.send(flow, scope, edge, False, None)
        tokens.come_to_rest(self.graph, flow, scope, node)

    def vanish(self, flow: FlowState, scope: FlowScope, node: Node) -> None:
        """The node, whose tokens had been sent before, has ended."""
        if node.mutex is not None:
            gates.release_mutex(flow, node.mutex)
        tokens.vanish(self.graph, flow, scope, node)


def told_of(node: Node, activation: Activation, failure: Failure, output: Json) -> dict[str, Json]:
    """What the edges of a failed node carry."""
    return {"error": failure.as_dict(), "node": node.id, "input": activation.input, "output": output}


def is_candidate(edge: Edge, outcome: str | None) -> bool:
    """Whether the edge may be taken with this outcome. Failures follow only the edges that ask for them."""
    if outcome in ("error", "timeout"):
        return edge.outcome == outcome
    return edge.outcome is None or edge.outcome == outcome
