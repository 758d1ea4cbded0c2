"""Scopes that end, and scopes that are given up with everything in them.

Everything here applies; nothing decides. It runs the same on replay.
"""

from __future__ import annotations

from perdure.kernel.scopes import is_within
from perdure.kernel.state import RunState
from perdure.programs.flow import gates
from perdure.programs.flow.graph import Graph
from perdure.programs.flow.state import FlowState, LoopState


def is_given_up(state: RunState, scope: int) -> bool:
    """Whether the scope, or one around it, is being given up: its tokens do not matter any more."""
    flow: FlowState = state.body
    at: int | None = scope
    while at is not None:
        if at in state.closing_scopes:
            return True
        loop = state.scopes[at].loop
        if loop is not None and loop in flow.loops and flow.loops[loop].closing:
            return True
        at = state.scopes[at].parent
    return False


def purge(graph: Graph, state: RunState, scope: int) -> None:
    """Forgets what was ready or held in a scope that is being given up, and stops the loops in it."""
    flow: FlowState = state.body
    gone = [entry for entry in flow.ready if is_within(state, entry.scope, scope)]
    flow.ready = [entry for entry in flow.ready if not is_within(state, entry.scope, scope)]
    for key in list(flow.held):
        flow.held[key] = [entry for entry in flow.held[key] if not is_within(state, entry.scope, scope)]
        if not flow.held[key]:
            del flow.held[key]
    for entry in gone:
        mutex = graph.nodes[entry.node].mutex
        if mutex is not None and entry.live:
            gates.release_mutex(flow, mutex)
    for id in list(flow.quiet):
        if is_within(state, id, scope):
            del flow.quiet[id]
    for loop in flow.loops.values():
        if is_within(state, loop.scope, scope):
            loop.closing = True
            flow.hungry.pop(loop.activation, None)
            flow.idle.pop(loop.activation, None)


def forget_loop(flow: FlowState, activation: int) -> LoopState:
    loop = flow.loops.pop(activation)
    flow.hungry.pop(activation, None)
    flow.idle.pop(activation, None)
    flow.given_up.pop(activation, None)
    flow.scopes[loop.scope].loops.pop(activation, None)
    for scope in list(loop.running):
        drop_scope(flow, scope)
    return loop


def drop_scope(flow: FlowState, scope: int) -> None:
    """Removes a scope and the loops that live in it."""
    for inner in list(flow.scopes[scope].loops):
        forget_loop(flow, inner)
    del flow.scopes[scope]
    flow.quiet.pop(scope, None)
