"""Ending a run or a scope: withdraw what lives, wait for it, undo in reverse, run the completion nodes, record the end.

The stages follow from state, so a crash between any two of them goes on where it was:

    closing set → nothing alive → compensation → completion nodes → final event
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.kernel.scopes import undoable
from perdure.kernel.state import ROOT, Activation, Closing, RunState, Undo
from perdure.kernel.turn import CONTINUED, Turn
from perdure.kernel.undone import failed_to_undo, with_compensation
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.effects import StopHandler
from perdure.model.failures import Failure
from perdure.model.policies import ParentClose
from perdure.model.statuses import Phase


def close_run(
    turn: Turn,
    status: str,
    output: Any = None,
    failure: Failure | None = None,
    activation: int | None = None,
    reason: str | None = None,
) -> None:
    """The result is fixed from here on."""
    state = turn.state
    if state.closing is not None and state.closing.status != CONTINUED:
        return
    turn.emit(e.RunClosing(status, output, failure, activation, reason))
    why = reason or (failure.message if failure else "the run has ended")
    for live in list(state.activations.values()):
        if live.id not in state.activations:
            continue
        if not live.detached or (live.demanded and status != "COMPLETED"):  # what is being undone is undone to its end
            withdraw(turn, live, why)


def withdraw(turn: Turn, activation: Activation, reason: str) -> None:
    """Takes an activation back: at once if nothing runs, otherwise its handler is told and answers."""
    if activation.phase is Phase.EXECUTING:
        turn.emit(e.ActivationCancelling(activation.id, reason))
        if turn.take_back(activation.id):  # it has never run
            turn.emit(e.ActivationCancelled(activation.id, reason))
        else:
            turn.effects.append(StopHandler(activation.id))
    elif activation.phase is not Phase.CANCELLING:
        is_child_to_be_cancelled = activation.child is not None and activation.on_parent_close == ParentClose.CANCEL
        if not turn.take_back(activation.id) and is_child_to_be_cancelled:
            assert activation.child is not None
            turn.sends.append((activation.child, c.Cancel(f"its parent {turn.state.run} gave it up: {reason}")))
        turn.emit(e.ActivationCancelled(activation.id, reason, turn.program.has_acted(turn.state, activation)))


def fail_run(turn: Turn, failure: Failure, activation: int | None = None, status: str = "FAILED") -> None:
    close_run(turn, status, failure=failure, activation=activation)


def wind_up(turn: Turn) -> bool:
    """The next stage of a closing run, as far as this turn can take it. True: it goes on as a new generation."""
    state = turn.state
    closing = state.closing
    assert closing is not None
    if any(not activation.detached for activation in state.activations.values()):
        return False
    begun = state.compensating
    if begun is not None and not compensate(turn, begun.scope, begun.policy, loop=begun.loop):
        return False
    if not closing.compensation_over and closing.status not in ("COMPLETED", CONTINUED):
        cancelled = closing.status == "CANCELLED"
        policy = turn.program.compensation(state)
        if not compensate(turn, ROOT, policy, which=lambda entry: entry.on_cancel or not cancelled):
            return False
    if closing.status == CONTINUED:
        turn.emit(e.RunContinued(state.generation + 1, closing.output))
        turn.must_snapshot = True
        return True
    while not any(activation.detached for activation in state.activations.values()):
        if not turn.program.start_completion_node(turn, closing.after):
            turn.emit(final_event(state, closing))
            break
    return False


def final_event(state: RunState, closing: Closing) -> e.Event:
    if closing.status == "COMPLETED":
        return e.RunCompleted(closing.output)
    if closing.status == "CANCELLED":
        return e.RunCancelled(closing.reason, failed_to_undo(state, closing))
    assert closing.failure is not None
    failure = with_compensation(state, closing, closing.failure)
    if closing.status == "TIMED_OUT":
        return e.RunTimedOut(failure)
    return e.RunFailed(failure, closing.activation)


def compensate(
    turn: Turn,
    scope: int,
    policy: str,
    *,
    loop: int | None = None,
    which: Callable[[Undo], bool] = lambda entry: True,
) -> bool:
    """Undoes what the scope (or this loop in it) has completed, as far as `which` says so: last first, one at a time.
    True when that is over."""
    state = turn.state
    begun = state.compensating
    if begun is None or (begun.scope, begun.loop) != (scope, loop):
        entries = [entry for entry in undoable(state, scope, loop) if which(entry)]
        if not entries or policy == "skip":
            return True
        if begun is not None:
            return False  # one after the other
        turn.emit(e.CompensationStarted(scope, policy, [entry.activation for entry in reversed(entries)], loop=loop))
    under_way = state.compensating
    assert under_way is not None
    while not any(activation.undo is not None for activation in state.activations.values()):
        entry = next_undo(under_way.remaining, under_way.undone, under_way.failed)
        if entry is None or (under_way.failed and under_way.policy == "strict"):
            turn.emit(e.CompensationEnded(scope, under_way.undone, under_way.failed, loop))
            return True
        turn.program.undo(turn, entry, scope)
    return False


def next_undo(entries: list[Undo], undone: list[int], failed: list[int]) -> Undo | None:
    settled = len(undone) + len(failed)
    return entries[-1 - settled] if settled < len(entries) else None
