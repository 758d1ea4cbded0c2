"""Cells: small values that the workers of a namespace share, such as the answers that a node keeps and the counters of
a rate limit. They are no part of any run, may expire, and losing one costs work but nothing else.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

LARGEST = 1024 * 1024
"""Bytes of one value."""
LONGEST_KEY = 512

ABSENT = ""
"""In the place of a version: there must be no such cell."""


class Cell(msgspec.Struct, frozen=True):
    value: bytes
    version: str
    """Another with every change, and never one that the cell has had before."""
    expires_at: int | None = None


class Cells(Protocol):
    """A cell is gone at the moment at which it expires, whether it has been swept yet or not."""

    async def get(self, namespace: str, key: str) -> Cell | None: ...

    async def put(
        self, namespace: str, key: str, value: bytes, *, ttl: int | None = None, if_version: str | None = None
    ) -> Cell | None:
        """Sets the value, for `ttl` microseconds or for ever. With `if_version` only if the cell is still at that
        version, or ABSENT; otherwise nothing is changed and the answer is None. Raises TooMuch for what is too large.
        Now and then it also sweeps a little."""
        ...

    async def remove(self, namespace: str, key: str) -> None: ...

    async def sweep(self, limit: int = 1000) -> int:
        """Deletes so many expired cells at most; says how many."""
        ...
