"""Applying events: what each one changes in the kernel's part of the state.

Law of this file: apply, never decide. An applier reads the event, the state and the time, evaluates no expression,
refuses nothing that `decide` has produced, and does the same on replay as it did live. It returns the activation that
the event is about, if there is one, so that the program can apply its part.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import msgspec

from perdure.errors import InvariantBroken
from perdure.kernel.legality import PHASES
from perdure.kernel.state import ROOT, Activation, Closing, Compensating, PendingSignal, RunState, Scope, Timer, Undo
from perdure.model import events as e
from perdure.model.policies import ParentClose
from perdure.model.statuses import Phase

SCOPE = "scope"
"""The outcome of a failure that an enclosing scope takes care of."""

Applier = Callable[[RunState, "e.Event", int], Activation | None]


def _count(state: RunState, phase: Phase | None, step: int, at: int) -> None:
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
    elif phase is Phase.SIGNAL or phase is Phase.CHILD:
        state.waiting += step


def _move(state: RunState, id: int, event: e.Event, at: int) -> Activation:
    """Takes the activation to the phase that the table gives for this event."""
    activation = state.activations[id]
    before = activation.phase
    try:
        after = PHASES[before, type(event)]
    except KeyError:
        raise InvariantBroken(f"{type(event).__name__} on activation {id} in phase {before}") from None
    if after is None:
        del state.activations[id]
        _drop_timer(state, activation)
        if before is Phase.SIGNAL:
            _stop_waiting(state, activation)
        _count(state, before, -1, at)
    elif after is not before:
        activation.phase = after
        _count(state, after, 1, at)
        _count(state, before, -1, at)
    return activation


def _drop_timer(state: RunState, activation: Activation) -> None:
    if activation.timer is not None:
        _forget_timer(state, activation.timer)
        activation.timer = None


def _forget_timer(state: RunState, id: str) -> None:
    """Removes a timer, and whatever dead entries have come to the top of the heap: its first entry is always alive."""
    state.timers.pop(id, None)
    heap, timers = state.timer_heap, state.timers
    while heap and (heap[0][2] not in timers or timers[heap[0][2]].number != heap[0][1]):
        heapq.heappop(heap)


def _stop_waiting(state: RunState, activation: Activation) -> None:
    name = activation.signal
    assert name is not None
    waiting = state.waiters[name]
    waiting.remove(activation.id)
    if not waiting:
        del state.waiters[name]


def _forget_child(activation: Activation) -> None:
    """The next attempt starts another child; under the old key it would find the one that failed."""
    if activation.child is not None:
        activation.child = activation.child_of = None
        activation.key_generation += 1


def _arm(state: RunState, id: str, due: int, purpose: str, activation: int | None) -> None:
    if id in state.timers:
        _forget_timer(state, id)
    state.timer_count += 1
    state.timers[id] = Timer(due, purpose, activation, state.timer_count)
    heapq.heappush(state.timer_heap, (due, state.timer_count, id))
    if len(state.timer_heap) > 64 + 2 * len(state.timers):
        state.timer_heap = [(timer.due, timer.number, id) for id, timer in state.timers.items()]
        heapq.heapify(state.timer_heap)


def is_within(state: RunState, inner: int, outer: int) -> bool:
    """Whether the scope `inner` is `outer` or lies below it."""
    at: int | None = inner
    while at is not None:
        if at == outer:
            return True
        at = state.scopes[at].parent
    return False


# -- the run -------------------------------------------------------------------------------------


def run_started(state: RunState, event: e.RunStarted, at: int) -> None:
    for name in (
        "program",
        "definition",
        "version",
        "hash",
        "semantics",
        "input",
        "seed",
        "trigger",
        "key",
        "parent",
        "thread",
        "lookups",
        "limits",
    ):
        setattr(state, name, getattr(event, name))
    state.started_at = at
    state.generation_start = state.seq
    state.scopes = {ROOT: Scope(ROOT)}


def run_closing(state: RunState, event: e.RunClosing, at: int) -> None:
    state.closing = Closing(event.status, event.output, event.failure, event.reason, activation=event.activation)
    state.suspended = None


def _ended(status: str) -> Applier:
    def apply(state: RunState, event: e.Event, at: int) -> None:
        state.final = status
        state.closed_at = at
        output, failure, reason = (getattr(event, name, None) for name in ("output", "failure", "reason"))
        activation = getattr(event, "activation", None)
        if state.closing is None:
            state.closing = Closing(status, output, failure, reason, activation=activation)
        state.suspended = None
        state.timers, state.timer_heap = {}, []

    return apply


def run_suspended(state: RunState, event: e.RunSuspended, at: int) -> None:
    state.suspended = event.reason or ""


def run_resumed(state: RunState, event: e.RunResumed, at: int) -> None:
    state.suspended = None


def run_retried(state: RunState, event: e.RunRetried, at: int) -> None:
    state.closing, state.final, state.closed_at = None, None, None
    state.errors_in_a_row = state.active_total = 0
    again = set(event.activations)
    for scope in state.scopes.values():
        if scope.undo:  # those of unknown outcome are done again, and undone once at most
            scope.undo = [entry for entry in scope.undo if entry.activation not in again]
    for id in event.activations:
        activation = state.casualties[id]
        _take_up_again(state, activation, event.new_key)
        state.activations[id] = activation
        _count(state, activation.phase, 1, at)
    state.casualties = {}


def _take_up_again(state: RunState, activation: Activation, new_key: bool) -> None:
    """What slept or waited goes on with that, what executed begins anew."""
    phase = activation.phase
    activation.deliveries, activation.cancel_reason = 1, None
    # Attempts are numbered on, so that a late report about an earlier one is not taken for one about the next.
    activation.attempt += phase is Phase.EXECUTING
    activation.tries_before = activation.attempt - 1
    if new_key:
        activation.key_generation += 1
    if phase is Phase.SIGNAL:
        assert activation.signal is not None
        state.waiters.setdefault(activation.signal, []).append(activation.id)
    if activation.due is not None and (phase is Phase.SLEEPING or phase is Phase.SIGNAL):
        activation.timer = f"a{activation.id}"
        _arm(state, activation.timer, activation.due, phase, activation.id)
    if phase is not Phase.CHILD or activation.on_parent_close == ParentClose.CANCEL:
        _forget_child(activation)  # one that was left alone is found again under the same key
    if phase is Phase.RETRYING or phase is Phase.CHILD:
        activation.phase = Phase.EXECUTING


def run_continued(state: RunState, event: e.RunContinued, at: int) -> None:
    state.generation = event.generation
    state.generation_start = state.seq
    state.input = event.input
    state.continued_output = event.output
    state.closing = None
    state.scopes = {ROOT: Scope(ROOT)}
    state.casualties, state.side_effects = {}, {}
    state.errors_in_a_row = state.data_bytes = 0


def rolled_over(state: RunState, event: e.RolledOver, at: int) -> None:
    state.generation = event.generation
    state.generation_start = state.seq


def attributes_set(state: RunState, event: e.AttributesSet, at: int) -> None:
    state.attributes = {
        name: value for name, value in {**state.attributes, **event.values}.items() if value is not None
    }


# -- activations ---------------------------------------------------------------------------------


def activation_scheduled(state: RunState, event: e.ActivationScheduled, at: int) -> Activation:
    activation = Activation(
        event.id,
        event.node,
        event.scope,
        event.visit,
        config=event.config,
        scheduled_at=at,
        undo=event.undo,
        detached=event.detached,
        input=event.input,
    )
    state.activations[event.id] = activation
    state.next_activation = event.id + 1
    state.activation_total += 1
    _count(state, Phase.EXECUTING, 1, at)
    if event.undo is not None:
        assert state.compensating is not None
        activation.undo_key = next(u.key for u in state.compensating.remaining if u.activation == event.undo)
    elif event.detached and state.closing is not None:
        state.closing.after += 1
    return activation


def activation_completed(state: RunState, event: e.ActivationCompleted, at: int) -> Activation:
    activation = _move(state, event.id, event, at)
    state.errors_in_a_row = 0
    state.data_bytes += event.size
    _drop_scopes_of(state, activation)
    if activation.undo is not None:
        assert state.compensating is not None
        state.compensating.undone.append(activation.undo)
    return activation


def node_evaluated(state: RunState, event: e.NodeEvaluated, at: int) -> None:
    state.next_activation = event.id + 1
    state.activation_total += 1
    state.errors_in_a_row = 0
    state.data_bytes += event.size


def activation_failed(state: RunState, event: e.ActivationFailed, at: int) -> Activation:
    if not event.final:
        return state.activations[event.id]
    activation = _move(state, event.id, event, at)
    _drop_scopes_of(state, activation)
    if event.outcome is not None:
        state.errors_in_a_row += event.outcome != SCOPE
    elif activation.undo is not None:
        assert state.compensating is not None
        state.compensating.failed.append(activation.undo)
    elif not activation.detached:
        activation.phase = Phase.EXECUTING
        state.casualties[event.id] = activation
    return activation


def activation_retrying(state: RunState, event: e.ActivationRetrying, at: int) -> Activation:
    activation = _move(state, event.id, event, at)
    activation.attempt = event.attempt
    _forget_child(activation)
    activation.timer = f"a{event.id}"
    _arm(state, activation.timer, event.due, "retry", event.id)
    return activation


def activation_cancelling(state: RunState, event: e.ActivationCancelling, at: int) -> Activation:
    activation = _move(state, event.id, event, at)
    activation.cancel_reason = event.reason
    activation.withdrawn = state.closing is None
    return activation


def activation_cancelled(state: RunState, event: e.ActivationCancelled, at: int) -> Activation:
    activation = _move(state, event.id, event, at)
    resumable = not (activation.detached or activation.withdrawn)
    if state.closing is not None and state.closing.failure is not None and resumable:
        if activation.phase is Phase.CANCELLING:
            activation.phase = Phase.EXECUTING
        state.casualties[event.id] = activation
    elif activation.open_scopes and not _lives_below(state, activation):
        _drop_scopes_of(state, activation)
    return activation


def activations_redelivered(state: RunState, event: e.ActivationsRedelivered, at: int) -> None:
    for id in event.ids:
        state.activations[id].deliveries += 1
    state.active_since += event.idle


def heartbeat_recorded(state: RunState, event: e.HeartbeatRecorded, at: int) -> Activation:
    activation = state.activations[event.id]
    activation.heartbeat = event.details
    return activation


def side_effect_recorded(state: RunState, event: e.SideEffectRecorded, at: int) -> None:
    state.side_effects[event.key] = event.value


# -- signals, timers, children -------------------------------------------------------------------


def signal_received(state: RunState, event: e.SignalReceived, at: int) -> None:
    state.signal_count += 1
    state.signals.append(PendingSignal(state.signal_count, event.name, event.payload))
    if event.id is not None:
        state.signal_ids[event.id] = state.signal_count


def signal_awaited(state: RunState, event: e.SignalAwaited, at: int) -> Activation:
    activation = _move(state, event.activation, event, at)
    activation.signal = event.name
    activation.since = state.signal_count if event.mode == "transient" else 0
    state.waiters.setdefault(event.name, []).append(event.activation)
    return activation


def signal_consumed(state: RunState, event: e.SignalConsumed, at: int) -> Activation:
    for place, signal in enumerate(state.signals):
        if signal.number == event.payload_seq:
            del state.signals[place]
            break
    return _move(state, event.activation, event, at)


def timer_armed(state: RunState, event: e.TimerArmed, at: int) -> Activation | None:
    _arm(state, event.id, event.due, event.purpose, event.activation)
    if event.activation is None:
        return None
    activation = _move(state, event.activation, event, at)
    activation.timer, activation.due, activation.output = event.id, event.due, event.output
    return activation


def timer_fired(state: RunState, event: e.TimerFired, at: int) -> Activation | None:
    timer = state.timers[event.id]
    _forget_timer(state, event.id)
    if timer.activation is None:
        return None
    activation = _move(state, timer.activation, event, at)
    activation.timer = activation.due = None
    return activation


def timer_cancelled(state: RunState, event: e.TimerCancelled, at: int) -> None:
    _forget_timer(state, event.id)


def child_requested(state: RunState, event: e.ChildRequested, at: int) -> Activation:
    activation = _move(state, event.activation, event, at)
    activation.child, activation.child_wait, activation.on_parent_close = event.run, event.wait, event.on_parent_close
    activation.child_of = (event.definition, event.version, event.input)
    return activation


def child_closed(state: RunState, event: e.ChildClosed, at: int) -> Activation:
    return _move(state, event.activation, event, at)


# -- loops and compensation ----------------------------------------------------------------------


def loop_started(state: RunState, event: e.LoopStarted, at: int) -> Activation:
    return _move(state, event.activation, event, at)


def loop_satisfied(state: RunState, event: e.LoopSatisfied, at: int) -> Activation:
    state.data_bytes += event.size
    return _move(state, event.activation, event, at)


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


def _drop_scope(state: RunState, id: int) -> None:
    """Forgets a scope and all below it. What it has completed can still be undone, as a part of its parent."""
    scope = state.scopes[id]
    below = [other for other in state.scopes if is_within(state, other, id)] if scope.closing is not None else [id]
    if scope.closing is None and scope.undo and scope.parent is not None:
        moved = [msgspec.structs.replace(entry, loop=scope.loop) for entry in scope.undo]
        state.scopes[scope.parent].undo.extend(moved)
    for other in below:
        del state.scopes[other]
        if other in state.closing_scopes:
            state.closing_scopes.remove(other)


def _lives_below(state: RunState, loop: Activation) -> bool:
    scopes = [scope.id for scope in state.scopes.values() if scope.loop == loop.id]
    return any(is_within(state, other.scope, scope) for other in state.activations.values() for scope in scopes)


def _drop_scopes_of(state: RunState, loop: Activation) -> None:
    if loop.open_scopes:
        for id in [scope.id for scope in state.scopes.values() if scope.loop == loop.id]:
            for inner in reversed([other for other in state.scopes if is_within(state, other, id)]):
                _drop_scope(state, inner)
        loop.open_scopes = 0


def scope_closing(state: RunState, event: e.ScopeClosing, at: int) -> None:
    state.scopes[event.scope].closing = event.failure
    state.closing_scopes.append(event.scope)


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


APPLIERS: dict[type[e.Event], Callable[..., Activation | None]] = {
    e.RunStarted: run_started,
    e.RunClosing: run_closing,
    e.RunCompleted: _ended("COMPLETED"),
    e.RunFailed: _ended("FAILED"),
    e.RunCancelled: _ended("CANCELLED"),
    e.RunTimedOut: _ended("TIMED_OUT"),
    e.RunSuspended: run_suspended,
    e.RunResumed: run_resumed,
    e.RunRetried: run_retried,
    e.RunContinued: run_continued,
    e.RolledOver: rolled_over,
    e.AttributesSet: attributes_set,
    e.ActivationScheduled: activation_scheduled,
    e.ActivationCompleted: activation_completed,
    e.NodeEvaluated: node_evaluated,
    e.ActivationFailed: activation_failed,
    e.ActivationRetrying: activation_retrying,
    e.ActivationCancelling: activation_cancelling,
    e.ActivationCancelled: activation_cancelled,
    e.ActivationsRedelivered: activations_redelivered,
    e.HeartbeatRecorded: heartbeat_recorded,
    e.SideEffectRecorded: side_effect_recorded,
    e.SignalReceived: signal_received,
    e.SignalAwaited: signal_awaited,
    e.SignalConsumed: signal_consumed,
    e.TimerArmed: timer_armed,
    e.TimerFired: timer_fired,
    e.TimerCancelled: timer_cancelled,
    e.ChildRequested: child_requested,
    e.ChildClosed: child_closed,
    e.LoopStarted: loop_started,
    e.LoopSatisfied: loop_satisfied,
    e.IterationStarted: iteration_started,
    e.IterationEnded: iteration_ended,
    e.ScopeClosing: scope_closing,
    e.CompensationStarted: compensation_started,
    e.CompensationEnded: compensation_ended,
}
"""Events that change nothing in the kernel's part (skips, messages, items …) are not listed."""
