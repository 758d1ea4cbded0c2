"""Opening and closing."""

from __future__ import annotations

import asyncio

import pytest

from perdure.errors import StoreError
from perdure.ports.inbox import Sent
from perdure.ports.journal import Verdict
from perdure.ports.store import Store
from perdure.testing.contracts.subject import ME, OTHER, Subject, parked, sleeper, start, step, verdicts


async def reopened(subject: Subject) -> Store:
    if subject.reopen is None:
        pytest.skip("this store forgets everything when it is closed")
    subject.store = await subject.reopen()
    return subject.store


class StoreContract:
    async def test_closing_finishes_what_is_queued(self, subject: Subject) -> None:
        commits = [subject.store.journal.commit(start(f"run-{number:03}")) for number in range(300)]
        waiting = asyncio.gather(*commits)
        store = await reopened(subject)

        assert verdicts(await waiting) == [Verdict.COMMITTED] * 300
        assert len(await store.runs.walk(limit=1000)) == 300

    async def test_what_was_committed_is_there_when_it_is_opened_again(self, subject: Subject) -> None:
        await subject.committed(start("run-1", snapshot=b"s", attributes={"a": 1}), step("run-1", 1))
        assert await subject.store.inbox.send("default", "run-1", b"x", "a") is Sent.ACCEPTED
        await subject.store.definitions.publish("default", "order", "flow", {"n": 1}, "h", None)
        before = await subject.store.journal.load("run-1")

        store = await reopened(subject)

        after = await store.journal.load("run-1")
        assert before is not None
        assert after is not None
        assert (after.snapshot, after.rows, after.head.attributes) == (before.snapshot, before.rows, {"a": 1})
        assert [command.command for command in (await store.inbox.receive(ME, ["run-1"])).waiting] == [b"x"]
        assert await store.definitions.version("default", "order") is not None

    async def test_a_run_that_was_left_in_good_order_is_not_called_dead(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1"), start("run-2"), parked("run-2", 1), sleeper("run-3", 1))
        await subject.store.ownership.leave(ME)
        await reopened(subject)

        assert await subject.store.ownership.renew(OTHER, 10**6)
        claimed = await subject.store.ownership.claim(OTHER, 10)
        assert sorted((each.head.run, each.died) for each in claimed) == [("run-1", False), ("run-3", False)]

    async def test_closing_twice_does_no_harm(self, subject: Subject) -> None:
        await subject.store.close()
        await subject.store.close()

    async def test_a_closed_store_refuses(self, subject: Subject) -> None:
        if subject.reopen is None:
            pytest.skip("this store does not mind")
        store = subject.store
        await store.close()
        with pytest.raises(StoreError):
            await store.journal.commit(start("run-1"))
