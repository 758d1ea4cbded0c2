"""One server per database file: advisory locks that the kernel takes back when the process ends, however it ends.

There are two. The one on `….lock` says who holds it. The other is on the database file itself, so that neither a link
to it nor removing `….lock` lets a second server in. It is of the kind (`flock`) that on Linux has nothing to do with
those that SQLite takes (`fcntl`); elsewhere the two may get into each other's way, so there it is left out.

A process that closes any descriptor of a file loses all the `fcntl` locks that it has on it, SQLite's included. So the
descriptor is kept until SQLite has closed the file, and a file that this process holds is never opened to try its lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys

from perdure.errors import StoreLocked

_held: set[tuple[int, int]] = set()
"""Device and inode of the databases that this process holds."""


class FileLock:
    def __init__(self, database: str) -> None:
        self._database = database
        self._path = f"{database}.lock"
        self._file: int | None = None
        self._itself: int | None = None
        self._identity: tuple[int, int] | None = None

    def take(self) -> None:
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(file, 20, 0).decode("ascii", "replace").strip()
            os.close(file)
            raise self._refusal(int(holder) if holder.isdigit() else None, self._path) from None
        self._file = file
        try:
            if sys.platform == "linux":
                self._take_itself()
        except BaseException:
            self.give_back()
            raise
        with contextlib.suppress(OSError):  # no room: the number is a courtesy
            os.ftruncate(file, 0)
            os.pwrite(file, f"{os.getpid()}\n".encode(), 0)

    def _take_itself(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            if _identity(os.stat(self._database)) in _held:
                raise self._refusal(os.getpid(), "it by another name")
        itself = os.open(self._database, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(itself, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(itself)
            raise self._refusal(None, "a lock on it") from None
        except OSError:  # a file system without such locks: there remains the other
            os.close(itself)
            return
        self._itself, self._identity = itself, _identity(os.fstat(itself))
        _held.add(self._identity)

    def give_back(self) -> None:
        """The file stays: removing it would let two servers lock two different files of the same name."""
        if self._itself is not None and self._identity is not None:
            _held.discard(self._identity)
            os.close(self._itself)
            self._itself = self._identity = None
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _refusal(self, pid: int | None, held: str) -> StoreLocked:
        who = f"process {pid}" if pid else "another process"
        return StoreLocked(
            f"the database {self._database} is in use by {who}, which holds {held}",
            remedy="stop that server, or give this one another file; a fleet of workers needs PostgreSQL",
            file=self._database,
            pid=pid,
        )


def _identity(file: os.stat_result) -> tuple[int, int]:
    return file.st_dev, file.st_ino
