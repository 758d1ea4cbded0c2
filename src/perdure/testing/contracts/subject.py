"""The store under test, the clock it goes by, and turns to give to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from perdure.model.statuses import FINAL, Status
from perdure.ports.journal import Head, NewRun, Outcome, TurnWrite, Verdict
from perdure.ports.ownership import VersionKey
from perdure.ports.store import Store

SECOND = 1_000_000
HOUR = 3600 * SECOND
BEGIN = 1_800_000_000 * SECOND
LEASE = 30 * SECOND
ME, OTHER = "worker-a", "worker-b"
_turns = count(1)


class ManualClock:
    """Stands still until it is told otherwise."""

    def __init__(self, now: int = BEGIN) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def advance(self, microseconds: int) -> None:
        self._now += microseconds


@dataclass
class Subject:
    store: Store
    clock: ManualClock
    is_bounded: bool = True
    """Streams do not stay in this process's memory."""
    reopen: Callable[[], Awaitable[Store]] | None = None
    """Closes the store and opens another one on the same data, where there is any."""

    async def commit(self, turn: TurnWrite) -> Verdict:
        return (await self.store.journal.commit(turn)).verdict

    async def committed(self, *turns: TurnWrite) -> None:
        """All of them queued at once, and every one must succeed."""
        awaited = [self.store.journal.commit(turn) for turn in turns]
        outcomes = [await each for each in awaited]
        assert verdicts(outcomes) == [Verdict.COMMITTED] * len(turns)

    async def head(self, run: str) -> Head:
        head = await self.store.journal.head(run)
        assert head is not None, f"there is no run {run}"
        return head

    async def leased(self, *workers: str) -> None:
        for worker in workers or (ME, OTHER):
            assert await self.store.ownership.renew(worker, LEASE)

    async def claim(self, worker: str = ME, limit: int = 100, declined: Sequence[VersionKey] = ()) -> list[str]:
        return [claimed.head.run for claimed in await self.store.ownership.claim(worker, limit, declined)]


def verdicts(outcomes: Iterable[Outcome]) -> list[Verdict]:
    return [outcome.verdict for outcome in outcomes]


def new_run(**given: Any) -> NewRun:
    fields: dict[str, Any] = {
        "namespace": "default",
        "definition": "order",
        "version": 1,
        "hash": "cafe",
        "program": "flow",
        "created_at": BEGIN,
    }
    return NewRun(**fields | given)


def events(number: int, text: str = "") -> bytes:
    return f'[{{"event":"Test","number":{number},"text":"{text}"}}]'.encode()


def start(run: str = "run-1", *, new: NewRun | None = None, **given: Any) -> TurnWrite:
    """The first turn: one event, owned by ME."""
    return step(run, 0, new=new or new_run(), **given)


def step(run: str, expected: int, **given: Any) -> TurnWrite:
    """A turn of one event, owned by ME unless it ends the run."""
    number = next(_turns)
    status = given.get("status", Status.RUNNING)
    fields: dict[str, Any] = {
        "turn_id": f"turn-{number}",
        "epoch": 1,
        "seq": expected + 1,
        "at": BEGIN + expected,
        "data": events(number),
        "codec": 1,
        "status": status,
        "owner": None if status in FINAL else ME,
        "result": b'{"output":null}' if status in FINAL else None,
    }
    return TurnWrite(run=run, expected=expected, **fields | given)


def parked(run: str, expected: int, wake_at: int | None = None, **given: Any) -> TurnWrite:
    status = Status.WAITING if wake_at is None else Status.SLEEPING
    return step(run, expected, **{"status": status, "owner": None, "wake_at": wake_at} | given)


def sleeper(run: str, wake_at: int | None, **given: Any) -> TurnWrite:
    """A new run that nobody owns, due at `wake_at`."""
    return start(run, status=Status.SLEEPING, owner=None, wake_at=wake_at, **given)


def ended(run: str, expected: int, **given: Any) -> TurnWrite:
    return step(run, expected, **{"status": Status.COMPLETED} | given)


async def eventually(check: Callable[[], Awaitable[bool]]) -> None:
    """For what another process or task does in its own time: looks until it is so."""
    async with asyncio.timeout(10):
        while not await check():  # noqa: ASYNC110
            await asyncio.sleep(0.002)
