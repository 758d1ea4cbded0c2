"""How values look in a string."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from perdure.dialects.groovy.prelude.dates import date_text


def text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, list):
        return "[" + ", ".join([text(item) for item in value]) + "]"
    if isinstance(value, dict):
        return "[" + (", ".join([text(key) + ":" + text(item) for key, item in value.items()]) or ":") + "]"
    if isinstance(value, tuple):
        return text(value[0]) + "=" + text(value[1])
    if isinstance(value, datetime):
        return date_text(value)
    return str(value)


def java_text(value: Any) -> str:
    """String.valueOf writes maps as Java does: {a=1}"""
    if isinstance(value, list):
        return "[" + ", ".join([java_text(item) for item in value]) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join([java_text(key) + "=" + java_text(item) for key, item in value.items()]) + "}"
    return text(value)


def joined_text(*parts: Any) -> str:
    """A string with values in it."""
    return "".join([text(part) for part in parts])


def double_text(number: float) -> str:
    """As Java writes it: 1.0E7 from ten million on, 1.0E-4 below a thousandth."""
    size = abs(number)
    if number == 0 or 0.001 <= size < 10000000:
        return repr(number)
    if number - number != 0:
        return "NaN" if number != number else ("Infinity" if number > 0 else "-Infinity")  # noqa: PLR0124  (only NaN)
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    written = "".join([str(digit) for digit in digits])
    power = len(digits) - 1 + int(exponent)
    return ("-" if sign else "") + written[0] + "." + (written[1:] or "0") + "E" + str(power)
