"""The log of runs on SQLite."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Awaitable, Iterable, Sequence
from functools import partial
from typing import Any

import apsw

from perdure.model.codec import decode_refs
from perdure.ports.journal import Head, Loaded, Outcome, Row, TurnWrite
from perdure.stores.sqlite.blobs import read_blob
from perdure.stores.sqlite.connection import snapshot
from perdure.stores.sqlite.heads import head_of
from perdure.stores.sqlite.packing import checksum, unpack
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.reader import Reader
from perdure.stores.sqlite.writer import Writer

PAGE = 500
"""Rows read in one go, so that a long history does not hold the loop up."""

_Q = queries("journal")
_log = logging.getLogger(__name__)


class SqliteJournal:
    def __init__(self, writer: Writer, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

    def commit(self, turn: TurnWrite) -> Awaitable[Outcome]:
        return self._writer.turn(turn)

    async def head(self, run: str) -> Head | None:
        return await self._reader.short(lambda connection: _head(connection, run))

    async def load(self, run: str) -> Loaded | None:
        found = await self._reader.short(lambda connection: _begin(connection, run))
        if found is None:
            return None
        head, snapshot_seq, state, rows = found
        while rows and len(rows) % PAGE == 0 and rows[-1].seq < head.seq:
            await asyncio.sleep(0)
            rows += await self._reader.short(partial(_rows, run, rows[-1].seq, head.seq, PAGE))
        blobs = await self._blobs(head.namespace, rows)
        return Loaded(head, snapshot_seq, state, rows, blobs)

    async def history(self, run: str, after: int = 0, limit: int = 1000) -> Sequence[Row]:
        return await self._reader.short(partial(_rows, run, after, None, limit))

    async def _blobs(self, namespace: str, rows: Iterable[Row]) -> dict[str, bytes]:
        names = list(dict.fromkeys(ref.hash for row in rows for ref in row.refs))
        if not names:
            return {}

        def read(connection: apsw.Connection) -> dict[str, bytes]:
            found = {name: read_blob(connection, namespace, name) for name in names}
            return {name: data for name, data in found.items() if data is not None}

        return await self._reader.long(read)


def _head(connection: apsw.Connection, run: str) -> Head | None:
    row = connection.execute(_Q["head"], (run,)).fetchone()
    return None if row is None else head_of(row)


def _begin(connection: apsw.Connection, run: str) -> tuple[Head, int, bytes | None, list[Row]] | None:
    """Head, newest good snapshot and the first page of rows after it, all of one moment."""
    with snapshot(connection):
        head = _head(connection, run)
        if head is None:
            return None
        seq, state = _state(connection, run)
        return head, seq, state, _rows(run, seq, None, PAGE, connection)


def _state(connection: apsw.Connection, run: str) -> tuple[int, bytes | None]:
    for seq, packed, crc, data in connection.execute(_Q["snapshots"], (run,)):
        if checksum(data) == crc:
            try:
                return seq, unpack(packed, data)
            except zlib.error:
                pass
        _log.warning("the snapshot of run %s at %s is damaged; an older one or the log serves instead", run, seq)
    return 0, None


def _rows(run: str, after: int, last: int | None, limit: int, connection: apsw.Connection) -> list[Row]:
    bound: Sequence[Any] = (run, after, last, limit)
    return [
        Row(seq, first, at, turn_id, codec, data, decode_refs(refs))
        for seq, first, at, turn_id, codec, data, refs in connection.execute(_Q["rows"], bound)
    ]
