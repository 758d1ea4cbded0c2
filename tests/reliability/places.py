"""The engine's small world on each store that can be simulated, with the umpire in between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from perdure.ports.store import Store
from perdure.stores.memory import MemoryStore
from perdure.stores.sqlite import SqliteStore
from perdure.testing.simloop import SimClock
from perdure.testing.simulate.umpire import Umpire
from tests.engine.world import World, world

STORES = ["memory", "sqlite"]


@asynccontextmanager
async def world_on(name: str, *, judged: bool = True) -> AsyncIterator[tuple[World, SimClock]]:
    """The clock is the store's. At the end nothing may have been against the rules."""
    clock = SimClock()
    store: Store = SqliteStore(":memory:", clock=clock, writer="inline") if name == "sqlite" else MemoryStore(clock)
    await store.open()
    umpire = Umpire(store, clock)
    async with world(umpire) as w:
        w.clock = clock
        yield w, clock
        if judged:
            assert await umpire.inspect() == []
