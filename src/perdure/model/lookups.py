"""Look-ups: values that all flows of a namespace may read as `_enum_store`, and no node can change.

Keys are flat texts, usually dotted (`ims.vip`). Each can be read as it is, `_enum_store["ims.vip"]`, and as a path,
`_enum_store.ims.vip`. Where both `a` and `a.b` are set, `_enum_store.a` is the value of `a`; `a.b` is then read by its
flat key only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_KEYS = 10_000
MAX_KEY = 256
_DEEPEST = 32
"""Dots in a key that become a path; keys with more are read flat."""


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """The flat keys, and beside them the objects that their paths lead through."""
    found: dict[str, Any] = dict(values)
    made: dict[int, dict[str, Any]] = {}
    """Objects that are only paths, by identity: a value that somebody set is never added to."""
    for key in sorted(values):  # `a` before `a.b`
        steps = key.split(".")
        if not 1 < len(steps) <= _DEEPEST or not all(steps):
            continue
        at = found
        for step in steps[:-1]:
            inner: Any = at.get(step)
            if step not in at:
                inner = at[step] = {}
                made[id(inner)] = inner
            elif id(inner) not in made:
                break  # the path leads through a value
            at = inner
        else:
            at.setdefault(steps[-1], values[key])
    return found
