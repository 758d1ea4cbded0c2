"""What each command leads to.

`handle` is decide. It works on the state that it is given, and the state moves along with each event that is emitted,
so that the next decision of the same turn sees it. Nothing here reads a clock, waits, or touches the world: the same
state, commands and time give the same events. Below it stands one small function per command; what follows from a
result is the program's answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.errors import IllegalCommand, InvalidInput, TooMuch
from perdure.kernel.backoff import pause_before
from perdure.kernel.children import failure_of
from perdure.kernel.legality import COMMANDS, Answer
from perdure.kernel.people import answer, as_answer, run_node
from perdure.kernel.signal_ids import is_known
from perdure.kernel.signals import deliver_all_signals, deliver_signals, is_wanted, takes_next
from perdure.kernel.sizes import counted, measured
from perdure.kernel.state import Activation
from perdure.kernel.turn import Turn, condition, refusal
from perdure.kernel.undone import why_no_retry
from perdure.kernel.winding import close_run, fail_run, wind_up
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.effects import Continue
from perdure.model.failures import UNKNOWN_OUTCOMES, Failure
from perdure.model.statuses import Phase
from perdure.model.waits import ESCALATION, REMINDER


def start(turn: Turn, command: c.Start) -> None:
    turn.emit(
        e.RunStarted(
            program=command.program,
            definition=command.definition,
            version=command.version,
            hash=command.hash,
            semantics=turn.program.semantics,
            input=command.input,
            seed=command.seed,
            trigger=command.trigger,
            key=command.key,
            parent=command.parent,
            thread=command.thread,
            lookups=command.lookups,
            limits=command.limits,
            pins=command.pins,
        )
    )
    if command.attributes:
        turn.emit(e.AttributesSet(command.attributes))


# -- what handlers report ------------------------------------------------------------------------


def _current(turn: Turn, id: int, attempt: int) -> Activation | None:
    """The activation if the report is about its current attempt; a stale report is answered with nothing."""
    activation = turn.state.activations.get(id)
    if activation is None or activation.attempt != attempt:
        return None
    return activation


def complete(turn: Turn, command: c.Complete) -> None:
    activation = _current(turn, command.activation, command.attempt)
    if activation is None:
        return
    if activation.phase is Phase.CANCELLING:
        # It got through before it could be stopped: there may be something to undo.
        cancel_done(turn, c.CancelDone(command.activation, unknown=True))
    elif activation.phase is Phase.EXECUTING and command.then is not None:
        turn.program.wait(turn, activation, command.then)
    elif activation.phase is Phase.EXECUTING:
        size = counted(command.size)
        result = (command.output, command.outcome, command.vars, size, command.beside, command.cached)
        turn.program.completed(turn, activation, *result)


def check_data(turn: Turn, node: str) -> None:
    """Fails the run if what this node has just added was too much."""
    state = turn.state
    if state.data_bytes > state.limits.data and state.closing is None:
        fail_run(turn, Failure("LIMIT_DATA", f"the run's data grew beyond {state.limits.data} bytes", node=node))


def fail(turn: Turn, command: c.Fail) -> None:
    activation = _current(turn, command.activation, command.attempt)
    if activation is None:
        return
    if activation.phase is Phase.CANCELLING:
        cancel_done(turn, c.CancelDone(command.activation, unknown=True))
    elif activation.phase is Phase.EXECUTING:
        fail_attempt(turn, activation, command.failure, command.output)


def fail_attempt(turn: Turn, activation: Activation, failure: Failure, output: Any = None) -> None:
    """Another attempt if the policy has one left, otherwise the failure is final."""
    state = turn.state
    failure = failure.at_node(activation.node)
    policy = turn.program.retry_policy(state, activation)
    tries = activation.attempt - activation.tries_before
    may_repeat = (
        state.semantics < 3
        or failure.code not in UNKNOWN_OUTCOMES
        or not turn.program.is_at_most_once(state, activation)
    )
    is_open = state.closing is None or activation.detached
    if failure.retryable and tries < policy.attempts and is_open and may_repeat:
        pause = pause_before(policy, tries + 1, state.seed, activation.id)
        if failure.retry_after is not None:
            pause = max(pause, failure.retry_after)
        turn.emit(e.ActivationFailed(activation.id, activation.attempt, failure, final=False))
        turn.emit(e.ActivationRetrying(activation.id, activation.attempt + 1, turn.at + pause))
    elif activation.detached:
        turn.emit(e.ActivationFailed(activation.id, activation.attempt, failure, output=output))
    else:
        turn.program.failed(turn, activation, failure, output)


def cancel_done(turn: Turn, command: c.CancelDone) -> None:
    activation = turn.state.activations.get(command.activation)
    if activation is None or command.attempt not in (None, activation.attempt):
        return
    if activation.phase is Phase.CANCELLING:
        turn.emit(e.ActivationCancelled(activation.id, activation.cancel_reason or "cancelled", command.unknown))


def heartbeat(turn: Turn, command: c.Heartbeat) -> None:
    activation = _current(turn, command.activation, command.attempt)
    if activation is not None and activation.phase is Phase.EXECUTING:
        turn.emit(e.HeartbeatRecorded(activation.id, command.details))


def record_side_effect(turn: Turn, command: c.RecordSideEffect) -> None:
    if command.key not in turn.state.side_effects:
        turn.emit(e.SideEffectRecorded(command.key, command.value))


def set_attributes(turn: Turn, command: c.SetAttributes) -> None:
    turn.emit(e.AttributesSet(command.values))


# -- what the runtime reports --------------------------------------------------------------------


def fire_timers(turn: Turn, command: c.FireTimers) -> None:
    state = turn.state
    if (
        state.executing
        and state.active_total + turn.at - state.active_since >= state.limits.active_time
        and state.closing is None
    ):
        limit = Failure(
            "LIMIT_ACTIVE_TIME", f"the run was active for more than {state.limits.active_time // 1_000_000} s"
        )
        fail_run(turn, limit, status="TIMED_OUT")
    while state.timer_heap and state.timer_heap[0][0] <= turn.at and state.final is None and not turn.is_tired:
        id = state.timer_heap[0][2]
        timer = state.timers[id]
        turn.emit(e.TimerFired(id))
        activation = state.activations.get(timer.activation) if timer.activation is not None else None
        if activation is None:
            continue
        if activation.phase is Phase.EXECUTING:
            turn.program.launch(turn, activation)
        elif timer.purpose in (REMINDER, ESCALATION):
            turn.program.reminded(turn, activation, timer.purpose)
        else:
            turn.program.timed_out(turn, activation)


def proceed(turn: Turn, command: c.Proceed) -> None:
    """Nothing of its own: settling the turn goes on with what is ready."""


def take_over(turn: Turn, command: c.TakeOver) -> None:
    state = turn.state
    idle = 0
    if state.executing and command.alive_until is not None:
        idle = max(0, turn.at - max(command.alive_until, state.active_since))
    caught = [a for a in state.activations.values() if a.phase is Phase.EXECUTING] if command.died else []
    if caught or idle:
        turn.emit(e.ActivationsRedelivered([a.id for a in caught], idle))
        for activation in caught:
            if turn.program.is_at_most_once(state, activation):
                unknown = Failure(
                    "OUTCOME_UNKNOWN",
                    "its worker died; whether it took effect is not known, and it must not be repeated",
                )
                _fail_for_good(turn, activation, unknown)
            elif activation.deliveries > state.limits.deliveries:
                times = activation.deliveries - 1
                poison = Failure(
                    "WORKER_DIED",
                    f"{times} workers died while executing it; it is set aside",
                    details={"deliveries": times},
                )
                _fail_for_good(turn, activation, poison)


def _fail_for_good(turn: Turn, activation: Activation, failure: Failure) -> None:
    if activation.id not in turn.state.activations or activation.phase is not Phase.EXECUTING:
        return
    if activation.detached:
        turn.emit(e.ActivationFailed(activation.id, activation.attempt, failure.at_node(activation.node)))
    else:
        turn.program.failed(turn, activation, failure.at_node(activation.node), None)


def items_loaded(turn: Turn, command: c.ItemsLoaded) -> None:
    activation = turn.state.activations.get(command.activation)
    if activation is not None and activation.phase is Phase.LOOPING:
        turn.program.items_loaded(turn, activation, command)


def child_ended(turn: Turn, command: c.ChildEnded) -> None:
    activation = turn.state.activations.get(command.activation)
    if activation is None or activation.phase is not Phase.CHILD or activation.child != command.run:
        return
    if command.status == "STARTED":
        if not activation.child_wait:
            turn.emit(e.ChildClosed(activation.id, command.run, command.status))
            turn.program.completed(turn, activation, {"run": command.run}, None, None, 0)
        return
    turn.emit(e.ChildClosed(activation.id, command.run, command.status, command.output, command.failure))
    if command.status == "COMPLETED":
        turn.program.completed(turn, activation, command.output, None, None, measured(command.output))
        return
    fail_attempt(turn, activation, failure_of(activation, command, turn.state.semantics))


# -- what people and programs ask ----------------------------------------------------------------


def signal(turn: Turn, command: c.Signal) -> None:
    state = turn.state
    if not command.name:
        raise InvalidInput("a signal needs a name", pointer="/name")
    if (meant := as_answer(state, command)) is not None:
        if state.closing is not None:
            raise refusal(state, meant)
        answer(turn, meant)
        return
    if is_known(state, command):
        return
    size, most = measured(command.payload), state.limits.data
    if size > most:
        raise TooMuch(
            f"a signal of {size} bytes; the run may hold {most}",
            pointer="/payload",
            limit=most,
            code_of_limit="LIMIT_DATA",
        )
    if state.semantics >= 2 and turn.program.loses_signal(state, command.name) and not is_wanted(state, command.name):
        turn.emit(e.SignalReceived(command.name, command.payload, command.id, kept=False))
        return
    is_awaited = state.suspended is None and state.closing is None and takes_next(turn, command.name)
    if len(state.signals) >= state.limits.pending_signals and not is_awaited:
        raise TooMuch(
            f"{len(state.signals)} signals are waiting to be consumed already",
            limit=state.limits.pending_signals,
            code_of_limit="LIMIT_SIGNALS",
        )
    if state.signal_bytes + size > most and not is_awaited:
        raise TooMuch(
            f"signals of {state.signal_bytes} bytes are waiting to be consumed already; with this one they would be"
            f" {state.signal_bytes + size}, and the run may hold {most}",
            pointer="/payload",
            remedy="send it when some of them have been consumed, or hand large data on by reference",
            limit=most,
            code_of_limit="LIMIT_DATA",
        )
    turn.emit(e.SignalReceived(command.name, command.payload, command.id, size=size))
    deliver_signals(turn, command.name, state.signal_count - 1)
    if state.suspended is None and state.closing is None:
        turn.program.signalled(turn)


def cancel(turn: Turn, command: c.Cancel) -> None:
    close_run(turn, "CANCELLED", reason=command.reason)


def suspend(turn: Turn, command: c.Suspend) -> None:
    turn.emit(e.RunSuspended(command.reason))


def resume(turn: Turn, command: c.Resume) -> None:
    turn.emit(e.RunResumed())
    deliver_all_signals(turn)
    fire_timers(turn, c.FireTimers())


def retry_run(turn: Turn, command: c.RetryRun) -> None:
    state = turn.state
    if state.compensated:
        raise IllegalCommand(
            f"the run cannot be retried: {why_no_retry(state)}",
            remedy="start it anew",
            run=state.run,
        )
    turn.emit(e.RunRetried(sorted(state.casualties), command.new_key))
    for activation in list(state.activations.values()):
        if activation.phase is Phase.EXECUTING:
            turn.program.launch(turn, activation)
    deliver_all_signals(turn)


DECIDERS: dict[type[c.Command], Callable[[Any, Any], None]] = {
    c.Start: start,
    c.Complete: complete,
    c.Fail: fail,
    c.CancelDone: cancel_done,
    c.Heartbeat: heartbeat,
    c.RecordSideEffect: record_side_effect,
    c.SetAttributes: set_attributes,
    c.FireTimers: fire_timers,
    c.Proceed: proceed,
    c.TakeOver: take_over,
    c.ItemsLoaded: items_loaded,
    c.ChildEnded: child_ended,
    c.Signal: signal,
    c.Answer: answer,
    c.RunNode: run_node,
    c.Cancel: cancel,
    c.Suspend: suspend,
    c.Resume: resume,
    c.RetryRun: retry_run,
}


def handle(turn: Turn, command: c.Command) -> bool:
    """Decides the command. False: it changed nothing (late, or answered before). Raises IllegalCommand for a
    refusal."""
    kind = type(command)
    state = turn.state
    answer = COMMANDS[kind][condition(state)]
    if answer is Answer.IGNORE:
        return False
    if answer is Answer.REFUSE:
        raise refusal(state, command)
    before = len(turn.events)
    DECIDERS[kind](turn, command)
    _advance(turn)
    return len(turn.events) > before


def _advance(turn: Turn) -> None:
    if turn.state.closing is None and turn.state.suspended is None:
        turn.program.advance(turn)


def finish(turn: Turn) -> None:
    """Closes the turn: winds a closing run up, tells the parent of an ended run, rolls over a long log, asks for
    another turn if work was left.

    A run comes to its end only here, so that whatever is decided in the same turn as its closing still finds it alive:
    a signal that came beside the last result stands in the log.
    """
    state = turn.state
    while state.closing is not None and state.final is None and wind_up(turn):
        _advance(turn)
    if state.final is not None and state.parent is not None and turn.events:
        assert state.closing is not None
        ended = c.ChildEnded(
            state.parent.activation, state.run, state.final, state.closing.output, state.closing.failure
        )
        turn.sends.append((state.parent.run, ended))
    if state.final is None:
        if state.seq - state.generation_start >= state.limits.generation_events:
            turn.emit(e.RolledOver(state.generation + 1))
            turn.must_snapshot = True
        if state.suspended is None and state.closing is None and turn.program.has_ready(state):
            turn.effects.append(Continue())
