"""A process of its own for W7: start, one result, then nothing for some seconds."""

from __future__ import annotations

import asyncio
import sys
import time

BEGUN = time.perf_counter()

from bench.cells import Bench  # noqa: E402  (the clock runs before the imports)
from bench.documents import chain  # noqa: E402
from bench.gauges import cpu_seconds, pss_mb  # noqa: E402


async def main(url: str, seconds: float) -> None:
    async with Bench(url, short=True) as bench:
        await bench.finish(chain(1))
        first = time.perf_counter() - BEGUN
        await asyncio.sleep(1)
        before = cpu_seconds()
        await asyncio.sleep(seconds)
        sys.stdout.write(f"{first:.3f} {pss_mb():.1f} {100 * (cpu_seconds() - before) / seconds:.2f}\n")


asyncio.run(main(sys.argv[1], float(sys.argv[2])))
