"""The server goes away and comes back. A cluster of its own, because everybody else shares theirs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from perdure.errors import PerdureError
from perdure.ports.journal import Verdict
from perdure.stores.postgres import PostgresStore
from tests.fixtures.moments import moment
from tests.fixtures.postgres import Cluster, pg_ctl, start_cluster
from tests.stores.postgres.making import SECOND, committed, start, turn

HOUR = 3600 * SECOND


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with start_cluster() as cluster:
        yield cluster


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_after_a_restart_everything_goes_on_and_nothing_acknowledged_is_lost(cluster: Cluster, mode: str) -> None:
    store = PostgresStore(cluster.create_database(), deadline=3.0)
    await store.open()
    acknowledged: dict[str, int] = {}
    unknown: dict[str, str] = {}
    failures: list[PerdureError] = []
    longest = [0.0]
    ended = False

    async def work(run: str) -> None:
        """A worker that does as the port says: after an unknown commit it reads before it decides."""
        await committed(store, start(run))
        acknowledged[run] = 1
        while not ended:
            seq = acknowledged[run]
            write = turn(run, seq)
            try:
                outcome = await store.journal.commit(write)
                assert outcome.verdict is Verdict.COMMITTED
                acknowledged[run] = write.seq
            except PerdureError as problem:
                failures.append(problem)
                acknowledged[run] = await reread(run, write.turn_id, seq)
            await asyncio.sleep(0)

    async def reread(run: str, turn_id: str, seq: int) -> int:
        while True:
            began = time.monotonic()
            try:
                head = await store.journal.head(run)
            except PerdureError as problem:
                failures.append(problem)
                longest.append(time.monotonic() - began)
                await moment(0.02)
                continue
            assert head is not None
            assert head.seq in (seq, seq + 1)
            assert (head.seq == seq + 1) == (head.turn_id == turn_id)
            if head.seq == seq + 1:
                unknown[turn_id] = run
            return head.seq

    working = [asyncio.ensure_future(work(f"run-{number}")) for number in range(40)]
    await moment(0.3)
    links_made = store.hints.links_made
    await asyncio.to_thread(cluster.restart, mode)
    back = time.monotonic()
    before = dict(acknowledged)
    for _ in range(500):
        if all(acknowledged[run] > before[run] for run in before):
            break
        await moment(0.02)
    assert time.monotonic() - back < 5
    assert failures
    assert all(problem.retryable for problem in failures)
    assert max(longest) < 4
    assert await store.ownership.renew("worker-a", HOUR)
    ended = True
    await asyncio.gather(*working)

    for run, seq in acknowledged.items():
        rows = await store.journal.history(run, limit=100_000)
        assert [row.seq for row in rows] == list(range(1, seq + 1))
    for _ in range(200):
        if store.hints.links_made > links_made:
            break
        await moment(0.02)
    assert store.hints.links_made > links_made
    await store.close()


@pytest.mark.slow
@pytest.mark.postgres
async def test_while_the_server_is_away_calls_fail_within_their_deadline(cluster: Cluster) -> None:
    store = PostgresStore(cluster.create_database(), deadline=2.0)
    await store.open()
    await committed(store, start("run-1"))
    await asyncio.to_thread(pg_ctl, cluster, "stop", "-m", "fast")
    try:
        for _ in range(3):
            began = time.monotonic()
            results = await asyncio.gather(
                store.journal.commit(turn("run-1", 1)),
                store.journal.head("run-1"),
                store.inbox.send("default", "run-1", b"{}", "a"),
                store.ownership.renew("worker-a", HOUR),
                store.ownership.claim("worker-a", 1),
                return_exceptions=True,
            )
            assert time.monotonic() - began < 2.5
            for result in results:
                assert isinstance(result, PerdureError)
                assert result.retryable
    finally:
        options = f"-c max_connections=200 -k {cluster.home} -h ''"
        await asyncio.to_thread(pg_ctl, cluster, "start", "-l", f"{cluster.home}/server.log", "-o", options)
    await committed(store, turn("run-1", 1))
    assert await store.ownership.renew("worker-a", HOUR)
    await store.close()
