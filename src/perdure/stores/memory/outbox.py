"""Messages to the outside, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.ports.outbox import Outgoing
from perdure.stores.memory.tables import Tables


class MemoryOutbox:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def take(self, worker: str, limit: int, lease: int) -> Sequence[Outgoing]:
        now = self._tables.clock.now()
        taken: list[Outgoing] = []
        held: set[str] = set()
        for parcel in self._tables.outbox.values():
            if parcel.due > now:
                held.add(parcel.run)
            elif parcel.run not in held and len(taken) < limit:
                parcel.due = now + lease
                namespace = self._tables.runs[parcel.run].new.namespace
                taken.append(Outgoing(namespace, parcel.run, parcel.message, parcel.attempts))
        return taken

    async def done(self, ids: Sequence[str]) -> None:
        for name in ids:
            self._tables.outbox.pop(name, None)

    async def again(self, id: str, due: int, error: str) -> None:
        parcel = self._tables.outbox.get(id)
        if parcel is not None:
            parcel.due = due
            parcel.attempts += 1
