"""Large values in chunks."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import AsyncIterator, Callable

from perdure.errors import NotFound
from perdure.ports.blobs import CHUNK, BlobInfo
from perdure.stores.postgres.links import Pool, one
from perdure.stores.postgres.queries import load_queries
from perdure.stores.postgres.records import pack_off_loop, unpack_off_loop

_SQL = load_queries("blobs")
SWEEP = 200


class PostgresBlobs:
    def __init__(self, pool: Pool, now: Callable[[], int | None]) -> None:
        self._pool = pool
        self._now = now

    async def write(self, namespace: str, parts: AsyncIterator[bytes]) -> BlobInfo:
        """Under a name of its own first: what it is called is known only at its end."""
        upload = f"~{uuid.uuid4().hex}"
        await self._pool.fetch(_SQL["begin"], namespace, upload, self._now())
        content, size, position = hashlib.sha256(), 0, 0
        try:
            async for chunk in _chunks(parts):
                content.update(chunk)
                size += len(chunk)
                packed, data = await pack_off_loop(chunk)
                await self._pool.fetch(_SQL["chunk"], namespace, upload, position, packed, data, self._now())
                position += 1
        except BaseException:
            await self._pool.fetch(_SQL["drop"], namespace, upload)
            raise
        name = content.hexdigest()
        await self._pool.fetch(_SQL["seal"], namespace, upload, name, size, self._now())
        return BlobInfo(name, size)

    async def read(self, namespace: str, hash: str, offset: int = 0) -> AsyncIterator[bytes]:
        info = await self.info(namespace, hash)
        if info is None:
            raise NotFound(f"no blob {hash}")
        position, skip = divmod(offset, CHUNK)
        while position * CHUNK < info.size:
            rows = await self._pool.fetch(_SQL["read"], namespace, hash, position)
            if not rows:
                raise NotFound(f"the blob {hash} was swept while it was read")
            chunk = await unpack_off_loop(rows[0]["packed"], rows[0]["data"])
            yield chunk[skip:] if skip else chunk
            position, skip = position + 1, 0

    async def info(self, namespace: str, hash: str) -> BlobInfo | None:
        size = one(await self._pool.fetch(_SQL["info"], namespace, hash))
        return None if size is None else BlobInfo(hash, size)

    async def refer(self, namespace: str, hash: str, run: str) -> None:
        if not await self._pool.fetch(_SQL["refer"], namespace, hash, run, self._now()):
            raise NotFound(f"no blob {hash}")

    async def sweep(self, untouched_since: int) -> int:
        swept = 0
        while rows := await self._pool.fetch(_SQL["sweep"], untouched_since, SWEEP):
            swept += sum(not row["hash"].startswith("~") for row in rows)
        return swept


async def _chunks(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same bytes in pieces of one size, the last one shorter; at least one piece."""
    gathered, sent = bytearray(), False
    async for part in parts:
        view = memoryview(part)
        while view:
            room = CHUNK - len(gathered)
            gathered += view[:room]
            view = view[room:]
            if len(gathered) == CHUNK:
                yield bytes(gathered)
                gathered.clear()
                sent = True
    if gathered or not sent:
        yield bytes(gathered)
