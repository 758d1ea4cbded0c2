"""Putting something else in the place of a part of the product, in memory, for a while."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def swapped(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = vars(owner)[name] if isinstance(owner, type) else getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextmanager
def swapped_item(table: MutableMapping[Any, Any], key: Any, value: Any) -> Iterator[None]:
    before = table[key]
    table[key] = value
    try:
        yield
    finally:
        table[key] = before


@contextmanager
def without(module: Any, name: str, *texts: str, instead: str = "") -> Iterator[None]:
    """A function that gives SQL by name gives it without these texts."""
    given = getattr(module, name)

    def shortened(*args: Any) -> str:
        sql: str = given(*args)
        for text in texts:
            assert text in sql, f"{text!r} is not in the statement any more"
            sql = sql.replace(text, instead)
        return sql

    with swapped(module, name, shortened):
        yield
