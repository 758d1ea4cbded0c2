"""Objects: JSON maps with text keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.errors import ExpressionFailed
from perdure.expressions.functions.table import Functions
from perdure.expressions.limits import Meter, spend
from perdure.expressions.operators import text_key
from perdure.expressions.paths import Path
from perdure.expressions.values import MISSING, Json, is_object, with_article

FUNCTIONS = Functions()


def as_object(meter: Meter, value: Any, cost: int = 2) -> Mapping[str, Json]:
    if not is_object(value):
        raise ExpressionFailed(f"an object is needed, not {with_article(value)}")
    spend(meter, len(value) * cost)
    return value


def as_keys(meter: Meter, value: Any) -> list[str]:
    if not isinstance(value, list):
        raise ExpressionFailed(f"a list of keys is needed, not {with_article(value)}")
    spend(meter, len(value) * 2)
    return [text_key(each) for each in value]


@FUNCTIONS.add("keys", "The keys.", ("keys({'a': 1, 'b': 2})", '["a", "b"]'))
def keys(meter: Meter, of: Any) -> list[str]:
    return list(as_object(meter, of))


@FUNCTIONS.add("values", "The values.", ("values({'a': 1, 'b': 2})", "[1, 2]"))
def values(meter: Meter, of: Any) -> list[Json]:
    return list(as_object(meter, of).values())


@FUNCTIONS.add(
    "items",
    "The keys with their values, as lists of two.",
    ("items({'a': 1})", '[["a", 1]]'),
    ("{k: v * 2 for k, v in {'a': 1}.items()}", '{"a": 2}'),
)
def items(meter: Meter, of: Any) -> list[Json]:
    return [[key, value] for key, value in as_object(meter, of, 8).items()]


@FUNCTIONS.add(
    "from_items",
    "The object made of lists of two: key and value.",
    ("from_items([['a', 1], ['b', 2]])", '{"a": 1, "b": 2}'),
)
def from_items(meter: Meter, pairs: Any) -> dict[str, Json]:
    if not isinstance(pairs, list) or not all(isinstance(each, list) and len(each) == 2 for each in pairs):
        raise ExpressionFailed("a list of lists of two is needed")
    spend(meter, len(pairs) * 4)
    return {text_key(key): value for key, value in pairs}


@FUNCTIONS.add(
    "get",
    "What the path (or a key that is spelled so) leads to in a value, else the fallback (null).",
    ("get(order, 'items.0.name')", '"Desk"'),
    ("order.get('remark', 'none')", '"none"'),
)
def get(of: Any, path: Any, fallback: Json = None) -> Json:
    if is_object(of) and isinstance(path, str) and path in of:
        return of[path]
    if isinstance(path, int) and not isinstance(path, bool):
        found = Path((path,)).find(of)
    elif isinstance(path, str):
        found = Path.parse(path).find(of)
    else:
        raise ExpressionFailed(f"a path is text or a whole number, not {with_article(path)}")
    return fallback if found is MISSING else found


@FUNCTIONS.add(
    "merge",
    "All keys of the objects; of two with the same key the later one counts. Not deep.",
    ("merge({'a': 1, 'b': 1}, {'b': 2})", '{"a": 1, "b": 2}'),
)
def merge(meter: Meter, of: Any, *others: Any) -> dict[str, Json]:
    result: dict[str, Json] = {}
    for each in (of, *others):
        result.update(as_object(meter, each))
    return result


@FUNCTIONS.add("pick", "Only these keys, as far as they are there.", ("pick({'a': 1, 'b': 2}, ['b', 'c'])", '{"b": 2}'))
def pick(meter: Meter, of: Any, keys: Any) -> dict[str, Json]:
    source = as_object(meter, of)
    return {key: source[key] for key in as_keys(meter, keys) if key in source}


@FUNCTIONS.add("omit", "All keys but these.", ("omit({'a': 1, 'b': 2}, ['b'])", '{"a": 1}'))
def omit(meter: Meter, of: Any, keys: Any) -> dict[str, Json]:
    left_out = set(as_keys(meter, keys))
    return {key: value for key, value in as_object(meter, of).items() if key not in left_out}
