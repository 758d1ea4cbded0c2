"""The cells: the same work that the peers are measured with."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.documents import chain, fan, sleeper, waiter
from bench.gauges import cpu_seconds, percentile
from perdure import Perdure, Run


async def noop(ctx: Any) -> None:
    return None


async def late(due: float) -> float:
    return time.time() - due


class Bench:
    """One application, and the definitions that the cells need."""

    def __init__(self, url: str, short: bool) -> None:
        self.url = url
        self.short = short
        self.app = Perdure.open(url)
        self.app.register(noop, late)
        self._known: set[str] = set()

    async def __aenter__(self) -> Self:
        await self.app.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.app.__aexit__(kind, problem, trace)

    async def know(self, document: dict[str, Any]) -> str:
        name: str = document["id"]
        if name not in self._known:
            await self.app.deploy(document)
            self._known.add(name)
        return name

    async def start(self, document: dict[str, Any], input: Any = None) -> Run:
        return await self.app.start(await self.know(document), input, key=uuid.uuid4().hex)

    async def finish(self, document: dict[str, Any], input: Any = None) -> Any:
        return await (await self.start(document, input)).result()


async def closed_loop(call: Callable[[], Awaitable[Any]], lanes: int, seconds: float) -> int:
    """Calls as fast as they come back, `lanes` at a time."""
    end, done = time.perf_counter() + seconds, 0

    async def lane() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await call()
            done += 1

    await asyncio.gather(*[lane() for _ in range(lanes)])
    return done


async def w1(bench: Bench) -> dict[str, float]:
    """Throughput: five durable steps, one after another, many runs at once."""
    document = chain(5)
    await closed_loop(lambda: bench.finish(document), 256, 1)
    cpu, begun = cpu_seconds(), time.perf_counter()
    done = await closed_loop(lambda: bench.finish(document), 256, 3 if bench.short else 10)
    took, cpu = time.perf_counter() - begun, cpu_seconds() - cpu
    return {"runs_per_s": done / took, "turns_per_s": 6 * done / took, "cpu_ms_per_run": 1000 * cpu / done}


async def w2(bench: Bench) -> dict[str, float]:
    """Latency: one step, one run at a time."""
    document, times = chain(1), []
    for _ in range(100 if bench.short else 300):
        begun = time.perf_counter()
        await bench.finish(document)
        times.append(1000 * (time.perf_counter() - begun))
    return {"p50_ms": percentile(times, 0.5), "p99_ms": percentile(times, 0.99)}


async def w3(bench: Bench) -> dict[str, float]:
    """Cost per step of long runs: must not grow with the history."""
    found = {}
    for length in (100, 500, 2000):
        await bench.know(chain(length))
        begun = time.perf_counter()
        await bench.finish(chain(length))
        found[f"ms_per_step_{length}"] = 1000 * (time.perf_counter() - begun) / length
    return found


async def w4(bench: Bench) -> dict[str, float]:
    """Fan-out inside one run."""
    found = {}
    for width in (200, 1000):
        await bench.know(fan(width))
        begun = time.perf_counter()
        await bench.finish(fan(width))
        found[f"total_s_{width}"] = time.perf_counter() - begun
    return found


async def w5(bench: Bench) -> dict[str, float]:
    """Lateness of durable sleeps, 200 a second."""
    count, lead = (200, 2) if bench.short else (800, 4)
    begun = time.time()
    runs = []
    for number in range(count):
        due = begun + lead + number / 200
        moment = datetime.fromtimestamp(due, UTC).isoformat()
        runs.append(asyncio.ensure_future(bench.start(sleeper(), {"due": moment, "due_seconds": due})))
    lateness = await asyncio.gather(*[(await run).result() for run in runs])
    times = [1000 * value for value in lateness]
    return {"late_p50_ms": percentile(times, 0.5), "late_p99_ms": percentile(times, 0.99)}


async def w6(bench: Bench) -> dict[str, float]:
    """Signal to result."""
    times = []
    for _ in range(50 if bench.short else 100):
        run = await bench.start(waiter())
        await asyncio.sleep(0.02)
        begun = time.perf_counter()
        await run.signal("go", "x")
        await run.result()
        times.append(1000 * (time.perf_counter() - begun))
    return {"p50_ms": percentile(times, 0.5), "p99_ms": percentile(times, 0.99)}


async def w7(bench: Bench) -> dict[str, float]:
    """A new process: how long until its first result, and what it costs idle."""
    url = bench.url + ".w7" if bench.url.startswith("sqlite") else bench.url
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.idle",
        url,
        "1" if bench.short else "3",
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent.parent,
    )
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode().split()
    await process.wait()
    return {"first_result_s": float(line[0]), "idle_pss_mb": float(line[1]), "idle_cpu_percent": float(line[2])}


CELLS: dict[str, Callable[[Bench], Awaitable[dict[str, float]]]] = {
    "W1": w1,
    "W2": w2,
    "W3": w3,
    "W4": w4,
    "W5": w5,
    "W6": w6,
    "W7": w7,
}
