"""Looking runs up. Read models only: nothing that decides reads from here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from perdure.model.statuses import Status
from perdure.ports.journal import Head


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    namespace: str | None = None
    definition: str | None = None
    statuses: Sequence[Status] = ()
    parent: str | None = None
    attributes: dict[str, Any] = {}


class Counts(msgspec.Struct, frozen=True):
    """Rows that belong to no run, by table: zero in a sound database (read by fsck)."""

    orphans: dict[str, int]


class Runs(Protocol):
    async def find(self, filter: RunFilter, before: str | None = None, limit: int = 100) -> Sequence[Head]:
        """Newest first; `before` is the id of the last run of the previous page."""
        ...

    async def walk(self, after: str = "", limit: int = 500) -> Sequence[Head]:
        """Every run in order of ids, for checks and rebuilding."""
        ...

    async def counts(self) -> Counts: ...

    async def repair(self, head: Head) -> None:
        """Overwrites the derived columns of a head (status, wake time, attributes, result) after a rebuild from the
        log; not if the run has moved on since (its `seq` is another)."""
        ...
