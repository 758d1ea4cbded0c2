"""How fast the engine alone is: five-step runs of a toy program, on each store.

    python -m bench.engine_hot [memory] [sqlite] [postgres] [--runs 4000] [--concurrency 64 256] [--uvloop] [--profile]

Prints runs/s, CPU µs per step (whole process, writer thread included) and, with --profile, where the loop's time goes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import cProfile
import gc
import pstats
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from perdure.engine import ActivationContext, Engine, EngineSettings, HandlerSpec, Library
from perdure.model.values import content_hash
from tests.engine.script import compile_script

NAMESPACE = "bench"
STEPS = 5


async def work(context: ActivationContext) -> Any:
    return {"n": context.input["n"] + 1}


@contextlib.asynccontextmanager
async def store_of(kind: str) -> AsyncIterator[Any]:
    with contextlib.ExitStack() as stack:
        if kind == "memory":
            from perdure.stores.memory import MemoryStore

            store: Any = MemoryStore()
        elif kind == "sqlite":
            from perdure.stores.sqlite import SqliteStore

            store = SqliteStore(str(Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")), "bench.db")))
        else:
            from perdure.stores.postgres import PostgresStore
            from tests.fixtures.postgres import start_cluster

            store = PostgresStore(stack.enter_context(start_cluster()).create_database())
        await store.open()
        try:
            yield store
        finally:
            await store.close()


@contextlib.asynccontextmanager
async def engine_on(store: Any, *scripts: tuple[str, list[dict[str, Any]]]) -> AsyncIterator[Engine]:
    library = Library(store.definitions, {"script": compile_script})
    for name, steps in scripts:
        document = {"steps": steps}
        version = await store.definitions.publish(NAMESPACE, name, "script", document, content_hash(document), None)
        await store.definitions.activate(NAMESPACE, name, version.version)
    engine = Engine(store, library, {"work": HandlerSpec(work)}, settings=EngineSettings(max_runs=100_000))
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()


async def many(engine: Engine, name: str, runs: int, concurrency: int) -> None:
    left = iter(range(runs))

    async def client() -> None:
        for _ in left:
            run = await engine.start(NAMESPACE, name, {"n": 0})
            head = await engine.result(NAMESPACE, run)
            assert head.status == "COMPLETED"

    await asyncio.gather(*(client() for _ in range(concurrency)))


async def measure(kind: str, runs: int, concurrencies: list[int], profile: bool) -> None:
    five = ("five", [{"do": "step", "type": "work"}] * STEPS)
    one = ("one", [{"do": "step", "type": "work"}])
    async with store_of(kind) as store, engine_on(store, five, one) as engine:
        await many(engine, "five", 200, 32)
        for concurrency in concurrencies:
            gc.collect()
            begun, cpu = time.perf_counter(), time.process_time()
            await many(engine, "five", runs, concurrency)
            seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
            print(
                f"{kind:9} c={concurrency:<4} {runs / seconds:8.0f} runs/s {runs * STEPS / seconds:8.0f} steps/s"
                f"  {cpu / runs * 1e6:7.0f} µs CPU/run  {cpu / runs / (STEPS + 1) * 1e6:6.1f} µs CPU/turn"
            )
        times = []
        for _ in range(300):
            begun = time.perf_counter()
            await many(engine, "one", 1, 1)
            times.append(time.perf_counter() - begun)
        times.sort()
        print(f"{kind:9} one-step run, one at a time: p50 {times[150] * 1e3:.2f} ms, p99 {times[297] * 1e3:.2f} ms")
        if profile:
            profiler = cProfile.Profile()
            profiler.enable()
            await many(engine, "five", runs // 2, concurrencies[0])
            profiler.disable()
            pstats.Stats(profiler).sort_stats("tottime").print_stats(32)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("stores", nargs="*", default=["memory", "sqlite", "postgres"])
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--concurrency", type=int, nargs="*", default=[64, 256])
    parser.add_argument("--uvloop", action="store_true")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    if options.uvloop:
        import uvloop

        uvloop.install()
    for kind in options.stores or ["memory", "sqlite", "postgres"]:
        asyncio.run(measure(kind, options.runs, options.concurrency, options.profile))


if __name__ == "__main__":
    main()
