"""Properties, indexes, ranges: reading and writing."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from perdure.dialects.groovy.prelude.dates import millis
from perdure.dialects.groovy.prelude.failures import bad_argument, failure, message_of, no_method, no_property


def prop(value: Any, *names: str) -> Any:
    """`value.a.b`"""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else property_of(value, name)
    return value


def safe_prop(value: Any, *names: str) -> Any:
    """`value?.a?.b`"""
    for name in names:
        if value is None:
            return None
        value = property_of(value, name)
    return value


def property_of(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return value.get(name)
    if value is None:
        raise failure("NullPointerException", "Cannot get property '" + name + "' on null object")
    if isinstance(value, list):
        if name == "length" and all(isinstance(item, str) for item in value):
            return len(value)  # what split() gives is an array
        return [property_of(item, name) for item in value if item is not None]
    if isinstance(value, tuple) and name in ("key", "value"):
        return value[0] if name == "key" else value[1]
    if isinstance(value, datetime) and name == "time":
        return millis(value)
    if isinstance(value, Exception) and name in ("message", "localizedMessage", "cause"):
        return None if name == "cause" else message_of(value)
    raise no_property(value, name)


def spread_prop(value: Any, name: str) -> Any:
    """`list*.name`"""
    return spread_call(value, lambda item: property_of(item, name))


def spread_call(value: Any, function: Any) -> Any:
    """`list*.method()`"""
    if value is None:
        return None
    return [None if item is None else function(item) for item in items_of(value)]


def items_of(value: Any) -> list[Any]:
    """What a loop goes through; a copy, so that the loop may change what it goes through."""
    if isinstance(value, list):
        return value[:]
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, str):
        return list(value)
    return [] if value is None else [value]


def key_for(index: Any) -> Any:
    """A key that is about to be put into a map."""
    if isinstance(index, (list, dict, tuple)):
        raise failure("IllegalArgumentException", "a list, a map or an entry cannot be a key here")
    return index


def has_key(value: Any, index: Any) -> bool:
    return not isinstance(index, (list, dict, tuple)) and index in value


def get_key(value: Any, index: Any, default: Any = None) -> Any:
    return value[index] if has_key(value, index) else default


def item_at(value: Any, index: Any) -> Any:
    """`value[index]`"""
    if isinstance(value, dict):
        return get_key(value, index)
    if isinstance(index, str):
        return property_of(value, index)
    if isinstance(value, (list, str)):
        if isinstance(index, list):
            found = [item_at(value, each) for each in index]
            return "".join(found) if isinstance(value, str) else found
        place = place_in(value, index)
        if place < len(value):
            return value[place]
        if isinstance(value, str):
            raise out_of_bounds(value, index)
        return None
    raise no_method(value, "getAt")


def from_either_end(value: Any, index: Any) -> int:
    if not isinstance(index, int) or isinstance(index, bool):
        raise bad_argument(value, "getAt", index)
    return index + len(value) if index < 0 else index


def place_in(value: Any, index: Any) -> int:
    """Counted from the end if it is negative."""
    place = from_either_end(value, index)
    if place < 0:
        raise failure("ArrayIndexOutOfBoundsException", "Negative array index [" + str(index) + "] too large")
    return place


def out_of_bounds(value: Any, index: Any) -> RuntimeError:
    kind = "StringIndexOutOfBoundsException" if isinstance(value, str) else "IndexOutOfBoundsException"
    return failure(kind, "Index " + str(index) + " out of bounds for length " + str(len(value)))


def portion(value: Any, low: Any, high: Any, inclusive: bool) -> Any:
    """`value[low..high]`, `value[low..<high]`; backwards if the first lies behind the second."""
    if not isinstance(value, (list, str)):
        raise no_method(value, "getAt")
    first = from_either_end(value, low)
    last = from_either_end(value, high)
    if not inclusive:
        if first == last:
            return value[:0]
        last = last - 1 if first < last else last + 1
    for end in (first, last):
        if not 0 <= end < len(value):
            raise out_of_bounds(value, end)
    return value[first : last + 1] if first <= last else value[last : first + 1][::-1]


def numbers_from(low: Any, high: Any, inclusive: bool) -> list[int]:
    """`low..high`, `low..<high`"""
    return list(counting(low, high, inclusive))


def is_between(value: Any, low: Any, high: Any, inclusive: bool) -> bool:
    """`value in low..high`: one of the integers, nothing in between."""
    return isinstance(value, int) and not isinstance(value, bool) and value in counting(low, high, inclusive)


def counting(low: Any, high: Any, inclusive: bool) -> range:
    for end in (low, high):
        if not isinstance(end, int) or isinstance(end, bool):
            raise failure("IllegalArgumentException", "a range goes from one integer to another")
    step = 1 if low <= high else -1
    return range(low, high + step if inclusive else high, step)


def put_prop(value: Any, name: str, new: Any) -> Any:
    """`value.name = new`"""
    if value is None:
        raise failure("NullPointerException", "Cannot set property '" + name + "' on null object")
    if not isinstance(value, dict):
        raise no_property(value, name)
    value[name] = new
    return new


def put_at(value: Any, index: Any, new: Any) -> Any:
    """`value[index] = new`; a list grows as far as it must."""
    if isinstance(value, dict):
        value[key_for(index)] = new
        return new
    if isinstance(index, str):
        return put_prop(value, index, new)
    if not isinstance(value, list):
        raise no_method(value, "putAt")
    place = place_in(value, index)
    if place > len(value) + 10000:
        raise out_of_bounds(value, index)
    while len(value) <= place:
        value.append(None)
    value[place] = new
    return new
