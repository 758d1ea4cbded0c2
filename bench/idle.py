"""A process of its own for W7: start, one result, then nothing for three seconds."""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from pathlib import Path

BEGUN = time.perf_counter()

from bench.cells import Bench  # noqa: E402  (the clock runs before the imports)
from bench.documents import chain  # noqa: E402


def pss_mb() -> float:
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def main(url: str) -> None:
    async with Bench(url, short=True) as bench:
        await bench.finish(chain(1))
        first = time.perf_counter() - BEGUN
        await asyncio.sleep(1)
        before = cpu()
        await asyncio.sleep(3)
        sys.stdout.write(f"{first:.3f} {pss_mb():.1f} {100 * (cpu() - before) / 3:.2f}\n")


asyncio.run(main(sys.argv[1]))
