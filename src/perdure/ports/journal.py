"""The log of runs, and the one transaction that moves a run forward.

Law of this port:

1. A turn is all or nothing: events, head, key, snapshot, blobs' references, outbox messages, inbox deletions and sends.
2. A turn commits only if the head still has `epoch` and `seq` as expected; otherwise `FENCED` and nothing of it is
   written.
3. A turn that closes or parks a run (owner is None afterwards) commits only if no command came into its inbox meanwhile
   (`inbox_seen`); otherwise `INBOX_MOVED`.
4. Turns of many runs share one transaction. A conflict of one never fails its neighbours.
5. The answer comes after the commit is durable. If it cannot be known whether it is, `CommitUnknown` is raised and
   the caller re-reads: a head with the same `turn_id` means that it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from enum import Enum
from typing import Any, Protocol

import msgspec

from perdure.model.codec import Ref
from perdure.model.statuses import Status
from perdure.model.values import Json


class NewRun(msgspec.Struct, frozen=True, kw_only=True):
    """What the head of a run keeps from its start."""

    namespace: str
    definition: str
    version: int
    hash: str
    program: str
    created_at: int
    trigger: str = "api"
    key: str | None = None
    """Idempotency key, unique per namespace until `key_expires` after the end."""
    request_digest: str | None = None
    """Tells a repeated request from another one with the same key."""
    parent: str | None = None
    pins: dict[str, int] | None = None
    """Versions of stored parts that the run keeps for life, besides that of its definition."""
    active_revision: int | None = None
    """Where the active version was asked for: the definition's revision it was read at. If the definition has been
    activated anew since, the answer is STALE_DEFINITION and the caller reads again (so caches need no invalidation to
    be right)."""


class Message(msgspec.Struct, frozen=True):
    """A row of the outbox. `id` is stable: run, seq and position."""

    id: str
    type: str
    payload: Json
    key: str | None = None


class Send(msgspec.Struct, frozen=True):
    """A command for another run, put into its inbox by the same transaction. Ignored if that run is closed or
    unknown."""

    run: str
    command: bytes
    request_id: str


class TurnWrite(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    turn_id: str
    epoch: int
    """Expected, and unchanged by the turn. Where `new` is set: the head's first."""
    expected: int
    """The head's seq before (0 for a new run)."""
    seq: int
    """The head's seq after. Equal to `expected`: a turn without events, which moves the head and leaves no row."""
    at: int
    data: bytes
    codec: int
    refs: Sequence[Ref] = ()
    blobs: dict[str, bytes] = msgspec.field(default_factory=dict)
    status: Status
    owner: str | None
    """Who owns the run afterwards; None parks or closes it."""
    unparks: bool = False
    """Its writer has parked the run and takes it up again by this very turn. Nobody has had it since, or the epoch
    would be another."""
    wake_at: int | None = None
    inbox_seen: int = 0
    """Where the run has no owner, before or after, its inbox must not have moved since."""
    new: NewRun | None = None
    snapshot: bytes | None = None
    """The state at `seq`; the store keeps the two newest of a run."""
    consumed: Sequence[int] = ()
    """Inbox rows to delete."""
    messages: Sequence[Message] = ()
    sends: Sequence[Send] = ()
    attributes: dict[str, Any] | None = None
    """All search attributes of the run, where they changed."""
    result: bytes | None = None
    """JSON of `{"output": …}` or `{"failure": …}`; given exactly when the status is final."""


class Verdict(Enum):
    COMMITTED = "committed"
    FENCED = "fenced"
    INBOX_MOVED = "inbox moved"
    KEY_EXISTS = "key exists"
    STALE_DEFINITION = "stale definition"


class Outcome(msgspec.Struct, frozen=True):
    verdict: Verdict
    existing_run: str | None = None
    """KEY_EXISTS: the run that the key belongs to …"""
    existing_digest: str | None = None
    """… and the digest of the request that started it."""


COMMITTED = Outcome(Verdict.COMMITTED)
FENCED = Outcome(Verdict.FENCED)
INBOX_MOVED = Outcome(Verdict.INBOX_MOVED)
STALE_DEFINITION = Outcome(Verdict.STALE_DEFINITION)


class Head(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    namespace: str
    definition: str
    version: int
    hash: str
    program: str
    status: Status
    seq: int
    epoch: int
    turn_id: str
    owner: str | None
    wake_at: int | None
    inbox_seq: int
    created_at: int
    updated_at: int
    closed_at: int | None
    trigger: str
    key: str | None
    parent: str | None
    attributes: dict[str, Any]
    result: bytes | None
    pins: dict[str, int] | None = None


class Row(msgspec.Struct, frozen=True):
    """One turn of the log. Its events have the numbers `seq - count + 1` to `seq`; `count` follows from the data."""

    seq: int
    """Of the turn's last event."""
    first: int
    at: int
    turn_id: str
    codec: int
    data: bytes
    refs: Sequence[Ref]


class Loaded(msgspec.Struct, frozen=True):
    head: Head
    snapshot_seq: int
    snapshot: bytes | None
    rows: Sequence[Row]
    """The turns after the snapshot, oldest first."""
    blobs: dict[str, bytes]
    """Every blob that `rows` refer to."""


class Journal(Protocol):
    def commit(self, turn: TurnWrite) -> Awaitable[Outcome]:
        """Queues the turn for the next group commit. Must be called on the loop; returns at once."""
        ...

    async def load(self, run: str) -> Loaded | None:
        """All that is needed to rebuild the state of a run."""
        ...

    async def head(self, run: str) -> Head | None: ...

    async def history(self, run: str, after: int = 0, limit: int = 1000) -> Sequence[Row]:
        """Turns whose last seq is greater than `after`, oldest first."""
        ...
