"""What a value is: JSON, finite, without surprises, the same in every store.

`Json` values are shared freely between state, events and caches, so nobody may change one after it was made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from math import isfinite
from typing import Any

import msgspec

from perdure.errors import InvalidInput
from perdure.model.problems import pointed

Json = Any

MAX_DEPTH = 64
MAX_INT_BITS = 1024
INLINE_BYTES = 4096
"""A value whose JSON is longer is kept in a blob and only referred to by the log."""
_SAID = 200
"""Characters of somebody else's message that are passed on."""

_encode = msgspec.json.Encoder().encode
encode_sorted = msgspec.json.Encoder(order="sorted").encode
"""Equal for equal values whatever the order of their keys. For hashing, not for keeping."""
_REFUSED = (TypeError, ValueError, RecursionError, OverflowError)
"""What msgspec raises for what it cannot write; half a character is a ValueError too."""


def encode_json(value: Json) -> bytes:
    """Compact JSON. Raises `InvalidInput` for what is not JSON; never writes NaN as null."""
    try:
        data = _encode(value)
    except _REFUSED as problem:
        raise _refusal(value, problem) from problem
    if b"null" in data and msgspec.json.decode(data) != value:
        # It has changed on the way, and one of its nulls may have been NaN: msgspec writes that so.
        _check_finite(msgspec.to_builtins(value, str_keys=True), "")
    return data


def _check_finite(value: Json, pointer: str) -> None:
    if isinstance(value, float):
        _check_number(value, pointer)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_finite(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_finite(item, pointed(pointer, key))


def _refusal(value: Json, problem: Exception, pointer: str = "", depth: int = 0) -> InvalidInput:
    """What exactly cannot be written, and its place. Slow, and only for errors."""
    if depth > MAX_DEPTH:
        return InvalidInput(f"nested deeper than {MAX_DEPTH} levels", pointer=pointer)
    try:
        if isinstance(value, str | int) or value is None:
            check_json(value, pointer)
    except InvalidInput as found:
        return found
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        for key in value:
            if (wrong := _unwritable({key: None})) is not None:
                shown = repr(key).encode("ascii", "backslashreplace").decode()[:64]
                return InvalidInput(f"{shown} cannot be the key of an object", pointer=pointer, expected="a string")
        parts = value.items()
    elif isinstance(value, list | tuple | set | frozenset):
        parts = enumerate(value)
    for key, part in parts:
        if (wrong := _unwritable(part)) is not None:
            return _refusal(part, wrong, pointed(pointer, str(key)), depth + 1)
    said = str(problem).encode("ascii", "backslashreplace").decode()
    return InvalidInput(
        f"not a JSON value: {said}"[:_SAID],
        pointer=pointer or None,
        expected="null, boolean, number, string, list or object",
    )


def _unwritable(value: Json) -> Exception | None:
    try:
        _encode(value)
    except _REFUSED as problem:
        return problem
    return None


def decode_json(data: bytes | str) -> Json:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise InvalidInput(f"not JSON: {problem}") from problem


def text_of(value: Json) -> Json:
    """What was computed for a field that is text: a number or a truth value is written as JSON has it, as inside of a
    longer text. Anything else stays what it is, and the field says whether it will do."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else value


def digest(data: bytes) -> str:
    """The name of a piece of content."""
    return hashlib.sha256(data).hexdigest()


def content_hash(value: Json) -> str:
    """Equal for equal values whatever the order of their keys; used to compare request bodies, not documents."""
    return digest(encode_sorted(value))


def check_json(value: Json, pointer: str = "", depth: int = 0) -> None:
    """Refuses what one store would keep and another would not: NaN, infinities, NUL, lone surrogates, endless
    nesting."""
    if depth > MAX_DEPTH:
        raise InvalidInput(f"nested deeper than {MAX_DEPTH} levels", pointer=pointer)
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _check_text(value, pointer)
    elif isinstance(value, int):
        if value.bit_length() > MAX_INT_BITS:
            raise InvalidInput(f"an integer of more than {MAX_INT_BITS} bits", pointer=pointer)
    elif isinstance(value, float):
        _check_number(value, pointer)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            check_json(item, f"{pointer}/{index}", depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(f"the key {key!r} is not a string"[:_SAID], pointer=pointer)
            _check_text(key, pointer)
            check_json(item, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", depth + 1)
    else:
        raise InvalidInput(f"{type(value).__name__} is not a JSON type", pointer=pointer)


MAX_NAME = 256


def check_name(value: Json, pointer: str = "") -> str:
    """A name that somebody chose: of a signal, an outcome, a key. Refuses what one store would keep and another not."""
    if not isinstance(value, str):
        raise InvalidInput(f"{type(value).__name__} is no name", pointer=pointer, expected="a text")
    if not value or len(value) > MAX_NAME:
        raise InvalidInput(f"a name of {len(value)} characters", pointer=pointer, expected=f"1 to {MAX_NAME}")
    _check_text(value, pointer)
    return value


def check_text(value: Json, pointer: str = "") -> str:
    """A text of any length, such as a reason."""
    if not isinstance(value, str):
        raise InvalidInput(f"{type(value).__name__} is no text", pointer=pointer, expected="a text")
    _check_text(value, pointer)
    return value


def _check_number(number: float, pointer: str) -> None:
    if not isfinite(number):
        raise InvalidInput(f"{number} is not a JSON number", pointer=pointer, expected="a finite number")


def _check_text(text: str, pointer: str) -> None:
    if "\0" in text:
        raise InvalidInput("a NUL character in a string", pointer=pointer)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidInput("a lone surrogate in a string", pointer=pointer) from None
