"""How lists of items are brought together: by position and by key. Pure; ValueError for items that are no objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from perdure.expressions import MISSING, Path
from perdure.model.values import Json, encode_json


class Join(NamedTuple):
    pairs: bool
    left: bool
    right: bool


JOINS = {
    "inner": Join(pairs=True, left=False, right=False),
    "left": Join(pairs=True, left=True, right=False),
    "right": Join(pairs=True, left=False, right=True),
    "outer": Join(pairs=True, left=True, right=True),
    "unmatched": Join(pairs=False, left=True, right=True),
}

_GAP = object()


def fields_of(items: Sequence[Json], prefer_first: bool) -> dict[str, Any]:
    """The fields of all of them."""
    result: dict[str, Any] = {}
    for item in reversed(items) if prefer_first else items:
        if not isinstance(item, dict):
            raise ValueError("only objects have fields to be brought together")
        result.update(item)
    if prefer_first:  # in the order of first appearance all the same
        return {key: result[key] for item in items for key in item}
    return result


def by_position(lists: Sequence[Sequence[Json]], prefer_first: bool) -> list[Json]:
    together = zip_longest(*lists, fillvalue=_GAP)
    return [fields_of([item for item in row if item is not _GAP], prefer_first) for row in together]


def by_key(
    left: Sequence[Json],
    right: Sequence[Json],
    left_key: Sequence[Path],
    right_key: Sequence[Path],
    join: Join,
    prefer_first: bool,
    pay: Callable[[int], None],
) -> list[Json]:
    """In the order of the first list; what only the second has comes last. Items that lack the key have no partner."""
    places: dict[Any, list[int]] = {}
    for number, item in enumerate(right):
        key = _key(item, right_key)
        if key is not None:
            places.setdefault(key, []).append(number)
    matched: set[int] = set()
    result: list[Json] = []
    for item in left:
        key = _key(item, left_key)
        partners = places.get(key, ()) if key is not None else ()
        if partners:
            pay(len(partners))
            matched.update(partners)
            if join.pairs:
                result += [fields_of([item, right[number]], prefer_first) for number in partners]
        elif join.left:
            result.append(item)
    if join.right:
        result += [item for number, item in enumerate(right) if number not in matched]
    return result


def _key(item: Json, paths: Sequence[Path]) -> Any:
    """None where a part is missing or null. 1 and 1.0 are the same key; 1, true and "1" are three."""
    if not isinstance(item, dict):
        raise ValueError("only objects can be brought together by a key")
    parts = [path.find(item) for path in paths]
    if any(part is MISSING or part is None for part in parts):
        return None
    return tuple(
        (isinstance(part, bool), part) if isinstance(part, str | int | float) else encode_json(part) for part in parts
    )
