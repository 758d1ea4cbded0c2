"""Leases and claims in memory."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.ports.hints import Hint
from perdure.ports.ownership import Claimed, VersionKey
from perdure.stores.memory.tables import FORGET_AFTER, Run, Tables


class MemoryOwnership:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def renew(self, worker: str, lease: int) -> bool:
        now = self._tables.clock.now()
        workers = self._tables.workers
        for name in [name for name, end in workers.items() if end < now - FORGET_AFTER]:
            del workers[name], self._tables.renewed[name]
        if worker in workers and workers[worker] <= now:
            return False
        workers[worker] = now + lease
        self._tables.renewed[worker] = now
        return True

    async def claim(self, worker: str, limit: int, declined: Sequence[VersionKey] = ()) -> Sequence[Claimed]:
        if not self._tables.has_lease(worker):
            return []
        now = self._tables.clock.now()
        alive = {name for name, end in self._tables.workers.items() if end > now}
        due: list[tuple[int, str, Run]] = []
        for run in self._tables.runs.values():
            if run.owner is not None and run.owner not in alive:
                self._void(run)
            if run.owner is None and run.wake_at is not None and run.wake_at <= now and run.version not in declined:
                due.append((run.wake_at, run.id, run))
        due.sort(key=lambda each: each[:2])
        return [self._take(worker, run) for _, _, run in due[:limit]]

    async def acquire(self, worker: str, run: str) -> Claimed | None:
        found = self._tables.runs.get(run)
        if found is None or not self._tables.has_lease(worker):
            return None
        if found.owner is not None:
            if self._tables.has_lease(found.owner):
                return None
            self._void(found)
        return self._take(worker, found)

    async def release(self, worker: str, runs: Sequence[str]) -> None:
        for name in runs:
            run = self._tables.runs.get(name)
            if run is not None and run.owner == worker:
                now = self._tables.clock.now()
                run.set_free(now, died=False, alive_until=now)
        self._tables.hints.give(Hint.DUE)

    async def give_back(self, worker: str, claimed: Sequence[Claimed]) -> None:
        for head in [one.head for one in claimed]:
            run = self._tables.runs.get(head.run)
            if run is None or (run.owner, run.epoch) != (worker, head.epoch):
                continue
            run.owner, now = None, self._tables.clock.now()
            is_due = run.died or run.inbox_seq != head.inbox_seq or (run.wake_at is not None and run.wake_at <= now)
            if is_due and run.closed_at is None:
                run.wake_at = now
        self._tables.hints.give(Hint.DUE)

    async def leave(self, worker: str) -> None:
        await self.release(worker, [run.id for run in self._tables.runs.values() if run.owner == worker])
        self._tables.workers.pop(worker, None)
        self._tables.renewed.pop(worker, None)

    async def next_wake(self, declined: Sequence[VersionKey] = ()) -> int | None:
        unowned = [run for run in self._tables.runs.values() if run.owner is None and run.version not in declined]
        return min((run.wake_at for run in unowned if run.wake_at is not None), default=None)

    async def now(self) -> int:
        return self._tables.clock.now()

    def _void(self, run: Run) -> None:
        last_heard = self._tables.renewed.get(run.owner or "")
        run.set_free(self._tables.clock.now(), died=True, alive_until=last_heard)
        run.epoch += 1

    def _take(self, worker: str, run: Run) -> Claimed:
        run.owner = worker
        run.epoch += 1
        return Claimed(run.head(), run.died, run.alive_until)
