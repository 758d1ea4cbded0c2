"""JSON values as expressions see them: their kinds, their text form, their size.

`Json` is None, bool, int, float (finite), str, list and dict with text keys. Values come from the environment as they
are and are never copied; an expression never changes one, and its result may share parts with the environment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from perdure.errors import ExpressionFailed, ExpressionLimit
from perdure.expressions.limits import Meter, spend, spend_digits, spend_text

Json = Any
Env = Mapping[str, Any]


class Missing:
    """What a path finds that leads nowhere. Never a result."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()

_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "text",
    list: "list",
    dict: "object",
}
_DEEPEST = 200


def kind(value: Json) -> str:
    """The word for the type of a value, as error messages and `type_of` say it."""
    found = _KINDS.get(type(value))
    if found is None:
        found = "object" if isinstance(value, Mapping) else "list" if isinstance(value, list) else "other"
    return found


def with_article(value: Json) -> str:
    """«a number», «an object», «null», «text»."""
    name = kind(value)
    if name in {"null", "text", "other"}:
        return name
    return f"an {name}" if name == "object" else f"a {name}"


def is_number(value: Json) -> bool:
    """Numbers are int and float. `true` is not one, although Python thinks so."""
    return type(value) is int or type(value) is float


def is_object(value: Json) -> TypeGuard[Mapping[str, Json]]:
    """Objects are dicts, and other mappings that a caller may hand in. The first test is much the faster one."""
    return type(value) is dict or isinstance(value, Mapping)


def to_text(value: Json, meter: Meter, indent: int | None = None) -> str:
    """A value inside text: text as it is, null as nothing, everything else in its JSON form."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if value is True:
        return "true"
    if value is False:
        return "false"
    if is_number(value):
        if type(value) is int:
            spend_digits(meter, value)
        return repr(value)
    return dump(value, meter, indent)


def dump(value: Json, meter: Meter, indent: int | None = None) -> str:
    """JSON, compact unless indented. The size is weighed first, so that one that is large only by repetition costs
    nothing."""
    if type(value) is int:
        spend_digits(meter, value)
    spend_text(meter, weigh(value, meter, {}) * 6)
    try:
        separators = (",", ":") if indent is None else (",", ": ")
        return json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=separators, default=_plain, indent=indent
        )
    except (TypeError, ValueError) as fault:
        raise ExpressionFailed(f"this value has no JSON form: {fault}") from None


def _plain(value: Json) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def weigh(value: Json, meter: Meter, seen: dict[int, int], depth: int = 0) -> int:
    """About how many bytes the value would take as JSON.

    A container that is reached twice is walked once and counted twice, so a result such as `[x for i in range(10000)]`
    is known to be huge without anybody writing it out.
    """
    if type(value) is not list and not is_object(value):
        return _leaf(value)
    known = seen.get(id(value))
    if known is not None:
        return known
    if depth > _DEEPEST:
        raise ExpressionLimit(f"the value is nested deeper than {_DEEPEST} levels")
    spend(meter, 24 + len(value) * 6)
    total = 2
    parts: Any = value
    if type(value) is not list:
        total += sum(map(len, value)) + 4 * len(value)
        parts = parts.values()
    for each in parts:
        if type(each) is str:
            total += len(each) + 3
        elif type(each) in _KINDS and type(each) is not dict and type(each) is not list:
            total += _leaf(each)
        else:
            total += weigh(each, meter, seen, depth + 1) + 1
    seen[id(value)] = total
    return total


def _leaf(value: Json) -> int:
    if type(value) is str:
        return len(value) + 3
    return value.bit_length() // 3 + 2 if type(value) is int else 8


def bounded(value: Json, meter: Meter, most: int) -> Json:
    """The result of an expression that builds lists or objects, if it is not too large to be kept."""
    if type(value) is str or type(value) is list or type(value) is dict:
        size = len(value) if type(value) is str else weigh(value, meter, {})
        if size > most:
            raise ExpressionLimit(f"the result would take about {size:,} bytes of JSON, more than {most:,}")
    return value
