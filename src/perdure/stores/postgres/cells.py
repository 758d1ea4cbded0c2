"""Small shared values."""

from __future__ import annotations

from collections.abc import Callable

from perdure.ports.cells import ABSENT, Cell
from perdure.stores.cells import AT_ONCE, EVERY, checked, new_version
from perdure.stores.postgres.links import Pool
from perdure.stores.postgres.queries import load_queries

_SQL = load_queries("cells")


class PostgresCells:
    def __init__(self, pool: Pool, now: Callable[[], int | None]) -> None:
        self._pool = pool
        self._now = now
        self._puts = 0

    async def get(self, namespace: str, key: str) -> Cell | None:
        rows = await self._pool.fetch(_SQL["get"], namespace, key, self._now())
        return Cell(bytes(rows[0]["value"]), rows[0]["version"], rows[0]["expires_at"]) if rows else None

    async def put(
        self, namespace: str, key: str, value: bytes, *, ttl: int | None = None, if_version: str | None = None
    ) -> Cell | None:
        checked(key, value)
        self._puts += 1
        if self._puts % EVERY == 0:
            await self.sweep(AT_ONCE)
        version = new_version()
        given = (namespace, key, value, version, ttl, self._now())
        if if_version is None:
            rows = await self._pool.fetch(_SQL["put"], *given)
        elif if_version == ABSENT:
            rows = await self._pool.fetch(_SQL["add"], *given)
        else:
            rows = await self._pool.fetch(_SQL["replace"], *given, if_version)
        return Cell(bytes(value), version, rows[0]["expires_at"]) if rows else None

    async def remove(self, namespace: str, key: str) -> None:
        await self._pool.fetch(_SQL["remove"], namespace, key)

    async def sweep(self, limit: int = 1000) -> int:
        return len(await self._pool.fetch(_SQL["sweep"], self._now(), limit))
