"""Turns to give to a store, and what the server knows about itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import asyncpg

from perdure.model.statuses import FINAL, Status
from perdure.ports.journal import NewRun, Outcome, TurnWrite, Verdict
from perdure.stores.postgres import PostgresStore

SECOND = 1_000_000
_numbers = count(1)


class ManualClock:
    def __init__(self, now: int = 1_800_000_000 * SECOND) -> None:
        self.time = now

    def now(self) -> int:
        return self.time


def turn(run: str, expected: int, **given: Any) -> TurnWrite:
    status = given.get("status", Status.RUNNING)
    fields: dict[str, Any] = {
        "turn_id": f"turn-{next(_numbers)}",
        "epoch": 1,
        "seq": expected + 1,
        "at": 1_800_000_000 * SECOND,
        "data": b'[{"event":"Test"}]',
        "codec": 1,
        "status": status,
        "owner": None if status in FINAL else "worker-a",
        "result": b'{"output":null}' if status in FINAL else None,
    }
    return TurnWrite(run=run, expected=expected, **fields | given)


def start(run: str, *, key: str | None = None, namespace: str = "default", **given: Any) -> TurnWrite:
    new = NewRun(
        namespace=namespace,
        definition="d",
        version=1,
        hash="h",
        program="flow",
        created_at=1,
        key=key,
        request_digest=run,
    )
    return turn(run, 0, **{"new": new} | given)


def sleeper(run: str, wake_at: int, **given: Any) -> TurnWrite:
    return start(run, status=Status.SLEEPING, owner=None, wake_at=wake_at, **given)


async def commit(store: PostgresStore, *turns: TurnWrite) -> list[Verdict]:
    outcomes: list[Outcome] = [await each for each in [store.journal.commit(turn) for turn in turns]]
    return [outcome.verdict for outcome in outcomes]


async def committed(store: PostgresStore, *turns: TurnWrite) -> None:
    assert set(await commit(store, *turns)) == {Verdict.COMMITTED}


@asynccontextmanager
async def server(url: str, **settings: str) -> AsyncIterator[Any]:
    """A connection of our own, with the tables in sight."""
    connection = await asyncpg.connect(url, server_settings={"search_path": "perdure", **settings})
    try:
        yield connection
    finally:
        await connection.close()
