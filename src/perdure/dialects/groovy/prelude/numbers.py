"""Arithmetic. Integers are exact and never overflow; `1.5` and the quotient of integers are decimals."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from perdure.dialects.groovy.prelude.failures import failure, no_method, whole


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def are_numbers(left: Any, right: Any) -> bool:
    return is_number(left) and is_number(right)


def alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Two numbers that Python will combine. A float makes a decimal a float, as in Groovy."""
    if isinstance(left, float) and isinstance(right, Decimal):
        return left, float(right)
    if isinstance(left, Decimal) and isinstance(right, float):
        return float(left), right
    return left, right


def divide(left: Any, right: Any) -> Any:
    if not are_numbers(left, right):
        raise no_method(right if is_number(left) else left, "div")
    if right == 0:
        raise failure("ArithmeticException", "Division by zero")
    left, right = alike(left, right)
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    return exact_quotient(Decimal(left), Decimal(right))


def exact_quotient(left: Decimal, right: Decimal) -> Decimal:
    """Exact if it ends; otherwise ten digits more than the operands have, and at most as many after the point."""
    quotient = Context(prec=60).divide(left, right)
    if len(quotient.as_tuple().digits) < 60:
        return quotient
    digits = max(len(left.as_tuple().digits), len(right.as_tuple().digits)) + 10
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).divide(left, right)
    places = max(places_of(left), places_of(right), 10)
    return to_places(rounded, places) if places_of(rounded) > places else rounded


def places_of(number: Decimal) -> int:
    """How many digits stand after the point."""
    return -int(number.as_tuple().exponent)


def to_places(number: Decimal, places: int, rounding: str = ROUND_HALF_UP) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-places), rounding=rounding)


def whole_quotient(left: Any, right: Any) -> int:
    """`intdiv`: towards zero."""
    if not (isinstance(left, int) and isinstance(right, int)) or isinstance(left, bool) or isinstance(right, bool):
        raise no_method(left, "intdiv")
    if right == 0:
        raise failure("ArithmeticException", "Division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def remainder(left: Any, right: Any) -> Any:
    """With the sign of the left operand."""
    if not are_numbers(left, right):
        raise no_method(right if is_number(left) else left, "mod")
    if right == 0:
        raise failure("ArithmeticException", "Division by zero")
    left, right = alike(left, right)
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def power(base: Any, exponent: Any) -> Any:
    if not are_numbers(base, exponent):
        raise no_method(exponent if is_number(base) else base, "power")
    if isinstance(exponent, int) and exponent >= 0:
        return base**exponent
    if base == 0 or (base < 0 and exponent != int(exponent)):
        raise failure("ArithmeticException", "this power is not a number")
    return float(base) ** float(exponent)


def negative(value: Any) -> Any:
    if isinstance(value, list):
        return [negative(item) for item in value]
    if not is_number(value):
        raise no_method(value, "negative")
    return -value


def positive(value: Any) -> Any:
    if not is_number(value):
        raise no_method(value, "positive")
    return value


def magnitude(value: Any) -> Any:
    if not is_number(value):
        raise no_method(value, "abs")
    return abs(value)


def rounded_number(value: Any, places: Any = None) -> Any:
    """`round()` of a double is an integer, `round(2)` stays a double."""
    if not isinstance(value, (float, Decimal)):
        raise no_method(value, "round")
    if places is not None:
        whole(value, "round", places)
    if isinstance(value, float):
        shifted = to_places(Decimal(repr(value)), places or 0)
        return int(shifted) if places is None else float(shifted)
    return to_places(value, places or 0)


def with_places(value: Any, places: Any, rounding: str | None = None) -> Decimal:
    """`setScale`"""
    if not isinstance(value, Decimal):
        raise no_method(value, "setScale")
    result = to_places(value, whole(value, "setScale", places), rounding or ROUND_HALF_UP)
    if rounding is None and result != value:
        raise failure("ArithmeticException", "Rounding necessary")
    return result


def bitwise(operator: str, left: Any, right: Any) -> Any:
    """`&`, `|` and `^` of two integers or two booleans."""
    if not (isinstance(left, int) and isinstance(right, int)) or isinstance(left, bool) != isinstance(right, bool):
        raise no_method(left, {"&": "and", "|": "or", "^": "xor"}[operator])
    if operator == "&":
        return left & right
    return left | right if operator == "|" else left ^ right
