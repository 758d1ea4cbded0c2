"""Methods that take a closure: of lists, of maps entry by entry, of strings character by character; null is empty."""

from __future__ import annotations

from typing import Any

from perdure.dialects.groovy.prelude.access import items_of, key_for
from perdure.dialects.groovy.prelude.comparing import compare, holds, in_order, merge_sorted, order
from perdure.dialects.groovy.prelude.failures import class_name, failure, no_method
from perdure.dialects.groovy.prelude.operators import sum_of_two


def members(value: Any, method: str) -> list[Any]:
    """The same for methods that only lists and maps have."""
    if not isinstance(value, (list, dict)):
        raise no_method(value, method)
    return items_of(value)


def taking_apart(function: Any, count: int) -> Any:
    """A closure with several parameters gets the parts of an entry or of a list."""

    def apply(item: Any) -> Any:
        if not isinstance(item, (list, tuple)) or len(item) != count:
            told = "a closure with " + str(count) + " parameters cannot take a " + class_name(item)
            raise failure("MissingMethodException", told)
        return function(*item)

    return apply


def itself(item: Any) -> Any:
    return item


def each(value: Any, function: Any) -> Any:
    for item in items_of(value):
        function(item)
    return value


def each_with_index(value: Any, function: Any) -> Any:
    for at, item in enumerate(items_of(value)):
        function(item, at)
    return value


def repeat(value: Any, function: Any) -> None:
    """`n.times { }`"""
    if not isinstance(value, int):
        raise no_method(value, "times")
    for at in range(value):
        function(at)


def count_up(value: Any, function: Any, end: Any) -> None:
    """`a.upto(b) { }`"""
    if not isinstance(value, int) or not isinstance(end, int):
        raise no_method(value, "upto")
    if end < value:
        raise failure("GroovyRuntimeException", "upto() cannot go down to " + str(end))
    for at in range(value, end + 1):
        function(at)


def collect(value: Any, function: Any = itself) -> list[Any]:
    return [function(item) for item in items_of(value)]


def collect_many(value: Any, function: Any) -> list[Any]:
    found: list[Any] = []
    for item in members(value, "collectMany"):
        made = function(item)
        if not isinstance(made, list):
            raise failure("ClassCastException", "collectMany needs a closure that gives lists")
        found.extend(made)
    return found


def collect_entries(value: Any, function: Any = itself) -> dict[Any, Any]:
    """The closure gives a map, or a list of key and value."""
    found = {}
    for item in members(value, "collectEntries"):
        made = function(item)
        if isinstance(made, dict):
            found.update(made)
        elif isinstance(made, (list, tuple)) and len(made) == 2:
            found[key_for(made[0])] = made[1]
        else:
            raise failure("IllegalArgumentException", "collectEntries needs a map, or a list of key and value")
    return found


def find(value: Any, function: Any = itself) -> Any:
    for item in items_of(value):
        if function(item):
            return item
    return None


def find_all(value: Any, function: Any = itself) -> Any:
    found = [item for item in items_of(value) if function(item)]
    return dict(found) if isinstance(value, dict) else found


def find_index(value: Any, function: Any) -> int:
    for at, item in enumerate(items_of(value)):
        if function(item):
            return at
    return -1


def any_item(value: Any, function: Any = itself) -> bool:
    for item in items_of(value):  # noqa: SIM110
        if function(item):
            return True
    return False


def every_item(value: Any, function: Any = itself) -> bool:
    for item in items_of(value):  # noqa: SIM110
        if not function(item):
            return False
    return True


def count_where(value: Any, function: Any) -> int:
    return len([item for item in members(value, "count") if function(item)])


def take_while(value: Any, function: Any) -> Any:
    if not isinstance(value, (list, dict, str)):
        raise no_method(value, "takeWhile")
    return like(value, items_of(value)[: begins_with(value, function)])


def drop_while(value: Any, function: Any) -> Any:
    if not isinstance(value, (list, dict, str)):
        raise no_method(value, "dropWhile")
    return like(value, items_of(value)[begins_with(value, function) :])


def begins_with(value: Any, function: Any) -> int:
    """How many of the first items pass."""
    items = items_of(value)
    for at, item in enumerate(items):
        if not function(item):
            return at
    return len(items)


def like(value: Any, items: list[Any]) -> Any:
    """Some of the items of a value, as a value of that kind."""
    if isinstance(value, dict):
        return dict(items)
    return "".join(items) if isinstance(value, str) else items


def fold(value: Any, function: Any, initial: Any) -> Any:
    """`inject(initial) { sum, item -> }`"""
    for item in items_of(value):
        initial = function(initial, item)
    return initial


def fold_from_first(value: Any, function: Any) -> Any:
    items = items_of(value)
    if not items:
        raise failure("NoSuchElementException", "inject() on an empty list needs an initial value")
    return fold(items[1:], function, items[0])


def with_number(function: Any) -> Any:
    """`eachWithIndex { key, value, number -> }`"""
    return lambda entry, number: function(entry[0], entry[1], number)


def fold_entries(function: Any) -> Any:
    """`inject(initial) { sum, key, value -> }`"""
    return lambda total, entry: function(total, entry[0], entry[1])


def group_by(value: Any, function: Any) -> dict[Any, Any]:
    found: dict[Any, list[Any]] = {}
    for item in members(value, "groupBy"):
        found.setdefault(key_for(function(item)), []).append(item)
    return {key: dict(group) for key, group in found.items()} if isinstance(value, dict) else found


def count_by(value: Any, function: Any) -> dict[Any, int]:
    found: dict[Any, int] = {}
    for item in members(value, "countBy"):
        key = key_for(function(item))
        found[key] = found.get(key, 0) + 1
    return found


def total(value: Any, *initial: Any) -> Any:
    return total_by(value, itself, *initial)


def total_by(value: Any, function: Any, *initial: Any) -> Any:
    """`sum`: null if there is nothing to add."""
    if not isinstance(value, list):
        raise no_method(value, "sum")
    terms = [*initial, *[function(item) for item in value]]
    result = terms[0] if terms else None
    for term in terms[1:]:
        result = sum_of_two(result, term)
    return result


def put_in_place(value: Any, ordered: list[Any], mutate: Any) -> Any:
    """`sort()` of a list changes the list; of a map it gives another."""
    if isinstance(value, dict):
        return dict(ordered)
    if mutate and isinstance(value, list):
        value[:] = ordered
        return value
    return ordered


def sort(value: Any, mutate: Any = True) -> Any:
    items = members(value, "sort")
    keys = [item[0] for item in items] if isinstance(value, dict) else items
    return put_in_place(value, in_order(items, keys), mutate)


def sort_by(value: Any, function: Any, mutate: Any = True) -> Any:
    items = members(value, "sort")
    return put_in_place(value, in_order(items, [function(item) for item in items]), mutate)


def sort_with(value: Any, comparator: Any, mutate: Any = True) -> Any:
    return put_in_place(value, merge_sorted(members(value, "sort"), comparator), mutate)


def highest(value: Any) -> Any:
    """`max()`; null does not count."""
    return highest_by([item for item in members(value, "max") if item is not None], itself)


def highest_by(value: Any, function: Any) -> Any:
    return extreme(members(value, "max"), function, 1)


def lowest(value: Any) -> Any:
    return lowest_by([item for item in members(value, "min") if item is not None], itself)


def lowest_by(value: Any, function: Any) -> Any:
    return extreme(members(value, "min"), function, -1)


def extreme(items: list[Any], function: Any, sign: int) -> Any:
    """The first of the items whose key nothing exceeds."""
    best = None
    best_key = None
    for at in range(len(items)):
        key = function(items[at])
        if at == 0 or compare(key, best_key) * sign > 0:
            best = items[at]
            best_key = key
    return best


def highest_with(value: Any, comparator: Any) -> Any:
    return extreme_with(members(value, "max"), comparator, 1)


def lowest_with(value: Any, comparator: Any) -> Any:
    return extreme_with(members(value, "min"), comparator, -1)


def extreme_with(items: list[Any], comparator: Any, sign: int) -> Any:
    best = items[0] if items else None
    for item in items[1:]:
        if order(comparator(item, best)) * sign > 0:
            best = item
    return best


def unique(value: Any, mutate: Any = True) -> Any:
    return unique_by(value, itself, mutate)


def unique_by(value: Any, function: Any, mutate: Any = True) -> Any:
    """Changes the list, like `sort`."""
    if not isinstance(value, list):
        raise no_method(value, "unique")
    kept = []
    keys: list[Any] = []
    for item in value:
        key = function(item)
        if not holds(keys, key):
            keys.append(key)
            kept.append(item)
    return put_in_place(value, kept, mutate)


def remove_where(value: Any, function: Any) -> bool:
    """`removeAll { }`"""
    return keep_only(value, [item for item in members(value, "removeAll") if not function(item)], "removeAll")


def retain_where(value: Any, function: Any) -> bool:
    """`retainAll { }`"""
    return keep_only(value, [item for item in members(value, "retainAll") if function(item)], "retainAll")


def keep_only(value: Any, kept: list[Any], method: str) -> bool:
    if not isinstance(value, list):
        raise no_method(value, method)
    changed = len(kept) != len(value)
    value[:] = kept
    return changed
