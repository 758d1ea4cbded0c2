"""Sleeping runs: what they cost while they sleep, and how late they wake when all are due at the same moment.

    python -m bench.engine_wake [sqlite|postgres|memory] [--runs 10000] [--idle 10] [--cold]

--cold: another engine, which has never seen the runs, wakes them.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import time
from typing import Any

from bench.engine_hot import NAMESPACE, engine_on, store_of
from perdure.engine import Engine


async def begin(engine: Engine, runs: int, due: int) -> None:
    left = iter(range(runs))

    async def client() -> None:
        for _ in left:
            await engine.start(NAMESPACE, "sleeper", due)

    await asyncio.gather(*(client() for _ in range(200)))


async def lateness(store: Any, due: int) -> list[float]:
    found: list[float] = []
    after = ""
    while heads := await store.runs.walk(after, 1000):
        found += [(head.closed_at - due) / 1e6 for head in heads if head.closed_at is not None]
        after = heads[-1].run
    return sorted(found)


async def measure(kind: str, runs: int, idle: float, cold: bool, tail: list[dict[str, Any]]) -> None:
    script = ("sleeper", [{"do": "sleep"}, *tail])
    async with store_of(kind) as store:
        async with engine_on(store, script) as engine:
            begun = time.perf_counter()
            due = int((time.time() + idle + runs / 1500 + 2) * 1e6)
            await begin(engine, runs, due)
            took = time.perf_counter() - begun
            await asyncio.sleep(1)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{runs} started in {took:.1f} s ({runs / took:.0f}/s); {memory:.0f} MiB at most; asleep …")
            cpu, wall = time.process_time(), time.perf_counter()
            await asyncio.sleep(max(0.5, due / 1e6 - time.time() - 0.5))
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            print(f"asleep for {wall:.1f} s: {cpu / wall * 100:.2f} % of a core")
            if not cold:
                await woken(engine, store, runs, due)
        if cold:
            async with engine_on(store, script) as engine:
                await woken(engine, store, runs, max(due, int(time.time() * 1e6)))


async def woken(engine: Engine, store: Any, runs: int, due: int) -> None:
    cpu = time.process_time()
    while time.time() * 1e6 < due or engine.runtime.roster.owned or (await store.ownership.next_wake()) is not None:  # noqa: ASYNC110
        await asyncio.sleep(0.25)
    late = await lateness(store, due)
    assert len(late) == runs, len(late)
    p50, p99 = late[len(late) // 2], late[int(len(late) * 0.99)]
    print(
        f"woke {runs}: p50 {p50:.2f} s, p99 {p99:.2f} s, last {late[-1]:.2f} s after they were due;"
        f" {(time.process_time() - cpu) / runs * 1e6:.0f} µs CPU each"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("store", nargs="?", default="sqlite")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--idle", type=float, default=5)
    parser.add_argument("--steps", type=int, default=0, help="steps after waking")
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    tail = [{"do": "step", "type": "pass"}] * options.steps
    asyncio.run(measure(options.store, options.runs, options.idle, options.cold, tail))


if __name__ == "__main__":
    main()
