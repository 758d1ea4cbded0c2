"""Changes to a draft by parts: fields that are given replace, all others stay."""

from __future__ import annotations

from typing import Any

from perdure.errors import InvalidInput

_BY_KEY = "states"
"""Merged key by key: a state that the changes do not name stays as it is."""


def merged(document: Any, changes: Any) -> dict[str, Any]:
    """A field that is null counts as not given, so nothing can be removed by a change."""
    if not isinstance(document, dict) or not isinstance(changes, dict):
        raise InvalidInput("changes are an object whose fields replace those of the document", expected="an object")
    given = {key: value for key, value in changes.items() if value is not None}
    before, now = document.get(_BY_KEY), given.get(_BY_KEY)
    if isinstance(before, dict) and isinstance(now, dict):
        given[_BY_KEY] = {**before, **{key: value for key, value in now.items() if value is not None}}
    return {**document, **given}
