"""The store's clock, as seen from here.

Timers are due by the store's clock, whatever this machine's says. Asking the store each time would cost a round trip,
so it is asked with each renewal of the lease, and in between the loop's own clock, which nobody sets, says how much
time has passed. So a wall clock that jumps or stands still changes nothing. The estimate is never ahead of the store,
hence a timer never fires early: what the store said had passed already when its answer came. An answer that took long
says little, so an earlier, closer estimate is kept as long as it can still be right.
"""

from __future__ import annotations

import asyncio
import time

from perdure.ports.ownership import Ownership

_COARSE = 0.001
"""Seconds: what one tick of the loop's clock may be, where it does not say (uvloop counts in whole milliseconds)."""


_RATE = 1_000_000 * (1 - 1e-4)
"""Microseconds that pass for sure while the loop counts one second: two clocks do not run quite alike."""


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1000


class StoreTime:
    __slots__ = ("_elapsed", "_heard_at", "_said", "_tick")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._elapsed = loop.time
        self._tick = getattr(loop, "_clock_resolution", _COARSE)
        self._heard_at = 0.0
        """When the store answered last, on the loop's clock."""
        self._said = 0
        """What it said then."""

    def now(self) -> int:
        return self._said + max(0, int((self._elapsed() - self._heard_at) * _RATE))

    def reached(self, at: int) -> None:
        """The store has let us know that its clock stands at `at` at least: a run that it holds for due must not look
        early here, or it would be parked and claimed again without end."""
        if at > self.now():
            self._said, self._heard_at = at, self._elapsed()

    async def measure(self, ownership: Ownership) -> None:
        asked = self._elapsed()
        said = await ownership.now()
        answered = self._elapsed()
        at_most = said + int((answered - asked + self._tick) * 1_000_000)
        if not said <= self.now() <= at_most:
            self._said, self._heard_at = said, answered + self._tick
