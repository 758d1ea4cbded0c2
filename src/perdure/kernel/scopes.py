"""Scopes and what they have done: iterations that begin and end, and the order in which their work is undone.

Everything here applies; nothing decides. It runs the same on replay.
"""

from __future__ import annotations

import msgspec

from perdure.kernel.moves import move
from perdure.kernel.state import ROOT, Activation, Compensating, RunState, Scope, Undo
from perdure.model import events as e


def is_within(state: RunState, inner: int, outer: int) -> bool:
    """Whether the scope `inner` is `outer` or lies below it."""
    at: int | None = inner
    while at is not None:
        if at == outer:
            return True
        at = state.scopes[at].parent
    return False


def loop_started(state: RunState, event: e.LoopStarted, at: int) -> Activation:
    return move(state, event.activation, event, at)


def loop_satisfied(state: RunState, event: e.LoopSatisfied, at: int) -> Activation:
    state.data_bytes += event.size
    return move(state, event.activation, event, at)


def iteration_started(state: RunState, event: e.IterationStarted, at: int) -> Activation:
    loop = state.activations[event.activation]
    outer = state.scopes[loop.scope].path
    step = f"{loop.node}.{event.index}" if loop.visit == 1 else f"{loop.node}.{event.index}@{loop.visit}"
    state.scopes[event.scope] = Scope(event.scope, loop.scope, f"{outer}/{step}" if outer else step, event.activation)
    state.next_scope = event.scope + 1
    loop.open_scopes += 1
    return loop


def iteration_ended(state: RunState, event: e.IterationEnded, at: int) -> Activation:
    loop = state.activations[event.activation]
    loop.open_scopes -= 1
    _drop_scope(state, event.scope)
    return loop


def scope_closing(state: RunState, event: e.ScopeClosing, at: int) -> None:
    state.scopes[event.scope].closing = event.failure
    state.closing_scopes.append(event.scope)


def _drop_scope(state: RunState, id: int) -> None:
    """Forgets a scope and all below it. What it has completed can still be undone, as a part of its parent."""
    scope = state.scopes[id]
    below = below_of(state, {id}) if scope.closing is not None else [id]
    if scope.closing is None and scope.undo and scope.parent is not None:
        moved = [msgspec.structs.replace(entry, loop=scope.loop) for entry in scope.undo]
        state.scopes[scope.parent].undo.extend(moved)
    for other in below:
        del state.scopes[other]
        if other in state.closing_scopes:
            state.closing_scopes.remove(other)


def below_of(state: RunState, tops: set[int]) -> list[int]:
    """These scopes and all below them. Scopes stand in the order in which they were opened, so parents come first."""
    found = set(tops)
    for scope in state.scopes.values():
        if scope.parent in found:
            found.add(scope.id)
    return [id for id in state.scopes if id in found]


def iterations_of(state: RunState, loop: Activation) -> set[int]:
    return {scope.id for scope in state.scopes.values() if scope.loop == loop.id}


def lives_below(state: RunState, loop: Activation) -> bool:
    scopes = set(below_of(state, iterations_of(state, loop)))
    return any(other.scope in scopes for other in state.activations.values())


def drop_scopes_of(state: RunState, loop: Activation) -> None:
    if loop.open_scopes:
        for scope in reversed(below_of(state, iterations_of(state, loop))):
            if scope in state.scopes:
                _drop_scope(state, scope)
        loop.open_scopes = 0


# -- compensation --------------------------------------------------------------------------------


def undoable(state: RunState, scope: int, loop: int | None) -> list[Undo]:
    """What has been completed in the scope and below it, or only by this loop of the scope; in order of completion."""
    found: list[Undo] = []
    for other in state.scopes.values():
        if loop is None:
            found += other.undo if is_within(state, other.id, scope) else ()
        elif other.id == scope:
            found += [entry for entry in other.undo if entry.loop == loop]
        elif other.undo and _is_iteration_of(state, other.id, loop):
            found += other.undo
    return sorted(found, key=lambda entry: entry.order)


def _is_iteration_of(state: RunState, scope: int, loop: int) -> bool:
    at: int | None = scope
    while at is not None:
        if state.scopes[at].loop == loop:
            return True
        at = state.scopes[at].parent
    return False


def compensation_started(state: RunState, event: e.CompensationStarted, at: int) -> None:
    entries = {entry.activation: entry for entry in undoable(state, event.scope, event.loop)}
    remaining = [entries[id] for id in reversed(event.order)]
    state.compensating = Compensating(event.scope, event.policy, remaining, loop=event.loop)
    taken = set(event.order)
    for scope in state.scopes.values():
        if scope.undo:
            scope.undo = [entry for entry in scope.undo if entry.activation not in taken]
    if event.scope == ROOT and event.loop is None:
        state.compensated = True


def compensation_ended(state: RunState, event: e.CompensationEnded, at: int) -> None:
    state.compensating = None
    if event.scope == ROOT and event.loop is None and state.closing is not None:
        state.closing.compensation_over = True
