"""Methods of maps and their entries."""

from __future__ import annotations

from typing import Any

from perdure.dialects.groovy.prelude.access import get_key, has_key, key_for
from perdure.dialects.groovy.prelude.comparing import holds
from perdure.dialects.groovy.prelude.failures import bad_argument, message_of, no_method


def contains_key(value: Any, key: Any) -> bool:
    if not isinstance(value, dict):
        raise no_method(value, "containsKey")
    return has_key(value, key)


def contains_value(value: Any, item: Any) -> bool:
    if not isinstance(value, dict):
        raise no_method(value, "containsValue")
    return holds(list(value.values()), item)


def get_or_default(value: Any, key: Any, default: Any) -> Any:
    if not isinstance(value, dict):
        raise no_method(value, "getOrDefault")
    return get_key(value, key, default)


def put(value: Any, key: Any, item: Any) -> Any:
    """Gives what was there before."""
    if not isinstance(value, dict):
        raise no_method(value, "put")
    before = value.get(key_for(key))
    value[key] = item
    return before


def put_all(value: Any, other: Any) -> None:
    if not isinstance(value, dict):
        raise no_method(value, "putAll")
    if not isinstance(other, dict):
        raise bad_argument(value, "putAll", other)
    value.update(other)


def put_if_absent(value: Any, key: Any, item: Any) -> Any:
    if not isinstance(value, dict):
        raise no_method(value, "putIfAbsent")
    before = value.get(key_for(key))
    if before is None:
        value[key] = item
    return before


def sub_map(value: Any, keys: Any) -> dict[Any, Any]:
    if not isinstance(value, dict) or not isinstance(keys, list):
        raise no_method(value, "subMap")
    return {key: value[key] for key in keys if has_key(value, key)}


def spread_map(value: Any) -> dict[Any, Any]:
    """`[*: value]`"""
    if not isinstance(value, dict):
        raise no_method(value, "putAll")
    return value


def key_set(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        raise no_method(value, "keySet")
    return list(value.keys())


def values_of(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        raise no_method(value, "values")
    return list(value.values())


def entry_set(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        raise no_method(value, "entrySet")
    return list(value.items())


def entry_key(value: Any) -> Any:
    if not isinstance(value, tuple):
        raise no_method(value, "getKey")
    return value[0]


def entry_value(value: Any) -> Any:
    if not isinstance(value, tuple):
        raise no_method(value, "getValue")
    return value[1]


def error_message(value: Any) -> Any:
    if not isinstance(value, Exception):
        raise no_method(value, "getMessage")
    return message_of(value)
