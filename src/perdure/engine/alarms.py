"""Timers of runs that this worker holds, in one heap with one alarm of the loop. Timers of parked runs are the
claimer's."""

from __future__ import annotations

import asyncio
import heapq
from typing import TYPE_CHECKING

from perdure.kernel.outlook import active_deadline, next_wake
from perdure.model.commands import FireTimers

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun
    from perdure.engine.runtime import Runtime

FIRE = FireTimers()
_LEAST_DELAY = 0.0001


class Alarms:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._heap: list[tuple[int, int, OwnedRun]] = []
        self._count = 0
        self._handle: asyncio.TimerHandle | None = None
        self._handle_due = 0
        self._sweep: asyncio.TimerHandle | None = None

    def open(self) -> None:
        self._sweep = self._runtime.loop.call_later(self._runtime.settings.sweep, self._check_active_time)

    def close(self) -> None:
        for handle in (self._handle, self._sweep):
            if handle is not None:
                handle.cancel()
        self._heap = []

    def watch(self, owned: OwnedRun) -> None:
        """Wakes the run when its next timer is due, if it is still here then."""
        due = next_wake(owned.state)
        if due is None or (owned.alarm is not None and owned.alarm <= due):
            return
        owned.alarm = due
        self._count += 1
        heapq.heappush(self._heap, (due, self._count, owned))
        if len(self._heap) > 64 + 4 * len(self._runtime.roster.owned):
            # Most entries are of runs that have gone.
            self._heap = [entry for entry in self._heap if not entry[2].dropped and entry[2].alarm == entry[0]]
            heapq.heapify(self._heap)
        if self._handle is None or due < self._handle_due:
            self._arm()

    def _arm(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if self._heap:
            self._handle_due = self._heap[0][0]
            delay = max(_LEAST_DELAY, (self._handle_due - self._runtime.time.now()) / 1_000_000)
            # The wall clock may be set while we wait, so never wait long for it.
            self._handle = self._runtime.loop.call_later(min(delay, self._runtime.settings.sweep), self._ring)

    def _ring(self) -> None:
        self._handle = None
        now = self._runtime.time.now()
        heap = self._heap
        while heap and heap[0][0] <= now:
            due, _, owned = heapq.heappop(heap)
            if owned.dropped or owned.alarm != due:
                continue
            owned.alarm = None
            wake = next_wake(owned.state)
            if wake is not None and wake <= now:
                owned.deliver(FIRE)
            else:
                self.watch(owned)
        if self._handle is None:
            self._arm()

    def _check_active_time(self) -> None:
        runtime = self._runtime
        now = runtime.time.now()
        for owned in list(runtime.roster.owned.values()):
            deadline = active_deadline(owned.state)
            if deadline is not None and deadline <= now and owned.state.closing is None:
                owned.deliver(FIRE)
        self._sweep = runtime.loop.call_later(runtime.settings.sweep, self._check_active_time)
