"""Sending and parking exclude each other, between processes too."""

from __future__ import annotations

import asyncio

import pytest

from perdure.model.statuses import Status
from perdure.ports.inbox import Sent
from perdure.ports.journal import Verdict
from perdure.stores.postgres import PostgresStore
from tests.stores.postgres.conftest import OpenStore
from tests.stores.postgres.making import SECOND, committed, sleeper, turn

HOUR = 3600 * SECOND


@pytest.fixture
def postgres_url(migrated_url: str) -> str:
    """One that other tests use after us."""
    return migrated_url


class Worker:
    """Claims what is due, consumes its inbox, parks it, as eagerly as it can, so that it meets senders all the time."""

    def __init__(self, store: PostgresStore, name: str) -> None:
        self.store = store
        self.name = name
        self.consumed: list[tuple[str, str]] = []
        self.moved = 0

    async def work(self, until: int) -> None:
        await self.store.ownership.renew(self.name, HOUR)
        while len(self.consumed) < until:
            for claimed in await self.store.ownership.claim(self.name, 5):
                await self.serve(claimed.head.run, claimed.head.seq, claimed.head.epoch)

    async def serve(self, run: str, seq: int, epoch: int) -> None:
        while True:
            received = await self.store.inbox.receive(self.name, [run])
            park = turn(
                run,
                seq,
                epoch=epoch,
                owner=None,
                status=Status.WAITING,
                inbox_seen=received.inbox_seqs[run],
                consumed=[each.id for each in received.waiting],
            )
            outcome = await self.store.journal.commit(park)
            if outcome.verdict is Verdict.COMMITTED:
                self.consumed += [(run, each.request_id) for each in received.waiting]
                return
            assert outcome.verdict is Verdict.INBOX_MOVED
            self.moved += 1


async def test_no_command_falls_between(open_store: OpenStore) -> None:
    stores = [await open_store(), await open_store()]
    runs = [f"run-{number}" for number in range(4)]
    await committed(stores[0], *(sleeper(run, 1) for run in runs))
    requests = [(run, f"{place}/{number}") for place in (0, 1) for number in range(60) for run in runs]

    async def send(place: int) -> None:
        for run, request in requests:
            if request.startswith(f"{place}/"):
                assert await stores[place].inbox.send("default", run, b"{}", request) is Sent.ACCEPTED

    worker = Worker(stores[1], "worker-b")
    async with asyncio.timeout(60):
        await asyncio.gather(send(0), send(1), worker.work(len(requests)))

    assert sorted(worker.consumed) == sorted(requests)
    assert (await stores[0].inbox.receive("worker-b", runs)).waiting == []
    for run in runs:
        order = [request for served, request in worker.consumed if served == run]
        for place in (0, 1):
            mine = [request for request in order if request.startswith(f"{place}/")]
            assert mine == [f"{place}/{number}" for number in range(60)]


async def test_a_run_that_closes_answers_every_sender(open_store: OpenStore) -> None:
    """Either the command is there when the run closes, and closing is refused, or the sender is told."""
    stores = [await open_store(), await open_store()]
    for attempt in range(20):
        run = f"run-{attempt}"
        await committed(stores[0], sleeper(run, HOUR))
        close = turn(run, 1, status=Status.COMPLETED)
        sent, outcome = await asyncio.gather(
            stores[1].inbox.send("default", run, b"{}", "a"), stores[0].journal.commit(close)
        )
        waiting = (await stores[0].inbox.receive("w", [run])).waiting
        if sent is Sent.ACCEPTED:
            assert outcome.verdict is Verdict.INBOX_MOVED
            assert len(waiting) == 1
        else:
            assert (sent, outcome.verdict, len(waiting)) == (Sent.CLOSED, Verdict.COMMITTED, 0)
