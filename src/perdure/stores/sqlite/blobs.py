"""Large values on SQLite: rows of at most 256 KiB."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from functools import partial

import apsw

from perdure.errors import NotFound
from perdure.model.values import decode_json
from perdure.ports.blobs import CHUNK, BlobInfo
from perdure.ports.clock import Clock
from perdure.stores.sqlite.many import insert_rows
from perdure.stores.sqlite.packing import CHUNK_BITS, chunk_rows, unpack
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.reader import Reader
from perdure.stores.sqlite.writer import Writer

_Q = queries("blobs")
_SWEPT_AT_ONCE = 200


class SqliteBlobs:
    def __init__(self, writer: Writer, reader: Reader, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock

    async def write(self, namespace: str, parts: AsyncIterator[bytes]) -> BlobInfo:
        """Under a number first, since nobody knows the name before the end."""
        blob: int = await self._writer.call(
            lambda connection: connection.execute(_Q["begin"], (namespace, self._clock.now())).get
        )
        digest, size, place = hashlib.sha256(), 0, 0
        try:
            async for chunk in _chunks(parts):
                digest.update(chunk)
                size += len(chunk)
                await self._writer.call(partial(self._add, blob, place, chunk))
                place += 1
        except BaseException:
            await self._writer.call(lambda connection: _delete(connection, blob))
            raise
        name = digest.hexdigest()
        await self._writer.call(lambda connection: self._end(connection, blob, namespace, name, size))
        return BlobInfo(name, size)

    async def read(self, namespace: str, hash: str, offset: int = 0) -> AsyncIterator[bytes]:
        row = await self._reader.long(lambda connection: connection.execute(_Q["find"], (namespace, hash)).fetchone())
        if row is None:
            raise NotFound(f"there is no blob {hash}")
        blob, size = row
        while offset < size:
            chunk = await self._reader.long(partial(_chunk, blob, offset // CHUNK))
            yield chunk[offset % CHUNK :]
            offset += CHUNK - offset % CHUNK

    async def info(self, namespace: str, hash: str) -> BlobInfo | None:
        row = await self._reader.long(lambda connection: connection.execute(_Q["find"], (namespace, hash)).fetchone())
        return None if row is None else BlobInfo(hash, row[1])

    async def refer(self, namespace: str, hash: str, run: str) -> None:
        def work(connection: apsw.Connection) -> None:
            if connection.execute(_Q["find"], (namespace, hash)).fetchone() is None:
                raise NotFound(f"there is no blob {hash}")
            connection.execute(_Q["refer"], (namespace, hash, run))

        await self._writer.call(work)

    async def sweep(self, untouched_since: int) -> int:
        """In short transactions, so that nobody waits for it."""
        swept = 0
        last: int | None = 0

        def work(connection: apsw.Connection) -> tuple[int | None, int]:
            seen, text = next(connection.execute(_Q["unreferenced"], (last, untouched_since, _SWEPT_AT_ONCE)))
            blobs = decode_json(text)
            for blob in blobs:
                _delete(connection, blob)
            return seen, len(blobs)

        while last is not None:
            last, count = await self._writer.call(work)
            swept += count
        return swept

    def _add(self, blob: int, place: int, chunk: bytes, connection: apsw.Connection) -> None:
        insert_rows(connection, _Q["add chunks"], list(chunk_rows(blob, chunk, place)))
        connection.execute(_Q["touch"], (self._clock.now(), blob))

    def _end(self, connection: apsw.Connection, blob: int, namespace: str, name: str, size: int) -> None:
        known = connection.execute(_Q["find"], (namespace, name)).fetchone()
        if known is None:
            connection.execute(_Q["end"], (name, size, self._clock.now(), blob))
        else:
            connection.execute(_Q["touch"], (self._clock.now(), known[0]))
            _delete(connection, blob)


async def _chunks(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same bytes in pieces of exactly CHUNK, the last one excepted."""
    rest = bytearray()
    async for part in parts:
        for start in range(0, len(part), CHUNK):
            rest += part[start : start + CHUNK]
            if len(rest) >= CHUNK:
                yield bytes(rest[:CHUNK])
                del rest[:CHUNK]
    if rest:
        yield bytes(rest)


def _chunk(blob: int, place: int, connection: apsw.Connection) -> bytes:
    row = connection.execute(_Q["chunk"], (blob << CHUNK_BITS | place,)).fetchone()
    if row is None:
        raise NotFound("a blob was removed while it was read")
    return unpack(*row)


def _delete(connection: apsw.Connection, blob: int) -> None:
    connection.execute(_Q["delete chunks"], (blob << CHUNK_BITS, (blob + 1) << CHUNK_BITS))
    connection.execute(_Q["delete"], (blob,))


def read_blob(connection: apsw.Connection, namespace: str, hash: str) -> bytes | None:
    """All of it, for values of the log."""
    row = connection.execute(_Q["find"], (namespace, hash)).fetchone()
    if row is None:
        return None
    blob, size = row
    return b"".join(_chunk(blob, place, connection) for place in range(-(-size // CHUNK)))
