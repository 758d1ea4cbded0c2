"""Large values, in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

from perdure.errors import NotFound
from perdure.model.values import digest
from perdure.ports.blobs import CHUNK, BlobInfo
from perdure.stores.memory.tables import Blob, Tables


class MemoryBlobs:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def write(self, namespace: str, parts: AsyncIterator[bytes]) -> BlobInfo:
        data = b"".join([part async for part in parts])
        name, now = digest(data), self._tables.clock.now()
        self._tables.blobs.setdefault((namespace, name), Blob(data, now)).touched_at = now
        return BlobInfo(name, len(data))

    async def read(self, namespace: str, hash: str, offset: int = 0) -> AsyncIterator[bytes]:
        blob = self._tables.blobs.get((namespace, hash))
        if blob is None:
            raise NotFound(f"there is no blob {hash}")
        while offset < len(blob.data):
            end = offset - offset % CHUNK + CHUNK
            yield blob.data[offset:end]
            offset = end

    async def info(self, namespace: str, hash: str) -> BlobInfo | None:
        blob = self._tables.blobs.get((namespace, hash))
        return None if blob is None else BlobInfo(hash, len(blob.data))

    async def refer(self, namespace: str, hash: str, run: str) -> None:
        blob = self._tables.blobs.get((namespace, hash))
        if blob is None:
            raise NotFound(f"there is no blob {hash}")
        blob.runs.add(run)

    async def sweep(self, untouched_since: int) -> int:
        blobs = self._tables.blobs
        old = [place for place, blob in blobs.items() if not blob.runs and blob.touched_at < untouched_since]
        for place in old:
            del blobs[place]
        return len(old)
