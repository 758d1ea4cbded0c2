"""Small shared values, in memory."""

from __future__ import annotations

from perdure.ports.cells import ABSENT, Cell
from perdure.stores.cells import AT_ONCE, EVERY, checked, new_version
from perdure.stores.memory.tables import Tables


class MemoryCells:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._puts = 0

    async def get(self, namespace: str, key: str) -> Cell | None:
        return self._find(namespace, key)

    async def put(
        self, namespace: str, key: str, value: bytes, *, ttl: int | None = None, if_version: str | None = None
    ) -> Cell | None:
        checked(key, value)
        found = self._find(namespace, key)
        if if_version is not None and if_version != (found.version if found is not None else ABSENT):
            return None
        expires_at = None if ttl is None else self._tables.clock.now() + ttl
        cell = self._tables.cells[namespace, key] = Cell(bytes(value), new_version(), expires_at)
        self._puts += 1
        if self._puts % EVERY == 0:
            await self.sweep(AT_ONCE)
        return cell

    async def remove(self, namespace: str, key: str) -> None:
        self._tables.cells.pop((namespace, key), None)

    async def sweep(self, limit: int = 1000) -> int:
        now = self._tables.clock.now()
        expired = [place for place, cell in self._tables.cells.items() if _is_over(cell, now)][:limit]
        for place in expired:
            del self._tables.cells[place]
        return len(expired)

    def _find(self, namespace: str, key: str) -> Cell | None:
        cell = self._tables.cells.get((namespace, key))
        return None if cell is None or _is_over(cell, self._tables.clock.now()) else cell


def _is_over(cell: Cell, now: int) -> bool:
    return cell.expires_at is not None and cell.expires_at <= now
