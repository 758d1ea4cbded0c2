"""Looking runs up."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.model.values import encode_json
from perdure.ports.journal import Head
from perdure.ports.runs import Counts, RunFilter
from perdure.stores.postgres.links import Pool
from perdure.stores.postgres.queries import load_queries
from perdure.stores.postgres.records import head_of

_SQL = load_queries("runs")


class PostgresRuns:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def find(self, filter: RunFilter, before: str | None = None, limit: int = 100) -> Sequence[Head]:
        rows = await self._pool.fetch(
            _SQL["find"],
            filter.namespace,
            filter.definition,
            list(filter.statuses),
            filter.parent,
            encode_json(filter.attributes).decode() if filter.attributes else None,
            before,
            limit,
        )
        return [head_of(row) for row in rows]

    async def walk(self, after: str = "", limit: int = 500) -> Sequence[Head]:
        return [head_of(row) for row in await self._pool.fetch(_SQL["walk"], after, limit)]

    async def counts(self) -> Counts:
        return Counts({row["place"]: row["orphans"] for row in await self._pool.fetch(_SQL["counts"])})

    async def repair(self, head: Head) -> None:
        attributes = encode_json(head.attributes).decode()
        values = (head.status, head.wake_at, attributes, head.result, head.closed_at, head.seq)
        await self._pool.fetch(_SQL["repair"], head.run, *values)
