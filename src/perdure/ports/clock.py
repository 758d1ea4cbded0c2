"""Time is an argument."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now(self) -> int:
        """Microseconds since 1970, UTC. May stand still or go back; the log of a run never does."""
        ...
