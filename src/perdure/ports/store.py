"""One database, as the bundle of its ports."""

from __future__ import annotations

from typing import Protocol

from perdure.ports.blobs import Blobs
from perdure.ports.cells import Cells
from perdure.ports.definitions import Definitions
from perdure.ports.hints import Hints
from perdure.ports.inbox import Inbox
from perdure.ports.journal import Journal
from perdure.ports.outbox import Outbox
from perdure.ports.ownership import Ownership
from perdure.ports.runs import Runs


class Store(Protocol):
    """The ports are there from `open` on."""

    @property
    def journal(self) -> Journal: ...
    @property
    def ownership(self) -> Ownership: ...
    @property
    def inbox(self) -> Inbox: ...
    @property
    def definitions(self) -> Definitions: ...
    @property
    def blobs(self) -> Blobs: ...
    @property
    def cells(self) -> Cells: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def runs(self) -> Runs: ...
    @property
    def hints(self) -> Hints: ...

    async def open(self) -> None:
        """Connects, migrates if allowed, takes locks. Raises StoreLocked or SchemaMismatch."""
        ...

    async def close(self) -> None:
        """Finishes queued commits, then lets go."""
        ...
