"""Who may write which run.

A worker holds one lease for all its runs, so that keeping ten thousand runs costs one small write. Claiming raises
the head's `epoch`; a worker that was taken for dead finds its epoch outdated on its next write, whatever its clock
says. Times are the store's own clock, never a worker's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import msgspec

from perdure.ports.journal import Head

VersionKey: TypeAlias = tuple[str, str, int]
"""Namespace, definition, version."""


class Claimed(msgspec.Struct, frozen=True):
    head: Head
    """As it is after the claim: `epoch` is the new one, `owner` the claimer."""
    died: bool
    """The previous owner did not hand the run over."""
    alive_until: int | None = None
    """When the previous owner handed it over or, if it died, renewed its lease last. None: not known. Says nothing of
    a run that had been parked."""


class Ownership(Protocol):
    async def renew(self, worker: str, lease: int) -> bool:
        """Creates or prolongs the worker's lease by `lease` microseconds from now. False: it had run out; the worker
        must drop all its runs and go on under a new name."""
        ...

    async def claim(self, worker: str, limit: int, declined: Sequence[VersionKey] = ()) -> Sequence[Claimed]:
        """Up to `limit` runs that are due and unowned, or owned by a worker whose lease has run out. In order of wake
        time. A worker without a lease gets nothing; a closed run is never due.

        Runs of `declined` versions are left to others, however many of them are due before the rest; their number is
        not felt."""
        ...

    async def acquire(self, worker: str, run: str) -> Claimed | None:
        """This run, closed ones too, if nobody with a lease owns it. None: somebody
        does (the worker itself included, which would fence itself), it does not exist, or the worker has no lease."""
        ...

    async def release(self, worker: str, runs: Sequence[str]) -> None:
        """Hands runs over: unowned and, unless closed, due at once. Only those still owned by `worker`."""
        ...

    async def give_back(self, worker: str, claimed: Sequence[Claimed]) -> None:
        """Undoes claims since which nothing was recorded: unowned as before, and what there is to tell of the owner
        before (`died`, `alive_until`) is told to the next one. A run that is due, for which a command has come since,
        or whose owner before died, is due now, behind all that was due before; others keep their wake time. Only those
        that `worker` still owns under the claim's epoch."""
        ...

    async def leave(self, worker: str) -> None:
        """Hands over all runs of the worker and ends its lease."""
        ...

    async def next_wake(self, declined: Sequence[VersionKey] = ()) -> int | None:
        """When the next unowned run is due that is none of the `declined` versions; None if there is none. An index
        look-up."""
        ...

    async def now(self) -> int:
        """The store's clock, in microseconds since 1970."""
        ...
