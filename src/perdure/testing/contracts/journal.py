"""The log: what a committed turn leaves behind, and how it is read again."""

from __future__ import annotations

import os

import pytest

from perdure.model.codec import Ref
from perdure.model.statuses import Status
from perdure.model.values import digest
from perdure.testing.contracts.subject import BEGIN, ME, SECOND, Subject, ended, events, new_run, parked, start, step

STRANGE = [
    "plain",
    "",
    "ünïcödé 東京 𝄞 👩‍👩‍👧",
    "e\u0301 is not \u00e9",
    "'; DROP TABLE runs; --",
    '"quoted" \\ back\\slashed \n\r\t',
    "%s ? :name $1 {} ${x}",
    "\u200f\u202eright to left\u2069\ufeff",
    "a" * 10_000,
]


class JournalContract:
    async def test_a_new_run_has_the_head_that_its_first_turn_describes(self, subject: Subject) -> None:
        new = new_run(
            namespace="acme",
            definition="fulfil",
            version=7,
            hash="beef",
            program="code",
            created_at=BEGIN - 5,
            trigger="schedule",
            key="order-7",
            request_digest="d",
            parent="run-0",
        )
        turn = start("run-1", new=new, epoch=1, owner=ME, status=Status.RUNNING, wake_at=BEGIN + 9, at=BEGIN + 1)
        await subject.committed(turn)

        head = await subject.head("run-1")

        assert (head.run, head.namespace, head.definition, head.version) == ("run-1", "acme", "fulfil", 7)
        assert (head.hash, head.program, head.trigger, head.key) == ("beef", "code", "schedule", "order-7")
        assert (head.parent, head.created_at, head.updated_at) == ("run-0", BEGIN - 5, BEGIN + 1)
        assert (head.status, head.seq, head.epoch, head.turn_id) == (Status.RUNNING, 1, 1, turn.turn_id)
        assert (head.owner, head.wake_at, head.inbox_seq) == (ME, BEGIN + 9, 0)
        assert (head.closed_at, head.result, head.attributes) == (None, None, {})

    async def test_a_turn_moves_the_head(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        turn = parked("run-1", 1, wake_at=BEGIN + SECOND, at=BEGIN + 77, seq=4)
        await subject.committed(turn)

        head = await subject.head("run-1")

        assert (head.status, head.seq, head.turn_id) == (Status.SLEEPING, 4, turn.turn_id)
        assert (head.owner, head.wake_at, head.updated_at) == (None, BEGIN + SECOND, BEGIN + 77)
        assert head.created_at == BEGIN

    async def test_a_final_turn_closes_the_run_with_its_result(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        await subject.committed(
            ended("run-1", 1, status=Status.FAILED, result=b'{"failure":{"code":"X"}}', at=BEGIN + 9)
        )

        head = await subject.head("run-1")

        assert (head.status, head.closed_at, head.owner) == (Status.FAILED, BEGIN + 9, None)
        assert head.result == b'{"failure":{"code":"X"}}'

    async def test_a_run_may_start_and_end_in_one_turn(self, subject: Subject) -> None:
        await subject.committed(start("run-1", status=Status.COMPLETED, result=b'{"output":1}', at=BEGIN + 3))

        head = await subject.head("run-1")

        assert (head.status, head.closed_at, head.result) == (Status.COMPLETED, BEGIN + 3, b'{"output":1}')

    async def test_a_closed_run_can_be_opened_again(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1"))
        await subject.committed(ended("run-1", 1, status=Status.FAILED))
        claimed = await subject.store.ownership.acquire(ME, "run-1")
        assert claimed is not None

        await subject.committed(step("run-1", 2, epoch=claimed.head.epoch))

        head = await subject.head("run-1")
        assert (head.status, head.closed_at, head.result, head.owner) == (Status.RUNNING, None, None, ME)

    async def test_the_log_keeps_every_turn_in_order(self, subject: Subject) -> None:
        turns = [start("run-1", seq=3), step("run-1", 3, seq=4), step("run-1", 4, seq=11, codec=2)]
        for turn in turns:
            await subject.committed(turn)

        rows = await subject.store.journal.history("run-1")

        assert [(row.first, row.seq) for row in rows] == [(1, 3), (4, 4), (5, 11)]
        assert [row.turn_id for row in rows] == [turn.turn_id for turn in turns]
        assert [row.data for row in rows] == [turn.data for turn in turns]
        assert [row.at for row in rows] == [turn.at for turn in turns]
        assert [row.codec for row in rows] == [1, 1, 2]
        assert [list(row.refs) for row in rows] == [[], [], []]

    async def test_history_comes_in_pages(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        for seq in range(1, 7):
            await subject.committed(step("run-1", seq))
        history = subject.store.journal.history

        assert [row.seq for row in await history("run-1", limit=3)] == [1, 2, 3]
        assert [row.seq for row in await history("run-1", after=3, limit=3)] == [4, 5, 6]
        assert [row.seq for row in await history("run-1", after=6, limit=3)] == [7]
        assert list(await history("run-1", after=7)) == []

    async def test_nothing_is_known_of_an_unknown_run(self, subject: Subject) -> None:
        assert await subject.store.journal.head("nobody") is None
        assert await subject.store.journal.load("nobody") is None
        assert list(await subject.store.journal.history("nobody")) == []

    async def test_a_turn_without_events_moves_the_head_and_leaves_no_row(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        turn = parked("run-1", 1, seq=1, data=b"[]")
        await subject.committed(turn)

        head = await subject.head("run-1")

        assert (head.seq, head.status, head.owner, head.turn_id) == (1, Status.WAITING, None, turn.turn_id)
        assert [row.seq for row in await subject.store.journal.history("run-1")] == [1]
        await subject.committed(step("run-1", 1))

    async def test_load_without_a_snapshot_gives_the_whole_log(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        await subject.committed(step("run-1", 1))

        loaded = await subject.store.journal.load("run-1")

        assert loaded is not None
        assert (loaded.snapshot_seq, loaded.snapshot, loaded.blobs) == (0, None, {})
        assert [row.seq for row in loaded.rows] == [1, 2]
        assert loaded.head == await subject.head("run-1")

    @pytest.mark.parametrize("state", [b"{}", b"x" * 100_000, os.urandom(100_000)], ids=["small", "long", "random"])
    async def test_load_gives_the_newest_snapshot_and_the_turns_after_it(self, subject: Subject, state: bytes) -> None:
        await subject.committed(start("run-1", snapshot=b"old"))
        await subject.committed(step("run-1", 1, snapshot=b"older"))
        await subject.committed(step("run-1", 2, snapshot=state))
        await subject.committed(step("run-1", 3))

        loaded = await subject.store.journal.load("run-1")

        assert loaded is not None
        assert (loaded.snapshot_seq, loaded.snapshot) == (3, state)
        assert [row.seq for row in loaded.rows] == [4]

    async def test_load_of_a_long_log_is_complete(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), *(step("run-1", seq) for seq in range(1, 1_300)))

        loaded = await subject.store.journal.load("run-1")

        assert loaded is not None
        assert [row.seq for row in loaded.rows] == list(range(1, 1_301))

    async def test_load_gives_the_blobs_that_its_rows_refer_to(self, subject: Subject) -> None:
        early, late, shared = (os.urandom(5_000) for _ in range(3))
        refs = {data: Ref(0, "output", digest(data), len(data)) for data in (early, late, shared)}
        await subject.committed(start("run-1", refs=[refs[early]], blobs={digest(early): early}, snapshot=b"s"))
        await subject.committed(step("run-1", 1, refs=[refs[shared]], blobs={digest(shared): shared}))
        await subject.committed(step("run-1", 2, refs=[refs[late], refs[shared]], blobs={digest(late): late}))

        loaded = await subject.store.journal.load("run-1")

        assert loaded is not None
        assert loaded.blobs == {digest(shared): shared, digest(late): late}
        assert [list(row.refs) for row in loaded.rows] == [[refs[shared]], [refs[late], refs[shared]]]

    async def test_a_blob_of_many_chunks_is_loaded_whole(self, subject: Subject) -> None:
        data = os.urandom(1_000_000)
        ref = Ref(0, "output", digest(data), len(data))
        await subject.committed(start("run-1", refs=[ref], blobs={ref.hash: data}))

        loaded = await subject.store.journal.load("run-1")

        assert loaded is not None
        assert loaded.blobs == {ref.hash: data}

    async def test_attributes_are_kept_until_they_change_and_then_replaced(self, subject: Subject) -> None:
        await subject.committed(start("run-1", attributes={"customer": "é", "count": 3}))
        await subject.committed(step("run-1", 1))
        assert (await subject.head("run-1")).attributes == {"customer": "é", "count": 3}

        await subject.committed(step("run-1", 2, attributes={"count": 4, "tags": ["a"]}))

        assert (await subject.head("run-1")).attributes == {"count": 4, "tags": ["a"]}

    @pytest.mark.parametrize("text", STRANGE)
    async def test_any_text_comes_back_as_it_was(self, subject: Subject, text: str) -> None:
        new = new_run(namespace=f"n{text}", definition=f"d{text}", trigger=f"t{text}", key=f"k{text}"[:1000])
        turn = start(f"r{text}"[:1000], new=new, data=text.encode(), turn_id=f"i{text}"[:1000], attributes={text: text})
        await subject.committed(turn)

        head = await subject.head(turn.run)

        assert (head.run, head.namespace, head.definition) == (turn.run, new.namespace, new.definition)
        assert (head.trigger, head.key, head.turn_id) == (new.trigger, new.key, turn.turn_id)
        assert head.attributes == {text: text}
        assert [row.data for row in await subject.store.journal.history(turn.run)] == [text.encode()]

    async def test_a_large_turn_is_stored_whole(self, subject: Subject) -> None:
        data = events(1, "x" * 3_000_000)
        result = b'{"output":"' + b"y" * 1_000_000 + b'"}'
        await subject.committed(start("run-1", data=data))
        await subject.committed(ended("run-1", 1, data=data, result=result))

        assert [row.data for row in await subject.store.journal.history("run-1")] == [data, data]
        assert (await subject.head("run-1")).result == result
