"""Leases and claims, on the database's clock."""

from __future__ import annotations

import asyncio
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import asyncpg

from perdure.ports.hints import Hint
from perdure.ports.ownership import Claimed, VersionKey
from perdure.stores.postgres.failures import AnswerLost
from perdure.stores.postgres.hints import PostgresHints
from perdure.stores.postgres.links import Pool, one
from perdure.stores.postgres.queries import load_queries
from perdure.stores.postgres.records import head_of

_SQL = load_queries("ownership")
HAND_OVER = 500
REMEMBER_SECONDS = 60.0
"""Longer than any statement lives on the server: after that a lost claim has happened or never will."""


class PostgresOwnership:
    """Renewals have a connection of their own, so that a busy pool cannot cost a worker its lease."""

    def __init__(self, pool: Pool, renewals: Pool, hints: PostgresHints, now: Callable[[], int | None]) -> None:
        self._pool = pool
        self._renewals = renewals
        self._hints = hints
        self._now = now
        self._lost: dict[str, list[tuple[float, str]]] = defaultdict(list)

    async def renew(self, worker: str, lease: int) -> bool:
        return bool(one(await self._renewals.fetch(_SQL["renew"], worker, lease, self._now())))

    async def claim(self, worker: str, limit: int, declined: Sequence[VersionKey] = ()) -> Sequence[Claimed]:
        found = await self._recover(worker) if worker in self._lost else []
        if len(found) >= limit:
            return found
        token = uuid.uuid4().hex
        try:
            with self._remembering(worker, token):
                query, others = ("claim_others", _columns(declined)) if declined else ("claim", ())
                rows = await self._pool.fetch(_SQL[query], worker, limit - len(found), self._now(), token, *others)
        except AnswerLost:
            if not found:
                raise
            return found
        return [*found, *map(_claimed, rows)]

    async def acquire(self, worker: str, run: str) -> Claimed | None:
        token = uuid.uuid4().hex
        lost = [earlier for _, earlier in self._lost.get(worker, ())]
        with self._remembering(worker, token):
            rows = await self._pool.fetch(_SQL["acquire"], worker, run, self._now(), token, lost)
        return _claimed(rows[0]) if rows else None

    @contextmanager
    def _remembering(self, worker: str, token: str) -> Iterator[None]:
        """A claim whose answer was lost would leave runs with an owner that does not know of them. So its token is
        kept, and the next claims ask for those runs too."""
        try:
            yield
        except (AnswerLost, asyncio.CancelledError):
            self._lost[worker].append((asyncio.get_running_loop().time(), token))
            raise

    async def _recover(self, worker: str) -> list[Claimed]:
        tokens = [token for _, token in self._lost[worker]]
        rows = await self._pool.fetch(_SQL["claimed"], worker, tokens)
        arrived = {row["claim"] for row in rows}
        oldest = asyncio.get_running_loop().time() - REMEMBER_SECONDS
        self._lost[worker] = [(at, token) for at, token in self._lost[worker] if token not in arrived and at > oldest]
        if not self._lost[worker]:
            del self._lost[worker]
        return [_claimed(row) for row in rows]

    async def release(self, worker: str, runs: Sequence[str]) -> None:
        for start in range(0, len(runs), HAND_OVER):
            if await self._pool.fetch(_SQL["release"], worker, list(runs[start : start + HAND_OVER]), self._now()):
                self._hints.give(Hint.DUE)

    async def give_back(self, worker: str, claimed: Sequence[Claimed]) -> None:
        for start in range(0, len(claimed), HAND_OVER):
            heads = [one.head for one in claimed[start : start + HAND_OVER]]
            runs, epochs = [head.run for head in heads], [head.epoch for head in heads]
            inbox_seqs = [head.inbox_seq for head in heads]
            if await self._pool.fetch(_SQL["give_back"], worker, runs, epochs, inbox_seqs, self._now()):
                self._hints.give(Hint.DUE)

    async def leave(self, worker: str) -> None:
        await self._renewals.fetch(_SQL["end_lease"], worker)
        while rows := await self._pool.fetch(_SQL["owned"], worker, HAND_OVER):
            await self.release(worker, [row["id"] for row in rows])
        await self.forget()

    async def next_wake(self, declined: Sequence[VersionKey] = ()) -> int | None:
        query, others = ("next_wake_of_others", _columns(declined)) if declined else ("next_wake", ())
        wake: int | None = one(await self._pool.fetch(_SQL[query], *others))
        return wake

    async def now(self) -> int:
        given = self._now()
        return given if given is not None else int(one(await self._pool.fetch(_SQL["now"])))

    async def forget(self) -> None:
        """Rows of workers that ended long ago and own nothing."""
        await self._pool.fetch(_SQL["forget_workers"], self._now())


def _claimed(row: asyncpg.Record) -> Claimed:
    return Claimed(head_of(row), bool(row["died"]), row["alive_until"])


def _columns(versions: Sequence[VersionKey]) -> tuple[list[str], list[str], list[int]]:
    namespaces, definitions, numbers = zip(*versions, strict=True)
    return list(namespaces), list(definitions), list(numbers)
