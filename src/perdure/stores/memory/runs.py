"""Looking runs up, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perdure.ports.journal import Head
from perdure.ports.runs import Counts, RunFilter
from perdure.stores.memory.tables import Run, Tables, comparable


class MemoryRuns:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def find(self, filter: RunFilter, before: str | None = None, limit: int = 100) -> Sequence[Head]:
        found = [run for run in self._tables.runs.values() if (before is None or run.id < before) and fits(run, filter)]
        found.sort(key=lambda run: run.id, reverse=True)
        return [run.head() for run in found[:limit]]

    async def walk(self, after: str = "", limit: int = 500) -> Sequence[Head]:
        found = sorted(name for name in self._tables.runs if name > after)
        return [self._tables.runs[name].head() for name in found[:limit]]

    async def counts(self) -> Counts:
        tables = self._tables

        def orphans(runs: Iterable[str]) -> int:
            return sum(run not in tables.runs for run in runs)

        return Counts(
            {
                "start_keys": orphans(tables.keys.values()),
                "inbox": orphans(command.run for command in tables.inbox.values()),
                "outbox": orphans(parcel.run for parcel in tables.outbox.values()),
                "blob_refs": orphans(run for blob in tables.blobs.values() for run in blob.runs),
            }
        )

    async def repair(self, head: Head) -> None:
        run = self._tables.runs.get(head.run)
        if run is not None and run.seq == head.seq:
            run.status, run.wake_at, run.result, run.closed_at = head.status, head.wake_at, head.result, head.closed_at
            run.attributes = dict(head.attributes)


def fits(run: Run, filter: RunFilter) -> bool:
    new = run.new
    return (
        filter.namespace in {None, new.namespace}
        and filter.definition in {None, new.definition}
        and filter.parent in {None, new.parent}
        and (not filter.statuses or run.status in filter.statuses)
        and all(
            name in run.attributes and comparable(run.attributes[name]) == comparable(value)
            for name, value in filter.attributes.items()
        )
    )
