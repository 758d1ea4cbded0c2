"""java.lang.Math"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from perdure.dialects.groovy.prelude.failures import bad_argument, failure
from perdure.dialects.groovy.prelude.numbers import alike, is_number


def numeric(method: str, value: Any) -> Any:
    if not is_number(value):
        raise bad_argument("Math", method, value)
    return value


def larger(one: Any, other: Any) -> Any:
    left, right = alike(numeric("max", one), numeric("max", other))
    return max(left, right)


def smaller(one: Any, other: Any) -> Any:
    left, right = alike(numeric("min", one), numeric("min", other))
    return min(left, right)


def absolute(value: Any) -> Any:
    return abs(numeric("abs", value))


def nearest(value: Any) -> int:
    """Math.round: halves go up, also below zero."""
    number = Decimal(repr(numeric("round", value))) if isinstance(value, float) else Decimal(numeric("round", value))
    return math.floor(number + Decimal("0.5"))


def floor_of(value: Any) -> float:
    return float(math.floor(numeric("floor", value)))


def ceiling_of(value: Any) -> float:
    return float(math.ceil(numeric("ceil", value)))


def power_of(base: Any, exponent: Any) -> float:
    if numeric("pow", base) < 0 and numeric("pow", exponent) != int(exponent):
        raise failure("ArithmeticException", "this power is not a number")
    return math.pow(base, exponent)


def root_of(value: Any) -> float:
    if numeric("sqrt", value) < 0:
        raise failure("ArithmeticException", "there is no square root of a number below zero")
    return math.sqrt(value)
