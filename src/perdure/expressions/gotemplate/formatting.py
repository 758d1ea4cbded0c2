"""Values as text, the way Go's fmt writes them, and as JSON.

JSON numbers are floats in Go, so 3.0 is written 3. One thing differs: Go writes floats from a million on with an
exponent (1.5e+06), which nobody wants to read in a letter. Here they are written out up to 21 digits.
"""

from __future__ import annotations

import json
from typing import Any, Final

from perdure.errors import ExpressionLimit
from perdure.expressions.limits import Limits, Meter, spend_text
from perdure.expressions.values import MISSING, Json, is_object, weigh

NO_VALUE: Final = "<no value>"
NIL: Final = "<nil>"

#: From this power of ten on a float is written with an exponent: our own rule, and that of Go's %g.
WRITTEN_OUT: Final = 21
SHORT: Final = 6

#: How much longer than its text form a value may be by the estimate of `weigh` before it is written.
_SLACK: Final = 8


class Budget:
    """What one rendering may still spend, and how long any text may be."""

    def __init__(self, limits: Limits, meter: Meter) -> None:
        self.limits = limits
        self.meter = meter

    def fits(self, characters: int) -> None:
        """No text is useful that is longer than what may be written at all."""
        if characters > self.limits.output:
            raise self.too_long()

    def text(self, characters: int) -> None:
        """Pay for text that is about to be built."""
        self.fits(characters)
        spend_text(self.meter, characters)

    def value(self, value: Json) -> None:
        """Pay for a value that is about to be written out."""
        if isinstance(value, str):
            self.text(len(value))
        elif isinstance(value, list) or is_object(value):
            size = weigh(value, self.meter, {})
            self.fits(size // _SLACK)
            spend_text(self.meter, size * _SLACK)

    def too_long(self) -> ExpressionLimit:
        return ExpressionLimit(f"the text would be longer than {self.limits.output:,} characters")


def printed(value: Json, budget: Budget) -> str:
    """A value as an action writes it."""
    if value is None or value is MISSING:
        return NO_VALUE
    return plain(value, budget)


def plain(value: Json, budget: Budget) -> str:
    """A value as `print` and %v write it."""
    budget.value(value)
    return _plain(value)


def _plain(value: Json) -> str:
    if isinstance(value, str):
        return value
    if value is None or value is MISSING:
        return NIL
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return shortest(value, WRITTEN_OUT)
    if isinstance(value, list):
        return f"[{' '.join(map(_plain, value))}]"
    if is_object(value):
        return f"map[{' '.join(f'{key}:{_plain(value[key])}' for key in sorted(value))}]"
    return str(value)


def shortest(value: float, exponent_from: int) -> str:
    """The fewest digits that tell the number from all others."""
    sign = "-" if repr(value).startswith("-") else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    figures = digits.strip("0")
    if not figures:
        return f"{sign}0"
    power = len(whole) - 1 + int(exponent or 0) - (len(digits) - len(digits.lstrip("0")))
    if not -4 <= power < exponent_from:
        point = "." if len(figures) > 1 else ""
        return f"{sign}{figures[0]}{point}{figures[1:]}e{'-' if power < 0 else '+'}{abs(power):02}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{figures}"
    whole, fraction = figures[: power + 1].ljust(power + 1, "0"), figures[power + 1 :]
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def as_json(value: Json, budget: Budget, *, indent: int | None) -> str:
    """The value as JSON, keys in order. Whole numbers have no fraction, as in Go."""
    budget.value(value)
    separators = (",", ": ") if indent else (",", ":")
    value = _whole(None if value is MISSING else value)
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, sort_keys=True)
    budget.fits(len(text))
    return text


def _whole(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 10**WRITTEN_OUT else value
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return {key: _whole(each) for key, each in value.items()} if is_object(value) else value
