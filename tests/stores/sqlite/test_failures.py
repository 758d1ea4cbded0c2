"""A full disk passes; a failed write or sync is the end of the process."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from perdure.errors import CommitUnknown, StoreFull, StoreUnavailable
from perdure.stores.sqlite import SqliteStore
from perdure.testing.contracts.subject import ME, ManualClock, Subject, events, start, step


async def test_a_full_disk_fails_the_turns_and_nothing_else(subject: Subject, writing: apsw.Connection) -> None:
    await subject.committed(start("run-1"))
    writing.pragma("max_page_count", writing.pragma("page_count") + 3)

    large = [step("run-1", 1, data=events(1, "x" * 100_000)), start("run-2", data=events(2, "x" * 100_000))]
    outcomes = await asyncio.gather(*map(subject.store.journal.commit, large), return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [StoreFull, StoreFull]
    assert (await subject.head("run-1")).seq == 1  # reads go on
    assert await subject.store.journal.head("run-2") is None
    writing.pragma("max_page_count", 1_000_000)
    await subject.committed(*large)  # and so do writes when there is room


async def test_a_call_on_a_full_disk_is_told_so(subject: Subject, writing: apsw.Connection) -> None:
    writing.pragma("max_page_count", writing.pragma("page_count"))
    with pytest.raises(StoreFull):
        await subject.store.definitions.publish("default", "order", "flow", {"x": "y" * 50_000}, "h", None)
    writing.pragma("max_page_count", 1_000_000)
    assert await subject.store.ownership.renew(ME, 1)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    folder = tmp_path / "small"
    folder.mkdir()
    mounting = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=80m", "perdure-test", folder], capture_output=True, check=False
    )
    if mounting.returncode:
        pytest.skip("tmpfs cannot be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


async def count_until_full(subject: Subject) -> int:
    for number in range(1000):
        try:
            await subject.committed(start(f"run-{number:04}", data=events(1, "x" * 200_000)))
        except StoreFull:
            return number
    pytest.fail("the disk never became full")


async def test_a_store_on_a_full_disk_cannot_be_opened(small_disk: Path) -> None:
    with suppress(OSError):
        (small_disk / "ballast").write_bytes(b"x" * 90_000_000)
    for _ in range(2):
        with pytest.raises(StoreFull):
            await SqliteStore(str(small_disk / "perdure.db")).open()


async def test_a_disk_that_is_really_full(small_disk: Path) -> None:
    clock = ManualClock()
    store = SqliteStore(str(small_disk / "perdure.db"), clock=clock)
    await store.open()
    subject = Subject(store, clock)
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 32_000_000)
    committed = await count_until_full(subject)
    with pytest.raises(StoreFull):
        await subject.committed(start("run-x", data=events(1, "x" * 2_000_000)))
    assert len(await store.runs.walk(limit=1000)) == committed

    ballast.unlink()
    await subject.committed(start("run-y", data=events(1, "x" * 200_000)))
    await store.close()

    again = SqliteStore(str(small_disk / "perdure.db"), clock=clock)
    await again.open()
    assert len(await again.runs.walk(limit=1000)) == committed + 1
    await again.close()


class FaultyFiles(apsw.VFS):
    """The file system, until `fails` is set: then the log can be written but not synced."""

    def __init__(self) -> None:
        self.fails = False
        self.syncs = 0
        self.beneath = apsw.vfs_names()[0]
        super().__init__("faulty", self.beneath)

    def xOpen(self, name: object, flags: list[int]) -> FaultyFile:  # noqa: N802
        return FaultyFile(self, name, flags)


class FaultyFile(apsw.VFSFile):
    def __init__(self, files: FaultyFiles, name: object, flags: list[int]) -> None:
        self._files = files
        self._is_log = bool(flags[0] & apsw.SQLITE_OPEN_WAL)
        super().__init__(files.beneath, name, flags)  # type: ignore[arg-type]

    def xSync(self, flags: int) -> None:  # noqa: N802
        if self._is_log:
            self._files.syncs += 1
            if self._files.fails:
                raise apsw.IOError("injected")
        super().xSync(flags)


@pytest.fixture
def faulty() -> Iterator[FaultyFiles]:
    files = FaultyFiles()
    apsw.set_default_vfs("faulty")
    yield files
    apsw.set_default_vfs(files.beneath)
    files.unregister()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_after_a_failed_sync_nothing_is_tried_again(faulty: FaultyFiles, path: str) -> None:
    problems: list[BaseException] = []
    store = SqliteStore(path, clock=ManualClock(), on_fatal=problems.append)
    await store.open()
    subject = Subject(store, ManualClock())
    await subject.committed(start("run-1"))

    faulty.fails = True
    before = faulty.syncs
    commits = [store.journal.commit(step("run-1", 1)), store.journal.commit(start("run-2"))]
    outcomes = await asyncio.gather(*commits, return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [CommitUnknown, CommitUnknown]
    assert faulty.syncs == before + 1
    assert len(problems) == 1
    faulty.fails = False
    with pytest.raises(StoreUnavailable):
        await store.journal.commit(start("run-3"))
    with pytest.raises(StoreUnavailable):
        await store.ownership.renew(ME, 1)
    await store.close()


async def test_what_was_queued_behind_a_failed_sync_was_not_done(faulty: FaultyFiles, path: str) -> None:
    store = SqliteStore(path, clock=ManualClock())
    await store.open()
    faulty.fails = True
    outcomes = await asyncio.gather(
        *(store.journal.commit(start(f"run-{number:04}")) for number in range(600)), return_exceptions=True
    )
    kinds = [type(outcome) for outcome in outcomes]
    assert kinds[:256] == [CommitUnknown] * 256
    assert set(kinds[256:]) == {StoreUnavailable}
    faulty.fails = False
    await store.close()
