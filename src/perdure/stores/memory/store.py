"""A store that forgets everything with its process: for tests, simulation and trying things out.

Several engines of one process may share it. Closing it lets nothing go, so that a test can open it again.
"""

from __future__ import annotations

from perdure.ports.blobs import Blobs
from perdure.ports.cells import Cells
from perdure.ports.clock import Clock
from perdure.ports.definitions import Definitions
from perdure.ports.hints import Hints
from perdure.ports.inbox import Inbox
from perdure.ports.journal import Journal
from perdure.ports.outbox import Outbox
from perdure.ports.ownership import Ownership
from perdure.ports.runs import Runs
from perdure.stores.clock import SystemClock
from perdure.stores.local_hints import LocalHints
from perdure.stores.memory.blobs import MemoryBlobs
from perdure.stores.memory.cells import MemoryCells
from perdure.stores.memory.definitions import MemoryDefinitions
from perdure.stores.memory.inbox import MemoryInbox
from perdure.stores.memory.journal import MemoryJournal
from perdure.stores.memory.outbox import MemoryOutbox
from perdure.stores.memory.ownership import MemoryOwnership
from perdure.stores.memory.runs import MemoryRuns
from perdure.stores.memory.tables import Tables


class MemoryStore:
    def __init__(self, clock: Clock | None = None) -> None:
        self.hints: Hints = LocalHints()
        tables = Tables(clock or SystemClock(), self.hints)
        self._log = MemoryJournal(tables)
        self.journal: Journal = self._log
        self.ownership: Ownership = MemoryOwnership(tables)
        self.inbox: Inbox = MemoryInbox(tables)
        self.definitions: Definitions = MemoryDefinitions(tables)
        self.blobs: Blobs = MemoryBlobs(tables)
        self.cells: Cells = MemoryCells(tables)
        self.outbox: Outbox = MemoryOutbox(tables)
        self.runs: Runs = MemoryRuns(tables)

    async def open(self) -> None:
        """There is nothing to connect to."""

    async def close(self) -> None:
        self._log.flush()
