"""Power cuts without a power switch: a file system under SQLite that forgets what was never synced.

    python -m tests.reliability.powercut [--cuts 40] [--bug NAME]

Every write goes to the real file and to a list; a sync moves the list into an image of what a disk would hold. A cut
takes, at any moment, the image and a random part of the list, in any order, torn at sectors: all that a disk may have
got round to. From each such remainder the store must come back with every turn that had been acknowledged.

A program of its own, because the file system of SQLite is one for the whole process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from perdure.ports.journal import Verdict
from perdure.stores.sqlite import SqliteStore, checkpoints
from perdure.testing.contracts.subject import ended, start, step

SECTOR = 512
LANES = 8
TURNS = 12
"""Of each run, its start and its end included."""
PAYLOAD = bytes(range(256)) * 24
COPY_PAGES, REST_PAGES, MUST_PAGES = 200, 50, 600
"""A small log, so that it is copied and begun anew many times."""


@dataclass
class File:
    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes]] = field(default_factory=list)

    def sync(self) -> None:
        for offset, data in self.pending:
            put(self.durable, offset, data)
        self.pending.clear()

    def after_a_cut(self, chance: random.Random) -> bytes:
        """What was synced, and of the rest whatever the disk had got round to."""
        left = bytearray(self.durable)
        sectors = [
            (offset + place, data[place : place + SECTOR])
            for offset, data in self.pending
            for place in range(0, len(data), SECTOR)
        ]
        chance.shuffle(sectors)
        for offset, data in sectors[: chance.randint(0, len(sectors))] if sectors else ():
            put(left, offset, data)
        return bytes(left)


def put(image: bytearray, offset: int, data: bytes) -> None:
    if len(image) < offset:
        image.extend(bytes(offset - len(image)))
    image[offset : offset + len(data)] = data


class Disk:
    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.syncs = 0
        self.lock = threading.Lock()

    def cut(self, chance: random.Random) -> dict[str, bytes]:
        with self.lock:
            return {path: file.after_a_cut(chance) for path, file in self.files.items()}


class ForgetfulFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        path = name if isinstance(name, str) else name.filename()
        self._disk = disk
        with disk.lock:
            self._file = disk.files.setdefault(path, File())

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        with self._disk.lock:
            self._file.pending.append((offset, bytes(data)))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        super().xTruncate(size)
        with self._disk.lock:
            self._file.sync()
            del self._file.durable[size:]

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        with self._disk.lock:
            self._disk.syncs += 1
            self._file.sync()


class ForgetfulVFS(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        super().__init__("forgetful", "unix", makedefault=True)
        self._disk = disk

    def xOpen(self, name: Any, flags: list[int]) -> ForgetfulFile:  # noqa: N802
        return ForgetfulFile(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        with self._disk.lock:
            self._disk.files.pop(filename, None)


@dataclass
class Cut:
    files: dict[str, bytes]
    acknowledged: list[tuple[str, int, str]]


async def live(path: Path, disk: Disk, cuts: int, chance: random.Random) -> list[Cut]:
    """Runs go on in lanes; at random acknowledgements the power is cut (in another world: here it all goes on)."""
    store = SqliteStore(str(path))
    await store.open()
    with closing(apsw.Connection(str(path))) as connection:  # the empty tables are there for good
        connection.execute("SELECT * FROM sqlite_schema").fetchall()
        connection.wal_checkpoint()
    acknowledged: list[tuple[str, int, str]] = []
    runs = max(1, cuts // LANES)
    moments = set(chance.sample(range(1, LANES * runs * TURNS), cuts))
    taken: list[Cut] = []

    async def commit(turn: Any) -> None:
        outcome = await store.journal.commit(turn)
        assert outcome.verdict is Verdict.COMMITTED
        acknowledged.append((turn.run, turn.seq, turn.turn_id))
        if len(acknowledged) in moments:
            taken.append(Cut(disk.cut(chance), list(acknowledged)))

    async def lane(number: int) -> None:
        for visit in range(runs):
            run = f"{number:02}-{visit:03}"
            await commit(start(run))
            for seq in range(1, TURNS - 1):
                await commit(step(run, seq, snapshot=PAYLOAD + run.encode()))
            await commit(ended(run, TURNS - 1))

    await asyncio.gather(*(lane(number) for number in range(LANES)))
    await store.close()
    return taken


def come_back(cut: Cut, place: Path) -> list[str]:
    """What is wrong with the database that is found after the cut."""
    place.mkdir()
    for path, content in cut.files.items():
        if not path.endswith("-shm"):
            (place / Path(path).name).write_bytes(content)
    wrong: list[str] = []
    connection = apsw.Connection(str(place / "perdure.db"), vfs="unix")
    try:
        if connection.execute("PRAGMA integrity_check").get != "ok":
            wrong.append("the database is damaged")
        found = set(connection.execute("SELECT run, seq, turn_id FROM log"))
    except apsw.Error as problem:
        return [f"the database cannot be read: {problem}"]
    finally:
        connection.close()
    lost = [turn for turn in cut.acknowledged if turn not in found]
    if lost:
        wrong.append(f"{len(lost)} of {len(cut.acknowledged)} acknowledged turns are lost")
    return wrong


@contextmanager
def planted(name: str | None) -> Iterator[None]:
    if name is None:
        yield
        return
    from tests.planted.bugs import BUGS

    with BUGS[name].plant():
        yield


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuts", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bug")
    options = parser.parse_args()
    checkpoints.COPY, checkpoints.REST, checkpoints.MUST = COPY_PAGES, REST_PAGES, MUST_PAGES
    chance = random.Random(options.seed)
    disk = Disk()
    vfs = ForgetfulVFS(disk)
    with tempfile.TemporaryDirectory(prefix="perdure-cut-") as directory, planted(options.bug):
        cuts = asyncio.run(live(Path(directory, "perdure.db"), disk, options.cuts, chance))
        found = [come_back(cut, Path(directory, f"cut-{number}")) for number, cut in enumerate(cuts, start=1)]
    vfs.unregister()
    first = next((number for number, wrong in enumerate(found, start=1) if wrong), None)
    report = {"cuts": len(cuts), "syncs": disk.syncs, "first": first, "wrong": [text for one in found for text in one]}
    sys.stdout.write(json.dumps(report) + "\n")
    return 1 if first else 0


if __name__ == "__main__":
    sys.exit(main())
