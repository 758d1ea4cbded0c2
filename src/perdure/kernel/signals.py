"""Handing signals to those who wait for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from perdure.kernel.sizes import measured
from perdure.kernel.state import Activation, PendingSignal, RunState
from perdure.kernel.turn import Turn
from perdure.model import events as e


def deliver_signals(turn: Turn, name: str, since: int = 0) -> None:
    """Hands pending signals of this name to those who wait for it, both in order of arrival. `since`: whoever waits and
    chooses has been asked about the signals up to this number, and has refused them."""
    state = turn.state
    while state.suspended is None and state.closing is None:
        match = next(_matches(turn, name, since), None)
        if match is None:
            return
        activation, pending = match
        turn.emit(e.SignalConsumed(name, activation.id, pending.number))
        turn.program.completed(turn, activation, pending.payload, "signal", None, measured(pending.payload))


def _matches(turn: Turn, name: str, since: int) -> Iterator[tuple[Activation, PendingSignal]]:
    state = turn.state
    for id in state.waiters.get(name, ()):
        activation = state.activations[id]
        takes = turn.program.choice(turn, activation)
        if takes is None:
            number = first_signal(state, name, activation.since)
        else:
            after = max(since, activation.since)
            number = next((n for n in _signals_after(state, name, after) if takes(state.signals[n].payload)), None)
        if number is not None:
            yield activation, state.signals[number]


def _signals_after(state: RunState, name: str, since: int) -> list[int]:
    """In order of arrival."""
    found = list(takewhile(lambda number: number > since, reversed(state.signals_of.get(name, {}))))
    return found[::-1]


def takes_next(turn: Turn, name: str) -> bool:
    """Whether somebody waits who will take the next signal of this name, whatever it says."""
    state = turn.state
    return any(turn.program.choice(turn, state.activations[id]) is None for id in state.waiters.get(name, ()))


def first_signal(state: RunState, name: str, since: int = 0) -> int | None:
    """The number of the first pending signal of this name that came after number `since`."""
    pending = state.signals_of.get(name)
    if not pending:
        return None
    if not since:
        return next(iter(pending))
    found = None
    for number in reversed(pending):
        if number <= since:
            break
        found = number
    return found


def is_wanted(state: RunState, name: str) -> bool:
    """Whether somebody waits for one more signal of this name: a run that is suspended has some already that it will
    hand on."""
    waiting = [state.activations[id] for id in state.waiters.get(name, ())]
    if not waiting:
        return False
    since = min(activation.since for activation in waiting)
    return sum(number > since for number in state.signals_of.get(name, ())) < len(waiting)


def deliver_all_signals(turn: Turn) -> None:
    """Hands on what came while nothing could be handed on."""
    for name in list(turn.state.waiters):
        deliver_signals(turn, name)
    if turn.state.closing is None:
        turn.program.signalled(turn)
