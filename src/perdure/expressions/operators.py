"""What the operators of the language do. Compiled expressions call these; nothing here knows of text or places.

The rules, everywhere:

- Equality is deep and typed: `1 == "1"` and `1 == true` are false, `1 == 1.0` is true.
- Only numbers with numbers and text with text have an order. `true` is no number: it has no order and cannot be added.
- Arithmetic gives exact integers of bounded length and finite floats, or fails.
- Whatever reads or builds much pays the meter first.
"""

from __future__ import annotations

from typing import Any, Final

from perdure.errors import ExpressionFailed, ExpressionLimit, ValueMissing
from perdure.expressions.limits import INTEGER_BITS, Meter, checked, spend, spend_product, spend_steps, spend_text
from perdure.expressions.places import nearest
from perdure.expressions.values import Json, is_number, is_object, with_article

_NUMBERS: Final = frozenset({int, float})
_USUAL: Final = 2**63  # a number between this and its negative is certainly finite and short
_LONG = 1_024  # characters above which comparing text is paid for


# -- order and equality -----------------------------------------------------------------------------------------


def lt(meter: Meter, a: Any, b: Any) -> bool:
    if type(a) is not type(b) or type(a) not in _NUMBERS:
        orderable(meter, a, b)
    return bool(a < b)


def le(meter: Meter, a: Any, b: Any) -> bool:
    if type(a) is not type(b) or type(a) not in _NUMBERS:
        orderable(meter, a, b)
    return bool(a <= b)


def gt(meter: Meter, a: Any, b: Any) -> bool:
    if type(a) is not type(b) or type(a) not in _NUMBERS:
        orderable(meter, a, b)
    return bool(a > b)


def ge(meter: Meter, a: Any, b: Any) -> bool:
    if type(a) is not type(b) or type(a) not in _NUMBERS:
        orderable(meter, a, b)
    return bool(a >= b)


def orderable(meter: Meter, a: Json, b: Json) -> None:
    if isinstance(a, str) and isinstance(b, str):
        if len(a) > _LONG and len(b) > _LONG:
            spend_text(meter, min(len(a), len(b)))
    elif not (is_number(a) and is_number(b)):
        raise ExpressionFailed(f"{with_article(a)} and {with_article(b)} have no order")


def same(meter: Meter, a: Json, b: Json) -> bool:
    kind_a, kind_b = type(a), type(b)
    if kind_a is kind_b:
        if kind_a is str and len(a) > _LONG and len(a) == len(b):
            spend_text(meter, len(a))
        if kind_a is not list and kind_a is not dict:
            return bool(a == b)
    elif kind_a is bool or kind_b is bool:
        return False
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return False
        spend(meter, 24 + len(a) * 12)
        return all(same(meter, x, y) for x, y in zip(a, b, strict=True))
    if is_object(a) and is_object(b):
        if len(a) != len(b):
            return False
        spend(meter, 24 + len(a) * 12)
        return all(key in b and same(meter, value, b[key]) for key, value in a.items())
    return bool(a == b)


def differ(meter: Meter, a: Json, b: Json) -> bool:
    return not same(meter, a, b)


def within(meter: Meter, a: Json, b: Json) -> bool:
    """`a in b`: a part of a text, an item of a list, a key of an object."""
    if isinstance(b, list):
        spend(meter, len(b) * 12)
        return any(same(meter, a, each) for each in b)
    if is_object(b):
        return isinstance(a, str) and a in b
    if isinstance(b, str) and isinstance(a, str):
        spend_text(meter, len(b) * 2)
        return a in b
    if isinstance(b, str):
        raise ExpressionFailed(f"{with_article(a)} cannot be looked for in text")
    raise ExpressionFailed(f"nothing can be looked for in {with_article(b)}")


def without(meter: Meter, a: Json, b: Json) -> bool:
    return not within(meter, a, b)


COMPARISONS: Final = {
    "<": lt, "<=": le, ">": gt, ">=": ge, "==": same, "!=": differ, "in": within, "not in": without,
}  # fmt: skip


def chain(meter: Meter, ops: tuple[str, ...], *operands: Json) -> bool:
    """`a < b < c` where b is not a plain path. All operands are evaluated, unlike in Python."""
    return all(COMPARISONS[op](meter, operands[at], operands[at + 1]) for at, op in enumerate(ops))


# -- arithmetic -------------------------------------------------------------------------------------------------


def add(meter: Meter, a: Any, b: Any) -> Json:
    if type(a) in _NUMBERS and type(b) in _NUMBERS:
        found = a + b
        return found if -_USUAL < found < _USUAL else checked(found)
    if isinstance(a, str) and isinstance(b, str):
        spend_text(meter, len(a) + len(b))
        return a + b
    if isinstance(a, list) and isinstance(b, list):
        spend(meter, len(a) + len(b))
        return a + b
    remedy = "convert with str(x), or write the text as a template" if str in {type(a), type(b)} else None
    raise ExpressionFailed(f"{with_article(a)} and {with_article(b)} cannot be added", remedy=remedy)


def sub(meter: Meter, a: Any, b: Any) -> Json:
    _numbers(a, b, "subtracted")
    found = a - b
    return found if -_USUAL < found < _USUAL else checked(found)


def mul(meter: Meter, a: Any, b: Any) -> Json:
    if type(a) in _NUMBERS and type(b) in _NUMBERS:
        found = a * b
        return found if -_USUAL < found < _USUAL else _long(meter, found)
    if type(a) is int:
        a, b = b, a
    if type(b) is int and isinstance(a, str):
        spend_text(meter, len(a) * max(b, 0))
        return a * b
    if type(b) is int and isinstance(a, list):
        spend(meter, len(a) * max(b, 0))
        return a * b
    raise ExpressionFailed(f"{with_article(a)} and {with_article(b)} cannot be multiplied")


def div(meter: Meter, a: Any, b: Any) -> Json:
    _numbers(a, b, "divided")
    return checked(a / b)


def floordiv(meter: Meter, a: Any, b: Any) -> Json:
    _numbers(a, b, "divided")
    found = a // b
    if not -_USUAL < a < _USUAL:
        _long(meter, a)
    return checked(found)


def mod(meter: Meter, a: Any, b: Any) -> Json:
    _numbers(a, b, "divided")
    found = a % b
    if not -_USUAL < a < _USUAL:
        _long(meter, a)
    return checked(found)


def power(meter: Meter, a: Any, b: Any) -> Json:
    _numbers(a, b, "raised to a power")
    if type(a) is int and type(b) is int and (a.bit_length() - 1) * b >= INTEGER_BITS:
        raise ExpressionLimit(f"the number would have more than {INTEGER_BITS:,} bits")
    found = a**b
    if isinstance(found, complex):
        raise ExpressionFailed("a negative number has no fractional power")
    return found if -_USUAL < found < _USUAL else _long(meter, found)


def _long(meter: Meter, number: Any) -> Json:
    """A number that is paid for by its length if it is an integer."""
    checked(number)
    if type(number) is int:
        spend_product(meter, number)
    return number


def negative(a: Any) -> Json:
    if not is_number(a):
        raise ExpressionFailed(f"{with_article(a)} has no sign")
    return -a


def positive(a: Any) -> Json:
    if not is_number(a):
        raise ExpressionFailed(f"{with_article(a)} has no sign")
    return a


def _numbers(a: Json, b: Json, verb: str) -> None:
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise ExpressionFailed(f"{with_article(a)} and {with_article(b)} cannot be {verb}")


ARITHMETIC: Final = {"+": add, "-": sub, "*": mul, "/": div, "//": floordiv, "%": mod, "**": power}


# -- parts ------------------------------------------------------------------------------------------------------


def member(of: Any, key: str | int) -> Json:
    """`of.key`: a key of an object. Digits also count as an index of a list."""
    if is_object(of):
        name = str(key)
        if name in of:
            return of[name]
        meant = nearest(name, of)
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise ValueMissing(f"the object has no key {name!r}{hint}")
    if of is None:
        raise ValueMissing(f"null has no key {str(key)!r}")
    if isinstance(key, int) and isinstance(of, list):
        return index(of, key)
    raise ExpressionFailed(f"{with_article(of)} has no keys, so no {str(key)!r}")


def index(of: Any, at: Json) -> Json:
    """`of[at]`: an item of a list, a character of a text, a key of an object."""
    if is_object(of):
        if isinstance(at, str):
            return member(of, at)
        raise ExpressionFailed(f"the key of an object is text, not {with_article(at)}")
    if isinstance(of, (list, str)):
        if type(at) is not int:
            raise ExpressionFailed(f"the index of {with_article(of)} is a whole number, not {with_article(at)}")
        if not -len(of) <= at < len(of):
            raise ValueMissing(f"there is no item {at} in {with_article(of)} of {len(of)}")
        return of[at]
    if of is None:
        raise ValueMissing("null has no items")
    raise ExpressionFailed(f"{with_article(of)} has no items")


def cut(meter: Meter, of: Json, low: Json, high: Json, step: Json) -> Json:
    """`of[low:high:step]`"""
    if not isinstance(of, list | str):
        raise ExpressionFailed(f"{with_article(of)} has no slices")
    for bound in (low, high, step):
        if bound is not None and type(bound) is not int:
            raise ExpressionFailed(f"a slice is bounded by whole numbers, not by {with_article(bound)}")
    if step == 0:
        raise ExpressionFailed("the step of a slice is not 0")
    spend(meter, len(of) if isinstance(of, list) else len(of) >> 4)
    return of[low:high:step]


def turns(meter: Meter, source: Json, cost: int, names: int, work: int) -> list[Json]:
    """The items that a comprehension runs over, paid for before the first turn: steps, and work for its calls."""
    if is_object(source):
        source = list(source)
    if not isinstance(source, list):
        raise ExpressionFailed(f"a comprehension runs over a list or an object, not over {with_article(source)}")
    spend_steps(meter, len(source) * cost)
    spend(meter, len(source) * work)
    if names > 1:
        for each in source:
            if not isinstance(each, list) or len(each) != names:
                raise ExpressionFailed(
                    f"each item must be a list of {names} to be taken apart, not {with_article(each)}"
                )
    return list(source)


def text_key(key: Json) -> str:
    if not isinstance(key, str):
        raise ExpressionFailed(f"the key of an object is text, not {with_article(key)}", remedy="write str(x)")
    return key
