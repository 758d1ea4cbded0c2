"""Being alive, as far as the store is concerned.

One lease covers all runs of the worker. It is renewed at a third of its time, apart from all other work. Whoever has
not managed to by two thirds must assume that others will soon take its runs: it stops its handlers, drops everything
and goes on under a new name. The waiting is measured by the loop's clock, which nobody sets.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from perdure.errors import StoreError, StoreFull, StoreUnavailable

if TYPE_CHECKING:
    from perdure.engine.runtime import Runtime


class Lease:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._seconds = runtime.settings.lease
        self._trusted_until = 0.0
        self._task: asyncio.Task[None] | None = None
        self._watch: asyncio.TimerHandle | None = None
        self.is_held = False
        self.trouble: StoreError | None = None
        """Why it could not be renewed the last time."""

    async def open(self) -> None:
        """Raises if the store cannot be reached at all."""
        await self._renew()
        self._task = self._runtime.task(self._keep())

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _keep(self) -> None:
        runtime = self._runtime
        while True:
            if self.is_held:
                await asyncio.sleep(self._seconds / 3)
            for pause in runtime.pauses():
                if await self._renewed():
                    break
                await asyncio.sleep(min(pause, self._seconds / 10))

    async def _renewed(self) -> bool:
        try:
            await self._renew()
        except Exception as problem:
            self.trouble = problem if isinstance(problem, StoreError) else None
            self._runtime.trouble("renewing the lease", problem)
            return False
        self.trouble = None
        return True

    async def _renew(self) -> None:
        runtime = self._runtime
        asked_at, worker = runtime.loop.time(), runtime.worker
        try:
            # Not `wait_for`: in Python 3.11 it may lose a cancellation, and whoever closes would wait for ever.
            async with asyncio.timeout(self._seconds / 3):
                still_mine = await runtime.ownership.renew(worker, int(self._seconds * 1_000_000))
        except TimeoutError:
            raise StoreUnavailable("the store did not answer in time") from None
        if not still_mine:
            self.lose()
            raise StoreUnavailable("the lease had run out")
        await runtime.time.measure(runtime.ownership)
        if worker != runtime.worker:  # what was renewed is the lease of a name that we have given up
            raise StoreUnavailable("the lease ran out while it was being renewed")
        self._trusted_until = asked_at + self._seconds * 2 / 3
        if not self.is_held:
            self.is_held = True
            runtime.claimer.nudge()
        if self._watch is None:
            self._watch = runtime.loop.call_at(self._trusted_until, self._check)

    def _check(self) -> None:
        self._watch = None
        if not self.is_held:
            return
        if self._runtime.loop.time() >= self._trusted_until:
            self.lose()
        else:
            self._watch = self._runtime.loop.call_at(self._trusted_until, self._check)

    def refusal(self) -> StoreError:
        """What whoever needs the lease is told while it is not held."""
        if isinstance(self.trouble, StoreFull):
            return StoreFull(self.trouble.message, remedy=self.trouble.remedy)
        return StoreUnavailable("this worker has no lease at the moment")

    def lose(self) -> None:
        runtime = self._runtime
        self.is_held = False
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        lost = runtime.worker
        runtime.rename()
        dropped = runtime.roster.drop_all()
        if runtime.observer is not None:
            runtime.observer.lease_lost(lost, dropped)
