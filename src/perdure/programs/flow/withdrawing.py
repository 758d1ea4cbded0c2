"""Taking back what has begun or could still begin: races that are decided, joins that have enough, regions that are
cancelled, scopes that an end node terminates.

What is taken back sends dead tokens at once, even if a handler has to be stopped first; so what follows from it follows
within the turn, and a node that begins a second time meanwhile is not mistaken for the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from perdure.kernel.scopes import is_within
from perdure.kernel.state import Activation
from perdure.kernel.turn import Turn
from perdure.kernel.winding import withdraw as withdraw_plain
from perdure.model import events as e
from perdure.model.statuses import Phase
from perdure.programs.flow import loops, tokens
from perdure.programs.flow.graph import Node
from perdure.programs.flow.scopes import is_given_up
from perdure.programs.flow.state import FlowState, Ready

if TYPE_CHECKING:
    from perdure.programs.flow.program import FlowProgram


def withdraw(program: FlowProgram, turn: Turn, activation: Activation, reason: str) -> None:
    if activation.phase is Phase.LOOPING:
        loops.close(program, turn, activation, None, cancelled=True, reason=reason)
    else:
        withdraw_plain(turn, activation, reason)


def withdraw_rivals(program: FlowProgram, turn: Turn, node: Node, scope: int, visit: int) -> None:
    """The node has won its race; those who begin later are skipped when their turn comes."""
    state = turn.state
    for other in list(state.activations.values()):
        rival = program.graph.by_id[other.node]
        if rival.race == node.race and other.scope == scope and other.visit == visit and not other.detached:
            withdraw(program, turn, other, f"{node.id} won the race")


def withdraw_rest(program: FlowProgram, turn: Turn, node: Node, scope: int) -> None:
    """A join that cancels the rest is satisfied: what could only still arrive there is needed no more."""
    _withdraw_nodes(program, turn, node.rest, scope, f"{node.id} needs it no more")


def withdraw_region(program: FlowProgram, turn: Turn, node: Node, scope: int) -> None:
    """Cancels the node's region: its nodes stand in the scope of the node or in those around it."""
    _withdraw_nodes(program, turn, node.cancels, scope, f"cancelled by {node.id}", around=True)


def withdraw_scope(program: FlowProgram, turn: Turn, node: Node, scope: int) -> None:
    """An end node terminates the iteration that it stands in."""
    body = tokens.body_of(program.graph, turn.state.body.scopes[scope])
    _withdraw_nodes(program, turn, frozenset(each.id for each in body.nodes), scope, f"{node.id} ends it")


def _withdraw_nodes(
    program: FlowProgram, turn: Turn, nodes: frozenset[str], scope: int, reason: str, *, around: bool = False
) -> None:
    state = turn.state
    flow: FlowState = state.body
    of_graph = program.graph.nodes

    def is_meant(node: str, at: int) -> bool:
        in_reach = at == scope or (around and is_within(state, scope, at))
        return node in nodes and in_reach and not is_given_up(state, at)

    for activation in list(state.activations.values()):
        is_alive = activation.id in state.activations and not activation.detached
        if is_alive and is_meant(activation.node, activation.scope):
            withdraw(program, turn, activation, reason)
    while True:  # what is taken back may set others free, which are then taken back too
        waiting = [(entry.node, entry.scope) for entry in _waiting(flow)] + list(_half_arrived(program, flow))
        found = next((each for each in waiting if is_meant(of_graph[each[0]].id, each[1])), None)
        if found is None:
            return
        index, at = found
        visit = flow.scopes[at].visits.get(index, 0) + 1
        turn.emit(e.NodeSkipped(of_graph[index].id, at, visit, "withdrawn"))


def _waiting(flow: FlowState) -> Iterator[Ready]:
    yield from (entry for entry in flow.ready if entry.live)
    for entries in flow.held.values():
        yield from entries


def _half_arrived(program: FlowProgram, flow: FlowState) -> Iterator[tuple[int, int]]:
    for scope in flow.scopes.values():
        for index in scope.joins:
            if tokens.is_half_arrived(scope, program.graph.nodes[index]):
                yield index, scope.id
