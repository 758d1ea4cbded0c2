"""The network and the server misbehave: every call ends in time, and afterwards the head tells what is true."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from perdure.errors import CommitUnknown, PerdureError, StoreUnavailable
from perdure.ports.journal import Verdict
from perdure.stores.postgres import PostgresStore
from perdure.testing.faultproxy import FaultProxy, Mode
from tests.fixtures.moments import moment, until
from tests.stores.postgres.conftest import OpenStore
from tests.stores.postgres.making import SECOND, commit, committed, server, sleeper, start, turn


@pytest.fixture
def postgres_url(migrated_url: str) -> str:
    """One that other tests use after us."""
    return migrated_url


HOUR = 3600 * SECOND
WAITING_BACKENDS = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


@pytest.fixture
async def store(open_store: OpenStore, proxied_url: str) -> PostgresStore:
    store = await open_store(proxied_url, deadline=1.0, check_hints_every=0.3)
    await committed(store, start("run-1"), start("run-2"))
    return store


async def test_a_commit_whose_answer_is_swallowed_is_unknown_and_was_done(
    store: PostgresStore, proxy: FaultProxy
) -> None:
    lost = turn("run-1", 1)
    proxy.answers.mode = Mode.HALF_OPEN
    began = time.monotonic()
    with pytest.raises(CommitUnknown):
        await store.journal.commit(lost)
    assert time.monotonic() - began < 2.0
    proxy.answers.mode = Mode.PASS

    head = await store.journal.head("run-1")
    assert head is not None
    assert head.turn_id == lost.turn_id
    assert await commit(store, turn("run-1", 2)) == [Verdict.COMMITTED]


async def test_a_commit_that_never_arrives_is_unknown_and_was_not_done(store: PostgresStore, proxy: FaultProxy) -> None:
    lost = turn("run-1", 1)
    proxy.requests.mode = Mode.HALF_OPEN
    with pytest.raises(CommitUnknown):
        await store.journal.commit(lost)
    proxy.requests.mode = Mode.PASS

    head = await store.journal.head("run-1")
    assert head is not None
    assert head.seq == 1
    assert await commit(store, lost) == [Verdict.COMMITTED]


async def test_cut_anywhere_the_head_tells_the_truth(
    open_store: OpenStore, proxied_url: str, proxy: FaultProxy
) -> None:
    store = await open_store(proxied_url, deadline=1.0, committers=1, check_hints_every=60)
    await committed(store, start("run-1"))
    seq, unknown, done = 1, 0, 0
    for direction in ("requests", "answers"):
        for after in (*range(0, 40, 3), 200, 900, 2000):
            await committed(store, turn("run-1", seq))  # so that the connection is there
            seq += 1
            fault = getattr(proxy, direction)
            fault.cut_after = fault.passed + after
            write = turn("run-1", seq)
            try:
                verdict = (await store.journal.commit(write)).verdict
            except CommitUnknown:
                unknown += 1
                verdict = None
            except StoreUnavailable:
                verdict = None  # could not even be sent
            fault.cut_after = None
            proxy.both(Mode.PASS)
            head = await read_head(store, "run-1")
            assert head.seq in (seq, seq + 1)
            assert (head.seq == seq + 1) == (head.turn_id == write.turn_id)
            if verdict is not None:
                assert verdict is Verdict.COMMITTED
                assert head.turn_id == write.turn_id
            done += head.seq - seq
            seq = head.seq
    assert unknown > 20
    assert 5 < done < unknown


async def read_head(store: PostgresStore, run: str) -> Any:
    for _ in range(20):
        try:
            return await store.journal.head(run)
        except StoreUnavailable:
            await moment(0.01)  # what was cut may have been this connection, too
    raise AssertionError("the store did not come back")


async def is_somebody_waiting(other: Any) -> bool:
    return bool(await other.fetch(WAITING_BACKENDS))


async def test_a_backend_that_is_killed_while_it_commits(
    open_store: OpenStore, postgres_url: str, store: PostgresStore
) -> None:
    lost = turn("run-1", 1)
    async with server(postgres_url) as other, other.transaction():
        await other.fetch("SELECT 1 FROM runs WHERE id = 'run-1' FOR UPDATE")
        waiting = asyncio.ensure_future(store.journal.commit(lost))
        await until(lambda: is_somebody_waiting(other))
        killed = await other.fetch(f"SELECT pg_terminate_backend(pid) FROM ({WAITING_BACKENDS}) AS them")
        assert len(killed) == 1
        with pytest.raises(CommitUnknown):
            await waiting
    head = await read_head(store, "run-1")
    assert head.seq == 1
    assert await commit(store, lost) == [Verdict.COMMITTED]


async def test_backends_killed_while_idle_are_replaced_without_anybody_noticing(
    store: PostgresStore, postgres_url: str
) -> None:
    links_made = store.hints.links_made
    async with server(postgres_url) as other:
        await other.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    await moment(0.1)
    await committed(store, turn("run-1", 1))
    assert (await read_head(store, "run-1")).seq == 2
    assert await store.ownership.renew("worker-a", HOUR)
    for _ in range(200):
        if store.hints.links_made > links_made:
            return
        await moment(0.02)
    raise AssertionError("nobody listens any more")


@pytest.mark.parametrize("what", ["requests", "answers"])
async def test_on_a_half_open_link_every_call_ends_by_its_deadline(
    store: PostgresStore, proxy: FaultProxy, what: str
) -> None:
    await store.ownership.renew("worker-a", HOUR)
    getattr(proxy, what).mode = Mode.HALF_OPEN
    calls = [
        store.journal.head("run-1"),
        store.journal.load("run-1"),
        store.journal.history("run-1"),
        store.inbox.send("default", "run-1", b"{}", "a"),
        store.inbox.receive("worker-a"),
        store.ownership.renew("worker-a", HOUR),
        store.ownership.claim("worker-a", 10),
        store.ownership.next_wake(),
        store.definitions.active("default", "d"),
        store.blobs.info("default", "h"),
        store.outbox.take("worker-a", 1, 1),
        store.runs.walk(),
        store.journal.commit(turn("run-1", 1)),
    ]
    began = time.monotonic()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert time.monotonic() - began < 4  # thirteen calls, four connections, one second each
    for result in results:
        assert isinstance(result, PerdureError)
        assert result.retryable
    proxy.both(Mode.PASS)
    assert await read_head(store, "run-1") is not None
    assert await store.ownership.renew("worker-a", HOUR)


async def test_latency_is_borne(store: PostgresStore, proxy: FaultProxy) -> None:
    proxy.answers.latency = 0.2
    await committed(store, turn("run-1", 1), turn("run-2", 1))


async def test_a_server_that_cannot_be_reached_is_said_at_once(store: PostgresStore, proxy: FaultProxy) -> None:
    proxy.both(Mode.RESET)
    proxy.reset()
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable):
        await store.journal.head("run-1")
    with pytest.raises(PerdureError) as caught:
        await store.journal.commit(turn("run-1", 1))
    assert caught.value.retryable


async def test_a_claim_whose_answer_was_lost_is_found_again(store: PostgresStore, proxy: FaultProxy) -> None:
    """Otherwise its runs would belong to a worker that does not know of them and renews its lease for ever."""
    await store.ownership.renew("worker-a", HOUR)
    await store.ownership.renew("worker-b", HOUR)
    assert not await store.ownership.claim("worker-a", 3)  # prepares the statement
    await committed(store, *(sleeper(f"due-{number}", 1) for number in range(5)))
    proxy.answers.mode = Mode.HALF_OPEN
    with pytest.raises(StoreUnavailable):
        await store.ownership.claim("worker-a", 3)
    proxy.answers.mode = Mode.PASS

    head = await read_head(store, "due-0")
    assert (head.owner, head.epoch) == ("worker-a", 2)
    assert len(await store.ownership.claim("worker-b", 1)) == 1
    found = await store.ownership.claim("worker-a", 10)
    assert sorted(one.head.run for one in found) == [
        f"due-{number}" for number in range(5) if (await read_head(store, f"due-{number}")).owner == "worker-a"
    ]
    assert len(found) == 4
    assert {one.head.epoch for one in found} == {2}
    assert not await store.ownership.claim("worker-a", 10)


async def test_an_acquisition_whose_answer_was_lost_can_be_repeated(store: PostgresStore, proxy: FaultProxy) -> None:
    await store.ownership.renew("worker-a", HOUR)
    await committed(store, sleeper("due", 1), sleeper("other", 1))
    assert await store.ownership.acquire("worker-a", "other") is not None
    assert await store.ownership.acquire("worker-a", "other") is None
    proxy.answers.mode = Mode.HALF_OPEN
    with pytest.raises(StoreUnavailable):
        await store.ownership.acquire("worker-a", "due")
    proxy.answers.mode = Mode.PASS
    claimed = await store.ownership.acquire("worker-a", "due")
    assert claimed is not None
    assert (claimed.head.epoch, claimed.died) == (3, False)
    assert not await store.ownership.claim("worker-a", 10)


async def test_a_cancelled_caller_does_not_spoil_the_connection(store: PostgresStore, postgres_url: str) -> None:
    async with server(postgres_url) as other:
        backends = "SELECT array_agg(pid) FROM pg_stat_activity WHERE datname = current_database()"
        await store.journal.head("run-1")
        before = await other.fetchval(backends)
        for _ in range(20):
            call = asyncio.ensure_future(store.journal.head("run-1"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert await store.journal.head("run-1") is not None
        after = await other.fetchval(backends)
        assert set(before) <= set(after)
        assert len(after) < len(before) + 4
