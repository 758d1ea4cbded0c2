"""The measures. Each opens an application of its own, so a fresh process measures nothing but its subject."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

from bench.documents import chain, loop_of, pipe, sleeping
from bench.gauges import cpu_seconds, forget_peak, peak_rss_mb, percentile, pss_mb, rss_mb
from perdure import Perdure
from perdure.model.policies import Limits

Found: TypeAlias = dict[str, float]
PART = 64 * 1024
LARGE = Limits(activations=10**9, iterations=10**9, active_time=10**15, data=10**12, accumulator=10**12)


async def noop(ctx: Any) -> None:
    return None


async def _lanes(count: int, call: Callable[[int], Awaitable[Any]], at_once: int = 256) -> None:
    """Calls numbered from zero, so many at a time."""
    left = iter(range(count))

    async def lane() -> None:
        for number in left:
            await call(number)

    await asyncio.gather(*[lane() for _ in range(at_once)])


async def chains(url: str, short: int = 80, long: int = 8000) -> Found:
    """CPU of one long chain against that of a short one. Start-up (compiling, starting, ending) is not counted."""
    app = Perdure.open(url)
    app.register(noop)

    async def cost(length: int, times: int) -> float:
        before = cpu_seconds()
        for _ in range(times):
            await (await app.start(f"chain-{length}", limits=LARGE)).result()
        return (cpu_seconds() - before) / times

    async with app:
        for length in (1, short, long):
            await app.deploy(chain(length))
            await app.library.get(app.namespace, f"chain-{length}")
        times = max(1, long // short // 2)
        await cost(short, times)
        startup = await cost(1, 100)
        first, all_of_it, second = await cost(short, times), await cost(long, 1), await cost(short, times)
    ratio = (all_of_it - startup) / ((first + second) / 2 - startup)
    return {"short_ms": 1000 * (first + second) / 2, "long_ms": 1000 * all_of_it, "ratio": ratio, "nodes": long / short}


async def deploy_chain(url: str, nodes: int = 10_000) -> Found:
    """For `chain_memory`, which is about a worker: that is not who deploys."""
    async with Perdure.open(url) as app:
        version = await app.deploy(chain(nodes - 1))  # the start is one
        return {"version": version.version}


async def chain_memory(url: str, nodes: int = 10_000) -> Found:
    """What a long chain takes of a worker's memory: its compiled definition, its state, its log."""
    app = Perdure.open(url)
    app.register(noop)
    async with app:
        await app.deploy(chain(1))
        await (await app.start("chain-1")).result()
        forget_peak()
        before = rss_mb()
        await app.library.get(app.namespace, f"chain-{nodes - 1}")
        compiled = rss_mb()
        await (await app.start(f"chain-{nodes - 1}")).result()
        return {"nodes": nodes, "definition_mb": compiled - before, "growth_mb": peak_rss_mb() - before}


async def sleepers(url: str, count: int = 100_000, seconds: int = 30) -> Found:
    """Runs that sleep: the CPU they cost while they do."""
    app = Perdure.open(url)
    async with app:
        await app.deploy(sleeping())
        moment = datetime.fromtimestamp(time.time() + 86_400, UTC).isoformat()
        begun, before = time.perf_counter(), rss_mb()
        await _lanes(count, lambda _: app.start("sleeping", {"until": moment}))
        took = time.perf_counter() - begun
        await asyncio.sleep(2)  # what starting has left to be done
        cpu, begun = cpu_seconds(), time.perf_counter()
        await asyncio.sleep(seconds)
        cores = (cpu_seconds() - cpu) / (time.perf_counter() - begun)
        asked = time.perf_counter()
        nothing = await app.store.ownership.claim(app.engine.worker, 500)
        claim = time.perf_counter() - asked
        assert not nothing
        return {
            "sleepers": count,
            "starts_per_s": count / took,
            "percent_of_a_core": 100 * cores,
            "claim_ms": 1000 * claim,
            "memory_mb": rss_mb() - before,
        }


async def waking(url: str, count: int = 10_000) -> Found:
    """Runs that are due at the same moment: how long after it they have ended."""
    app = Perdure.open(url)
    async with app:
        await app.deploy(sleeping())
        due = int(time.time() + 4 + count / 1000)
        moment = datetime.fromtimestamp(due, UTC).isoformat()
        runs: list[Any] = []

        async def start(_: int) -> None:
            runs.append(await app.start("sleeping", {"until": moment}))

        await _lanes(count, start)
        ready, cpu = due - time.time(), cpu_seconds()
        await asyncio.gather(*[run.result() for run in runs])
        cpu = cpu_seconds() - cpu
        ended: list[float] = []
        after = ""
        while heads := await app.store.runs.walk(after, 1000):
            ended += [head.closed_at / 1e6 - due for head in heads if head.closed_at is not None]
            after = heads[-1].run
        assert len(ended) == count, len(ended)
        return {
            "runs": count,
            "started_before_s": ready,
            "p50_s": percentile(ended, 0.5),
            "p99_s": percentile(ended, 0.99),
            "last_s": max(ended),
            "cpu_us_per_run": 1e6 * cpu / count,
        }


async def idle(url: str, seconds: int = 3) -> Found:
    """An engine that has done one run and has nothing to do."""
    app = Perdure.open(url)
    app.register(noop)
    async with app:
        await app.deploy(chain(1))
        await (await app.start("chain-1")).result()
        await asyncio.sleep(1)
        cpu = cpu_seconds()
        await asyncio.sleep(seconds)
        return {"pss_mb": pss_mb(), "percent_of_a_core": 100 * (cpu_seconds() - cpu) / seconds}


async def loop(url: str, items: int = 1_000_000) -> Found:
    """A loop of many items that keeps all its results: memory, and the largest pieces in the store."""
    app = Perdure.open(url)
    async with app:
        await app.deploy(loop_of(100))
        await (await app.start("loop-100", limits=LARGE)).result()
        await app.deploy(loop_of(items))
        forget_peak()
        before, cpu, begun = rss_mb(), cpu_seconds(), time.perf_counter()
        run = await app.start(f"loop-{items}", limits=LARGE)
        output = await run.result()
        took, cpu, growth = time.perf_counter() - begun, cpu_seconds() - cpu, peak_rss_mb() - before
        assert output["count"] == items, output
        largest, rows, after = 0, 0, 0
        snapshot = len((await app.store.journal.load(run.id)).snapshot or b"")  # type: ignore[union-attr]
        while page := await app.store.journal.history(run.id, after, 500):
            largest = max(largest, *(len(row.data) for row in page))
            rows, after = rows + len(page), page[-1].seq
        return {
            "items": items,
            "items_per_s": items / took,
            "cpu_us_per_item": 1e6 * cpu / items,
            "growth_mb": growth,
            "largest_row": largest,
            "rows": rows,
            "snapshot": snapshot,
        }


async def payload(url: str, size: int = 1 << 30, steps: int = 5) -> Found:
    """A large payload that goes through several steps as a stream: memory, and the largest row of the log."""
    app = Perdure.open(url)
    digests: list[str] = []

    async def make(ctx: Any) -> dict[str, Any]:
        info = await ctx.blobs.write(_noise(size))
        return {"blob": info.hash, "size": info.size}

    async def turn(ctx: Any) -> dict[str, Any]:
        """Reads all of it and writes as much, but another content: every byte flipped."""
        info = await ctx.blobs.write(_flipped(ctx.blobs.open(ctx.input["blob"])))
        digests.append(info.hash)
        return {"blob": info.hash, "size": info.size}

    app.register(make, turn)
    async with app:
        await app.deploy(pipe(steps))
        await app.deploy(chain(1))
        before = rss_mb()
        run = await app.start(f"pipe-{steps}", limits=LARGE)
        output = await run.result()
        assert output["size"] == size
        assert digests[0] == digests[2] != digests[1], "what is flipped twice is the same again"
        rows = await app.store.journal.history(run.id)
        return {
            "bytes": size,
            "rss_mb": peak_rss_mb(),
            "growth_mb": peak_rss_mb() - before,
            "largest_row": max(len(row.data) for row in rows),
        }


async def _noise(size: int) -> AsyncIterator[bytes]:
    """Bytes that no compression makes smaller."""
    number = 0
    while size > 0:
        block = hashlib.shake_128(number.to_bytes(8, "big")).digest(min(PART, size))
        yield block
        size -= len(block)
        number += 1


_FLIP = bytes(255 - byte for byte in range(256))


async def _flipped(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for part in parts:
        yield part.translate(_FLIP)


MEASURES: dict[str, Callable[..., Awaitable[Found]]] = {
    measure.__name__: measure for measure in (chains, deploy_chain, chain_memory, sleepers, waking, idle, loop, payload)
}
