"""Scopes that end, and scopes that are given up with everything in them.

Everything here applies; nothing decides. It runs the same on replay.
"""

from __future__ import annotations

from collections.abc import Iterator

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


def living(flow: FlowState, scope: int) -> Iterator[int]:
    """Activations that live in the scope or below it. Not to be changed while it is read."""
    here = flow.scopes[scope]
    yield from here.active
    for loop in here.loops:
        for inner in flow.loops[loop].running:
            yield from living(flow, inner)


def purge(graph: Graph, state: RunState, *, scope: int | None = None, loop: int | None = None) -> None:
    """Forgets what was ready or held in a scope, or in the iterations of a loop, that are being given up, and stops the
    loops in them."""
    flow: FlowState = state.body

    def is_meant(at: int | None) -> bool:
        while at is not None:
            here = flow.scopes[at]
            if at == scope or (loop is not None and here.loop == loop):
                return True
            at = here.parent
        return False

    gone = [entry for entry in flow.ready if is_meant(entry.scope)]
    if gone:
        flow.ready = [entry for entry in flow.ready if not is_meant(entry.scope)]
    for key in list(flow.held):
        flow.held[key] = [entry for entry in flow.held[key] if not is_meant(entry.scope)]
        if not flow.held[key]:
            del flow.held[key]
    for entry in gone:
        mutex = graph.nodes[entry.node].mutex
        if mutex is not None and entry.live:
            gates.release_mutex(flow, mutex)
    for top in [scope] if scope is not None else list(flow.loops[loop or 0].running):
        _stop_below(state, top)


def _stop_below(state: RunState, scope: int) -> None:
    flow: FlowState = state.body
    flow.quiet.pop(scope, None)
    flow.drained_scopes.pop(scope, None)
    for id in flow.scopes[scope].loops:
        flow.loops[id].closing = True
        for agenda in (flow.hungry, flow.idle, flow.given_up, flow.drained):
            agenda.pop(id, None)
        for inner in flow.loops[id].running:
            _stop_below(state, inner)


def drain(state: RunState, scope: int | None) -> None:
    """An activation has ended here: scopes and loops that are given up may be without life now."""
    flow: FlowState = state.body
    while scope is not None and not state.scopes[scope].alive:
        here = state.scopes[scope]
        if here.loop in flow.given_up:
            loop = flow.loops[here.loop]
            loop.undrained -= 1
            if not loop.undrained:
                flow.drained[here.loop] = True
        elif scope in state.closing_scopes and not (here.parent and is_given_up(state, here.parent)):
            flow.drained_scopes[scope] = True
        scope = here.parent


def forget_loop(flow: FlowState, activation: int) -> LoopState:
    loop = flow.loops.pop(activation)
    flow.hungry.pop(activation, None)
    flow.idle.pop(activation, None)
    flow.given_up.pop(activation, None)
    flow.drained.pop(activation, None)
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
    flow.drained_scopes.pop(scope, None)
