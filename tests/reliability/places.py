"""The engine's small world on each store that can be simulated."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from perdure.ports.store import Store
from perdure.stores.memory import MemoryStore
from perdure.stores.sqlite import SqliteStore
from perdure.testing.simloop import SimClock
from tests.engine.world import World, world

STORES = ["memory", "sqlite"]


@asynccontextmanager
async def world_on(name: str) -> AsyncIterator[tuple[World, SimClock]]:
    """The clock is the store's."""
    clock = SimClock()
    store: Store = SqliteStore(":memory:", clock=clock, writer="inline") if name == "sqlite" else MemoryStore(clock)
    await store.open()
    async with world(store) as w:
        w.clock = clock
        yield w, clock
