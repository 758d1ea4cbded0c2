"""Methods of lists, and of lists and strings alike."""

from __future__ import annotations

from typing import Any

from perdure.dialects.groovy.prelude.access import get_key, has_key, item_at, key_for, out_of_bounds
from perdure.dialects.groovy.prelude.comparing import equal, holds
from perdure.dialects.groovy.prelude.failures import bad_argument, failure, no_method, whole
from perdure.dialects.groovy.prelude.iterating import keep_only
from perdure.dialects.groovy.prelude.text import text


def size_of(value: Any) -> int:
    if not isinstance(value, (list, dict, str)):
        raise no_method(value, "size")
    return len(value)


def is_empty(value: Any) -> bool:
    if not isinstance(value, (list, dict, str)):
        raise no_method(value, "isEmpty")
    return not value


def contains(value: Any, item: Any) -> bool:
    if isinstance(value, list):
        return holds(value, item)
    if not isinstance(value, str):
        raise no_method(value, "contains")
    if not isinstance(item, str):
        raise bad_argument(value, "contains", item)
    return item in value


def contains_all(value: Any, items: Any) -> bool:
    if not isinstance(value, list) or not isinstance(items, list):
        raise no_method(value, "containsAll")
    return all([holds(value, item) for item in items])  # noqa: C419


def get_item(value: Any, key: Any, *default: Any) -> Any:
    """`get`: of a map with a default, which is then put into the map; of a list with an index that must exist."""
    if isinstance(value, dict):
        if default and not has_key(value, key):
            value[key_for(key)] = default[0]
        return get_key(value, key)
    if not isinstance(value, list):
        raise no_method(value, "get")
    if not 0 <= whole(value, "get", key) < len(value):
        raise out_of_bounds(value, key)
    return value[key]


def add_item(value: Any, item: Any, *more: Any) -> Any:
    """`add(item)`, `add(index, item)`"""
    if not isinstance(value, list):
        raise no_method(value, "add")
    if not more:
        value.append(item)
        return True
    if not 0 <= whole(value, "add", item) <= len(value):
        raise out_of_bounds(value, item)
    value.insert(item, more[0])
    return None


def add_all(value: Any, items: Any) -> bool:
    if not isinstance(value, list):
        raise no_method(value, "addAll")
    if items is None:
        raise bad_argument(value, "addAll", items)
    added = spread_items(items)
    value.extend(added[:])
    return bool(added)


def remove_item(value: Any, key: Any) -> Any:
    """Of a map by key; of a list by index if it is an integer, by value otherwise."""
    if isinstance(value, dict):
        return value.pop(key) if has_key(value, key) else None
    if not isinstance(value, list):
        raise no_method(value, "remove")
    if isinstance(key, int) and not isinstance(key, bool):
        if not 0 <= key < len(value):
            raise out_of_bounds(value, key)
        return value.pop(key)
    for at in range(len(value)):
        if equal(value[at], key):
            value.pop(at)
            return True
    return False


def remove_all(value: Any, items: Any) -> bool:
    if not isinstance(value, list):
        raise no_method(value, "removeAll")
    return keep_only(value, [item for item in value if not holds(spread_items(items), item)], "removeAll")


def retain_all(value: Any, items: Any) -> bool:
    if not isinstance(value, list):
        raise no_method(value, "retainAll")
    return keep_only(value, [item for item in value if holds(spread_items(items), item)], "retainAll")


def clear(value: Any) -> None:
    if not isinstance(value, (list, dict)):
        raise no_method(value, "clear")
    value.clear()


def copy_of(value: Any) -> Any:
    """`clone()`, `new ArrayList(list)`, `new HashMap(map)`: the first level only."""
    if isinstance(value, dict):
        return dict(value)
    if not isinstance(value, list):
        raise no_method(value, "clone")
    return value[:]


def listed(value: Any) -> list[Any]:
    """`toList()`"""
    if not isinstance(value, (list, str)):
        raise no_method(value, "toList")
    return list(value)


def joined(value: Any, separator: Any = "") -> str:
    if not isinstance(value, list):
        raise no_method(value, "join")
    if separator is not None and not isinstance(separator, str):
        raise bad_argument(value, "join", separator)
    return (separator or "").join([text(item) for item in value])


def joined_by(separator: Any, value: Any) -> str:
    """String.join"""
    return joined(value, separator)


def first(value: Any) -> Any:
    if not isinstance(value, list):
        raise no_method(value, "first")
    if not value:
        raise failure("NoSuchElementException", "Cannot access first() element from an empty List")
    return value[0]


def last(value: Any) -> Any:
    if not isinstance(value, list):
        raise no_method(value, "last")
    if not value:
        raise failure("NoSuchElementException", "Cannot access last() element from an empty List")
    return value[-1]


def without_first(value: Any) -> Any:
    first(value)
    return value[1:]


def without_last(value: Any) -> Any:
    last(value)
    return value[:-1]


def reversed_copy(value: Any) -> Any:
    if not isinstance(value, (list, str)):
        raise no_method(value, "reverse")
    return value[::-1]


def take(value: Any, count: Any) -> Any:
    if not isinstance(value, (list, str)):
        raise no_method(value, "take")
    return value[: max(whole(value, "take", count), 0)]


def drop(value: Any, count: Any) -> Any:
    if not isinstance(value, (list, str)):
        raise no_method(value, "drop")
    return value[max(whole(value, "drop", count), 0) :]


def flat(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise no_method(value, "flatten")
    found = []
    for item in value:
        if isinstance(item, list):
            found.extend(flat(item))
        else:
            found.append(item)
    return found


def count_of(value: Any, item: Any) -> int:
    if isinstance(value, str):
        if not isinstance(item, str):
            raise bad_argument(value, "count", item)
        return value.count(item)
    if not isinstance(value, list):
        raise no_method(value, "count")
    return len([each for each in value if equal(each, item)])


def index_of(value: Any, item: Any, start: int = 0) -> int:
    if isinstance(value, str):
        if not isinstance(item, str):
            raise bad_argument(value, "indexOf", item)
        return value.find(item, whole(value, "indexOf", start))
    if not isinstance(value, list):
        raise no_method(value, "indexOf")
    for at in range(len(value)):
        if equal(value[at], item):
            return at
    return -1


def last_index_of(value: Any, item: Any) -> int:
    if isinstance(value, str):
        if not isinstance(item, str):
            raise bad_argument(value, "lastIndexOf", item)
        return value.rfind(item)
    place = index_of(reversed_copy(value), item)
    return -1 if place < 0 else len(value) - 1 - place


def intersection(value: Any, other: Any) -> list[Any]:
    if not isinstance(value, list) or not isinstance(other, list):
        raise no_method(value, "intersect")
    return [item for item in value if holds(other, item)]


def with_index(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise no_method(value, "withIndex")
    return [[value[at], at] for at in range(len(value))]


def indexed(value: Any) -> dict[Any, Any]:
    if not isinstance(value, list):
        raise no_method(value, "indexed")
    return {at: value[at] for at in range(len(value))}


def collated(value: Any, length: Any) -> list[Any]:
    if not isinstance(value, list):
        raise no_method(value, "collate")
    if whole(value, "collate", length) < 1:
        raise failure("IllegalArgumentException", "collate() needs 1 or more, not " + text(length))
    return [value[at : at + length] for at in range(0, len(value), length)]


def spread_items(value: Any) -> list[Any]:
    """`[*value]`; and what a method does that takes a list or one item."""
    return value if isinstance(value, list) else [value]


def nth(value: Any, place: int) -> Any:
    """`def (a, b) = value`: what is not there is null."""
    return item_at(value, place)
