"""Small shared values, on SQLite."""

from __future__ import annotations

import apsw

from perdure.ports.cells import ABSENT, Cell
from perdure.ports.clock import Clock
from perdure.stores.cells import AT_ONCE, EVERY, checked, new_version
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.reader import Reader
from perdure.stores.sqlite.writer import Writer

_Q = queries("cells")


class SqliteCells:
    def __init__(self, writer: Writer, reader: Reader, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._puts = 0

    async def get(self, namespace: str, key: str) -> Cell | None:
        return await self._reader.short(lambda connection: self._find(connection, namespace, key))

    async def put(
        self, namespace: str, key: str, value: bytes, *, ttl: int | None = None, if_version: str | None = None
    ) -> Cell | None:
        checked(key, value)
        self._puts += 1
        is_time_to_sweep = self._puts % EVERY == 0

        def work(connection: apsw.Connection) -> Cell | None:
            if is_time_to_sweep:
                connection.execute(_Q["sweep"], (self._clock.now(), AT_ONCE))
            if if_version is not None:
                found = self._find(connection, namespace, key)
                if if_version != (found.version if found is not None else ABSENT):
                    return None
            cell = Cell(bytes(value), new_version(), None if ttl is None else self._clock.now() + ttl)
            connection.execute(_Q["put"], (namespace, key, cell.value, cell.version, cell.expires_at))
            return cell

        return await self._writer.call(work)

    async def remove(self, namespace: str, key: str) -> None:
        def work(connection: apsw.Connection) -> None:
            connection.execute(_Q["remove"], (namespace, key))

        await self._writer.call(work)

    async def sweep(self, limit: int = 1000) -> int:
        def work(connection: apsw.Connection) -> int:
            before = connection.total_changes()
            connection.execute(_Q["sweep"], (self._clock.now(), limit)).fetchall()
            return connection.total_changes() - before

        return await self._writer.call(work)

    def _find(self, connection: apsw.Connection, namespace: str, key: str) -> Cell | None:
        row = connection.execute(_Q["get"], (namespace, key, self._clock.now())).fetchone()
        return None if row is None else Cell(*row)
