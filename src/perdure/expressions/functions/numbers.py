"""Numbers."""

from __future__ import annotations

import math
from typing import Any, Final

from perdure.errors import ExpressionFailed
from perdure.expressions.functions.table import Functions
from perdure.expressions.limits import Meter, checked, spend, spend_digits, spend_product, spend_text
from perdure.expressions.operators import orderable
from perdure.expressions.values import Json, is_number, with_article

FUNCTIONS = Functions()

_NUMBERS: Final = frozenset({int, float})


def as_number(value: Any) -> Any:
    if not is_number(value):
        raise ExpressionFailed(f"a number is needed, not {with_article(value)}")
    return value


def as_size(value: Any, most: int, what: str) -> int:
    if type(value) is not int or not -most <= value <= most:
        raise ExpressionFailed(f"{what} is a whole number from {-most} to {most}")
    return value


@FUNCTIONS.add("abs", "The number without its sign.", ("abs(-3)", "3"))
def absolute(number: Any) -> Json:
    return abs(as_number(number))


@FUNCTIONS.add(
    "round",
    "Rounded to `places` after the point; without places a whole number. A half goes to the even neighbour.",
    ("round(2.567, 2)", "2.57"),
    ("round(2.5)", "2"),
    ("round(1234, -2)", "1200"),
)
def rounded(meter: Meter, number: Any, places: Any = None) -> Json:
    if type(number) is int and places is not None:
        spend_product(meter, number)
    return checked(round(as_number(number), None if places is None else as_size(places, 100, "places")))


@FUNCTIONS.add("floor", "The next whole number downwards.", ("floor(-1.5)", "-2"))
def floor(number: Any) -> Json:
    return checked(math.floor(as_number(number)))


@FUNCTIONS.add("ceil", "The next whole number upwards.", ("ceil(1.2)", "2"))
def ceil(number: Any) -> Json:
    return checked(math.ceil(as_number(number)))


@FUNCTIONS.add(
    "fixed",
    "The number as text with exactly `places` digits after the point.",
    ("fixed(order.total, 2)", '"1500.00"'),
    ("fixed(2, 1)", '"2.0"'),
)
def fixed(meter: Meter, number: Any, places: Any) -> str:
    digits = as_size(places, 100, "places")
    if digits < 0:
        raise ExpressionFailed("places is not negative")
    spend(meter, digits * 3)
    if type(number) is int:
        spend_digits(meter, number)
        return f"{number}.{'0' * digits}" if digits else str(number)
    return f"{as_number(number):.{digits}f}"


@FUNCTIONS.add(
    "sum",
    "The sum of a list of numbers.",
    ("sum([1, 2, 3.5])", "6.5"),
    ("sum(x.price * x.quantity for x in order.items)", "1500.0"),
)
def total(meter: Meter, numbers: Any) -> Json:
    if not isinstance(numbers, list):
        raise ExpressionFailed(f"a list of numbers is needed, not {with_article(numbers)}")
    spend(meter, len(numbers) * 2)
    if not _NUMBERS.issuperset(map(type, numbers)):
        as_number(next(each for each in numbers if not is_number(each)))
    return checked(sum(numbers))


@FUNCTIONS.add("avg", "The mean of a list of numbers; null for an empty list.", ("avg([1, 2, 6])", "3.0"))
def average(meter: Meter, numbers: Any) -> Json:
    found = total(meter, numbers)
    return checked(found / len(numbers)) if numbers else None


@FUNCTIONS.add(
    "min",
    "The least of a list, or of several values: all numbers, or all text.",
    ("min([3, 1, 2])", "1"),
    ("min('b', 'a')", '"a"'),
)
def least(meter: Meter, value: Any, *others: Any) -> Json:
    return min(_several(meter, value, others))


@FUNCTIONS.add(
    "max",
    "The greatest of a list, or of several values: all numbers, or all text.",
    ("max([3, 1, 2])", "3"),
    ("max(1, 2.5)", "2.5"),
)
def greatest(meter: Meter, value: Any, *others: Any) -> Json:
    return max(_several(meter, value, others))


def _several(meter: Meter, value: Json, others: tuple[Json, ...]) -> list[Any]:
    if others:
        return in_order(meter, [value, *others])
    if not isinstance(value, list):
        raise ExpressionFailed(f"a list or several values are needed, not just {with_article(value)}")
    if not value:
        raise ExpressionFailed("an empty list has no least and no greatest value")
    return in_order(meter, value)


def in_order(meter: Meter, values: list[Any]) -> list[Any]:
    """The same values, of which it is now sure that any two have an order."""
    spend(meter, len(values) * 2)
    kinds = set(map(type, values))
    if kinds == {str}:
        spend_text(meter, sum(map(len, values)))
    elif not kinds <= _NUMBERS:
        for each in values:
            orderable(meter, each, values[0])
    return values
