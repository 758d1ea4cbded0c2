"""A whole store in one SQLite file, for one process."""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack
from typing import Literal

import apsw

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
from perdure.stores.sqlite.blobs import SqliteBlobs
from perdure.stores.sqlite.cells import SqliteCells
from perdure.stores.sqlite.checkpoints import Checkpoints, fill_log
from perdure.stores.sqlite.committer import Committer
from perdure.stores.sqlite.connection import check_version, connect, create_file, transaction, translated
from perdure.stores.sqlite.definitions import SqliteDefinitions
from perdure.stores.sqlite.filelock import FileLock
from perdure.stores.sqlite.inbox import SqliteInbox
from perdure.stores.sqlite.journal import SqliteJournal
from perdure.stores.sqlite.keys import KeyPurge
from perdure.stores.sqlite.migrate import migrate
from perdure.stores.sqlite.outbox import SqliteOutbox
from perdure.stores.sqlite.ownership import SqliteOwnership, void_leases
from perdure.stores.sqlite.queries import script
from perdure.stores.sqlite.reader import FileReader, QueuedReader, Reader, SharedReader
from perdure.stores.sqlite.runs import SqliteRuns
from perdure.stores.sqlite.writer import Chore, InlineWriter, OnFatal, ThreadWriter

MEMORY = ":memory:"


class SqliteStore:
    """`writer="thread"` is for use; `"inline"` runs everything on the loop, for simulation.

    The ports exist once it is open. `on_fatal` is called on the loop after an I/O error; the process should exit then,
    since only a fresh start can tell what is on disk.
    """

    journal: Journal
    ownership: Ownership
    inbox: Inbox
    definitions: Definitions
    blobs: Blobs
    cells: Cells
    outbox: Outbox
    runs: Runs

    def __init__(
        self,
        path: str,
        *,
        clock: Clock | None = None,
        writer: Literal["thread", "inline"] = "thread",
        migrate: bool = True,
        on_fatal: OnFatal | None = None,
    ) -> None:
        # What SQLite calls the files beside it: links are followed, so that everybody locks the same file.
        self.path = path if path == MEMORY else os.path.realpath(path)
        self.hints: Hints = LocalHints()
        self._clock = clock or SystemClock()
        self._mode = writer
        self._may_migrate = migrate
        self._on_fatal = on_fatal
        self._lock = FileLock(self.path)
        self._writer: InlineWriter | ThreadWriter | None = None
        self._reader: Reader | None = None

    async def open(self) -> None:
        if self._writer is not None:
            return
        check_version()
        if self._mode == "inline":
            connection = self._prepare()
        else:
            connection = await asyncio.get_running_loop().run_in_executor(None, self._prepare)
        committer = Committer(connection, self._clock)
        writer: InlineWriter | ThreadWriter
        reader: Reader
        if self._mode == "inline":
            writer = InlineWriter(connection, committer, self.hints, self._on_fatal)
            reader = SharedReader(connection)
        elif self.path == MEMORY:
            writer = ThreadWriter(connection, committer, self.hints, self._on_fatal)
            reader = QueuedReader(writer)
        else:
            chores: list[Chore] = [Checkpoints(self.path, connection), KeyPurge(connection, self._clock)]
            writer = ThreadWriter(connection, committer, self.hints, self._on_fatal, chores)
            reader = FileReader(self.path)
        self._writer, self._reader = writer, reader
        self.journal = SqliteJournal(writer, reader)
        self.ownership = SqliteOwnership(writer, reader, self.hints, self._clock)
        self.inbox = SqliteInbox(writer, reader)
        self.definitions = SqliteDefinitions(writer, reader, self._clock)
        self.blobs = SqliteBlobs(writer, reader, self._clock)
        self.cells = SqliteCells(writer, reader, self._clock)
        self.outbox = SqliteOutbox(writer, self._clock)
        self.runs = SqliteRuns(writer, reader)

    async def close(self) -> None:
        writer, self._writer = self._writer, None
        reader, self._reader = self._reader, None
        if writer is not None and reader is not None:
            # Readers first: the last connection to leave removes the write-ahead log.
            reader.close()
            await writer.stop()
            self._lock.give_back()

    def _prepare(self) -> apsw.Connection:
        with ExitStack() as undo:
            try:
                if self.path != MEMORY:
                    self._lock.take()
                    undo.callback(self._lock.give_back)
                    create_file(self.path)
                connection = connect(self.path)
                undo.callback(connection.close)
                migrate(connection, self._clock, allowed=self._may_migrate)
                with transaction(connection):
                    void_leases(connection, self._clock.now())
                connection.execute(script("session")).fetchall()
            except (apsw.Error, OSError) as problem:
                raise translated(problem) from problem
            if self._mode == "thread":
                connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()  # `Checkpoints` does it
                if self.path != MEMORY:
                    fill_log(self.path)
            undo.pop_all()
        return connection
