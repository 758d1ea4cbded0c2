"""Operators that mean something else for each kind of value: + - * <<"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from perdure.dialects.groovy.prelude.comparing import equal, holds
from perdure.dialects.groovy.prelude.dates import days_later, millis
from perdure.dialects.groovy.prelude.failures import bad_argument, failure, no_method
from perdure.dialects.groovy.prelude.numbers import alike, are_numbers, is_number
from perdure.dialects.groovy.prelude.text import text


def plus(first: Any, *others: Any) -> Any:
    """`a + b + c`"""
    total = first
    for other in others:
        total = sum_of_two(total, other)
    return total


def sum_of_two(left: Any, right: Any) -> Any:
    if are_numbers(left, right):
        left, right = alike(left, right)
        return left + right
    if isinstance(left, str):
        return left + text(right)
    if isinstance(left, list):
        return left + (right if isinstance(right, list) else [right])
    if isinstance(right, str) and (left is None or is_number(left)):
        return text(left) + right
    if isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    if isinstance(left, datetime) and is_number(right):
        return days_later(left, int(right))
    if left is None or right is None:
        raise failure("NullPointerException", "Cannot execute " + text(left) + "+" + text(right))
    raise bad_argument(left, "plus", right)


def minus(left: Any, right: Any) -> Any:
    if are_numbers(left, right):
        left, right = alike(left, right)
        return left - right
    if isinstance(left, str):
        return left.replace(text(right), "", 1)
    if isinstance(left, list):
        unwanted = right if isinstance(right, list) else [right]
        return [item for item in left if not holds(unwanted, item)]
    if isinstance(left, dict) and isinstance(right, dict):
        return {key: item for key, item in left.items() if key not in right or not equal(right[key], item)}
    if isinstance(left, datetime) and isinstance(right, datetime):
        return int((millis(left) - millis(right)) / 86400000)
    if isinstance(left, datetime) and is_number(right):
        return days_later(left, -int(right))
    if left is None or right is None:
        raise failure("NullPointerException", "Cannot execute " + text(left) + "-" + text(right))
    raise bad_argument(left, "minus", right)


def times(left: Any, right: Any) -> Any:
    if are_numbers(left, right):
        left, right = alike(left, right)
        return left * right
    if isinstance(left, (str, list)) and is_number(right):
        if right < 0:
            raise failure("IllegalArgumentException", "multiply() needs 0 or more, not " + text(right))
        return left * int(right)
    if left is None or right is None:
        raise failure("NullPointerException", "Cannot execute " + text(left) + "*" + text(right))
    raise bad_argument(left, "multiply", right)


def left_shift(left: Any, right: Any) -> Any:
    """`list << item` and `map << other` change the left side."""
    if isinstance(left, list):
        left.append(right)
        return left
    if isinstance(left, dict):
        if isinstance(right, tuple):
            left[right[0]] = right[1]
            return left
        if not isinstance(right, dict):
            raise bad_argument(left, "leftShift", right)
        left.update(right)
        return left
    if isinstance(left, int) and isinstance(right, int) and not isinstance(left, bool):
        return left << right
    raise no_method(left, "leftShift")
