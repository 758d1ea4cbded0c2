"""The statuses that people see. They are derived from a run's state, never stored as a second truth."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    SLEEPING = "SLEEPING"
    SUSPENDED = "SUSPENDED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMED_OUT = "TIMED_OUT"

    @property
    def is_final(self) -> bool:
        return self in FINAL


FINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.TIMED_OUT})
OPEN = frozenset(Status) - FINAL


class Phase(StrEnum):
    """Where one activation is."""

    EXECUTING = "executing"
    """A handler runs, or must be run."""
    RETRYING = "retrying"
    """Waits for the timer of its next attempt."""
    SLEEPING = "sleeping"
    SIGNAL = "signal"
    PERSON = "person"
    """A task is open."""
    CHILD = "child"
    LOOPING = "looping"
    CANCELLING = "cancelling"
    """Withdrawn; its handler was told and has not answered yet."""
