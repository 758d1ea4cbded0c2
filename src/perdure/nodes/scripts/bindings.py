"""The part of its bindings that a script reads: no more is sent to its worker."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from perdure.model.values import Json


def pruned(reads: Collection[tuple[str | int, ...]], bindings: Mapping[str, Any]) -> dict[str, Any]:
    """Names without a value are left out; the script finds out if it comes to that."""
    paths: dict[str, list[tuple[str | int, ...]]] = {}
    for name, *keys in reads:
        if name in bindings:
            paths.setdefault(str(name), []).append(tuple(keys))
    return {name: _part(bindings[name], wanted) for name, wanted in paths.items()}


def _part(value: Json, paths: Collection[tuple[str | int, ...]]) -> Json:
    if not isinstance(value, dict) or () in paths:
        return value
    below: dict[str | int, list[tuple[str | int, ...]]] = {}
    for key, *rest in paths:
        below.setdefault(key, []).append(tuple(rest))
    return {key: _part(value[key], rest) for key, rest in below.items() if key in value}
