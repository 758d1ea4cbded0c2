"""Numbers."""

from __future__ import annotations

import math
from typing import Any

from perdure.errors import ExpressionFailed
from perdure.expressions.functions.table import Functions
from perdure.expressions.limits import Meter, checked, spend
from perdure.expressions.operators import add as plus
from perdure.expressions.operators import gt, lt
from perdure.expressions.values import Json, is_number, with_article

FUNCTIONS = Functions()


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
def rounded(number: Any, places: Any = None) -> Json:
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
def fixed(number: Any, places: Any) -> str:
    digits = as_size(places, 100, "places")
    if digits < 0:
        raise ExpressionFailed("places is not negative")
    if type(number) is int:
        return f"{number}.{'0' * digits}" if digits else str(number)
    return f"{as_number(number):.{digits}f}"


@FUNCTIONS.add(
    "sum",
    "The sum of a list of numbers.",
    ("sum([1, 2, 3.5])", "6.5"),
    ("sum(x.price * x.quantity for x in order.items)", "1500.0"),
)
def total(meter: Meter, numbers: Any) -> Json:
    result: Any = 0
    for each in _items(meter, numbers):
        result = plus(meter, result, as_number(each))
    return result


@FUNCTIONS.add("avg", "The mean of a list of numbers; null for an empty list.", ("avg([1, 2, 6])", "3.0"))
def average(meter: Meter, numbers: Any) -> Json:
    count = len(_items(meter, numbers))
    return checked(total(meter, numbers) / count) if count else None


@FUNCTIONS.add(
    "min",
    "The least of a list, or of several values: all numbers, or all text.",
    ("min([3, 1, 2])", "1"),
    ("min('b', 'a')", '"a"'),
)
def least(meter: Meter, value: Any, *others: Any) -> Json:
    found, *rest = _several(meter, value, others)
    for each in rest:
        if lt(meter, each, found):
            found = each
    return found


@FUNCTIONS.add(
    "max",
    "The greatest of a list, or of several values: all numbers, or all text.",
    ("max([3, 1, 2])", "3"),
    ("max(1, 2.5)", "2.5"),
)
def greatest(meter: Meter, value: Any, *others: Any) -> Json:
    found, *rest = _several(meter, value, others)
    for each in rest:
        if gt(meter, each, found):
            found = each
    return found


def _items(meter: Meter, value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise ExpressionFailed(f"a list of numbers is needed, not {with_article(value)}")
    spend(meter, len(value) * 4)
    return value


def _several(meter: Meter, value: Json, others: tuple[Json, ...]) -> list[Json]:
    if others:
        return [value, *others]
    if not isinstance(value, list):
        raise ExpressionFailed(f"a list or several values are needed, not one {with_article(value)}")
    if not value:
        raise ExpressionFailed("an empty list has no least and no greatest value")
    spend(meter, len(value) * 4)
    return value
