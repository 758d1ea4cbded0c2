"""Messages on their way out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from perdure.model.values import decode_json
from perdure.ports.journal import Message
from perdure.ports.outbox import Outgoing
from perdure.stores.postgres.links import Pool
from perdure.stores.postgres.queries import load_queries

_SQL = load_queries("outbox")


class PostgresOutbox:
    def __init__(self, pool: Pool, now: Callable[[], int | None]) -> None:
        self._pool = pool
        self._now = now

    async def take(self, worker: str, limit: int, lease: int) -> Sequence[Outgoing]:
        rows = await self._pool.fetch(_SQL["take"], worker, limit, lease, self._now())
        return [
            Outgoing(
                row["namespace"],
                row["run"],
                Message(row["id"], row["type"], decode_json(row["payload"]), row["key"]),
                row["attempts"],
            )
            for row in rows
        ]

    async def done(self, ids: Sequence[str]) -> None:
        await self._pool.fetch(_SQL["done"], list(ids))

    async def again(self, id: str, due: int, error: str) -> None:
        await self._pool.fetch(_SQL["again"], id, due, error)
