"""Taking up runs that are due and that nobody owns.

Nothing is polled on the hot path: the earliest wake time is known (from what was parked here and from the store's
index) and the loop sleeps until then. The jittered poll bounds the delay when a hint is lost, and finds the runs of
workers that died.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perdure.engine.runtime import Runtime

_LEAST_DELAY = 0.002
_FULL_AGAIN_AT = 0.9
"""A worker that was full claims again when it holds less than this share of what it may."""


class Claimer:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._handle: asyncio.TimerHandle | None = None
        self._handle_at = 0.0
        self._is_open = False
        self._wanted = False
        self._at_work = False
        self._is_full = False
        self._empty_rounds = 0
        self._next_poll = 0.0
        self._not_before = 0.0

    def open(self) -> None:
        self._is_open = True
        self.nudge()

    def close(self) -> None:
        self._is_open = False
        if self._handle is not None:
            self._handle.cancel()

    def expect(self, wake_at: int) -> None:
        """A run will be due then."""
        runtime = self._runtime
        self._arm(runtime.loop.time() + max(0.0, (wake_at - runtime.time.now()) / 1_000_000))

    def nudge(self) -> None:
        """Something is due, probably."""
        self._wanted = True
        if not self._at_work and self._is_open:
            self._at_work = True
            self._runtime.spawn(self._work())

    def pause(self, seconds: float) -> None:
        """No claim before that."""
        self._not_before = self._runtime.loop.time() + seconds

    def has_room(self) -> None:
        if self._is_full and self._room() > self._runtime.settings.max_runs * (1 - _FULL_AGAIN_AT):
            self._is_full = False
            self.nudge()

    def _room(self) -> int:
        return self._runtime.settings.max_runs - len(self._runtime.roster.owned)

    def _arm(self, at: float) -> None:
        if not self._is_open or (self._handle is not None and self._handle_at <= at):
            return
        if self._handle is not None:
            self._handle.cancel()
        self._handle_at = at
        self._handle = self._runtime.loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._handle = None
        self.nudge()

    async def _work(self) -> None:
        runtime = self._runtime
        try:
            while self._wanted and self._is_open:
                self._wanted = False
                if not runtime.lease.is_held:
                    break
                if self._not_before > runtime.loop.time() + _LEAST_DELAY:  # a timer may ring a tick too early
                    self._arm(self._not_before)
                    break
                await self._claim()
        except Exception as problem:
            runtime.trouble("claiming", problem)
        finally:
            self._at_work = False
            self._next_poll = runtime.loop.time() + runtime.ids.jitter(runtime.settings.poll)
            self._arm(self._next_poll)

    async def _claim(self) -> None:
        runtime = self._runtime
        limit = min(runtime.settings.claim_batch, self._room())
        if limit <= 0:
            self._is_full = True
            return
        worker = runtime.worker
        declined = runtime.declined.versions()
        claimed = await runtime.ownership.claim(worker, limit, declined)
        if claimed:
            runtime.adoption.take_up(worker, claimed)
        if len(claimed) >= limit:
            self._wanted = True
            return
        wake_at = await runtime.ownership.next_wake(declined)
        if wake_at is None:
            return
        delay = (wake_at - runtime.time.now()) / 1_000_000
        if delay > 0 or claimed:
            self._empty_rounds = 0
        if delay <= 0:
            # Due, but not ours: somebody else is claiming it right now. Look again, but ever less eagerly.
            delay = _LEAST_DELAY * 2 ** min(self._empty_rounds, 8)
            self._empty_rounds += 1
        if delay < runtime.settings.poll:
            self._arm(runtime.loop.time() + delay)
