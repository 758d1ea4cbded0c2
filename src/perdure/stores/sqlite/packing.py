"""Snapshots and chunks of blobs as they are stored: compressed where that helps."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from perdure.ports.blobs import CHUNK

WORTH_PACKING = 4096
CHUNK_BITS = 24
"""A chunk's id is its blob's id and, in this many bits, its position."""


def pack(data: bytes) -> tuple[bool, bytes]:
    """Whether it was compressed, and the bytes to store."""
    if len(data) > WORTH_PACKING:
        packed = zlib.compress(data, 1)
        if len(packed) < len(data) - len(data) // 10:
            return True, packed
    return False, data


def unpack(packed: int, data: bytes) -> bytes:
    return zlib.decompress(data) if packed else data


def checksum(data: bytes) -> int:
    return zlib.crc32(data)


def chunk_rows(blob: int, data: bytes, first: int = 0) -> Iterator[tuple[int, bool, bytes]]:
    """Rows of the table `chunks`. An empty blob has none."""
    for place, start in enumerate(range(0, len(data), CHUNK), first):
        yield (blob << CHUNK_BITS | place, *pack(data[start : start + CHUNK]))
