"""One server per database file: an advisory lock that the kernel takes back when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os

from perdure.errors import StoreLocked


class FileLock:
    def __init__(self, database: str) -> None:
        self._database = database
        self._path = f"{database}.lock"
        self._file: int | None = None

    def take(self) -> None:
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(file, 20, 0).decode("ascii", "replace").strip()
            os.close(file)
            raise self._refusal(int(holder) if holder.isdigit() else None) from None
        self._file = file
        with contextlib.suppress(OSError):  # no room: the number is a courtesy
            os.ftruncate(file, 0)
            os.pwrite(file, f"{os.getpid()}\n".encode(), 0)

    def give_back(self) -> None:
        """The file stays: removing it would let two servers lock two different files of the same name."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _refusal(self, pid: int | None) -> StoreLocked:
        who = f"process {pid}" if pid else "another process"
        return StoreLocked(
            f"the database {self._database} is in use by {who}, which holds {self._path}",
            remedy="stop that server, or give this one another file; a fleet of workers needs PostgreSQL",
            file=self._database,
            pid=pid,
        )
