"""Waiting until a run has moved on, wherever it runs: at once where it runs here, else at the next poll."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perdure.engine.runtime import Runtime


class Changes:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._watches: dict[str, set[Watch]] = {}

    def watch(self, run: str) -> Watch:
        """To be asked for before the run is looked at, so that what happens meanwhile is not missed."""
        return Watch(self._runtime, self._watches.setdefault(run, set()))

    def moved(self, run: str) -> None:
        """A turn of the run is durable."""
        if self._watches:
            for watch in self._watches.pop(run, ()):
                watch.ring()


class Watch:
    __slots__ = ("_among", "_future", "_runtime")

    def __init__(self, runtime: Runtime, among: set[Watch]) -> None:
        self._runtime = runtime
        self._among = among
        self._future: asyncio.Future[None] = runtime.loop.create_future()
        among.add(self)

    def ring(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    async def wait(self) -> None:
        """Until the run has moved, or it is time to look whether it has moved elsewhere."""
        await first_of([self])

    def close(self) -> None:
        self._among.discard(self)
        self._future.cancel()


async def first_of(watches: Sequence[Watch]) -> None:
    """Until one of several runs has moved, or it is time to look whether one has moved elsewhere."""
    runtime = watches[0]._runtime
    futures = [watch._future for watch in watches]
    patience = runtime.ids.jitter(runtime.settings.poll)
    await asyncio.wait(futures, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    for watch in watches:
        watch.close()
