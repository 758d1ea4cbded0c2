"""Paths that may lead nowhere: what `??`, `?.`, `?:`, `== null`, `exists`, `default` and `coalesce` read with.

A path leads nowhere when a key is not there, an index is outside the list, or something on the way is null or has no
such parts at all. These forms, and only these, take that as an answer instead of an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.expressions.values import MISSING, Json


def step(of: Any, key: Json) -> Any:
    """One step of a path through JSON, or MISSING. Never an attribute, never a call."""
    if type(of) is dict or isinstance(of, Mapping):
        if type(key) is str:
            return of.get(key, MISSING)
        return of.get(str(key), MISSING) if type(key) is int else MISSING
    if type(key) is int and isinstance(of, (list, str)):
        return of[key] if -len(of) <= key < len(of) else MISSING
    return MISSING


def walk(of: Any, keys: tuple[Json, ...]) -> Any:
    for key in keys:
        of = step(of, key)
        if of is MISSING:
            break
    return of


def reach(of: Any, *keys: Json) -> Json:
    """The value at the end of the path, or null."""
    found = walk(of, keys)
    return None if found is MISSING else found


def there(of: Any, *keys: Json) -> bool:
    """Whether the path leads to a value, be it null."""
    return walk(of, keys) is not MISSING


def filled(of: Any, *keys: Json) -> tuple[Json, ...]:
    """The value in a tuple, or an empty one when it is null or not there.

    `a ?? b` is compiled to `(filled(a) or (b,))[0]`, which evaluates b only when it is needed.
    """
    found = walk(of, keys)
    return () if found is MISSING or found is None else (found,)


def truthy(of: Any, *keys: Json) -> tuple[Json, ...]:
    """The same for `a ?: b`, which also passes over false, 0, "", [] and {}."""
    found = walk(of, keys)
    return (found,) if found is not MISSING and found else ()
