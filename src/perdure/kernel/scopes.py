"""Scopes and what they have done: iterations that begin and end, and the order in which their work is undone.

Everything here applies; nothing decides. It runs the same on replay.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from perdure.kernel.moves import move
from perdure.kernel.state import ROOT, Activation, Compensating, NotUndone, RunState, Scope, Undo
from perdure.model import events as e

MOST_NOT_UNDONE = 100
"""How many failures to undo a run remembers one by one."""


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
    around = state.scopes[loop.scope]
    step = f"{loop.node}.{event.index}" if loop.visit == 1 else f"{loop.node}.{event.index}@{loop.visit}"
    path = f"{around.path}/{step}" if around.path else step
    state.scopes[event.scope] = Scope(event.scope, loop.scope, path, event.activation)
    around.children[event.scope] = True
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
    state.closing_scopes[event.scope] = True


def _drop_scope(state: RunState, id: int) -> None:
    """Forgets a scope and all below it. What it has completed can still be undone, as a part of its parent."""
    scope = state.scopes[id]
    assert scope.parent is not None
    parent = state.scopes[scope.parent]
    if scope.undo and (scope.closing is None or state.semantics >= 2):
        # Also of one that failed: what is still here waited for its turn to be undone when something around it ended.
        parent.undo.extend(msgspec.structs.replace(entry, loop=scope.loop) for entry in scope.undo)
    del parent.children[id]
    for other in list(below_of(state, id)) if scope.closing is not None else [id]:
        del state.scopes[other]
        state.closing_scopes.pop(other, None)


def below_of(state: RunState, id: int) -> Iterator[int]:
    """The scope and all below it, parents first."""
    yield id
    for child in state.scopes[id].children:
        yield from below_of(state, child)


def iterations_of(state: RunState, loop: Activation) -> list[int]:
    return [child for child in state.scopes[loop.scope].children if state.scopes[child].loop == loop.id]


def lives_below(state: RunState, loop: Activation) -> bool:
    return any(state.scopes[scope].alive for scope in iterations_of(state, loop))


def drop_scopes_of(state: RunState, loop: Activation) -> None:
    if loop.open_scopes:
        for iteration in iterations_of(state, loop):
            for scope in reversed(list(below_of(state, iteration))):
                if scope in state.scopes:
                    _drop_scope(state, scope)
        loop.open_scopes = 0


# -- compensation --------------------------------------------------------------------------------


def undoable(state: RunState, scope: int, loop: int | None) -> list[Undo]:
    """What has been completed in the scope and below it, or only by this loop of the scope; in order of completion."""
    here = state.scopes[scope]
    if loop is None:
        found = [entry for other in below_of(state, scope) for entry in state.scopes[other].undo]
    else:
        found = [entry for entry in here.undo if entry.loop == loop]
        for child in here.children:
            if state.scopes[child].loop == loop:
                found += undoable(state, child, None)
    return sorted(found, key=lambda entry: entry.order)


def compensation_started(state: RunState, event: e.CompensationStarted, at: int) -> None:
    entries = {entry.activation: entry for entry in undoable(state, event.scope, event.loop)}
    remaining = [entries[id] for id in reversed(event.order)]
    state.compensating = Compensating(event.scope, event.policy, remaining, loop=event.loop)
    taken = set(event.order)
    for id in below_of(state, event.scope):
        scope = state.scopes[id]
        if scope.undo:
            scope.undo = [entry for entry in scope.undo if entry.activation not in taken]
    if event.scope == ROOT and event.loop is None:
        state.compensated = True


def compensation_ended(state: RunState, event: e.CompensationEnded, at: int) -> None:
    over = state.compensating
    assert over is not None
    state.compensating = None
    entries = {entry.activation: entry for entry in over.remaining}
    state.not_undone_count += len(event.failed)
    for id in event.failed[: max(0, MOST_NOT_UNDONE - len(state.not_undone))]:
        state.not_undone.append(NotUndone(entries[id].node, entries[id].key, over.failures.get(id)))
    if state.closing is not None:
        settled = {*event.undone, *event.failed}
        state.closing.undone += [entries[id].node for id in event.undone]
        state.closing.untried += [each.node for each in reversed(over.remaining) if each.activation not in settled]
    if event.scope == ROOT and event.loop is None and state.closing is not None:
        state.closing.compensation_over = True
