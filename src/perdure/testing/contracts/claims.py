"""Who gets which run, and when the next one is due."""

from __future__ import annotations

import asyncio

from perdure.model.statuses import Status
from perdure.testing.contracts.subject import (
    BEGIN,
    LEASE,
    ME,
    OTHER,
    SECOND,
    Subject,
    ended,
    parked,
    sleeper,
    start,
    step,
)


class ClaimsContract:
    async def test_a_run_is_claimed_when_it_is_due_and_not_before(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(sleeper("run-1", BEGIN + SECOND))
        assert await subject.claim() == []
        subject.clock.advance(SECOND - 1)
        assert await subject.claim() == []
        subject.clock.advance(1)
        assert await subject.claim() == ["run-1"]

    async def test_a_claim_makes_an_owner_and_a_new_epoch(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(sleeper("run-1", BEGIN))
        (claimed,) = await subject.store.ownership.claim(ME, 10)
        assert (claimed.head.owner, claimed.died) == (ME, False)
        assert claimed.head.epoch > 1
        assert claimed.head == await subject.head("run-1")

    async def test_a_claimed_run_is_not_claimed_again(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(sleeper("run-1", BEGIN))
        assert await subject.claim(ME) == ["run-1"]
        assert await subject.claim(OTHER) == []
        assert await subject.claim(ME) == []

    async def test_claims_come_in_order_of_wake_times_up_to_the_limit(self, subject: Subject) -> None:
        await subject.leased(ME)
        for run, due in (("run-1", 30), ("run-2", 10), ("run-3", 40), ("run-4", 20)):
            await subject.committed(sleeper(run, BEGIN - due))
        assert await subject.claim(limit=3) == ["run-3", "run-1", "run-4"]
        assert await subject.claim(limit=3) == ["run-2"]

    async def test_what_waits_owned_or_closed_is_not_claimed(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(
            sleeper("run-1", None),
            start("run-2", wake_at=BEGIN),
            start("run-3"),
            ended("run-3", 1),
        )
        assert await subject.claim(OTHER) == []

    async def test_a_worker_without_a_lease_gets_nothing(self, subject: Subject) -> None:
        await subject.committed(sleeper("run-1", BEGIN))
        assert await subject.claim(ME) == []
        assert await subject.store.ownership.acquire(ME, "run-1") is None
        await subject.leased(ME)
        subject.clock.advance(LEASE + 1)
        assert await subject.claim(ME) == []
        assert await subject.store.ownership.acquire(ME, "run-1") is None

    async def test_claimers_share_without_overlap(self, subject: Subject) -> None:
        workers = [f"worker-{number}" for number in range(10)]
        await subject.leased(*workers)
        runs = [f"run-{number:04}" for number in range(1000)]
        await subject.committed(*(sleeper(run, BEGIN) for run in runs))

        async def all_there_is(worker: str) -> list[str]:
            taken: list[str] = []
            while bit := await subject.claim(worker, 20):
                taken += bit
            return taken

        shares = await asyncio.gather(*map(all_there_is, workers))

        assert sorted(run for share in shares for run in share) == runs

    async def test_of_many_that_acquire_a_run_one_gets_it(self, subject: Subject) -> None:
        workers = [f"worker-{number}" for number in range(20)]
        await subject.leased(*workers)
        await subject.committed(sleeper("run-1", None))
        answers = await asyncio.gather(*(subject.store.ownership.acquire(worker, "run-1") for worker in workers))
        (claimed,) = [answer for answer in answers if answer is not None]
        assert claimed.head == await subject.head("run-1")

    async def test_an_unowned_run_is_acquired_whether_due_or_not(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(sleeper("run-1", None), sleeper("run-2", BEGIN + SECOND))
        for run in ("run-1", "run-2"):
            claimed = await subject.store.ownership.acquire(ME, run)
            assert claimed is not None
            assert (claimed.head.owner, claimed.died) == (ME, False)
            assert claimed.head.epoch > 1
            assert claimed.head == await subject.head(run)

    async def test_a_closed_run_is_acquired(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"))
        await subject.committed(ended("run-1", 1, status=Status.FAILED, result=b'{"failure":{}}'))
        claimed = await subject.store.ownership.acquire(ME, "run-1")
        assert claimed is not None
        assert (claimed.head.status, claimed.head.result) == (Status.FAILED, b'{"failure":{}}')

    async def test_a_run_that_somebody_owns_is_not_acquired(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1"))
        assert await subject.store.ownership.acquire(OTHER, "run-1") is None
        assert await subject.store.ownership.acquire(ME, "run-1") is None  # nor by its owner, who would fence itself
        assert await subject.store.ownership.acquire(ME, "nobody") is None
        await subject.committed(step("run-1", 1))

    async def test_the_run_of_a_dead_worker_is_acquired(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"))
        subject.clock.advance(LEASE + 1)
        await subject.leased(OTHER)
        claimed = await subject.store.ownership.acquire(OTHER, "run-1")
        assert claimed is not None
        assert (claimed.died, claimed.head.owner) == (True, OTHER)
        assert claimed.head.epoch > 1

    async def test_the_next_wake_is_the_earliest_of_the_unowned(self, subject: Subject) -> None:
        await subject.leased(ME)
        next_wake = subject.store.ownership.next_wake
        assert await next_wake() is None
        await subject.committed(
            sleeper("run-1", BEGIN + 20),
            sleeper("run-2", BEGIN - 10),
            sleeper("run-3", None),
            start("run-4", wake_at=1),
        )
        assert await next_wake() == BEGIN - 10
        assert await subject.claim() == ["run-2"]
        assert await next_wake() == BEGIN + 20
        assert await subject.store.ownership.acquire(ME, "run-1") is not None
        assert await next_wake() is None

    async def test_a_parked_run_is_due_again(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"), parked("run-1", 1, wake_at=BEGIN + 5))
        assert await subject.store.ownership.next_wake() == BEGIN + 5
        subject.clock.advance(5)
        assert await subject.claim() == ["run-1"]

    async def test_a_clock_that_goes_back_delays_and_loses_nothing(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(sleeper("run-1", BEGIN))
        subject.clock.advance(-3600 * SECOND)
        await subject.leased(ME)
        assert await subject.claim() == []
        subject.clock.advance(3600 * SECOND)
        await subject.leased(OTHER)
        assert await subject.claim(OTHER) == ["run-1"]
