"""Rows of the database as the ports' records, and large bytes packed."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterable
from typing import TypeAlias

import asyncpg
import msgspec

from perdure.model.codec import decode_refs
from perdure.model.statuses import Status
from perdure.ports.journal import Head, Row

PACK_ABOVE = 4096
OFF_LOOP_ABOVE = 64 * 1024
"""Packing more than this takes milliseconds, so it is done in a thread."""

Packed: TypeAlias = tuple[bool, bytes]
"""Whether it is packed, and the bytes that are stored."""

_statuses = {status.value: status for status in Status}


def head_of(row: asyncpg.Record) -> Head:
    attributes = row["attributes"]
    return Head(
        run=row["id"],
        namespace=row["namespace"],
        definition=row["definition"],
        version=row["version"],
        hash=row["hash"],
        program=row["program"],
        status=_statuses[row["status"]],
        seq=row["seq"],
        epoch=row["epoch"],
        turn_id=row["turn_id"],
        owner=row["owner"],
        wake_at=row["wake_at"],
        inbox_seq=row["inbox_seq"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        closed_at=row["closed_at"],
        trigger=row["trigger"],
        key=row["key"],
        parent=row["parent"],
        attributes=msgspec.json.decode(attributes) if attributes != "{}" else {},
        result=row["result"],
        pins=msgspec.json.decode(row["pins"]) if row["pins"] is not None else None,
    )


def row_of(row: asyncpg.Record) -> Row:
    return Row(
        seq=row["seq"],
        first=row["first"],
        at=row["at"],
        turn_id=row["turn_id"],
        codec=row["codec"],
        data=row["data"],
        refs=decode_refs(row["refs"]),
    )


def pack(data: bytes) -> Packed:
    if len(data) > PACK_ABOVE and len(packed := zlib.compress(data, 1)) < len(data):
        return True, packed
    return False, data


def unpack(packed: bool, data: bytes) -> bytes:
    return zlib.decompress(data) if packed else data


async def pack_off_loop(data: bytes) -> Packed:
    return await asyncio.to_thread(pack, data) if len(data) > OFF_LOOP_ABOVE else pack(data)


async def unpack_off_loop(packed: bool, data: bytes) -> bytes:
    if packed and len(data) > OFF_LOOP_ABOVE:
        return await asyncio.to_thread(unpack, packed, data)
    return unpack(packed, data)


def pieces(data: bytes, size: int) -> Iterable[bytes]:
    """At least one, so that an empty value has a chunk as well."""
    for start in range(0, max(len(data), 1), size):
        yield data[start : start + size]
