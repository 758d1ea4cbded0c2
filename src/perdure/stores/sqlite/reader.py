"""Reads, beside the writer.

Short ones run on the loop itself: a point read takes some 10 µs, a hop to another thread several times that, and each
row that a thread fetches may cost it a wait of up to 5 ms for the interpreter lock of a busy loop. Reads of unknown
length run in a thread, and their statements therefore give ONE row (`json_group_array`).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

import apsw

from perdure.stores.sqlite.connection import connect, translated
from perdure.stores.sqlite.writer import Writer

T = TypeVar("T")
Read = Callable[[apsw.Connection], T]


class Reader(Protocol):
    async def short(self, read: Read[T]) -> T: ...

    async def long(self, read: Read[T]) -> T: ...

    def close(self) -> None: ...


class FileReader:
    def __init__(self, path: str) -> None:
        self._path = path
        self._mine = connect(path, read_only=True)
        self._theirs = threading.local()
        self._opened = [self._mine]
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="perdure-reader")

    async def short(self, read: Read[T]) -> T:
        try:
            return read(self._mine)
        except apsw.Error as problem:
            raise translated(problem) from problem

    async def long(self, read: Read[T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._in_thread, read)
        except apsw.Error as problem:
            raise translated(problem) from problem

    def close(self) -> None:
        self._threads.shutdown()
        for connection in self._opened:
            connection.close()

    def _in_thread(self, read: Read[T]) -> T:
        connection: apsw.Connection | None = getattr(self._theirs, "connection", None)
        if connection is None:
            connection = self._theirs.connection = connect(self._path, read_only=True)
            self._opened.append(connection)
        return read(connection)


class SharedReader:
    """Reads on the writer's connection, on the loop: for `inline`, where nothing runs beside it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def short(self, read: Read[T]) -> T:
        try:
            return read(self._connection)
        except apsw.Error as problem:
            raise translated(problem) from problem

    async def long(self, read: Read[T]) -> T:
        return await self.short(read)

    def close(self) -> None:
        """The connection is the writer's."""


class QueuedReader:
    """Reads through the writer's queue: for a database in memory, which only one connection can see."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def short(self, read: Read[T]) -> T:
        return await self._writer.call(read)

    async def long(self, read: Read[T]) -> T:
        return await self._writer.call(read)

    def close(self) -> None:
        """The connection is the writer's."""
