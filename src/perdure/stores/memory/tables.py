"""What a `MemoryStore` holds, and the small rules that several ports share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from perdure.model.statuses import FINAL, Status
from perdure.ports.cells import Cell
from perdure.ports.clock import Clock
from perdure.ports.definitions import Version
from perdure.ports.hints import Hint, Hints
from perdure.ports.inbox import Sent
from perdure.ports.journal import Head, Message, NewRun, Row, TurnWrite
from perdure.ports.ownership import VersionKey

FORGET_AFTER = 7 * 24 * 60 * 60 * 1_000_000
"""How long the name of a dead worker is refused."""

_encode_sorted = msgspec.json.Encoder(order="sorted").encode


@dataclass(slots=True)
class Run:
    id: str
    new: NewRun
    status: Status
    epoch: int
    seq: int = 0
    turn_id: str = ""
    owner: str | None = None
    wake_at: int | None = None
    died: bool = False
    alive_until: int | None = None
    inbox_seq: int = 0
    updated_at: int = 0
    closed_at: int | None = None
    result: bytes | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    snapshots: dict[int, bytes] = field(default_factory=dict)

    def move(self, turn: TurnWrite) -> None:
        self.status, self.seq, self.turn_id = turn.status, turn.seq, turn.turn_id
        self.updated_at, self.wake_at, self.owner, self.result = turn.at, turn.wake_at, turn.owner, turn.result
        self.closed_at = turn.at if turn.status in FINAL else None
        if turn.owner is None:
            self.died = False

    @property
    def version(self) -> VersionKey:
        return self.new.namespace, self.new.definition, self.new.version

    def set_free(self, now: int, *, died: bool, alive_until: int | None) -> None:
        """Unowned, and due at once unless it is closed."""
        self.owner, self.died, self.alive_until = None, died, alive_until
        if self.closed_at is not None:
            self.wake_at = None
        else:
            self.wake_at = now if self.wake_at is None else min(self.wake_at, now)

    def head(self) -> Head:
        new = self.new
        return Head(
            run=self.id,
            namespace=new.namespace,
            definition=new.definition,
            version=new.version,
            hash=new.hash,
            program=new.program,
            status=self.status,
            seq=self.seq,
            epoch=self.epoch,
            turn_id=self.turn_id,
            owner=self.owner,
            wake_at=self.wake_at,
            inbox_seq=self.inbox_seq,
            created_at=new.created_at,
            updated_at=self.updated_at,
            closed_at=self.closed_at,
            trigger=new.trigger,
            key=new.key,
            parent=new.parent,
            attributes=dict(self.attributes),
            result=self.result,
            pins=new.pins,
        )


@dataclass(slots=True)
class Definition:
    kind: str
    updated_at: int
    name: str | None = None
    draft: bytes | None = None
    draft_number: int = 0
    drafted_at: int = 0
    versions: list[Version] = field(default_factory=list)
    active: int | None = None
    revision: int = 0


@dataclass(slots=True)
class Command:
    run: str
    request_id: str
    data: bytes


@dataclass(slots=True)
class Parcel:
    """A message on its way out."""

    run: str
    message: Message
    due: int
    attempts: int = 0


@dataclass(slots=True)
class Blob:
    data: bytes
    touched_at: int
    runs: set[str] = field(default_factory=set)


class Tables:
    def __init__(self, clock: Clock, hints: Hints) -> None:
        self.clock = clock
        self.hints = hints
        self.runs: dict[str, Run] = {}
        self.keys: dict[tuple[str, str], str] = {}
        self.inbox: dict[int, Command] = {}
        self.last_command = 0
        self.outbox: dict[str, Parcel] = {}
        self.workers: dict[str, int] = {}
        self.renewed: dict[str, int] = {}
        self.definitions: dict[tuple[str, str], Definition] = {}
        self.blobs: dict[tuple[str, str], Blob] = {}
        self.cells: dict[tuple[str, str], Cell] = {}

    def has_lease(self, worker: str) -> bool:
        return self.workers.get(worker, 0) > self.clock.now()

    def send(self, namespace: str | None, name: str, command: bytes, request_id: str) -> Sent:
        run = self.runs.get(name)
        if run is None or namespace not in {None, run.new.namespace}:
            return Sent.UNKNOWN
        if run.closed_at is not None:
            return Sent.CLOSED
        if any(waits.run == name and waits.request_id == request_id for waits in self.inbox.values()):
            return Sent.DUPLICATE
        self.last_command += 1
        self.inbox[self.last_command] = Command(name, request_id, command)
        run.inbox_seq += 1
        if run.owner is None:
            now = self.clock.now()
            run.wake_at = now if run.wake_at is None else min(run.wake_at, now)
            self.hints.give(Hint.DUE)
        else:
            self.hints.give(Hint.INBOX, run.owner)
        return Sent.ACCEPTED


def comparable(value: Any) -> bytes:
    """Equal for values that are the same JSON; in Python `True == 1`."""
    return _encode_sorted(value)
