"""Commands from outside for runs that may be owned by another process, or by nobody.

Sending and the owner's closing or parking exclude each other by the head's `inbox_seq`, so no command falls between.
Rows are consumed by deletion inside the turn that answers them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

import msgspec


class Sent(Enum):
    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    """The same request id is waiting already."""
    CLOSED = "closed"
    UNKNOWN = "unknown"


class Waiting(msgspec.Struct, frozen=True):
    id: int
    """Of one run, they grow in the order in which they become visible; none is ever used again."""
    run: str
    request_id: str
    command: bytes


class Received(msgspec.Struct, frozen=True):
    waiting: Sequence[Waiting]
    inbox_seqs: dict[str, int]
    """For each run asked about by name, else for each run that something waits for: the head's inbox_seq at the same
    moment."""


class Inbox(Protocol):
    async def send(self, namespace: str, run: str, command: bytes, request_id: str) -> Sent:
        """Stores the command and makes an unowned run due. Durable when it returns."""
        ...

    async def receive(self, worker: str, runs: Sequence[str] | None = None) -> Received:
        """What waits for these runs, or for all runs that the worker owns, oldest first."""
        ...
