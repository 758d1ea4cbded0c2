"""I10: what is due is found by the index, however many runs sleep beside it, or are due and left to others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from perdure.assembly import open_store
from perdure.ports.ownership import VersionKey
from perdure.ports.store import Store
from perdure.testing.contracts.subject import new_run
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


async def seconds_of_a_claim(store: Store, declined: Sequence[VersionKey] = ()) -> float:
    begun = time.perf_counter()
    claimed = await store.ownership.claim(WORKER, BATCH, declined)
    took = time.perf_counter() - begun
    assert len(claimed) == BATCH
    assert all(each.head.run.startswith("due-") for each in claimed)
    return took


@pytest.mark.serial
@pytest.mark.slow
async def test_a_claim_takes_less_than_20_ms_behind_100000_runs_that_are_due_and_declined(url: str) -> None:
    store = open_store(url)
    await store.open()
    try:
        now = time.time_ns() // 1000
        await store.ownership.renew(WORKER, TOMORROW)
        for first in range(0, SLEEPERS, 5_000):
            runs = range(first, first + 5_000)
            commits = [store.journal.commit(sleeper(f"run-{run:06}", now - TOMORROW + run)) for run in runs]
            await asyncio.gather(*commits)
        others = [new_run(definition=f"other-{number % 10}") for number in range(DUE)]
        due = [store.journal.commit(sleeper(f"due-{n:06}", now - n, new=new)) for n, new in enumerate(others)]
        await asyncio.gather(*due)
        declined = [("default", "d", 1), *(("default", f"unheard-of-{number}", 1) for number in range(100))]
        times = [await seconds_of_a_claim(store, declined) for _ in range(DUE // BATCH)]
        assert min(times) < 0.020, times
        begun = time.perf_counter()
        assert await store.ownership.next_wake(declined) is None
        assert time.perf_counter() - begun < 0.020
    finally:
        await store.close()
