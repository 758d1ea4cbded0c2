"""A store that kills its own process, with SIGKILL, before or after the k-th commit becomes durable.

Before: the commit is held back for a moment in which everything else goes on, so that whoever would act or answer too
early has the time to. After: at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable
from typing import Any

from perdure.ports.journal import Outcome, TurnWrite
from perdure.ports.store import Store

BEFORE, AFTER = "before", "after"
HELD_SECONDS = 0.005
WRITES = frozenset({"renew", "claim", "acquire", "release", "leave", "send", "take", "done", "again", "refer"})


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class KillingStore:
    """Passes everything on. `count` says how many points have gone by; at number `at` the process ends.

    The points are the commits of turns; with `dense` every other write to the store too."""

    def __init__(self, beneath: Store, at: int | None, when: str, dense: bool = False) -> None:
        self._beneath = beneath
        self.at = at
        self.when = when
        self.dense = dense
        self.count = 0

    async def open(self) -> None:
        await self._beneath.open()

    async def close(self) -> None:
        self.at = None
        await self._beneath.close()

    def __getattr__(self, name: str) -> Any:
        port = getattr(self._beneath, name)
        if name == "journal":
            return _Journal(self, port)
        if self.dense and name in ("ownership", "inbox", "outbox", "blobs"):
            return _Port(self, port)
        return port

    def reached(self) -> str | None:
        """Whether this is the point, and when."""
        self.count += 1
        return self.when if self.count == self.at else None


class _Port:
    def __init__(self, store: KillingStore, port: Any) -> None:
        self._store = store
        self._port = port

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if name not in WRITES:
            return method

        async def call(*args: Any, **kwargs: Any) -> Any:
            last = self._store.reached()
            if last == BEFORE:
                die()
            answer = await method(*args, **kwargs)
            if last == AFTER:
                die()
            return answer

        return call


class _Journal:
    def __init__(self, store: KillingStore, port: Any) -> None:
        self._store = store
        self._port = port

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)

    def commit(self, turn: TurnWrite) -> Awaitable[Outcome]:
        last = self._store.reached()
        if last == BEFORE:
            loop = asyncio.get_running_loop()
            loop.call_later(HELD_SECONDS, die)
            return loop.create_future()
        answer = self._port.commit(turn)
        if last == AFTER:
            answer.add_done_callback(lambda _: die())
        return answer
