"""Versions that a worker cannot execute are left to others; a claim that came to nothing is undone."""

from __future__ import annotations

import pytest

from perdure.model.statuses import Status
from perdure.ports.hints import Hint
from perdure.ports.journal import TurnWrite, Verdict
from perdure.ports.ownership import Claimed, VersionKey
from perdure.testing.contracts.hints import Ear
from perdure.testing.contracts.subject import (
    BEGIN,
    LEASE,
    ME,
    OTHER,
    SECOND,
    Subject,
    ended,
    new_run,
    parked,
    sleeper,
    start,
    step,
)

ORDER: VersionKey = ("default", "order", 1)


def of(version: VersionKey, run: str, wake_at: int | None = BEGIN) -> TurnWrite:
    namespace, definition, number = version
    return sleeper(run, wake_at, new=new_run(namespace=namespace, definition=definition, version=number))


async def taken(subject: Subject, by: str, worker: str = OTHER) -> Claimed:
    if by == "claim":
        (claimed,) = await subject.store.ownership.claim(worker, 10)
        return claimed
    return await acquired(subject, "run-1", worker)


async def acquired(subject: Subject, run: str, worker: str = ME) -> Claimed:
    claimed = await subject.store.ownership.acquire(worker, run)
    assert claimed is not None
    return claimed


class DecliningContract:
    async def test_runs_of_a_declined_version_are_not_claimed_and_stay_for_others(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(sleeper("run-1", BEGIN - 2), sleeper("run-2", BEGIN - 1))
        assert await subject.claim(ME, declined=[ORDER]) == []
        assert [head.epoch for head in [await subject.head("run-1"), await subject.head("run-2")]] == [1, 1]
        assert await subject.claim(OTHER) == ["run-1", "run-2"]

    @pytest.mark.parametrize(
        "another",
        [("default", "order", 2), ("default", "ordering", 1), ("default", "ord", 1), ("elsewhere", "order", 1)],
    )
    async def test_a_version_is_its_namespace_its_definition_and_its_number(
        self, subject: Subject, another: VersionKey
    ) -> None:
        await subject.leased(ME)
        await subject.committed(sleeper("run-1", BEGIN), of(another, "run-2"))
        assert await subject.claim(declined=[ORDER]) == ["run-2"]
        assert await subject.claim(declined=[another]) == ["run-1"]

    async def test_what_is_not_declined_comes_in_order_of_wake_times_up_to_the_limit(self, subject: Subject) -> None:
        await subject.leased(ME)
        for number in range(12):
            version = ("default", f"flow-{number % 3}", 1)
            await subject.committed(of(version, f"run-{number:02}", BEGIN - number))
        declined = [("default", "flow-1", 1), ("default", "unknown", 7)]
        assert await subject.claim(limit=3, declined=declined) == ["run-11", "run-09", "run-08"]
        assert await subject.claim(limit=9, declined=declined) == ["run-06", "run-05", "run-03", "run-02", "run-00"]
        assert await subject.claim(limit=9, declined=declined) == []
        assert await subject.claim(limit=9) == ["run-10", "run-07", "run-04", "run-01"]

    async def test_neither_what_is_not_due_nor_what_is_owned_or_closed_comes_with_it(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(
            of(("default", "a", 1), "run-1", BEGIN + SECOND),
            of(("default", "b", 1), "run-2", None),
            start("run-3", wake_at=BEGIN, new=new_run(definition="c")),
            start("run-4", new=new_run(definition="d")),
            ended("run-4", 1),
        )
        assert await subject.claim(OTHER, declined=[ORDER]) == []
        subject.clock.advance(SECOND)
        assert await subject.claim(OTHER, declined=[ORDER]) == ["run-1"]

    async def test_a_worker_without_a_lease_gets_nothing_whatever_it_declines(self, subject: Subject) -> None:
        await subject.committed(of(("default", "a", 1), "run-1"))
        assert await subject.claim(ME, declined=[ORDER]) == []

    async def test_the_next_wake_is_that_of_what_is_not_declined(self, subject: Subject) -> None:
        await subject.leased(ME)
        next_wake = subject.store.ownership.next_wake
        assert await next_wake([ORDER]) is None
        await subject.committed(sleeper("run-1", BEGIN - 10), of(("default", "a", 1), "run-2", BEGIN + 7))
        await subject.committed(
            of(("default", "z", 3), "run-3", BEGIN + 5), of(("default", "z", 3), "run-4", BEGIN + 9)
        )
        assert await next_wake([ORDER]) == BEGIN + 5
        assert await next_wake([ORDER, ("default", "z", 3)]) == BEGIN + 7
        assert await next_wake([ORDER, ("default", "z", 3), ("default", "a", 1)]) is None
        assert await next_wake() == BEGIN - 10

    async def test_many_versions_may_be_declined_at_once(self, subject: Subject) -> None:
        await subject.leased(ME)
        versions = [("default", f"flow-{number:03}", 1) for number in range(300)]
        await subject.committed(*(of(version, f"run-{version[1]}") for version in versions))
        assert await subject.claim(limit=500, declined=versions[:299]) == ["run-flow-299"]
        assert await subject.store.ownership.next_wake(versions) is None

    async def test_a_dead_workers_runs_of_a_declined_version_are_left_to_others_who_are_told_of_its_death(
        self, subject: Subject
    ) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"), start("run-2", new=new_run(definition="a")))
        last_heard = subject.clock.now()
        subject.clock.advance(LEASE + 1)
        await subject.leased(OTHER, "worker-c")

        (mine,) = await subject.store.ownership.claim(OTHER, 10, [ORDER])
        assert await subject.claim(OTHER, declined=[ORDER]) == []
        (left,) = await subject.store.ownership.claim("worker-c", 10)

        assert (mine.head.run, mine.died, mine.alive_until) == ("run-2", True, last_heard)
        assert (left.head.run, left.died, left.alive_until) == ("run-1", True, last_heard)
        assert await subject.commit(step("run-1", 1)) is Verdict.FENCED

    async def test_of_a_dead_worker_more_runs_than_the_limit_are_left_to_others(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(*(start(f"run-{number:02}") for number in range(30)))
        await subject.committed(*(start(f"other-{number:02}", new=new_run(definition="a")) for number in range(5)))
        subject.clock.advance(LEASE + 1)
        await subject.leased(OTHER, "worker-c")
        mine: list[str] = []
        for _ in range(10):
            mine += await subject.claim(OTHER, 10, [ORDER])
        assert sorted(mine) == [f"other-{number:02}" for number in range(5)]
        left = await subject.store.ownership.claim("worker-c", 100)
        assert sorted(one.head.run for one in left) == [f"run-{number:02}" for number in range(30)]
        assert all(one.died for one in left)

    @pytest.mark.parametrize("by", ["claim", "acquire"])
    async def test_a_claim_that_is_given_back_leaves_the_run_as_it_was(self, subject: Subject, by: str) -> None:
        await subject.leased()
        await subject.committed(sleeper("run-1", BEGIN - 5))
        before = await subject.head("run-1")
        first = await taken(subject, by, ME)

        await subject.store.ownership.give_back(ME, [first])

        after = await subject.head("run-1")
        assert (after.owner, after.wake_at, after.updated_at) == (None, subject.clock.now(), before.updated_at)
        again = await taken(subject, by)
        assert (again.died, again.alive_until) == (first.died, first.alive_until)
        assert again.head.epoch > first.head.epoch

    async def test_what_is_given_back_comes_after_what_is_due_already(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(sleeper("run-1", BEGIN - 5), sleeper("run-2", BEGIN - 3))
        claimed = await subject.store.ownership.claim(ME, 1)
        await subject.store.ownership.give_back(ME, claimed)
        assert await subject.claim(OTHER) == ["run-2", "run-1"]

    async def test_a_waiting_run_that_is_given_back_is_not_due(self, subject: Subject) -> None:
        await subject.leased()
        later = BEGIN + SECOND
        await subject.committed(sleeper("run-1", None), sleeper("run-2", later))
        claimed = [await acquired(subject, run) for run in ("run-1", "run-2")]
        await subject.store.ownership.give_back(ME, claimed)
        assert await subject.claim(OTHER) == []
        assert await subject.store.ownership.next_wake() == later

    @pytest.mark.parametrize("by", ["claim", "acquire"])
    @pytest.mark.parametrize("wake_at", [None, BEGIN + 3600 * SECOND])
    async def test_the_death_of_the_owner_before_is_told_to_whoever_gets_the_run_next(
        self, subject: Subject, by: str, wake_at: int | None
    ) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1", wake_at=wake_at))
        last_heard = subject.clock.now()
        subject.clock.advance(LEASE + 1)
        await subject.leased(OTHER, "worker-c")
        claimed = await taken(subject, by)
        assert claimed.died

        await subject.store.ownership.give_back(OTHER, [claimed])

        assert await subject.store.ownership.next_wake() == subject.clock.now()
        told = await taken(subject, by, "worker-c")
        assert (told.died, told.alive_until) == (True, last_heard)
        await subject.committed(parked("run-1", 1, wake_at=1, epoch=told.head.epoch))
        assert not (await taken(subject, by)).died, "it is told once"

    async def test_when_a_run_was_handed_over_is_told_to_whoever_gets_it_next(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1"))
        await subject.store.ownership.release(ME, ["run-1"])
        handed_over = subject.clock.now()
        claimed = await taken(subject, "claim")
        subject.clock.advance(SECOND)

        await subject.store.ownership.give_back(OTHER, [claimed])

        again = await taken(subject, "claim", ME)
        assert (again.died, again.alive_until) == (False, handed_over)

    async def test_only_the_owner_can_give_back_and_only_what_it_has_claimed_by_that_claim(
        self, subject: Subject
    ) -> None:
        await subject.leased()
        await subject.committed(sleeper("run-1", BEGIN))
        first = await taken(subject, "claim", ME)
        await subject.store.ownership.give_back(OTHER, [first])
        assert (await subject.head("run-1")).owner == ME
        await subject.store.ownership.give_back(ME, [first])
        second = await taken(subject, "claim", ME)
        await subject.store.ownership.give_back(ME, [first])  # it comes a second time, and late
        assert (await subject.head("run-1")).owner == ME
        await subject.committed(step("run-1", 1, epoch=second.head.epoch))

    async def test_many_claims_are_given_back_at_once(self, subject: Subject) -> None:
        await subject.leased()
        runs = [f"run-{number:04}" for number in range(1_100)]
        await subject.committed(*(sleeper(run, BEGIN) for run in runs))
        await subject.store.ownership.give_back(ME, await subject.store.ownership.claim(ME, 2_000))
        assert sorted(await subject.claim(OTHER, 2_000)) == runs

    async def test_a_closed_run_that_is_given_back_is_not_due(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1"))
        await subject.committed(ended("run-1", 1, status=Status.FAILED, result=b'{"failure":{}}'))
        await subject.store.ownership.give_back(ME, [await acquired(subject, "run-1")])
        head = await subject.head("run-1")
        assert (head.owner, head.wake_at) == (None, None)
        assert await subject.claim(OTHER) == []

    async def test_a_run_for_which_a_command_came_meanwhile_is_due_when_it_is_given_back(
        self, subject: Subject
    ) -> None:
        await subject.leased()
        await subject.committed(sleeper("run-1", None))
        claimed = await acquired(subject, "run-1")
        await subject.store.inbox.send("default", "run-1", b"meanwhile", "a")
        assert await subject.claim(OTHER) == []
        await subject.store.ownership.give_back(ME, [claimed])
        assert await subject.claim(OTHER) == ["run-1"]
        waiting = (await subject.store.inbox.receive(OTHER)).waiting
        assert [command.command for command in waiting] == [b"meanwhile"]

    async def test_that_a_run_was_given_back_is_told_as_due(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(sleeper("run-1", BEGIN))
        claimed = await taken(subject, "claim", ME)
        ear = Ear(subject)
        await subject.store.ownership.give_back(ME, [claimed])
        await ear.hears(Hint.DUE)
