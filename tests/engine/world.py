"""A small world for the engine's tests: one store, some engines, scripts, handlers, and a checker at the end."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from perdure.engine import ActivationContext, Engine, EngineSettings, HandlerSpec, Library, Observer
from perdure.model.codec import decode_events
from perdure.model.events import Event
from perdure.model.values import content_hash, decode_json
from perdure.ports.journal import Head
from perdure.ports.store import Store
from perdure.service.fsck import fsck
from perdure.stores.memory import MemoryStore
from perdure.testing.faults import FaultyStore
from perdure.testing.simloop import SimClock, pass_time
from tests.engine.script import compile_script

NAMESPACE = "tests"


class Handlers(dict[str, HandlerSpec]):
    """Handlers by type. `calls` lists every call, as (type, idempotency key, attempt)."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, str, int]] = []

    def add(self, type: str, function: Callable[[ActivationContext], Any], *, blocking: bool = False) -> None:
        def call(context: ActivationContext) -> Any:
            self.calls.append((type, context.key, context.attempt))
            return function(context)

        self[type] = HandlerSpec(call, blocking)

    def count(self, type: str) -> int:
        return sum(one == type for one, _, _ in self.calls)


class Diary(Observer):
    """Writes down what the engine says."""

    def __init__(self) -> None:
        self.turns: list[tuple[str, int, int]] = []
        self.lost: list[str] = []
        self.fenced_runs: list[str] = []
        self.claims: list[tuple[int, int]] = []
        self.aside: list[str] = []
        self.endings: list[str] = []
        self.troubles: list[str] = []

    def turn_committed(self, run: str, events: int, commands: int) -> None:
        self.turns.append((run, events, commands))

    def lease_lost(self, worker: str, runs: int) -> None:
        self.lost.append(worker)

    def fenced(self, run: str) -> None:
        self.fenced_runs.append(run)

    def claimed(self, runs: int, died: int) -> None:
        self.claims.append((runs, died))

    def run_set_aside(self, run: str, problem: BaseException) -> None:
        self.aside.append(run)

    def handler_ended(self, namespace: str, type: str, seconds: float, ending: str) -> None:
        self.endings.append(ending)

    def trouble(self, where: str, problem: BaseException) -> None:
        self.troubles.append(f"{where}: {problem!r}")


class World:
    def __init__(self, store: Store, clock: SimClock) -> None:
        self.clock = clock
        self.beneath = store
        self.store = FaultyStore(store)
        self.handlers = Handlers()
        self.handlers.add("echo", _echo)
        self.diary = Diary()
        self.engines: list[Engine] = []
        self._seed = 0

    def library(self) -> Library:
        return Library(self.store.definitions, {"script": compile_script})

    async def define(self, name: str, *steps: Mapping[str, Any]) -> None:
        document = {"steps": list(steps)}
        version = await self.store.definitions.publish(
            NAMESPACE, name, "script", document, content_hash(document), None
        )
        await self.store.definitions.activate(NAMESPACE, name, version.version)

    async def engine(
        self, *, clock: SimClock | None = None, handlers: Handlers | None = None, store: Any = None, **settings: Any
    ) -> Engine:
        self._seed += 1
        engine = Engine(
            store or self.store,
            self.library(),
            self.handlers if handlers is None else handlers,
            clock=clock or self.clock,
            settings=EngineSettings(**settings),
            observer=self.diary,
            chance=random.Random(self._seed),
        )
        await engine.open()
        self.engines.append(engine)
        return engine

    async def start(self, engine: Engine, definition: str, input: Any = None, **options: Any) -> str:
        return await engine.start(NAMESPACE, definition, input, **options)

    async def run(self, engine: Engine, definition: str, input: Any = None, **options: Any) -> Head:
        return await self.ended(engine, await self.start(engine, definition, input, **options))

    async def ended(self, engine: Engine, run: str) -> Head:
        return await engine.result(NAMESPACE, run)

    async def head(self, run: str) -> Head:
        head = await self.beneath.journal.head(run)
        assert head is not None
        return head

    async def events(self, run: str) -> list[Event]:
        loaded = await self.beneath.journal.load(run)
        assert loaded is not None
        rows = await self.beneath.journal.history(run)
        found: list[Event] = []
        for row in rows:
            blobs = {}
            for ref in row.refs:
                blobs[ref.hash] = b"".join([part async for part in self.beneath.blobs.read(NAMESPACE, ref.hash)])
            found += decode_events(row.data, row.codec, row.refs, blobs)
        return found

    async def event_names(self, run: str) -> list[str]:
        return [type(event).__name__ for event in await self.events(run)]

    async def close(self) -> None:
        for engine in self.engines:
            await engine.close()


def result_of(head: Head) -> Any:
    assert head.result is not None
    return decode_json(head.result)


def output_of(head: Head) -> Any:
    assert head.status == "COMPLETED", head
    return result_of(head)["output"]


@asynccontextmanager
async def world(store: Store | None = None) -> AsyncIterator[World]:
    """At its end everything is closed, and the database must be sound."""
    clock = SimClock()
    store = store or MemoryStore(clock)
    await store.open()
    made = World(store, clock)
    yield made
    await made.close()
    report = await fsck(made.beneath, made.library())
    assert report.is_clean, report.findings
    await made.store.close()


async def _echo(context: ActivationContext) -> Any:
    return context.input


async def until(condition: Callable[[], bool], patience: float = 60.0) -> None:
    """Virtual time passes in small steps until it is so."""
    loop = asyncio.get_running_loop()
    end = loop.time() + patience
    while not condition():
        assert loop.time() < end, "it never came true"
        await pass_time(0.01)


def step(type: str = "echo", **options: Any) -> dict[str, Any]:
    return {"do": "step", "type": type, **options}


def steps(types: Iterable[str]) -> list[dict[str, Any]]:
    return [step(type) for type in types]


def sleep(seconds: float) -> dict[str, Any]:
    return {"do": "sleep", "seconds": seconds}


def signal(name: str, **options: Any) -> dict[str, Any]:
    return {"do": "signal", "name": name, **options}


def child(definition: str, **options: Any) -> dict[str, Any]:
    return {"do": "child", "definition": definition, **options}
