"""Connections to SQLite with the settings that durability rests on, and what its errors mean for us."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from perdure.errors import InvalidInput, InvariantBroken, PerdureError, SettingsInvalid, StoreFull, StoreUnavailable

OLDEST_SQLITE = (3, 51, 3)
"""Older ones can corrupt a WAL file that is reset while another connection writes (sqlite.org/wal.html#walresetbug)."""

WAL_LIMIT = 64 * 1024 * 1024
BUSY_MS = 5000
_STATEMENTS = 200

_REFUSED = (apsw.ConstraintError, apsw.MismatchError, apsw.TooBigError, apsw.RangeError, apsw.BindingsError)
_PASSING = (apsw.BusyError, apsw.LockedError, apsw.InterruptError, apsw.SchemaChangeError)


def check_version(linked: str | None = None) -> None:
    version = linked or apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")[:3]) < OLDEST_SQLITE:
        raise SettingsInvalid(
            f"this Python's apsw carries SQLite {version}, which can corrupt a database in WAL mode",
            expected="SQLite " + ".".join(map(str, OLDEST_SQLITE)) + " or newer",
            remedy="pip install --upgrade apsw",
        )


def create_file(path: str) -> None:
    """Readable by its owner only; SQLite gives the files beside it the same mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def connect(path: str, *, read_only: bool = False) -> apsw.Connection:
    connection = apsw.Connection(path, statementcachesize=_STATEMENTS)
    connection.set_busy_timeout(BUSY_MS)
    settings = [
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "trusted_schema = OFF",
        "temp_store = MEMORY",
        "mmap_size = 0",
        f"journal_size_limit = {WAL_LIMIT}",
        f"cache_size = {-8 * 1024 if read_only else -32 * 1024}",
    ]
    if read_only:
        settings.append("query_only = ON")
    for setting in settings:
        connection.execute(f"PRAGMA {setting}").fetchall()
    mode = connection.execute("PRAGMA journal_mode").get
    if mode not in {"wal", "memory"}:
        connection.close()
        raise StoreUnavailable(f"SQLite keeps a {mode} journal on this file system, not a write-ahead log")
    return connection


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Takes the write lock at once: a transaction that begins as a reader cannot always become a writer."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(connection: apsw.Connection) -> Iterator[None]:
    """Several reads of the same moment."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def is_full(problem: BaseException) -> bool:
    if isinstance(problem, apsw.FullError):
        return True
    if isinstance(problem, OSError):
        return problem.errno == errno.ENOSPC
    # The index of the WAL is a file too; that it cannot grow says nothing about what was synced.
    extended = getattr(problem, "extendedresult", None)
    return isinstance(problem, apsw.IOError) and extended == apsw.SQLITE_IOERR_SHMSIZE


def is_fatal(problem: BaseException) -> bool:
    """After a failed write or fsync nobody knows what is on disk; only opening the file anew tells."""
    return isinstance(problem, apsw.Error) and not (is_full(problem) or isinstance(problem, (*_REFUSED, *_PASSING)))


def translated(problem: Exception) -> Exception:
    """As an error of ours, for the caller of one operation."""
    if isinstance(problem, PerdureError):
        return problem
    if is_full(problem):
        return StoreFull("the disk that holds the database is full", remedy="free some space; nothing was written")
    if isinstance(problem, _PASSING):
        return StoreUnavailable(f"the database is busy: {problem}")
    if isinstance(problem, apsw.TooBigError | OverflowError | UnicodeError | TypeError):
        return InvalidInput(f"a value that SQLite cannot store: {problem}")
    if isinstance(problem, apsw.ConstraintError | apsw.MismatchError):
        return InvariantBroken(f"the database refused a row: {problem}")
    if isinstance(problem, apsw.Error | OSError):
        return StoreUnavailable(f"the database failed: {problem}")
    return problem
