"""Applying events: what each one changes in the kernel's part of the state.

Law of this file: apply, never decide. An applier reads the event, the state and the time, evaluates no expression,
refuses nothing that `decide` has produced, and does the same on replay as it did live. It returns the activation that
the event is about, if there is one, so that the program can apply its part.
"""

from __future__ import annotations

from collections.abc import Callable

from perdure.kernel.moves import arm, count, count_alive, forget_timer, move
from perdure.kernel.scopes import (
    compensation_ended,
    compensation_started,
    drop_scopes_of,
    iteration_ended,
    iteration_started,
    lives_below,
    loop_satisfied,
    loop_started,
    scope_closing,
)
from perdure.kernel.signal_ids import mark_of, remember
from perdure.kernel.state import ROOT, Activation, Closing, PendingSignal, RunState, Scope
from perdure.kernel.tasks import ask, node_requested, task_answered, task_opened, task_reminded
from perdure.model import events as e
from perdure.model.policies import ParentClose
from perdure.model.statuses import Phase
from perdure.model.waits import ESCALATION, REMINDER

SCOPE = "scope"
"""The outcome of a failure that an enclosing scope takes care of."""

Applier = Callable[[RunState, "e.Event", int], Activation | None]


def _forget_child(activation: Activation) -> None:
    """The next attempt starts another child; under the old key it would find the one that failed."""
    if activation.child is not None:
        activation.child = activation.child_of = None
        activation.key_generation += 1


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
        "pins",
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
        elif failure is not None:
            state.closing.failure = failure  # as it was, and what became of undoing
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
        count_alive(state, activation, 1)
        count(state, activation.phase, 1, at)
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
        state.waiters.setdefault(activation.signal, {})[activation.id] = True
    elif phase is Phase.PERSON:
        ask(state, activation)
    if activation.due is not None and (phase is Phase.SLEEPING or phase is Phase.SIGNAL):
        activation.timer = f"a{activation.id}"
        arm(state, activation.timer, activation.due, phase, activation.id)
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
    count_alive(state, activation, 1)
    state.next_activation = event.id + 1
    state.activation_total += 1
    count(state, Phase.EXECUTING, 1, at)
    if event.undo is not None:
        assert state.compensating is not None
        activation.undo_key = next(u.key for u in state.compensating.remaining if u.activation == event.undo)
    elif event.detached and state.closing is not None:
        state.closing.after += 1
    else:
        activation.demanded = event.detached
    return activation


def activation_completed(state: RunState, event: e.ActivationCompleted, at: int) -> Activation:
    activation = move(state, event.id, event, at)
    state.errors_in_a_row = 0
    state.data_bytes += event.size
    drop_scopes_of(state, activation)
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
        activation = state.activations[event.id]
        activation.failure = event.failure.brief()
        return activation
    activation = move(state, event.id, event, at)
    drop_scopes_of(state, activation)
    if event.outcome is not None:
        if event.outcome != SCOPE:
            if state.errors_in_a_row == 0:
                state.first_error = event.failure.brief().at_node(activation.node)
            state.errors_in_a_row += 1
    elif activation.undo is not None:
        assert state.compensating is not None
        state.compensating.failed.append(activation.undo)
        state.compensating.failures[activation.undo] = event.failure.brief()
    elif not activation.detached:
        activation.phase = Phase.EXECUTING
        state.casualties[event.id] = activation
    return activation


def activation_retrying(state: RunState, event: e.ActivationRetrying, at: int) -> Activation:
    activation = move(state, event.id, event, at)
    activation.attempt = event.attempt
    _forget_child(activation)
    activation.timer = f"a{event.id}"
    arm(state, activation.timer, event.due, "retry", event.id)
    return activation


def activation_cancelling(state: RunState, event: e.ActivationCancelling, at: int) -> Activation:
    activation = move(state, event.id, event, at)
    activation.cancel_reason = event.reason
    activation.withdrawn = state.closing is None
    return activation


def activation_cancelled(state: RunState, event: e.ActivationCancelled, at: int) -> Activation:
    activation = move(state, event.id, event, at)
    resumable = not (activation.detached or activation.withdrawn)
    if state.closing is not None and state.closing.failure is not None and resumable:
        if activation.phase is Phase.CANCELLING:
            activation.phase = Phase.EXECUTING
        state.casualties[event.id] = activation
    elif activation.open_scopes and not lives_below(state, activation):
        drop_scopes_of(state, activation)
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
    if event.kept:
        pending = PendingSignal(state.signal_count, event.name, event.payload, event.size)
        state.signals[state.signal_count] = pending
        state.signal_bytes += event.size
        state.signals_of.setdefault(event.name, {})[state.signal_count] = True
    if event.id is not None:
        remember(state, event.id, mark_of(event.name, event.payload))


def signal_awaited(state: RunState, event: e.SignalAwaited, at: int) -> Activation:
    activation = move(state, event.activation, event, at)
    activation.signal = event.name
    activation.since = state.signal_count if event.mode == "transient" else 0
    state.waiters.setdefault(event.name, {})[event.activation] = True
    return activation


def signal_consumed(state: RunState, event: e.SignalConsumed, at: int) -> Activation:
    state.signal_bytes -= state.signals.pop(event.payload_seq).size
    of_name = state.signals_of[event.name]
    del of_name[event.payload_seq]
    if not of_name:
        del state.signals_of[event.name]
    return move(state, event.activation, event, at)


def timer_armed(state: RunState, event: e.TimerArmed, at: int) -> Activation | None:
    arm(state, event.id, event.due, event.purpose, event.activation)
    if event.activation is None:
        return None
    activation = move(state, event.activation, event, at)
    activation.timer, activation.due, activation.output = event.id, event.due, event.output
    return activation


def timer_fired(state: RunState, event: e.TimerFired, at: int) -> Activation | None:
    timer = state.timers[event.id]
    forget_timer(state, event.id)
    if timer.activation is None:
        return None
    activation = move(state, timer.activation, event, at)
    if timer.purpose in (REMINDER, ESCALATION):
        return activation
    activation.timer = activation.due = None
    return activation


def timer_cancelled(state: RunState, event: e.TimerCancelled, at: int) -> None:
    forget_timer(state, event.id)


def child_requested(state: RunState, event: e.ChildRequested, at: int) -> Activation:
    activation = move(state, event.activation, event, at)
    activation.child, activation.child_wait, activation.on_parent_close = event.run, event.wait, event.on_parent_close
    activation.child_of = (event.definition, event.version, event.input)
    return activation


def child_closed(state: RunState, event: e.ChildClosed, at: int) -> Activation:
    return move(state, event.activation, event, at)


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
    e.TaskOpened: task_opened,
    e.TaskReminded: task_reminded,
    e.TaskAnswered: task_answered,
    e.NodeRequested: node_requested,
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
