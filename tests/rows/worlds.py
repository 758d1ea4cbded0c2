"""Applications on virtual time, for tests that follow the rows of the feature table one by one."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure import Perdure
from perdure.engine import EngineSettings
from perdure.ports.store import Store
from perdure.service.fsck import fsck
from perdure.stores.memory import MemoryStore
from perdure.stores.sqlite import SqliteStore
from perdure.testing.simloop import SimClock, simulated

STORES = ("memory", "sqlite")


class World:
    """One database that survives its applications, and a clock that only moves when everybody waits."""

    def __init__(self, kind: str) -> None:
        self.clock = SimClock()
        self.store: Store = (
            MemoryStore(self.clock) if kind == "memory" else SqliteStore(":memory:", clock=self.clock, writer="inline")
        )

    @asynccontextmanager
    async def app(self, *steps: Callable[..., Any], prepare: Any = None, **settings: Any) -> AsyncIterator[Perdure]:
        """A process. At its end the database must be sound."""
        app = Perdure(_Shared(self.store), clock=self.clock, engine_settings=EngineSettings(**settings))  # type: ignore[arg-type]
        app.register(*steps)
        if prepare is not None:
            prepare(app)
        async with app:
            yield app
            report = await fsck(app.store, app.library)
            assert report.is_clean, report.findings


class _Shared:
    """A store that is opened and closed by the world, not by each application."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def on_every_store(test: Callable[[World], Awaitable[None]]) -> Any:
    """Runs the test on virtual time, once per store."""

    @pytest.mark.parametrize("kind", STORES)
    def call(kind: str) -> None:
        async def live() -> None:
            world = World(kind)
            await world.store.open()
            await test(world)
            await world.store.close()

        simulated()(live)()

    functools.update_wrapper(call, test, assigned=("__doc__", "__name__", "__module__", "__qualname__"), updated=())
    del call.__wrapped__
    return call


def flow(id: str, *nodes: dict[str, Any], edges: list[str] | None = None, **settings: Any) -> dict[str, Any]:
    """Nodes one after another, unless edges are given as "a b" or "a b outcome"."""
    line = [node["id"] for node in nodes if "parent" not in node]
    pairs = (
        [edge.split() for edge in edges]
        if edges is not None
        else [list(p) for p in zip(["start", *line], line, strict=False)]
    )
    return {
        "id": id,
        "nodes": [{"id": "start", "type": "start"}, *nodes],
        "edges": [{"source": p[0], "target": p[1], **({"outcome": p[2]} if len(p) > 2 else {})} for p in pairs],
        "settings": settings,
    }


def step(id: str, name: str | None = None, **more: Any) -> dict[str, Any]:
    arguments = {"arguments": more.pop("arguments")} if "arguments" in more else {}
    return {"id": id, "type": "python", "config": {"step": name or id, **arguments}, **more}


def node(id: str, type: str, config: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": type, "config": config or {}, **more}


async def events(app: Perdure, run: str) -> list[Any]:
    return [recorded.event for recorded in await app.run(run).history(limit=100_000)]


async def names(app: Perdure, run: str) -> list[str]:
    return [type(event).__name__ for event in await events(app, run)]
