"""The functions that actions may call: those of Go's text/template and those that Yantra adds.

A value that is missing, or null, is an argument like any other: it has length 0, no items, and is the empty text where
text is wanted. Go fails there; but a letter is written for data that is not always complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote_plus

from perdure.errors import ExpressionFailed
from perdure.expressions import operators
from perdure.expressions.gotemplate.formatting import NO_VALUE, Budget, as_json, plain
from perdure.expressions.gotemplate.printf import printf
from perdure.expressions.limits import checked, spend
from perdure.expressions.rendering import ESCAPED, Escape
from perdure.expressions.values import MISSING, Json, is_number, is_object, with_article

_HTML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;", "\0": "\ufffd"})

_INTEGER: Final = re.compile(r"\s*([+-]?[0-9]{1,19})")


@dataclass(frozen=True, slots=True)
class Function:
    """`call` gets the budget, then the arguments. `lazy` ones are evaluated by the renderer, argument by argument."""

    name: str
    call: Callable[..., Json]
    least: int
    most: int | None  # None: any number
    lazy: bool = False


# -- parts of values ----------------------------------------------------------------------------------------------


def _len(budget: Budget, value: Json) -> int:
    if value is None:
        return 0
    if isinstance(value, str | list) or is_object(value):
        return len(value)
    raise ExpressionFailed(f"{with_article(value)} has no length")


def _index(budget: Budget, value: Json, *keys: Json) -> Json:
    for key in keys:
        if value is None:
            return None
        if is_object(value):
            if not isinstance(key, str):
                raise ExpressionFailed(f"the key of an object is text, not {with_article(key)}")
            value = value.get(key)
        elif isinstance(value, list | str):
            at = _whole(key, "an index")
            if not 0 <= at < len(value):
                raise ExpressionFailed(f"there is no item {at} in {with_article(value)} of {len(value)}")
            value = value[at] if isinstance(value, list) else ord(value[at])
        else:
            raise ExpressionFailed(f"{with_article(value)} has no items")
    return value


def _slice(budget: Budget, value: Json, *bounds: Json) -> Json:
    if value is None:
        return None
    if not isinstance(value, list | str):
        raise ExpressionFailed(f"{with_article(value)} has no slices")
    low, high = [_whole(each, "a bound") for each in (*bounds[:2], *(0, len(value))[len(bounds[:2]) :])]
    if not 0 <= low <= high <= len(value):
        raise ExpressionFailed(f"a slice from {low} to {high} does not fit into {with_article(value)} of {len(value)}")
    spend(budget.meter, high - low)
    return value[low:high]


def _whole(value: Json, what: str) -> int:
    if is_number(value) and value == int(value):
        return int(value)
    raise ExpressionFailed(f"{what} is a whole number, not {with_article(value)}")


# -- text ---------------------------------------------------------------------------------------------------------


def _print(budget: Budget, *values: Json) -> str:
    """With blanks between values of which neither is text."""
    written: list[str] = []
    length = 0
    for at, value in enumerate(values):
        blank = at > 0 and not isinstance(value, str) and not isinstance(values[at - 1], str)
        written.append(f" {plain(value, budget)}" if blank else plain(value, budget))
        length += len(written[-1])
        budget.fits(length)
    return "".join(written)


def _println(budget: Budget, *values: Json) -> str:
    """With blanks between all values."""
    written: list[str] = []
    length = 0
    for value in values:
        written.append(plain(value, budget))
        length += len(written[-1]) + 1
        budget.fits(length)
    return " ".join(written) + "\n"


def _printf(budget: Budget, pattern: Json, *values: Json) -> str:
    return printf(budget, _text(budget, "printf", pattern), list(values))


def _text(budget: Budget, name: str, value: Json) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ExpressionFailed(
            f"{name} takes text, not {with_article(value)}", remedy="(print .value) makes text of it"
        )
    budget.text(len(value))
    return value


def _written(budget: Budget, values: tuple[Json, ...]) -> str:
    return _print(budget, *[NO_VALUE if value is None else value for value in values])


def _html(budget: Budget, *values: Json) -> str:
    return escaped(_written(budget, values), budget)


def escaped(text: str, budget: Budget, escape: Escape = "html") -> str:
    """Text that stands for itself, in HTML or elsewhere."""
    spend(budget.meter, len(text) >> 1)
    return text.translate(_HTML if escape == "html" else ESCAPED[escape])


def _urlquery(budget: Budget, *values: Json) -> str:
    text = _written(budget, values)
    spend(budget.meter, len(text))
    return quote_plus(text, safe="", errors="replace")


def _upper(budget: Budget, text: Json) -> str:
    return _changed(str.upper, _text(budget, "upper", text), budget)


def _lower(budget: Budget, text: Json) -> str:
    return _changed(str.lower, _text(budget, "lower", text), budget)


def _changed(change: Callable[[str], str], text: str, budget: Budget) -> str:
    """One character for one, as in Go: ß has no capital of one letter, and stays."""
    if text.isascii():
        return change(text)
    spend(budget.meter, len(text))
    return "".join([found if len(found := change(each)) == 1 else each for each in text])


def _title(budget: Budget, text: Json) -> str:
    """The first letter of each word as a capital; the others stay as they are."""
    source = _text(budget, "title", text)
    spend(budget.meter, len(source) * 2)
    written, inside = [], False
    for each in source:
        capital = each if inside else each.title()
        written.append(capital if len(capital) == 1 else each)
        # As in Go: an apostrophe ends a word, a letter or sign of another alphabet does not.
        inside = each.isalnum() or each == "_" or (each > "\x7f" and not each.isspace())
    return "".join(written)


def _json(budget: Budget, value: Json) -> str:
    return as_json(value, budget, indent=2)


def _json_compact(budget: Budget, value: Json) -> str:
    return as_json(value, budget, indent=None)


# -- comparisons and logic ----------------------------------------------------------------------------------------


def _eq(budget: Budget, value: Json, *others: Json) -> bool:
    return any(operators.same(budget.meter, value, other) for other in others)


def _ne(budget: Budget, value: Json, other: Json) -> bool:
    return operators.differ(budget.meter, value, other)


def _lt(budget: Budget, value: Json, other: Json) -> bool:
    return operators.lt(budget.meter, value, other)


def _le(budget: Budget, value: Json, other: Json) -> bool:
    return operators.le(budget.meter, value, other)


def _gt(budget: Budget, value: Json, other: Json) -> bool:
    return operators.gt(budget.meter, value, other)


def _ge(budget: Budget, value: Json, other: Json) -> bool:
    return operators.ge(budget.meter, value, other)


def is_true(value: Json) -> bool:
    """Everything but false, 0, null, missing, and what is empty."""
    return value is not MISSING and bool(value)


def _not(budget: Budget, value: Json) -> bool:
    return not is_true(value)


def _first_true(value: Json) -> bool:
    return is_true(value)


def _first_false(value: Json) -> bool:
    return not is_true(value)


# -- whole numbers ------------------------------------------------------------------------------------------------


def _int(value: Json) -> int:
    """Fractions are cut off; text counts for the digits that it begins with; everything else is 0."""
    if is_number(value):
        return int(value)
    found = _INTEGER.match(value) if isinstance(value, str) else None
    return int(found[1]) if found else 0


def _arithmetic(compute: Callable[[int, int], int]) -> Callable[..., Json]:
    return lambda budget, a, b: checked(compute(_int(a), _int(b)))


def _divided(a: int, b: int) -> int:
    """Towards zero; by zero it is 0."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _table(*functions: Function) -> dict[str, Function]:
    return {each.name: each for each in functions}


FUNCTIONS: Final[dict[str, Function]] = _table(
    Function("and", _first_false, 1, None, lazy=True),
    Function("or", _first_true, 1, None, lazy=True),
    Function("not", _not, 1, 1),
    Function("eq", _eq, 2, None),
    Function("ne", _ne, 2, 2),
    Function("lt", _lt, 2, 2),
    Function("le", _le, 2, 2),
    Function("gt", _gt, 2, 2),
    Function("ge", _ge, 2, 2),
    Function("len", _len, 1, 1),
    Function("index", _index, 1, None),
    Function("slice", _slice, 1, 4),
    Function("print", _print, 0, None),
    Function("println", _println, 0, None),
    Function("printf", _printf, 1, None),
    Function("html", _html, 1, None),
    Function("urlquery", _urlquery, 1, None),
    Function("json", _json, 1, 1),
    Function("jsonCompact", _json_compact, 1, 1),
    Function("upper", _upper, 1, 1),
    Function("lower", _lower, 1, 1),
    Function("title", _title, 1, 1),
    Function("add", _arithmetic(lambda a, b: a + b), 2, 2),
    Function("sub", _arithmetic(lambda a, b: a - b), 2, 2),
    Function("mul", _arithmetic(lambda a, b: a * b), 2, 2),
    Function("div", _arithmetic(_divided), 2, 2),
)
