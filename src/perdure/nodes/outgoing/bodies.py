"""Reading the body of a response: decoded piece by piece, and counted after decoding, so that a small file which would
unfold to gigabytes stops at the limit."""

from __future__ import annotations

import zlib
from typing import Protocol

from perdure.nodes.outgoing.failures import CallFailed, invalid_response

ACCEPTED = "gzip, deflate"
"""Never br or zstd: one piece of theirs may unfold a hundred thousand times."""

_PIECE = 64 * 1024


class Source(Protocol):
    """aiohttp's StreamReader."""

    async def readany(self) -> bytes: ...
    def at_eof(self) -> bool: ...


class Inflater:
    """Decodes gzip and deflate; no step of it gives more than a piece."""

    def __init__(self, coding: str) -> None:
        self._deflate = coding == "deflate"
        self._inner = zlib.decompressobj(31 if not self._deflate else 15)
        self._begun = False

    def feed(self, data: bytes, room: int) -> bytes:
        """What comes out of it, at most one byte more than there is room for. Raises zlib.error."""
        out = bytearray()
        while data and len(out) <= room:
            try:
                piece = self._inner.decompress(data, min(_PIECE, room + 1 - len(out)))
            except zlib.error:
                if not self._deflate or self._begun:
                    raise
                self._inner = zlib.decompressobj(-15)  # some servers leave out the header of zlib
                self._begun = True
                continue
            self._begun = True
            out += piece
            data = self._inner.unconsumed_tail
            if self._inner.eof:
                data = self._inner.unused_data
                if not data or self._deflate:
                    break
                self._inner = zlib.decompressobj(31)  # gzip files may be put one after another
        return bytes(out)

    @property
    def is_complete(self) -> bool:
        return self._inner.eof or not self._begun


def too_large(limit: int) -> CallFailed:
    return CallFailed(
        "HTTP_TOO_LARGE", f"the response has more than {limit} bytes", details={"limit": limit, "field": "max_bytes"}
    )


async def read_body(source: Source, coding: str, length: int | None, limit: int) -> bytes:
    """Raises CallFailed, and whatever reading raises."""
    if coding in ("", "identity"):
        if length is not None and length > limit:
            raise too_large(limit)
        return await _read_plain(source, limit)
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise invalid_response(f"it is encoded as {coding!r}, which was not asked for")
    inflater = Inflater(coding)
    found = bytearray()
    try:
        while not source.at_eof():
            found += inflater.feed(await source.readany(), limit - len(found))
            if len(found) > limit:
                raise too_large(limit)
    except zlib.error:
        raise invalid_response(f"its {coding} encoding is broken") from None
    if not inflater.is_complete:
        raise invalid_response(f"its {coding} encoding ends too early")
    return bytes(found)


async def _read_plain(source: Source, limit: int) -> bytes:
    first = await source.readany()
    if len(first) > limit:
        raise too_large(limit)
    if source.at_eof():
        return first
    found = bytearray(first)
    while not source.at_eof():
        found += await source.readany()
        if len(found) > limit:
            raise too_large(limit)
    return bytes(found)
