"""Moving one activation from phase to phase, with what hangs on it: counters, active time, its timer, its wait.

Everything here applies; nothing decides. It runs the same on replay.
"""

from __future__ import annotations

import heapq

from perdure.errors import InvariantBroken
from perdure.kernel.legality import PHASES
from perdure.kernel.state import Activation, RunState, Timer
from perdure.model import events as e
from perdure.model.statuses import Phase
from perdure.model.waits import ESCALATION, REMINDER


def count(state: RunState, phase: Phase | None, step: int, at: int) -> None:
    """Keeps the counters by phase, and with them the active time: the union of the intervals in which something
    executed."""
    if phase is Phase.EXECUTING or phase is Phase.CANCELLING:
        if step > 0:
            if state.executing == 0:
                state.active_since = at
            state.executing += 1
        else:
            state.executing -= 1
            if state.executing == 0:
                state.active_total += at - state.active_since
    elif phase is Phase.SIGNAL or phase is Phase.PERSON or phase is Phase.CHILD:
        state.waiting += step


def move(state: RunState, id: int, event: e.Event, at: int) -> Activation:
    """Takes the activation to the phase that the table gives for this event."""
    activation = state.activations[id]
    before = activation.phase
    try:
        after = PHASES[before, type(event)]
    except KeyError:
        raise InvariantBroken(f"{type(event).__name__} on activation {id} in phase {before}") from None
    if after is None:
        del state.activations[id]
        count_alive(state, activation, -1)
        drop_timer(state, activation)
        if before is Phase.SIGNAL:
            stop_waiting(state, activation)
        elif before is Phase.PERSON:
            stop_asking(state, activation)
        count(state, before, -1, at)
    elif after is not before:
        activation.phase = after
        count(state, after, 1, at)
        count(state, before, -1, at)
    return activation


def count_alive(state: RunState, activation: Activation, step: int) -> None:
    """Keeps count of what lives in a scope and below it."""
    if activation.detached:
        return
    at: int | None = activation.scope
    while at is not None:
        scope = state.scopes[at]
        scope.alive += step
        at = scope.parent


def drop_timer(state: RunState, activation: Activation) -> None:
    if activation.timer is not None:
        forget_timer(state, activation.timer)
        activation.timer = None


def forget_timer(state: RunState, id: str) -> None:
    """Removes a timer, and whatever dead entries have come to the top of the heap: its first entry is always alive."""
    state.timers.pop(id, None)
    heap, timers = state.timer_heap, state.timers
    while heap and (heap[0][2] not in timers or timers[heap[0][2]].number != heap[0][1]):
        heapq.heappop(heap)


def stop_waiting(state: RunState, activation: Activation) -> None:
    name = activation.signal
    assert name is not None
    waiting = state.waiters[name]
    del waiting[activation.id]
    if not waiting:
        del state.waiters[name]


def stop_asking(state: RunState, activation: Activation) -> None:
    of_node = state.asking[activation.node]
    del of_node[activation.id]
    if not of_node:
        del state.asking[activation.node]
    for kind in (REMINDER, ESCALATION):
        forget_timer(state, f"a{activation.id}/{kind}")


def arm(state: RunState, id: str, due: int, purpose: str, activation: int | None) -> None:
    if id in state.timers:
        forget_timer(state, id)
    state.timer_count += 1
    state.timers[id] = Timer(due, purpose, activation, state.timer_count)
    heapq.heappush(state.timer_heap, (due, state.timer_count, id))
    if len(state.timer_heap) > 64 + 2 * len(state.timers):
        state.timer_heap = [(timer.due, timer.number, id) for id, timer in state.timers.items()]
        heapq.heapify(state.timer_heap)
