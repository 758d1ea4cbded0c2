"""What handlers return, made safe to keep.

A value is taken through JSON once. So the running state holds what a replay of the log would hold (a tuple has become
a list), and nothing that the handler still has a reference to and might change.
"""

from __future__ import annotations

import msgspec

from perdure.model.values import MAX_DEPTH, Json, check_json, decode_json, encode_json

_CONSTANTS = frozenset({type(None), bool})


def purified(value: Json) -> tuple[Json, int]:
    """The value as JSON has it, and the length of its JSON. Raises InvalidInput for what is no JSON value."""
    if type(value) in _CONSTANTS:
        return value, 4
    data = encode_json(value)
    pure = decode_json(data)
    if pure != value or b"\\u0000" in data or data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        # JSON has changed it, or it may be unusual: a slow look. NaN, for one, would have become null.
        check_json(msgspec.to_builtins(value, str_keys=True))
    return pure, len(data)
