"""The law of the journal: all or nothing, fenced by epoch and seq, and nobody pays for a neighbour's conflict."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from perdure.model.codec import Ref
from perdure.model.statuses import Status
from perdure.model.values import digest
from perdure.ports.inbox import Sent
from perdure.ports.journal import Message, Send, TurnWrite, Verdict
from perdure.testing.contracts.subject import ME, Subject, ended, eventually, parked, start, step, verdicts

COMMITTED, FENCED, INBOX_MOVED = Verdict.COMMITTED, Verdict.FENCED, Verdict.INBOX_MOVED


async def send(subject: Subject, run: str, request: str = "a") -> None:
    sent = await subject.store.inbox.send("default", run, b"{}", request)
    assert sent is Sent.ACCEPTED


class FencingContract:
    @pytest.mark.parametrize("expected", [0, 1, 3], ids=["older", "just before", "ahead"])
    async def test_a_turn_from_another_seq_is_fenced(self, subject: Subject, expected: int) -> None:
        await subject.committed(start("run-1"), step("run-1", 1))

        assert await subject.commit(step("run-1", expected)) is FENCED

        assert (await subject.head("run-1")).seq == 2

    @pytest.mark.parametrize("epoch", [0, 2])
    async def test_a_turn_of_another_epoch_is_fenced(self, subject: Subject, epoch: int) -> None:
        await subject.committed(start("run-1"))
        assert await subject.commit(step("run-1", 1, epoch=epoch)) is FENCED

    async def test_a_turn_of_an_unknown_run_is_fenced(self, subject: Subject) -> None:
        assert await subject.commit(step("nobody", 1)) is FENCED
        assert await subject.store.journal.head("nobody") is None

    async def test_a_start_of_a_run_that_exists_is_fenced(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), step("run-1", 1))
        assert await subject.commit(start("run-1")) is FENCED
        assert (await subject.head("run-1")).seq == 2

    async def test_a_claim_fences_the_owner_before(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1"), parked("run-1", 1))
        claimed = await subject.store.ownership.acquire(ME, "run-1")
        assert claimed is not None

        assert await subject.commit(step("run-1", 2, epoch=1)) is FENCED
        assert await subject.commit(step("run-1", 2, epoch=claimed.head.epoch)) is COMMITTED

    @pytest.mark.parametrize("end", [parked, ended], ids=["parking", "closing"])
    async def test_parking_and_closing_require_an_inbox_that_has_been_seen(self, subject: Subject, end: Any) -> None:
        await subject.committed(start("run-1"))
        await send(subject, "run-1")

        assert await subject.commit(end("run-1", 1)) is INBOX_MOVED
        head = await subject.head("run-1")
        assert (head.seq, head.status, head.owner, head.inbox_seq) == (1, Status.RUNNING, ME, 1)

        assert await subject.commit(end("run-1", 1, inbox_seen=1)) is COMMITTED

    async def test_a_turn_that_keeps_its_owner_does_not_care_for_the_inbox(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        await send(subject, "run-1")
        assert await subject.commit(step("run-1", 1)) is COMMITTED

    async def test_fencing_is_told_before_a_moved_inbox(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), step("run-1", 1))
        await send(subject, "run-1")
        assert await subject.commit(parked("run-1", 1)) is FENCED

    async def test_a_parked_run_goes_on_under_the_same_epoch_until_it_is_claimed(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), parked("run-1", 1))
        assert await subject.commit(step("run-1", 2)) is COMMITTED
        assert (await subject.head("run-1")).owner == ME

    async def test_a_parked_run_is_taken_up_only_by_who_has_seen_its_inbox(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), parked("run-1", 1))
        await send(subject, "run-1")
        assert await subject.commit(step("run-1", 2, unparks=True)) is INBOX_MOVED
        assert await subject.commit(step("run-1", 2, unparks=True, inbox_seen=1)) is COMMITTED
        assert (await subject.head("run-1")).owner == ME

    async def test_taking_a_parked_run_up_fails_none_of_its_neighbours(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), parked("run-1", 1), start("run-2"))
        await subject.committed(step("run-2", 1), step("run-1", 2, unparks=True), step("run-2", 2))

    @pytest.mark.parametrize("refused", ["fenced", "inbox moved"])
    async def test_nothing_of_a_refused_turn_is_written(self, subject: Subject, refused: str) -> None:
        store, data = subject.store, os.urandom(5_000)
        await subject.committed(start("run-1", attributes={"a": 1}), start("run-2"))
        await send(subject, "run-1")
        (waiting,) = (await store.inbox.receive(ME, ["run-1"])).waiting
        before = await store.journal.load("run-1")
        turn = ended(
            "run-1",
            2 if refused == "fenced" else 1,
            snapshot=b"never",
            consumed=[waiting.id],
            messages=[Message("run-1/2/0", "never", None)],
            sends=[Send("run-2", b"{}", "never")],
            attributes={"a": 2},
            refs=[Ref(0, "output", digest(data), len(data))],
            blobs={digest(data): data},
        )

        assert (await subject.commit(turn)) is (FENCED if refused == "fenced" else INBOX_MOVED)

        assert await store.journal.load("run-1") == before
        received = await store.inbox.receive(ME, ["run-1", "run-2"])
        assert [command.id for command in received.waiting] == [waiting.id]
        assert received.inbox_seqs == {"run-1": 1, "run-2": 0}
        assert list(await store.outbox.take(ME, 10, 1)) == []
        assert await store.blobs.info("default", digest(data)) is None
        assert set((await store.runs.counts()).orphans.values()) <= {0}

    async def test_everything_of_a_committed_turn_is_written(self, subject: Subject) -> None:
        store, data = subject.store, os.urandom(5_000)
        await subject.committed(start("run-1"), start("run-2"))
        await send(subject, "run-1")
        (waiting,) = (await store.inbox.receive(ME, ["run-1"])).waiting
        await subject.committed(
            step(
                "run-1",
                1,
                snapshot=b"state",
                consumed=[waiting.id],
                messages=[Message("run-1/2/0", "told", {"x": 1})],
                sends=[Send("run-2", b"hello", "s")],
                attributes={"a": 2},
                refs=[Ref(0, "output", digest(data), len(data))],
                blobs={digest(data): data},
            )
        )

        loaded = await store.journal.load("run-1")
        assert loaded is not None
        assert (loaded.snapshot_seq, loaded.snapshot, loaded.head.attributes) == (2, b"state", {"a": 2})
        received = await store.inbox.receive(ME, ["run-1", "run-2"])
        assert [(command.run, command.command) for command in received.waiting] == [("run-2", b"hello")]
        assert [each.message.id for each in await store.outbox.take(ME, 10, 1)] == ["run-1/2/0"]
        info = await store.blobs.info("default", digest(data))
        assert info is not None
        assert info.size == 5_000

    async def test_a_conflict_of_one_does_not_fail_its_neighbours(self, subject: Subject) -> None:
        runs = [f"run-{number:02}" for number in range(40)]
        await subject.committed(*(start(run) for run in runs))
        await send(subject, runs[7])
        turns: list[TurnWrite] = [step(run, 1, messages=[Message(f"{run}/2/0", "m", None)]) for run in runs]
        turns[3] = step(runs[3], 5)
        turns[7] = parked(runs[7], 1)
        turns[11] = step(runs[11], 1, epoch=9, messages=[Message("never", "m", None)])
        turns[15] = step("nobody", 1)

        outcomes = await asyncio.gather(*(subject.store.journal.commit(turn) for turn in turns))

        refused = {3: FENCED, 7: INBOX_MOVED, 11: FENCED, 15: FENCED}
        assert verdicts(outcomes) == [refused.get(place, COMMITTED) for place in range(40)]
        told = {each.run for each in await subject.store.outbox.take(ME, 100, 1)}
        assert told == {run for place, run in enumerate(runs) if place not in refused}

    async def test_turns_of_one_run_queued_together_commit_in_order(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), *(step("run-1", seq) for seq in range(1, 50)), parked("run-1", 50))
        rows = await subject.store.journal.history("run-1")
        assert [row.seq for row in rows] == list(range(1, 52))

    async def test_after_a_refused_turn_those_queued_behind_it_are_refused_too(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        await send(subject, "run-1")
        turns = [parked("run-1", 1), step("run-1", 2), step("run-1", 3)]
        outcomes = await asyncio.gather(*(subject.store.journal.commit(turn) for turn in turns))
        assert verdicts(outcomes) == [INBOX_MOVED, FENCED, FENCED]

    async def test_of_a_thousand_turns_for_the_same_place_one_commits(self, subject: Subject) -> None:
        runs = [f"run-{number:02}" for number in range(10)]
        await subject.committed(*(start(run) for run in runs))
        turns = [step(run, 1) for _ in range(100) for run in runs]

        outcomes = await asyncio.gather(*(subject.store.journal.commit(turn) for turn in turns))

        winners = [turn for turn, outcome in zip(turns, outcomes, strict=True) if outcome.verdict is COMMITTED]
        assert sorted(turn.run for turn in winners) == runs
        assert set(verdicts(outcomes)) == {COMMITTED, FENCED}
        for turn in winners:
            (_, row) = await subject.store.journal.history(turn.run)
            assert (row.turn_id, (await subject.head(turn.run)).turn_id) == (turn.turn_id, turn.turn_id)

    async def test_whoever_lost_the_answer_finds_the_turn_on_the_head(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        turn = step("run-1", 1)
        lost = asyncio.ensure_future(subject.store.journal.commit(turn))
        await asyncio.sleep(0)
        lost.cancel()

        async def is_there() -> bool:
            return (await subject.head("run-1")).turn_id == turn.turn_id

        await eventually(is_there)
        assert await subject.commit(turn) is FENCED
