"""What is kept and what is not: snapshots, start keys, the write-ahead log; and that look-ups use their indexes."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from perdure.model.codec import Ref
from perdure.model.statuses import Status
from perdure.model.values import digest
from perdure.ports.runs import RunFilter
from perdure.stores.sqlite import SqliteStore, checkpoints, writer
from perdure.stores.sqlite.keys import KeyPurge
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.runs import _search
from perdure.testing.contracts.subject import (
    HOUR,
    ManualClock,
    Subject,
    ended,
    events,
    eventually,
    new_run,
    start,
    step,
)


async def snapshots(subject: Subject) -> tuple[int, bytes | None, list[int]]:
    loaded = await subject.store.journal.load("run-1")
    assert loaded is not None
    return loaded.snapshot_seq, loaded.snapshot, [row.seq for row in loaded.rows]


async def test_the_two_newest_snapshots_are_kept(subject: Subject, writing: apsw.Connection) -> None:
    await subject.committed(start("run-1", snapshot=b"1"), *(step("run-1", n, snapshot=b"%d" % n) for n in range(1, 9)))
    await subject.committed(start("run-2", snapshot=b"other"))
    kept = writing.execute("SELECT run, seq FROM snapshots ORDER BY run, seq").fetchall()
    assert kept == [("run-1", 8), ("run-1", 9), ("run-2", 1)]


async def test_a_damaged_snapshot_is_passed_over(subject: Subject, writing: apsw.Connection) -> None:
    await subject.committed(start("run-1", snapshot=b"a" * 9_000))
    await subject.committed(step("run-1", 1, snapshot=b"b" * 9_000), step("run-1", 2))
    assert await snapshots(subject) == (2, b"b" * 9_000, [3])

    writing.execute("UPDATE snapshots SET data = zeroblob(20) WHERE seq = 2")
    assert await snapshots(subject) == (1, b"a" * 9_000, [2, 3])

    writing.execute("UPDATE snapshots SET data = substr(data, 1, 9) WHERE seq = 1")
    assert await snapshots(subject) == (0, None, [1, 2, 3])

    writing.execute("DELETE FROM snapshots")
    assert await snapshots(subject) == (0, None, [1, 2, 3])


async def test_large_snapshots_and_blobs_are_compressed_where_that_helps(
    subject: Subject, writing: apsw.Connection
) -> None:
    noise = os.urandom(50_000)
    refs = [Ref(0, "output", digest(noise), len(noise))]
    await subject.committed(start("run-1", snapshot=b"x" * 50_000, refs=refs, blobs={refs[0].hash: noise}))
    assert writing.execute("SELECT packed, length(data) < 1000 FROM snapshots").fetchall() == [(1, 1)]
    assert writing.execute("SELECT packed, length(data) FROM chunks").fetchall() == [(0, 50_000)]
    await subject.committed(step("run-1", 1, snapshot=b"x" * 4_000))
    assert writing.execute("SELECT packed FROM snapshots WHERE seq = 2").fetchall() == [(0,)]


async def test_expired_keys_are_removed_bit_by_bit(subject: Subject, writing: apsw.Connection) -> None:
    runs = [f"run-{number:02}" for number in range(50)]
    await subject.committed(*(start(run, new=new_run(key=f"key-{run}")) for run in runs))
    await subject.committed(*(ended(run, 1, at=subject.clock.now()) for run in runs[::2]))
    purge = KeyPurge(writing, subject.clock, at_once=20)

    subject.clock.advance(24 * HOUR - 1)
    for _ in range(6):
        purge.when_idle()
    assert writing.execute("SELECT count(*) FROM start_keys").get == 50

    subject.clock.advance(1)
    left = []
    for _ in range(4):
        purge.when_idle()
        left.append(writing.execute("SELECT count(*) FROM start_keys").get)
    assert left[-1] == 25
    assert left[0] > 25


def size_of(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


async def test_the_log_stays_small_while_much_is_written(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COPY": 400, "REST": 100, "MUST": 1_200, "LOOK_EVERY": 4}.items():
        monkeypatch.setattr(checkpoints, name, value)
    store = SqliteStore(path, clock=ManualClock())
    await store.open()
    subject = Subject(store, ManualClock())
    log = Path(f"{path}-wal")
    for number in range(150):
        await subject.committed(start(f"run-{number:03}", data=events(1, "x" * 100_000)))  # 15 MB in all
        assert size_of(log) < 10_000_000
    await store.close()
    assert size_of(log) == 0


async def test_an_idle_store_copies_its_log_and_keeps_the_file(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(checkpoints, "IDLE", 0)
    store = SqliteStore(path, clock=ManualClock())
    await store.open()
    await Subject(store, ManualClock()).committed(start("run-1"))
    reading = apsw.Connection(path)
    assert reading.execute("SELECT count(*) FROM runs").get == 1

    async def is_copied() -> bool:
        pages, copied = reading.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        return pages == copied > 0

    await eventually(is_copied)
    reading.close()
    assert size_of(Path(f"{path}-wal")) >= 16_000_000
    await store.close()


def test_the_log_may_not_outgrow_its_limit() -> None:
    assert checkpoints.COPY < checkpoints.MUST
    assert (checkpoints.MUST + checkpoints.LOOK_EVERY * 256) * 4120 < 64 * 1024 * 1024 * 1.1


def plan(connection: apsw.Connection, query: str, bound: object) -> str:
    return "; ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", bound))  # type: ignore[arg-type]


OWNERSHIP = queries("ownership")


@pytest.mark.parametrize(
    ("query", "bound", "index"),
    [
        (OWNERSHIP["due"], (1, 10), "USING INDEX runs_due (wake_at>? AND wake_at<?)"),
        (OWNERSHIP["next wake"], (), "USING INDEX runs_due"),
        (OWNERSHIP["void"], (1, "w", 10), "USING COVERING INDEX runs_owned (owner=?)"),
        (OWNERSHIP["release all"], (1, "w"), "USING INDEX runs_owned (owner=?)"),
        (queries("inbox")["for worker"], ("w",), "SCAN i"),
        (queries("inbox")["for runs"], ("[]",), "USING INDEX sqlite_autoindex_inbox_1 (run=?)"),
        (queries("turns")["consume"], ("[]",), "USING INTEGER PRIMARY KEY (rowid=?)"),
        (
            queries("turns")["drop snapshots"],
            ("[]",),
            "SEARCH snapshots USING COVERING INDEX",
        ),
        (queries("journal")["rows"], ("r", 1, None, 10), "USING INDEX log_by_run (run=? AND seq>? AND seq<?)"),
        (queries("keys")["end"], ("", "", 10), "USING PRIMARY KEY"),
    ],
)
def test_hot_queries_use_their_indexes(writing: apsw.Connection, query: str, bound: object, index: str) -> None:
    assert index in plan(writing, query, bound)


def test_finding_the_owners_costs_as_much_as_there_are_owners(writing: apsw.Connection) -> None:
    steps = plan(writing, OWNERSHIP["dead owners"], (1,))
    assert steps.count("SEARCH runs USING COVERING INDEX runs_owned") == 1
    assert "SEARCH r USING COVERING INDEX runs_owned (owner>?)" in steps
    assert "SCAN runs" not in steps


@pytest.mark.parametrize(
    ("filter", "index"),
    [
        (RunFilter(namespace="n"), "runs_by_namespace"),
        (RunFilter(namespace="n", definition="d"), "runs_by_definition"),
        (RunFilter(namespace="n", statuses=[Status.FAILED]), "runs_troubled"),
        (RunFilter(namespace="n", statuses=[Status.RUNNING, Status.WAITING]), "runs_open"),
        (RunFilter(parent="r"), "runs_by_parent"),
        (RunFilter(namespace="n", attributes={"a": 1}), "SEARCH attributes USING PRIMARY KEY"),
    ],
)
def test_looking_runs_up_uses_indexes(writing: apsw.Connection, filter: RunFilter, index: str) -> None:
    query, bound = _search(filter, None, 100)
    found = plan(writing, query, bound)
    assert index in found
