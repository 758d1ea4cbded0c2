"""The store's clock, as seen from here.

Timers are due by the store's clock, whatever this machine's says. Asking the store each time would cost a round trip,
so the difference is measured now and then. The estimate is never ahead of the store, hence a timer never fires early:
what the store said had passed already when its answer came.
"""

from __future__ import annotations

import time

from perdure.ports.clock import Clock
from perdure.ports.ownership import Ownership


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1000


class StoreTime:
    __slots__ = ("_clock", "offset")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.offset = 0
        """Microseconds to add to this machine's clock."""

    def now(self) -> int:
        return self._clock.now() + self.offset

    async def measure(self, ownership: Ownership) -> None:
        said = await ownership.now()
        self.offset = said - self._clock.now()
