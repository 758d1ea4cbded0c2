"""The clock of this machine, for stores that have none of their own."""

from __future__ import annotations

import time


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1000
