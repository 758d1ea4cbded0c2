"""Wake-up hints. They make things fast and never make them right: losing every hint costs at most one poll interval.

The store itself gives those that follow from what it commits: commands for runs, runs left to others, ends, messages.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol


class Hint(StrEnum):
    INBOX = "inbox"
    """A command waits; the subject is the owner's worker id."""
    DUE = "due"
    """An unowned run became due; no subject."""
    CLOSED = "closed"
    """A run ended; the subject is its id."""
    OUTBOX = "outbox"


Listener = Callable[[Hint, str], None]


class Hints(Protocol):
    def give(self, hint: Hint, subject: str = "") -> None:
        """Fire and forget; coalesced; called on the loop."""
        ...

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Calls `listener` on the loop for each hint, from this process or another. Returns how to stop."""
        ...
