"""== < in, and order."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from perdure.dialects.groovy.prelude.failures import bad_argument, class_name, failure, no_method
from perdure.dialects.groovy.prelude.numbers import alike, are_numbers, is_number


def equal(left: Any, right: Any) -> bool:
    """`==`: numbers by value whatever their kind, lists and maps item by item, true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list):
        if not isinstance(right, list) or len(left) != len(right):
            return False
        return all([equal(left[at], right[at]) for at in range(len(left))])  # noqa: C419  (the sandbox likes lists)
    if isinstance(left, dict):
        if not isinstance(right, dict) or len(left) != len(right):
            return False
        return all([key in right and equal(left[key], right[key]) for key in left])  # noqa: C419
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        if not are_numbers(left, right):
            return False
        left, right = alike(left, right)
    return bool(left == right)


def holds(items: list[Any], value: Any) -> bool:
    for item in items:  # noqa: SIM110
        if equal(item, value):
            return True
    return False


def is_in(value: Any, candidates: Any) -> bool:
    """`value in candidates`, and what a `case` asks."""
    if isinstance(candidates, list):
        return holds(candidates, value)
    if isinstance(candidates, dict):
        return not isinstance(value, (list, dict, tuple)) and bool(candidates.get(value))
    return equal(candidates, value)


def compare(left: Any, right: Any) -> int:
    """`<=>`: below zero, zero, above zero. Null comes before everything."""
    if left is None or right is None:
        return (left is not None) - (right is not None)
    if are_numbers(left, right):
        left, right = alike(left, right)
    elif not have_an_order(left, right):
        kind = "GroovyRuntimeException" if isinstance(left, (list, dict, tuple)) else "ClassCastException"
        raise failure(kind, "Cannot compare a " + class_name(left) + " with a " + class_name(right))
    return int(left > right) - int(left < right)


def compare_to(value: Any, other: Any) -> int:
    """`compareTo`, unlike `<=>`, asks for two values."""
    if value is None:
        raise no_method(value, "compareTo")
    if other is None:
        raise bad_argument(value, "compareTo", other)
    return compare(value, other)


def have_an_order(left: Any, right: Any) -> bool:
    if isinstance(left, datetime):
        return isinstance(right, datetime)
    if isinstance(left, bool):
        return isinstance(right, bool)
    return isinstance(left, str) and isinstance(right, str)


def order(found: Any) -> int:
    """What a closure that compares must give."""
    if not is_number(found):
        told = "a closure that compares gives a number, as <=> does, not a " + class_name(found)
        raise failure("GroovyCastException", told)
    return int(found)


def in_order(items: list[Any], keys: list[Any]) -> list[Any]:
    """The items by their keys; those with equal keys stay as they were."""
    places = list(range(len(items)))
    if all([isinstance(key, str) for key in keys]) or all([is_number(key) for key in keys]):  # noqa: C419
        return [items[place] for place in sorted(places, key=lambda place: keys[place])]
    return [items[place] for place in merge_sorted(places, lambda one, other: compare(keys[one], keys[other]))]


def merge_sorted(items: list[Any], comparator: Any) -> list[Any]:
    """Stable. Written out because the sandbox has no cmp_to_key."""
    if len(items) < 2:
        return items
    middle = len(items) // 2
    left = merge_sorted(items[:middle], comparator)
    right = merge_sorted(items[middle:], comparator)
    merged = []
    one = 0
    other = 0
    while one < len(left) and other < len(right):
        if order(comparator(left[one], right[other])) <= 0:
            merged.append(left[one])
            one += 1
        else:
            merged.append(right[other])
            other += 1
    return merged + left[one:] + right[other:]
