"""State as bytes. MessagePack, because it is fast; JSON where a number is too large for MessagePack's 64 bits."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

_T = TypeVar("_T")

_compact = msgspec.msgpack.Encoder().encode
_wide = msgspec.json.Encoder().encode


def pack(value: Any) -> bytes:
    try:
        return _compact(value)
    except OverflowError:
        return _wide(value)


class Unpacker(Generic[_T]):
    """Reads what `pack` wrote. A packed struct or tuple never begins with `[` or `{` in MessagePack, and always does in
    JSON."""

    __slots__ = ("_compact", "_wide")

    def __init__(self, type: type[_T]) -> None:
        self._compact: msgspec.msgpack.Decoder[_T] = msgspec.msgpack.Decoder(type)
        self._wide: msgspec.json.Decoder[_T] = msgspec.json.Decoder(type)

    def __call__(self, data: bytes | msgspec.Raw) -> _T:
        return self._wide.decode(data) if bytes(memoryview(data)[:1]) in (b"[", b"{") else self._compact.decode(data)
