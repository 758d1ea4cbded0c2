"""What is legal, as tables. Whatever is not listed is not allowed; the pictures in the manual are drawn from these
tables.

Two rules for this file: it holds data, no behaviour; and no other file may decide legality.
"""

from __future__ import annotations

from enum import Enum

from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.statuses import Phase


class Condition(Enum):
    """Where a run stands, as far as commands are concerned."""

    NEW = "new"
    OPEN = "open"
    SUSPENDED = "suspended"
    CLOSING = "closing"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMED_OUT = "TIMED_OUT"


class Answer(Enum):
    ACCEPT = "accept"
    IGNORE = "ignore"
    """Too late or too early; nothing happens and nobody is told off."""
    REFUSE = "refuse"
    """The caller gets IllegalCommand."""


_NEW, _OPEN, _SUSPENDED, _CLOSING = Condition.NEW, Condition.OPEN, Condition.SUSPENDED, Condition.CLOSING
_ENDED = (Condition.COMPLETED, Condition.FAILED, Condition.CANCELLED, Condition.TIMED_OUT)
_LIVE = (_OPEN, _SUSPENDED, _CLOSING)


def _row(accept: tuple[Condition, ...], ignore: tuple[Condition, ...] = ()) -> dict[Condition, Answer]:
    row = dict.fromkeys(Condition, Answer.REFUSE)
    row |= dict.fromkeys(ignore, Answer.IGNORE)
    return row | dict.fromkeys(accept, Answer.ACCEPT)


COMMANDS: dict[type[c.Command], dict[Condition, Answer]] = {
    c.Start: _row((_NEW,)),
    # what handlers and the runtime report may come late
    c.Complete: _row(_LIVE, _ENDED),
    c.Fail: _row(_LIVE, _ENDED),
    c.CancelDone: _row(_LIVE, _ENDED),
    c.Heartbeat: _row(_LIVE, _ENDED),
    c.ItemsLoaded: _row(_LIVE, _ENDED),
    c.ChildEnded: _row(_LIVE, _ENDED),
    c.FireTimers: _row((_OPEN, _CLOSING), (_SUSPENDED, *_ENDED)),
    c.Proceed: _row((_OPEN, _CLOSING), (_SUSPENDED, *_ENDED)),
    c.TakeOver: _row(_LIVE, _ENDED),
    c.RecordSideEffect: _row(_LIVE),
    c.SetAttributes: _row(_LIVE),
    # what people ask for gets an answer
    c.Signal: _row(_LIVE),
    c.Answer: _row((_OPEN, _SUSPENDED)),
    c.RunNode: _row((_OPEN,)),
    c.Cancel: _row((_OPEN, _SUSPENDED), (_CLOSING,)),
    c.Suspend: _row((_OPEN,), (_SUSPENDED,)),
    c.Resume: _row((_SUSPENDED,)),
    c.RetryRun: _row((Condition.FAILED, Condition.TIMED_OUT)),
}

ENDED = None
"""The activation is over and leaves the state."""

PHASES: dict[tuple[Phase, type[e.Event]], Phase | None] = {
    (Phase.EXECUTING, e.ActivationCompleted): ENDED,
    (Phase.EXECUTING, e.ActivationFailed): ENDED,
    (Phase.EXECUTING, e.ActivationRetrying): Phase.RETRYING,
    (Phase.EXECUTING, e.ActivationCancelling): Phase.CANCELLING,
    (Phase.EXECUTING, e.TimerArmed): Phase.SLEEPING,
    (Phase.EXECUTING, e.SignalAwaited): Phase.SIGNAL,
    (Phase.EXECUTING, e.TaskOpened): Phase.PERSON,
    (Phase.EXECUTING, e.ChildRequested): Phase.CHILD,
    (Phase.EXECUTING, e.LoopStarted): Phase.LOOPING,
    (Phase.RETRYING, e.TimerFired): Phase.EXECUTING,
    (Phase.RETRYING, e.ActivationCancelled): ENDED,
    (Phase.SLEEPING, e.ActivationCompleted): ENDED,
    (Phase.SLEEPING, e.ActivationFailed): ENDED,
    (Phase.SLEEPING, e.ActivationCancelled): ENDED,
    (Phase.SLEEPING, e.TimerFired): Phase.SLEEPING,
    (Phase.SIGNAL, e.TimerArmed): Phase.SIGNAL,
    (Phase.SIGNAL, e.TimerFired): Phase.SIGNAL,
    (Phase.SIGNAL, e.SignalConsumed): Phase.SIGNAL,
    (Phase.SIGNAL, e.ActivationCompleted): ENDED,
    (Phase.SIGNAL, e.ActivationFailed): ENDED,
    (Phase.SIGNAL, e.ActivationCancelled): ENDED,
    (Phase.PERSON, e.TimerFired): Phase.PERSON,
    (Phase.PERSON, e.TaskReminded): Phase.PERSON,
    (Phase.PERSON, e.TaskAnswered): Phase.PERSON,
    (Phase.PERSON, e.ActivationCompleted): ENDED,
    (Phase.PERSON, e.ActivationFailed): ENDED,
    (Phase.PERSON, e.ActivationCancelled): ENDED,
    (Phase.CHILD, e.ChildClosed): Phase.CHILD,
    (Phase.CHILD, e.ActivationCompleted): ENDED,
    (Phase.CHILD, e.ActivationFailed): ENDED,
    (Phase.CHILD, e.ActivationRetrying): Phase.RETRYING,
    (Phase.CHILD, e.ActivationCancelled): ENDED,
    (Phase.LOOPING, e.SignalConsumed): Phase.LOOPING,
    (Phase.LOOPING, e.TimerArmed): Phase.LOOPING,
    (Phase.LOOPING, e.TimerFired): Phase.LOOPING,
    (Phase.LOOPING, e.LoopSatisfied): Phase.LOOPING,
    (Phase.LOOPING, e.ActivationCompleted): ENDED,
    (Phase.LOOPING, e.ActivationFailed): ENDED,
    (Phase.LOOPING, e.ActivationCancelled): ENDED,
    (Phase.CANCELLING, e.ActivationCancelled): ENDED,
}
"""What an event does to the phase of the activation that it names."""
