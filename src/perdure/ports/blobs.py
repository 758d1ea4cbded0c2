"""Large values: per namespace, content-addressed, chunked, compressed.

Values that the log refers to are written by the turn itself; this port is for reading, for streams that handlers write,
and for sweeping what nobody refers to any more.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

import msgspec

CHUNK = 256 * 1024


class BlobInfo(msgspec.Struct, frozen=True):
    hash: str
    size: int


class Blobs(Protocol):
    async def write(self, namespace: str, parts: AsyncIterator[bytes]) -> BlobInfo:
        """Stores a stream piece by piece; holds no more than a chunk in memory."""
        ...

    def read(self, namespace: str, hash: str, offset: int = 0) -> AsyncIterator[bytes]:
        """The content from `offset` on, chunk by chunk. Raises NotFound before the first chunk."""
        ...

    async def info(self, namespace: str, hash: str) -> BlobInfo | None: ...

    async def refer(self, namespace: str, hash: str, run: str) -> None:
        """Keeps the blob as long as the run exists."""
        ...

    async def sweep(self, untouched_since: int) -> int:
        """Deletes blobs that no run refers to and that were not touched since then; returns how many."""
        ...
