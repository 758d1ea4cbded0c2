"""Values from outside (outputs, payloads, heartbeats …), made safe to keep.

A value is taken through JSON once. So the running state holds what a replay of the log would hold (a tuple has become
a list), and nothing that whoever made it still has a reference to and might change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.errors import InvalidInput
from perdure.model.reading import read_document
from perdure.model.values import MAX_DEPTH, MAX_INT_BITS, Json, check_json, decode_json, encode_json

_CONSTANTS = frozenset({type(None), bool})
_DIGITS = bytes(0x30 if 0x30 <= each <= 0x39 else each for each in range(256))
_LONG_NUMBER = b"0" * len(str(2**MAX_INT_BITS))
"""So many digits in a row may be an integer that is too long; they are looked for with all digits made zeroes."""


def purified(value: Json, pointer: str = "") -> tuple[Json, int]:
    """The value as JSON has it, and the length of its JSON. Raises InvalidInput for what is no JSON value; the places
    that it names begin with `pointer`."""
    if type(value) in _CONSTANTS:
        return value, 4
    try:
        data = encode_json(value)
        pure = decode_json(data)
        if pure != value or _may_be_unusual(data):
            # JSON has changed it, or it may be unusual: a slow look.
            check_json(msgspec.to_builtins(value, str_keys=True))
            if len(encode_json(pure)) < len(data):
                _name_key_twice(data)
    except InvalidInput as problem:
        problem.pointer = (pointer + (problem.pointer or "")) or None
        raise
    return pure, len(data)


def purified_object(values: Any, pointer: str) -> tuple[dict[str, Any], int]:
    """The same for what must be an object."""
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{type(values).__name__} is no object", pointer=pointer, expected="an object")
    pure, size = purified(dict(values), pointer)
    return pure, size


def _may_be_unusual(data: bytes) -> bool:
    """It holds NUL, or may be nested too deep, or may hold an integer that is too long."""
    return (
        b"\\u0000" in data
        or data.count(b"[") + data.count(b"{") > MAX_DEPTH
        or (len(data) >= len(_LONG_NUMBER) and _LONG_NUMBER in data.translate(_DIGITS))
    )


def _name_key_twice(data: bytes) -> None:
    """Something got lost: an object has had two keys that JSON writes alike, such as 1 and "1"."""
    _, problems = read_document(data, max_bytes=len(data))
    for problem in problems:
        if problem.code == "KEY_TWICE":
            raise InvalidInput(problem.message, pointer=problem.pointer)
