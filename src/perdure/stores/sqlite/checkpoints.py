"""Moves the write-ahead log into the database file, so that it stays small and nobody waits for it.

The bulk is copied by a thread of its own while commits go on. What was committed meanwhile is then little, and the
writer copies that between two commits; only when nothing is left can the log start again from its beginning. Above
`MUST` pages the writer does all of it, and its callers wait.

The file of the log never shrinks while the store is open and is filled with zeros at first: syncing a file that grows
takes the file system nearly twice as long as syncing one that does not (200 against 120 µs where it was measured).
"""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

import apsw

from perdure.stores.sqlite.connection import connect, is_fatal, is_full

COPY = 4_000
"""Pages of 4 KiB in the log above which the thread begins to copy."""
REST = 1_000
"""As many uncopied pages as the writer copies itself."""
MUST = 12_000
IDLE = 250
"""Below this many uncopied pages, an idle store does not bother."""
LOOK_EVERY = 16
"""Commits between two looks at the log's size."""

_FRAME = 4096 + 24
_log = logging.getLogger(__name__)


def fill_log(path: str) -> None:
    """What follows the last frame in the file is ignored by SQLite: it never has the right checksum."""
    try:
        with open(f"{path}-wal", "r+b", buffering=0) as log:
            missing = COPY * _FRAME - log.seek(0, os.SEEK_END)
            while missing > 0:
                missing -= log.write(bytes(min(missing, 1 << 20)))
            os.fsync(log.fileno())
    except OSError as problem:
        _log.info("the write-ahead log could not be given its size in advance: %s", problem)


class Checkpoints:
    """Called by the writer only, except for the body of the copying thread."""

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        self._path = path
        self._connection = connection
        self._commits = 0
        self._aside: apsw.Connection | None = None
        self._thread: threading.Thread | None = None
        self._problem: Exception | None = None

    def after_commit(self) -> None:
        self._commits += 1
        if self._commits % LOOK_EVERY:
            return
        self._raise_if_fatal()
        pages, copied = self._measure()
        if pages > MUST:
            self._copy(apsw.SQLITE_CHECKPOINT_PASSIVE)
        elif pages > COPY and not self._is_copying():
            if pages - copied <= REST:
                self._copy(apsw.SQLITE_CHECKPOINT_PASSIVE)
            else:
                self._thread = threading.Thread(target=self._copy_aside, name="perdure-checkpoint", daemon=True)
                self._thread.start()

    def when_idle(self) -> None:
        self._raise_if_fatal()
        pages, copied = self._measure()
        if not self._is_copying() and pages - copied > IDLE:
            self._copy(apsw.SQLITE_CHECKPOINT_PASSIVE)

    def finish(self) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._aside is not None:
            self._aside.close()

    def _measure(self) -> tuple[int, int]:
        return self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)

    def _is_copying(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _copy(self, mode: int) -> None:
        checkpoint(self._connection, mode)

    def _copy_aside(self) -> None:
        try:
            self._aside = self._aside or connect(self._path)
            checkpoint(self._aside, apsw.SQLITE_CHECKPOINT_PASSIVE)
        except Exception as problem:
            self._problem = None if is_full(problem) else problem

    def _raise_if_fatal(self) -> None:
        if self._problem is not None:
            raise self._problem


def checkpoint(connection: apsw.Connection, mode: int) -> Any:
    """That there is no room or that a reader is in the way means only that it happens later."""
    try:
        return connection.wal_checkpoint(mode=mode)
    except apsw.Error as problem:
        if is_fatal(problem):
            raise
        _log.info("the write-ahead log could not be copied now: %s", problem)
        return None
