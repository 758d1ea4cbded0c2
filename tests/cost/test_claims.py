"""I10: what is due is found by the index, however many runs sleep beside it."""

from __future__ import annotations

import asyncio
import time

import pytest

from perdure.assembly import open_store
from perdure.ports.store import Store
from tests.stores.postgres.making import SECOND, sleeper

SLEEPERS = 100_000
DUE = 300
BATCH = 100
WORKER = "worker-a"
TOMORROW = 86_400 * SECOND


@pytest.mark.serial
@pytest.mark.slow
async def test_a_claim_takes_less_than_20_ms_among_100000_sleepers(url: str) -> None:
    store = open_store(url)
    await store.open()
    try:
        now = time.time_ns() // 1000
        await store.ownership.renew(WORKER, TOMORROW)
        for first in range(0, SLEEPERS, 5_000):
            runs = range(first, first + 5_000)
            commits = [store.journal.commit(sleeper(f"run-{run:06}", now + TOMORROW + run)) for run in runs]
            await asyncio.gather(*commits)
        due = [store.journal.commit(sleeper(f"due-{run:06}", now - run)) for run in range(DUE)]
        await asyncio.gather(*due)
        times = [await seconds_of_a_claim(store) for _ in range(DUE // BATCH)]
        assert min(times) < 0.020, times
        begun = time.perf_counter()
        wake_at = await store.ownership.next_wake()
        assert time.perf_counter() - begun < 0.020
        assert wake_at is not None
        assert wake_at >= now + TOMORROW
    finally:
        await store.close()


async def seconds_of_a_claim(store: Store) -> float:
    begun = time.perf_counter()
    claimed = await store.ownership.claim(WORKER, BATCH)
    took = time.perf_counter() - begun
    assert len(claimed) == BATCH
    assert all(each.head.run.startswith("due-") for each in claimed)
    return took
