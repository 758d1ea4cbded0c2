"""Lists. Where a function takes `by`, that is a path into the items: `sorted(orders, "customer.name")`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from perdure.errors import ExpressionFailed, ValueMissing
from perdure.expressions.functions.numbers import as_size, in_order
from perdure.expressions.functions.table import Functions
from perdure.expressions.functions.texts import as_text
from perdure.expressions.limits import Meter, spend, spend_text
from perdure.expressions.operators import same
from perdure.expressions.paths import Path
from perdure.expressions.values import MISSING, Json, is_number, is_object, to_text, weigh, with_article

FUNCTIONS = Functions()


def as_list(meter: Meter, value: Any, cost: int = 1) -> list[Json]:
    """A list of which every item is going to be touched."""
    if not isinstance(value, list):
        raise ExpressionFailed(f"a list is needed, not {with_article(value)}")
    spend(meter, len(value) * cost)
    return value


def keyed(meter: Meter, items: list[Json], by: Any) -> Callable[[Json], Json]:
    """What `by` picks from an item. A path is compiled once, and paid for once per item."""
    if by is None:
        return lambda item: item
    path = Path.parse(as_text(by))
    spend(meter, len(items) * 4)

    def pick(item: Json) -> Json:
        found = path.find(item)
        if found is MISSING:
            raise ValueMissing(f"an item has no {by!r}")
        return found

    return pick


@FUNCTIONS.add(
    "first",
    "The first item, or the fallback (null) when there is none.",
    ("first([3, 4])", "3"),
    ("first([])", "null"),
)
def first(items: Any, fallback: Json = None) -> Json:
    return _end(items, 0, fallback)


@FUNCTIONS.add(
    "last",
    "The last item, or the fallback (null) when there is none.",
    ("last([3, 4])", "4"),
    ("last([], 0)", "0"),
)
def last(items: Any, fallback: Json = None) -> Json:
    return _end(items, -1, fallback)


def _end(items: Any, at: int, fallback: Json) -> Json:
    if not isinstance(items, list):
        raise ExpressionFailed(f"a list is needed, not {with_article(items)}")
    return items[at] if items else fallback


@FUNCTIONS.add(
    "sorted",
    "The items in order: all numbers or all text, or what `by` picks from them. Equal items keep their order.",
    ("sorted([3, 1, 2])", "[1, 2, 3]"),
    ("[x.name for x in sorted(order.items, 'price', reverse=true)]", '["Desk", "Lamp"]'),
)
def arranged(meter: Meter, items: Any, by: Any = None, reverse: Any = False) -> list[Json]:
    plain = as_list(meter, items)
    pick = keyed(meter, plain, by)
    keys = in_order(meter, [pick(each) for each in plain])
    spend(meter, len(plain) * len(plain).bit_length() // 4)
    order = sorted(range(len(plain)), key=keys.__getitem__, reverse=bool(reverse))
    return [plain[at] for at in order]


@FUNCTIONS.add(
    "reversed",
    "The items, or the characters of a text, in the opposite order.",
    ("reversed([1, 2])", "[2, 1]"),
    ("reversed('abc')", '"cba"'),
)
def backwards(meter: Meter, items: Any) -> Json:
    if isinstance(items, str):
        spend_text(meter, len(items))
        return items[::-1]
    return as_list(meter, items)[::-1]


@FUNCTIONS.add(
    "unique",
    "Each value once, in the order of first appearance; with `by`, the first item of each value.",
    ("unique([1, 2, 1, '1'])", '[1, 2, "1"]'),
)
def unique(meter: Meter, items: Any, by: Any = None) -> list[Json]:
    plain = as_list(meter, items, 8)
    pick = keyed(meter, plain, by)
    kept: dict[Any, Json] = {}
    for each in plain:
        kept.setdefault(_identity(meter, pick(each)), each)
    return list(kept.values())


def _identity(meter: Meter, value: Json) -> tuple[str, Any]:
    """A hashable that is equal exactly when the values are."""
    if is_number(value):
        return "number", value
    if isinstance(value, list) or is_object(value):
        spend_text(meter, weigh(value, meter, {}) * 6)
        return "json", json.dumps(value, sort_keys=True)
    return type(value).__name__, value


@FUNCTIONS.add(
    "flatten",
    "The items of the lists in the list, one level or `levels` deep.",
    ("flatten([[1, 2], 3, [[4]]])", "[1, 2, 3, [4]]"),
    ("flatten([[1, [2]], [[[3]]]], 5)", "[1, 2, 3]"),
)
def flatten(meter: Meter, items: Any, levels: Any = 1) -> list[Json]:
    result = as_list(meter, items)
    for _ in range(as_size(levels, 50, "levels")):
        if not any(isinstance(each, list) for each in result):
            break
        spend(meter, sum(len(each) + 1 if isinstance(each, list) else 1 for each in result))
        result = [part for each in result for part in (each if isinstance(each, list) else (each,))]
    return result


@FUNCTIONS.add("any", "Whether at least one item counts as true.", ("any(x.price > 1000 for x in order.items)", "true"))
def some(meter: Meter, items: Any) -> bool:
    return any(as_list(meter, items))


@FUNCTIONS.add("all", "Whether every item counts as true.", ("all(x.price > 1000 for x in order.items)", "false"))
def every(meter: Meter, items: Any) -> bool:
    return all(as_list(meter, items))


@FUNCTIONS.add(
    "range",
    "Whole numbers from `start` (or 0) up to, not including, `stop`.",
    ("range(3)", "[0, 1, 2]"),
    ("range(10, 0, -5)", "[10, 5]"),
)
def span(meter: Meter, start: Any, stop: Any = None, step: Any = 1) -> list[int]:
    if stop is None:
        start, stop = 0, start
    for bound in (start, stop, step):
        if type(bound) is not int:
            raise ExpressionFailed(f"a range is bounded by whole numbers, not by {with_article(bound)}")
    if step == 0:
        raise ExpressionFailed("the step of a range is not 0")
    distance = stop - start if step > 0 else start - stop
    spend(meter, max(0, distance // abs(step) + 1))
    return list(range(start, stop, step))


@FUNCTIONS.add(
    "zip",
    "The first items together, the second items together, … as long as all lists last.",
    ("zip(['a', 'b'], [1, 2])", '[["a", 1], ["b", 2]]'),
)
def together(meter: Meter, items: Any, *others: Any) -> list[Json]:
    lists = [as_list(meter, each, 8) for each in (items, *others)]
    return [list(each) for each in zip(*lists, strict=False)]


@FUNCTIONS.add(
    "enumerate",
    "Each item with its number, from 0 or from `start`.",
    ("enumerate(['a', 'b'])", '[[0, "a"], [1, "b"]]'),
    ("[i * x for i, x in enumerate([5, 6], 1)]", "[5, 12]"),
)
def numbered(meter: Meter, items: Any, start: Any = 0) -> list[Json]:
    return [[number, each] for number, each in enumerate(as_list(meter, items, 8), as_size(start, 2**53, "the start"))]


@FUNCTIONS.add(
    "index_of",
    "Where the item, or the part of a text, stands first; -1 when it does not.",
    ("index_of(['a', 'b'], 'b')", "1"),
    ("index_of('abc', 'x')", "-1"),
)
def index_of(meter: Meter, whole: Any, part: Json) -> int:
    if isinstance(whole, str):
        spend_text(meter, len(whole) * 2)
        return whole.find(as_text(part))
    return next((at for at, each in enumerate(as_list(meter, whole, 4)) if same(meter, part, each)), -1)


@FUNCTIONS.add(
    "count",
    "How often the item is in the list, or the part in the text.",
    ("count([1, 2, 1], 1)", "2"),
    ("count('banana', 'an')", "2"),
)
def count(meter: Meter, whole: Any, part: Json) -> int:
    if isinstance(whole, str):
        spend_text(meter, len(whole) * 2)
        return whole.count(as_text(part))
    return sum(same(meter, part, each) for each in as_list(meter, whole, 4))


@FUNCTIONS.add("chunk", "The items in lists of at most `size`.", ("chunk([1, 2, 3], 2)", "[[1, 2], [3]]"))
def chunk(meter: Meter, items: Any, size: Any) -> list[Json]:
    plain = as_list(meter, items, 2)
    if as_size(size, 2**53, "the size") < 1:
        raise ExpressionFailed("the size of a chunk is at least 1")
    return [plain[at : at + size] for at in range(0, len(plain), size)]


@FUNCTIONS.add(
    "group_by",
    "An object of lists: the items by the text of what `by` picks from them.",
    ("group_by([{'k': 'a', 'n': 1}, {'k': 'b', 'n': 2}, {'k': 'a', 'n': 3}], 'k').keys()", '["a", "b"]'),
)
def group_by(meter: Meter, items: Any, by: Any) -> dict[str, Json]:
    plain = as_list(meter, items, 4)
    pick = keyed(meter, plain, by)
    groups: dict[str, Json] = {}
    for each in plain:
        groups.setdefault(to_text(pick(each), meter), []).append(each)
    return groups
