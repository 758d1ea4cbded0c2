"""A worker's lease, and what becomes of its runs when it ends."""

from __future__ import annotations

import pytest

from perdure.ports.journal import Verdict
from perdure.ports.ownership import Claimed
from perdure.testing.contracts.subject import LEASE, ME, OTHER, SECOND, Subject, ended, parked, sleeper, start, step


async def taken(subject: Subject, by: str) -> Claimed:
    if by == "claim":
        (claimed,) = await subject.store.ownership.claim(OTHER, 10)
        return claimed
    acquired = await subject.store.ownership.acquire(OTHER, "run-1")
    assert acquired is not None
    return acquired


class LeasesContract:
    async def test_a_lease_is_made_and_prolonged(self, subject: Subject) -> None:
        for _ in range(5):
            assert await subject.store.ownership.renew(ME, LEASE)
            subject.clock.advance(LEASE - 1)
        assert await subject.store.ownership.renew(ME, LEASE)

    async def test_a_lease_that_has_run_out_cannot_be_renewed(self, subject: Subject) -> None:
        await subject.leased(ME)
        subject.clock.advance(LEASE + 1)
        assert not await subject.store.ownership.renew(ME, LEASE)
        assert not await subject.store.ownership.renew(ME, LEASE)
        assert await subject.store.ownership.renew("worker-a-reborn", LEASE)

    async def test_it_has_run_out_even_if_nobody_took_its_runs(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"))
        subject.clock.advance(LEASE + 1)
        assert not await subject.store.ownership.renew(ME, LEASE)

    async def test_a_lease_may_be_shortened(self, subject: Subject) -> None:
        await subject.leased(ME)
        assert await subject.store.ownership.renew(ME, SECOND)
        subject.clock.advance(SECOND + 1)
        assert not await subject.store.ownership.renew(ME, LEASE)

    async def test_runs_of_a_living_worker_are_safe(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1", wake_at=1))
        for _ in range(3):
            subject.clock.advance(LEASE - 1)
            await subject.leased()
            assert await subject.claim(OTHER) == []
            assert await subject.store.ownership.acquire(OTHER, "run-1") is None

    async def test_runs_of_a_dead_worker_are_claimed_as_such(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"), start("run-2", wake_at=subject.clock.now() + 3600 * SECOND))
        subject.clock.advance(LEASE + 1)
        await subject.leased(OTHER)

        claimed = await subject.store.ownership.claim(OTHER, 10)

        assert sorted(each.head.run for each in claimed) == ["run-1", "run-2"]
        assert all(each.died and each.head.owner == OTHER and each.head.epoch > 1 for each in claimed)

    async def test_a_dead_worker_that_wakes_up_is_fenced(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"))
        subject.clock.advance(LEASE + 1)
        await subject.leased(OTHER)
        (claimed,) = await subject.store.ownership.claim(OTHER, 10)

        assert await subject.commit(step("run-1", 1)) is Verdict.FENCED

        await subject.committed(step("run-1", 1, owner=OTHER, epoch=claimed.head.epoch))

    async def test_runs_of_an_owner_that_never_had_a_lease_are_claimed(self, subject: Subject) -> None:
        await subject.leased(OTHER)
        await subject.committed(start("run-1", owner="nobody-knows"))
        (claimed,) = await subject.store.ownership.claim(OTHER, 10)
        assert (claimed.head.run, claimed.died) == ("run-1", True)

    async def test_a_death_is_told_once(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"))
        subject.clock.advance(LEASE + 1)
        await subject.leased(OTHER)
        (claimed,) = await subject.store.ownership.claim(OTHER, 10)
        await subject.committed(parked("run-1", 1, wake_at=subject.clock.now(), epoch=claimed.head.epoch))

        (again,) = await subject.store.ownership.claim(OTHER, 10)

        assert (claimed.died, again.died) == (True, False)

    @pytest.mark.parametrize("by", ["claim", "acquire"])
    async def test_whoever_takes_a_dead_workers_run_is_told_when_it_was_heard_of_last(
        self, subject: Subject, by: str
    ) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"))
        subject.clock.advance(10 * SECOND)
        await subject.leased(ME)
        last_heard = subject.clock.now()
        subject.clock.advance(3600 * SECOND)
        await subject.leased(OTHER)
        assert (await taken(subject, by)).alive_until == last_heard

    @pytest.mark.parametrize("by", ["claim", "acquire"])
    @pytest.mark.parametrize("how", ["release", "leave"])
    async def test_whoever_takes_a_run_that_was_handed_over_is_told_when_that_was(
        self, subject: Subject, how: str, by: str
    ) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"))
        subject.clock.advance(10 * SECOND)
        handed_over = subject.clock.now()
        if how == "release":
            await subject.store.ownership.release(ME, ["run-1"])
        else:
            await subject.store.ownership.leave(ME)
        subject.clock.advance(3600 * SECOND)
        await subject.leased(OTHER)
        assert (await taken(subject, by)).alive_until == handed_over

    async def test_of_a_dead_worker_many_runs_are_claimed_bit_by_bit(self, subject: Subject) -> None:
        await subject.leased(ME)
        runs = [f"run-{number:04}" for number in range(1_100)]
        await subject.committed(*(start(run) for run in runs))
        subject.clock.advance(LEASE + 1)
        await subject.leased(OTHER)
        taken: list[str] = []
        while bit := await subject.store.ownership.claim(OTHER, 200):
            assert len(bit) <= 200
            assert all(claimed.died for claimed in bit)
            taken += [claimed.head.run for claimed in bit]
        assert sorted(taken) == runs

    async def test_released_runs_are_handed_over_at_once(self, subject: Subject) -> None:
        await subject.leased()
        later = subject.clock.now() + 3600 * SECOND
        await subject.committed(start("run-1"), start("run-2", wake_at=later), start("run-3"))

        await subject.store.ownership.release(ME, ["run-1", "run-2", "nobody"])

        assert (await subject.head("run-1")).owner is None
        assert (await subject.head("run-3")).owner == ME
        claimed = await subject.store.ownership.claim(OTHER, 10)
        assert sorted((each.head.run, each.died) for each in claimed) == [("run-1", False), ("run-2", False)]

    async def test_only_the_owner_can_release(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1"))
        await subject.store.ownership.release(OTHER, ["run-1"])
        assert (await subject.head("run-1")).owner == ME

    async def test_a_closed_run_that_is_released_is_not_due(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1"))
        await subject.committed(ended("run-1", 1))
        assert await subject.store.ownership.acquire(ME, "run-1") is not None

        await subject.store.ownership.release(ME, ["run-1"])

        assert (await subject.head("run-1")).owner is None
        assert await subject.claim(OTHER) == []

    async def test_a_closed_run_whose_acquirer_died_is_not_due_but_free(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"))
        await subject.committed(ended("run-1", 1))
        assert await subject.store.ownership.acquire(ME, "run-1") is not None
        subject.clock.advance(LEASE + 1)
        await subject.leased(OTHER)

        assert await subject.claim(OTHER) == []
        assert await subject.store.ownership.acquire(OTHER, "run-1") is not None

    async def test_leaving_hands_over_everything_and_ends_the_lease(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1"), start("run-2"), sleeper("run-3", None))

        await subject.store.ownership.leave(ME)

        claimed = await subject.store.ownership.claim(OTHER, 10)
        assert sorted((each.head.run, each.died) for each in claimed) == [("run-1", False), ("run-2", False)]
        await subject.committed(sleeper("run-4", 1))
        assert await subject.claim(ME) == []

    async def test_leaving_without_a_lease_does_no_harm(self, subject: Subject) -> None:
        await subject.store.ownership.leave("nobody")
        await subject.store.ownership.release("nobody", [])

    async def test_the_store_goes_by_its_own_clock(self, subject: Subject) -> None:
        before = await subject.store.ownership.now()
        subject.clock.advance(SECOND)
        assert await subject.store.ownership.now() == before + SECOND
