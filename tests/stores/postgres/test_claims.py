"""Leases and claims by several processes, on the database's clock."""

from __future__ import annotations

import asyncio
import time

import pytest

from perdure.model.statuses import Status
from perdure.ports.journal import Verdict
from perdure.stores.postgres import PostgresStore
from perdure.stores.postgres.ownership import _SQL
from tests.fixtures.moments import moment
from tests.stores.postgres.conftest import OpenStore
from tests.stores.postgres.making import SECOND, ManualClock, commit, committed, server, sleeper, start, turn


@pytest.fixture
def postgres_url(migrated_url: str) -> str:
    """One that other tests use after us."""
    return migrated_url


HOUR = 3600 * SECOND


async def test_processes_that_claim_together_share_the_runs(open_store: OpenStore) -> None:
    stores = [await open_store() for _ in range(3)]
    runs = [f"run-{number:03}" for number in range(400)]
    await committed(stores[0], *(sleeper(run, number) for number, run in enumerate(runs)))
    claimed: list[tuple[str, int]] = []

    async def claim(store: PostgresStore, worker: str) -> None:
        assert await store.ownership.renew(worker, HOUR)
        while found := await store.ownership.claim(worker, 7):
            assert [one.head.wake_at for one in found] == sorted(one.head.wake_at or 0 for one in found)
            assert {one.head.owner for one in found} == {worker}
            assert not any(one.died for one in found)
            claimed.extend((one.head.run, one.head.epoch) for one in found)

    await asyncio.gather(*(claim(store, f"worker-{number}") for number, store in enumerate(stores)))

    assert sorted(claimed) == [(run, 2) for run in runs]


async def test_runs_of_a_dead_worker_are_taken_once(open_store: OpenStore) -> None:
    clock = ManualClock()
    stores = [await open_store(clock=clock) for _ in range(2)]
    assert await stores[0].ownership.renew("worker-a", SECOND)
    await committed(stores[0], *(start(f"run-{number:02}") for number in range(50)))
    await committed(stores[0], turn("run-00", 1, status=Status.COMPLETED))
    for worker in ("worker-b", "worker-c"):
        assert await stores[1].ownership.renew(worker, HOUR)
    assert not await stores[1].ownership.claim("worker-b", 100)

    clock.time += SECOND
    found = await asyncio.gather(
        *(store.ownership.claim(worker, 100) for store, worker in zip(stores, ("worker-b", "worker-c"), strict=True))
    )

    taken = [one for each in found for one in each]
    assert sorted(one.head.run for one in taken) == [f"run-{number:02}" for number in range(1, 50)]
    assert all(one.died for one in taken)
    assert not await stores[0].ownership.renew("worker-a", SECOND)
    assert await commit(stores[0], turn("run-01", 1)) == [Verdict.FENCED]


async def test_runs_of_an_owner_without_any_lease_are_found(store: PostgresStore) -> None:
    await store.ownership.renew("worker-b", HOUR)
    await committed(store, start("run-1", owner="nobody-knows"))
    (claimed,) = await store.ownership.claim("worker-b", 10)
    assert (claimed.head.run, claimed.died) == ("run-1", True)


async def test_whoever_has_no_lease_claims_nothing(store: PostgresStore) -> None:
    await committed(store, sleeper("run-1", 1))
    assert not await store.ownership.claim("worker-a", 10)
    assert await store.ownership.acquire("worker-a", "run-1") is None


async def test_acquiring_is_exclusive(open_store: OpenStore) -> None:
    stores = [await open_store(), await open_store()]
    await committed(stores[0], *(sleeper(f"run-{number}", 1) for number in range(20)))
    for number, store in enumerate(stores):
        await store.ownership.renew(f"worker-{number}", HOUR)
    for run in range(20):
        found = await asyncio.gather(
            *(store.ownership.acquire(f"worker-{number}", f"run-{run}") for number, store in enumerate(stores))
        )
        assert sum(one is not None for one in found) == 1


async def test_times_are_the_databases(store: PostgresStore) -> None:
    assert abs(await store.ownership.now() - time.time_ns() // 1000) < 5 * SECOND
    await store.ownership.renew("worker-a", HOUR)
    await committed(store, sleeper("past", await store.ownership.now() - 1))
    await committed(store, sleeper("future", await store.ownership.now() + HOUR))
    assert [one.head.run for one in await store.ownership.claim("worker-a", 10)] == ["past"]


async def test_the_databases_clock_can_be_set_for_tests(store: PostgresStore, postgres_url: str) -> None:
    async with server(postgres_url) as other:
        assert abs(await other.fetchval("SELECT perdure_now()") - time.time_ns() // 1000) < 5 * SECOND
        await other.execute("SET perdure.clock_skew = '3600000000'")
        assert await other.fetchval("SELECT perdure_now()") > time.time_ns() // 1000 + HOUR - 5 * SECOND
        await other.execute("SET perdure.clock_now = '42'")
        assert await other.fetchval("SELECT perdure_now()") == 42


async def test_a_renewal_does_not_wait_for_a_busy_pool(open_store: OpenStore, postgres_url: str) -> None:
    store = await open_store(pool_size=1)
    await committed(store, start("run-1"), sleeper("run-2", 1))
    await store.ownership.renew("worker-a", HOUR)
    async with server(postgres_url) as other, other.transaction():
        await other.fetch("SELECT 1 FROM runs FOR UPDATE")
        busy = [asyncio.ensure_future(store.inbox.send("default", "run-1", b"{}", f"{number}")) for number in range(3)]
        await moment(0.1)
        began = time.monotonic()
        assert await store.ownership.renew("worker-a", HOUR)
        assert time.monotonic() - began < 1
    await asyncio.gather(*busy)


async def test_leaving_hands_over_many_runs(store: PostgresStore) -> None:
    await store.ownership.renew("worker-a", HOUR)
    await store.ownership.renew("worker-b", HOUR)
    await committed(store, *(start(f"run-{number:04}") for number in range(1200)))
    await committed(store, turn("run-0000", 1, status=Status.COMPLETED))
    await store.ownership.leave("worker-a")
    taken = await store.ownership.claim("worker-b", 2000)
    assert len(taken) == 1199
    assert not any(one.died for one in taken)


async def test_workers_long_gone_are_forgotten(open_store: OpenStore, postgres_url: str) -> None:
    clock = ManualClock()
    store = await open_store(clock=clock)
    await store.ownership.renew("worker-a", SECOND)
    clock.time += 6 * 24 * HOUR
    await store.ownership.forget()
    assert not await store.ownership.renew("worker-a", SECOND)
    clock.time += 2 * 24 * HOUR
    await store.ownership.forget()
    async with server(postgres_url) as other:
        assert await other.fetchval("SELECT count(*) FROM workers") == 0


async def test_claims_and_wakes_use_their_indexes(store: PostgresStore, postgres_url: str) -> None:
    async with server(postgres_url) as other:
        await other.execute(
            """
            INSERT INTO runs (seq, updated_at, epoch, turn_id, status, wake_at, due_at, id, namespace, definition,
                              version, hash, program, created_at, trigger)
            SELECT 1, 1, 1, 't', 'SLEEPING', n, n, 'run-' || n, 'default', 'd', 1, 'h', 'flow', 1, 'api'
            FROM generate_series(1, 20000) n
            """
        )
        await other.execute("ANALYZE runs")
        await store.ownership.renew("worker-a", HOUR)
        rows = await other.fetch(f"EXPLAIN (ANALYZE, BUFFERS) {_SQL['claim']}", "worker-a", 100, None, "token")
        plan = "\n".join(row[0] for row in rows)
        assert "using runs_due" in plan
        assert "runs_owner" in plan
        assert "Seq Scan on runs" not in plan
        rows = await other.fetch(f"EXPLAIN {_SQL['next_wake']}")
        assert "using runs_due" in "\n".join(row[0] for row in rows)


async def test_versions_that_are_declined_are_stepped_over_by_their_index(
    store: PostgresStore, postgres_url: str
) -> None:
    async with server(postgres_url) as other:
        await other.execute(
            """
            INSERT INTO runs (seq, updated_at, epoch, turn_id, status, wake_at, due_at, id, namespace, definition,
                              version, hash, program, created_at, trigger)
            SELECT 1, 1, 1, 't', 'SLEEPING', n, n, 'run-' || n, 'default',
                   CASE WHEN n > 19900 THEN 'd' || n % 10 ELSE 'declined' END, 1, 'h', 'flow', 1, 'api'
            FROM generate_series(1, 20000) n
            """
        )
        await other.execute("ANALYZE runs")
        await store.ownership.renew("worker-a", HOUR)
        declined = (["default"], ["declined"], [1])
        arguments = ("worker-a", 100, None, "token", *declined)
        rows = await other.fetch(f"EXPLAIN (ANALYZE, BUFFERS) {_SQL['claim_others']}", *arguments)
        plan = "\n".join(row[0] for row in rows)
        assert "runs_due_of" in plan
        assert "runs_owner" in plan
        assert "Seq Scan on runs" not in plan
        assert await other.fetchval("SELECT count(*) FROM runs WHERE owner = 'worker-a'") == 100
        rows = await other.fetch(f"EXPLAIN (ANALYZE) {_SQL['next_wake_of_others']}", *declined)
        plan = "\n".join(row[0] for row in rows)
        assert "runs_due_of" in plan
        assert "Seq Scan on runs" not in plan
