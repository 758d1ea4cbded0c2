"""Taking back what has begun or could still begin: races that are decided, joins that have enough, regions that are
cancelled, scopes that an end node terminates.

What is taken back sends dead tokens at once, even if a handler has to be stopped first; so what follows from it follows
within the turn, and a node that begins a second time meanwhile is not mistaken for the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from perdure.kernel.state import Activation
from perdure.kernel.turn import Turn
from perdure.kernel.winding import withdraw as withdraw_plain
from perdure.model import events as e
from perdure.model.statuses import Phase
from perdure.programs.flow import loops, tokens
from perdure.programs.flow.graph import Node
from perdure.programs.flow.scopes import is_given_up
from perdure.programs.flow.state import FlowState

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
    for id in list(state.body.scopes[scope].active):
        other = state.activations.get(id)
        if other is not None and other.visit == visit and program.graph.by_id[other.node].race == node.race:
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
    reach = [at for at in (scopes_around(flow, scope) if around else [scope]) if not is_given_up(state, at)]
    for id in [id for at in reach for id in flow.scopes[at].active]:
        activation = state.activations.get(id)
        if activation is not None and activation.node in nodes:
            withdraw(program, turn, activation, reason)
    while True:  # what is taken back may set others free, which are then taken back too
        reach = [at for at in reach if not is_given_up(state, at)]
        waiting = [*_waiting(flow, reach), *_half_arrived(program, flow, reach)]
        found = next(((index, at) for index, at in waiting if of_graph[index].id in nodes), None)
        if found is None:
            return
        index, at = found
        visit = flow.scopes[at].visits.get(index, 0) + 1
        turn.emit(e.NodeSkipped(of_graph[index].id, at, visit, "withdrawn"))


def scopes_around(flow: FlowState, scope: int) -> Iterator[int]:
    """The scope itself, and outwards to the root."""
    at: int | None = scope
    while at is not None:
        yield at
        at = flow.scopes[at].parent


def _waiting(flow: FlowState, reach: list[int]) -> Iterator[tuple[int, int]]:
    for entry in flow.ready:
        if entry.live and entry.scope in reach:
            yield entry.node, entry.scope
    for entries in flow.held.values():
        yield from ((entry.node, entry.scope) for entry in entries if entry.scope in reach)


def _half_arrived(program: FlowProgram, flow: FlowState, reach: list[int]) -> Iterator[tuple[int, int]]:
    for at in reach:
        scope = flow.scopes[at]
        for index in sorted(scope.joins):
            if tokens.is_half_arrived(scope, program.graph.nodes[index]):
                yield index, at
