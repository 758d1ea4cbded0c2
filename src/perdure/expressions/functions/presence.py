"""Presence and conversion: is it there, what is it, and what else could it be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from perdure.errors import ExpressionFailed
from perdure.expressions.functions.table import Functions
from perdure.expressions.limits import INTEGER_DIGITS, Meter, checked, spend, spend_text
from perdure.expressions.values import Json, dump, is_number, kind, to_text, with_article

FUNCTIONS = Functions()

#: Functions that take a path that may lead nowhere. The compiler gives them their meaning; see `emitter`.
TOLERANT: Final = frozenset({"exists", "default", "coalesce"})


@FUNCTIONS.add(
    "exists",
    "Whether the path leads to a value. A null that is there counts; `x != null` asks for more than null.",
    ("exists(order.total)", "true"),
    ("exists(order.refund.amount)", "false"),
)
def exists(value: Json) -> bool:
    return True


@FUNCTIONS.add(
    "default",
    "The value, or the fallback when the path leads nowhere or to null. The same as `value ?? fallback`.",
    ("default(order.note, 'none')", '"none"'),
    ("default(order.total, 0)", "1500.0"),
)
def default(value: Json, fallback: Json) -> Json:
    return fallback if value is None else value


@FUNCTIONS.add(
    "coalesce",
    "The first of the values that is there and not null, else null.",
    ("coalesce(user.nick, user.name, 'guest')", '"Ada Lovelace"'),
    ("coalesce(user.nick, order.note)", "null"),
)
def coalesce(value: Json, *others: Json) -> Json:
    return next((each for each in (value, *others) if each is not None), None)


@FUNCTIONS.add(
    "empty",
    "Whether there is nothing in it: null, empty text, empty list, empty object.",
    ("empty([])", "true"),
    ("empty(order.items)", "false"),
)
def empty(value: Json) -> bool:
    return value is None or (isinstance(value, str | list | Mapping) and not value)


@FUNCTIONS.add(
    "type_of",
    "The kind of a value: null, boolean, number, text, list or object.",
    ("type_of(order)", '"object"'),
    ("type_of('7')", '"text"'),
)
def type_of(value: Json) -> str:
    return kind(value)


@FUNCTIONS.add(
    "str",
    "The value as it would stand inside text: null is nothing, lists and objects are JSON.",
    ("str(12.5)", '"12.5"'),
    ("str(true)", '"true"'),
    ("str([1, 'a'])", r'"[1,\"a\"]"'),
)
def text(meter: Meter, value: Json) -> str:
    return to_text(value, meter)


@FUNCTIONS.add(
    "int",
    "A whole number: fractions are cut off, text is read as decimal digits.",
    ("int('42')", "42"),
    ("int(-3.9)", "-3"),
    ("int(true)", "1"),
)
def integer(meter: Meter, value: Any) -> int:
    if is_number(value) or isinstance(value, bool):
        return int(checked(value))
    if isinstance(value, str):
        spend_text(meter, len(value))
        digits = value.strip()
        if len(digits) <= INTEGER_DIGITS and digits.isascii() and digits.lstrip("+-").isdigit():
            spend(meter, len(digits) * len(digits) >> 12)
            try:
                return int(digits)
            except ValueError:
                pass
        raise ExpressionFailed("the text is not a whole number")
    raise ExpressionFailed(f"{with_article(value)} is not a whole number")


@FUNCTIONS.add(
    "float",
    "A number with a fraction; text is read as a decimal number.",
    ("float('2.50')", "2.5"),
    ("float(3)", "3.0"),
)
def number(meter: Meter, value: Any) -> float:
    if is_number(value) or isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        spend_text(meter, len(value))
        digits = value.strip()
        if len(digits) <= 400 and digits.isascii() and not set(digits) - set("0123456789+-.eE"):
            spend(meter, len(digits))
            try:
                return checked(float(digits))
            except ValueError:
                pass
        raise ExpressionFailed("the text is not a number")
    raise ExpressionFailed(f"{with_article(value)} is not a number")


@FUNCTIONS.add(
    "bool",
    'Whether the value counts as true: everything but null, false, 0, "", [] and {}.',
    ("bool('')", "false"),
    ("bool('false')", "true"),
    ("bool(0)", "false"),
)
def boolean(value: Json) -> bool:
    return bool(value)


@FUNCTIONS.add(
    "json",
    "The value as compact JSON text.",
    ("json({'a': [1, null]})", r'"{\"a\":[1,null]}"'),
    ("json('x')", r'"\"x\""'),
)
def to_json(meter: Meter, value: Json) -> str:
    return dump(value, meter)


@FUNCTIONS.add(
    "parse_json",
    "The value that a JSON text describes.",
    ("""parse_json('{"a": [1, 2]}').a[1]""", "2"),
    ("parse_json('null')", "null"),
)
def parse_json(meter: Meter, text: Json) -> Json:
    if not isinstance(text, str):
        raise ExpressionFailed(f"{with_article(text)} is not JSON text")
    spend_text(meter, len(text) * 4)
    try:
        found = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        if "\\ud" in text or "\\uD" in text:
            dump(found, meter).encode()  # refuses halves of surrogate pairs
    except ValueError as fault:
        raise ExpressionFailed(f"the text is not JSON: {fault}") from None
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")


def _finite(digits: str) -> float:
    found = float(digits)
    if found - found != 0:
        raise ValueError("a number is too large")
    return found
