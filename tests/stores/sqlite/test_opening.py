"""One server per file, safe settings, and leases that do not outlive their process."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from perdure.errors import SettingsInvalid, StoreLocked, StoreUnavailable
from perdure.stores.sqlite import SqliteStore
from perdure.stores.sqlite.connection import check_version
from perdure.testing.contracts.subject import LEASE, ME, OTHER, ManualClock, Subject, start, step

HOLD = """
import asyncio, sys
from perdure.stores.sqlite import SqliteStore
async def main():
    await SqliteStore(sys.argv[1]).open()
    print("open", flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


async def test_a_second_server_in_this_process_is_refused(subject: Subject, path: str) -> None:
    with pytest.raises(StoreLocked) as refusal:
        await SqliteStore(path).open()
    assert path in str(refusal.value)
    assert str(os.getpid()) in str(refusal.value)
    await subject.committed(start("run-1"))


async def test_a_second_server_in_another_process_is_refused_until_the_first_is_gone(path: str) -> None:
    holder = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLD, path, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"open\n"
        with pytest.raises(StoreLocked, match=f"process {holder.pid}") as refusal:
            await SqliteStore(path).open()
        assert refusal.value.as_dict()["pid"] == holder.pid
    finally:
        holder.kill()
        await holder.communicate()
    store = SqliteStore(path)
    await store.open()
    await store.close()


def by_link(path: str, other: Path) -> str:
    other.symlink_to(path)
    return str(other)


def by_folder(path: str, other: Path) -> str:
    other.symlink_to(Path(path).parent)
    return str(other / Path(path).name)


def by_hard_link(path: str, other: Path) -> str:
    os.link(path, other)
    return str(other)


def without_the_lock_file(path: str, other: Path) -> str:
    Path(f"{path}.lock").unlink()
    return path


WAYS = [by_link, by_folder, by_hard_link, without_the_lock_file]
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the lock on the file itself is taken on Linux only")


@on_linux
@pytest.mark.parametrize("way", WAYS)
async def test_no_other_way_leads_a_second_server_to_the_same_file(way: Callable[[str, Path], str], path: str) -> None:
    holder = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLD, path, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"open\n"
        with pytest.raises(StoreLocked):
            await SqliteStore(way(path, Path(path).with_name("other"))).open()
    finally:
        holder.kill()
        await holder.communicate()


LOCKED = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)  # where SQLite's readers lock
    except OSError:
        print("locked")
"""


@on_linux
@pytest.mark.parametrize("way", WAYS)
async def test_who_is_refused_in_this_process_does_not_take_sqlites_own_locks_away(
    way: Callable[[str, Path], str], subject: Subject, path: str
) -> None:
    await subject.committed(start("run-1"))
    with pytest.raises(StoreLocked):
        await SqliteStore(way(path, Path(path).with_name("other"))).open()
    probe = await asyncio.create_subprocess_exec(sys.executable, "-c", LOCKED, path, stdout=subprocess.PIPE)
    assert (await probe.communicate())[0] == b"locked\n"


async def test_a_closed_store_can_be_opened_by_the_next(path: str) -> None:
    for _ in range(3):
        store = SqliteStore(path)
        await store.open()
        await store.close()


async def test_opening_twice_is_opening_once(subject: Subject) -> None:
    await subject.committed(start("run-1"))
    await subject.store.open()
    await subject.committed(step("run-1", 1))


async def test_only_the_owner_can_read_the_files(subject: Subject, path: str) -> None:
    await subject.committed(start("run-1"))
    for file in (path, f"{path}-wal", f"{path}-shm", f"{path}.lock"):
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600, file


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("synchronous", 2),
        ("journal_mode", "wal"),
        ("trusted_schema", 0),
        ("foreign_keys", 1),
        ("journal_size_limit", 64 * 1024 * 1024),
        ("busy_timeout", 5000),
        ("wal_autocheckpoint", 0),
        ("temp_store", 2),
    ],
)
def test_the_writer_has_safe_settings(writing: apsw.Connection, pragma: str, value: object) -> None:
    assert writing.pragma(pragma) == value


def test_nothing_is_mapped_into_memory(writing: apsw.Connection) -> None:
    assert writing.pragma("mmap_size") in (0, None)


@pytest.mark.parametrize("version", ["3.7.0", "3.40.1", "3.51.2"])
def test_a_sqlite_that_can_corrupt_its_log_is_refused(version: str) -> None:
    with pytest.raises(SettingsInvalid, match=version):
        check_version(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.54.1", "4.0.0"])
def test_a_newer_sqlite_is_accepted(version: str) -> None:
    check_version(version)


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"nowhere/perdure\.db"):
        await SqliteStore(str(tmp_path / "nowhere" / "perdure.db")).open()


async def test_a_file_that_is_no_database_is_refused(path: str) -> None:
    write(path, b"This is a letter, not a database.\n" * 100)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="not a database"):
            await SqliteStore(path).open()
    assert read(path).startswith(b"This is a letter")


def write(path: str, data: bytes) -> None:
    Path(path).write_bytes(data)


def read(path: str) -> bytes:
    return Path(path).read_bytes()


async def test_leases_of_the_process_before_are_void(path: str) -> None:
    clock = ManualClock()
    first = SqliteStore(path, clock=clock)
    await first.open()
    before = Subject(first, clock)
    await before.leased()
    await before.committed(start("run-1"), start("run-2", owner=OTHER), start("run-3"))
    await first.ownership.release(ME, ["run-3"])
    await first.close()

    second = SqliteStore(path, clock=clock)
    await second.open()
    assert await second.ownership.renew(OTHER, LEASE)  # a name of before is as good as any
    claimed = await second.ownership.claim(OTHER, 10)
    await second.close()

    assert {each.head.run: each.died for each in claimed} == {"run-1": True, "run-2": True, "run-3": False}


@pytest.mark.parametrize("writer", ["thread", "inline"])
async def test_a_store_in_memory_needs_no_file(writer: str, tmp_path: os.PathLike[str]) -> None:
    os.chdir(tmp_path)
    store = SqliteStore(":memory:", writer=writer)  # type: ignore[arg-type]
    await store.open()
    subject = Subject(store, ManualClock())
    await subject.committed(start("run-1"), step("run-1", 1))
    assert [head.seq for head in await store.runs.walk()] == [2]
    await store.close()
    assert os.listdir(tmp_path) == []
