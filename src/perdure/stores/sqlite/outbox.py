"""Messages to the outside on SQLite."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from perdure.model.values import decode_json, encode_json
from perdure.ports.clock import Clock
from perdure.ports.journal import Message
from perdure.ports.outbox import Outgoing
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.writer import Writer

_Q = queries("outbox")


class SqliteOutbox:
    def __init__(self, writer: Writer, clock: Clock) -> None:
        self._writer = writer
        self._clock = clock

    async def take(self, worker: str, limit: int, lease: int) -> Sequence[Outgoing]:
        def work(connection: apsw.Connection) -> list[Outgoing]:
            now = self._clock.now()
            places = connection.execute(_Q["ready"], (now, limit)).get
            connection.execute(_Q["take"], (now + lease, worker, places))
            return [
                Outgoing(namespace, run, Message(id, type, decode_json(payload), key), attempts)
                for namespace, run, id, type, payload, key, attempts in decode_json(
                    connection.execute(_Q["taken"], (places,)).get
                )
            ]

        return await self._writer.call(work)

    async def done(self, ids: Sequence[str]) -> None:
        names = encode_json(list(ids)).decode()

        def work(connection: apsw.Connection) -> None:
            connection.execute(_Q["done"], (names,))

        if ids:
            await self._writer.call(work)

    async def again(self, id: str, due: int, error: str) -> None:
        def work(connection: apsw.Connection) -> None:
            connection.execute(_Q["again"], (due, error, id))

        await self._writer.call(work)
