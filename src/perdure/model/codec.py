"""Events as stored bytes and back, for ever.

One row of the log holds the events of one turn as a JSON array. A user's value longer than `INLINE_BYTES` is taken
out of its event and kept in a blob; the row's `refs` say which event and field it belongs to, so nothing in the data
itself needs a marker. `CODEC` numbers the stored shape; rows of an older number pass through the upcasters first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from perdure.errors import HistoryUnreadable
from perdure.model.commands import AnyCommand, Command
from perdure.model.events import AnyEvent, Event
from perdure.model.values import INLINE_BYTES, decode_json, digest, encode_json

CODEC = 1

VALUE_FIELDS = (
    "output", "input", "payload", "item", "config", "result", "vars", "items", "value", "details", "beside", "view",
    "response",
)  # fmt: skip
"""Fields of events that hold users' values, and so may be large."""

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
UPCASTERS: dict[tuple[int, str], Upcaster] = {}
"""(stored codec number, event tag) -> the event as the next number has it."""

_events_encoder = msgspec.json.Encoder()
_events_decoder: msgspec.json.Decoder[list[AnyEvent]] = msgspec.json.Decoder(list[AnyEvent])
_command_decoder: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)


class Ref(msgspec.Struct, frozen=True, array_like=True):
    """The value of `field` of the event at `index` is the JSON in the blob `hash`."""

    index: int
    field: str
    hash: str
    size: int


class EncodedTurn(msgspec.Struct, frozen=True):
    data: bytes
    refs: list[Ref]
    blobs: dict[str, bytes]


def encode_events(events: Sequence[Event]) -> EncodedTurn:
    data = _events_encoder.encode(events)
    if len(data) <= INLINE_BYTES:
        return EncodedTurn(data, [], {})
    return _offload(events)


def _offload(events: Sequence[Event]) -> EncodedTurn:
    """Many events, or long ones: only these are taken apart."""
    refs: list[Ref] = []
    blobs: dict[str, bytes] = {}
    kept: list[bytes] = []
    for index, event in enumerate(events):
        data = _events_encoder.encode(event)
        kept.append(data if len(data) <= INLINE_BYTES else _lightened(index, event, refs, blobs))
    return EncodedTurn(b"[" + b",".join(kept) + b"]", refs, blobs)


def _lightened(index: int, event: Event, refs: list[Ref], blobs: dict[str, bytes]) -> bytes:
    """The event without its large values, which go to `blobs`."""
    shape: dict[str, Any] = msgspec.to_builtins(event)
    for name in VALUE_FIELDS:
        value = getattr(event, name, None)
        if value is None or value is msgspec.UNSET or len(data := encode_json(value)) <= INLINE_BYTES:
            continue
        name_of_blob = digest(data)
        blobs[name_of_blob] = data
        refs.append(Ref(index, name, name_of_blob, len(data)))
        shape[name] = [] if name == "items" else {} if name == "vars" else None
    return encode_json(shape)


def decode_events(data: bytes | str, codec: int, refs: Sequence[Ref], blobs: Mapping[str, bytes]) -> list[Event]:
    """The events of one row. Raises `HistoryUnreadable` for what this program cannot read; never guesses."""
    try:
        if codec == CODEC and not refs:
            return list(_events_decoder.decode(data))
        return _decode_slowly(decode_json(data), codec, refs, blobs)
    except HistoryUnreadable:
        raise
    except Exception as problem:
        stranger = _unknown_event(data)
        if stranger is not None:
            raise HistoryUnreadable(
                f"the history holds an event {stranger!r}, which this Perdure does not know",
                remedy="run this database with the version that wrote it, or a newer one",
            ) from problem
        raise HistoryUnreadable(f"an event of codec {codec} cannot be read: {problem}") from problem


_KNOWN = frozenset(kind.__name__ for kind in Event.__subclasses__())


def _unknown_event(data: bytes | str) -> str | None:
    try:
        tags = [event["event"] for event in decode_json(data)]
    except Exception:  # not even a list of events: the first problem says more
        return None
    return next((tag for tag in tags if tag not in _KNOWN), None)


def _decode_slowly(
    raw: list[dict[str, Any]], codec: int, refs: Sequence[Ref], blobs: Mapping[str, bytes]
) -> list[Event]:
    if codec > CODEC:
        raise HistoryUnreadable(
            f"the history was written by a newer Perdure (codec {codec}, this one reads up to {CODEC})",
            remedy="run this database with the newer version",
        )
    for ref in refs:
        raw[ref.index][ref.field] = decode_json(blobs[ref.hash])
    for number in range(codec, CODEC):
        raw = [UPCASTERS.get((number, event["event"]), _unchanged)(event) for event in raw]
    return list(msgspec.convert(raw, list[AnyEvent]))


def _unchanged(event: dict[str, Any]) -> dict[str, Any]:
    return event


def encode_refs(refs: Sequence[Ref]) -> str | None:
    return _events_encoder.encode(refs).decode() if refs else None


_refs_decoder = msgspec.json.Decoder(list[Ref])


def decode_refs(text: str | None) -> list[Ref]:
    return _refs_decoder.decode(text) if text else []


def encode_command(command: Command) -> bytes:
    return _events_encoder.encode(command)


def decode_command(data: bytes | str) -> AnyCommand:
    try:
        return _command_decoder.decode(data)
    except msgspec.DecodeError as problem:
        raise HistoryUnreadable(f"a stored command cannot be read: {problem}") from problem
