"""Leases and claims on SQLite. One process has the file, so a `worker` is one of this process, or of a simulation."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from perdure.model.values import decode_json, encode_json
from perdure.ports.clock import Clock
from perdure.ports.hints import Hint, Hints
from perdure.ports.ownership import Claimed, VersionKey
from perdure.stores.sqlite.heads import head_of
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.reader import Reader
from perdure.stores.sqlite.writer import Writer

VOID_AT_ONCE = 1000
"""Runs of a dead worker that one claim sets free, so that a claim never takes long."""
FORGET_AFTER = 7 * 24 * 60 * 60 * 1_000_000
"""How long the name of a dead worker is refused."""

_Q = queries("ownership")


def void_leases(connection: apsw.Connection, now: int) -> None:
    """Nobody else has the file, so every lease in it belongs to a process that is gone."""
    connection.execute(_Q["void all"], (now,))
    connection.execute(_Q["no workers"])


class SqliteOwnership:
    def __init__(self, writer: Writer, reader: Reader, hints: Hints, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._hints = hints
        self._clock = clock

    async def renew(self, worker: str, lease: int) -> bool:
        def work(connection: apsw.Connection) -> bool:
            now = self._clock.now()
            connection.execute(_Q["forget workers"], (now - FORGET_AFTER,))
            connection.execute(_Q["renew"], (worker, now + lease, now))
            return connection.changes() == 1

        return await self._writer.call(work)

    async def claim(self, worker: str, limit: int, declined: Sequence[VersionKey] = ()) -> Sequence[Claimed]:
        others = encode_json(declined).decode()

        def work(connection: apsw.Connection) -> list[Claimed]:
            now = self._clock.now()
            if not _has_lease(connection, worker, now):
                return []
            _void_dead(connection, now)
            if declined:
                runs = connection.execute(_Q["due of others"], (now, limit, others)).get
            else:
                runs = connection.execute(_Q["due"], (now, limit)).get
            return _take(connection, worker, runs)

        return await self._writer.call(work)

    async def acquire(self, worker: str, run: str) -> Claimed | None:
        def work(connection: apsw.Connection) -> Claimed | None:
            now = self._clock.now()
            if not _has_lease(connection, worker, now):
                return None
            owner = connection.execute(_Q["owner"], (run,)).fetchone()
            if owner is None or (owner[0] is not None and _has_lease(connection, owner[0], now)):
                return None
            if owner[0] is not None:
                connection.execute(_Q["void one"], (now, run))
            return _take(connection, worker, encode_json([run]).decode())[0]

        return await self._writer.call(work)

    async def release(self, worker: str, runs: Sequence[str]) -> None:
        if not runs:
            return
        names = encode_json(list(runs)).decode()

        def work(connection: apsw.Connection) -> None:
            connection.execute(_Q["release"], (self._clock.now(), worker, names))

        await self._writer.call(work)
        self._hints.give(Hint.DUE)

    async def give_back(self, worker: str, claimed: Sequence[Claimed]) -> None:
        claims = encode_json([[one.head.run, one.head.epoch, one.head.inbox_seq] for one in claimed]).decode()

        def work(connection: apsw.Connection) -> None:
            connection.execute(_Q["give back"], (self._clock.now(), worker, claims))

        await self._writer.call(work)
        self._hints.give(Hint.DUE)

    async def leave(self, worker: str) -> None:
        def work(connection: apsw.Connection) -> None:
            connection.execute(_Q["release all"], (self._clock.now(), worker))
            connection.execute(_Q["no worker"], (worker,))

        await self._writer.call(work)
        self._hints.give(Hint.DUE)

    async def next_wake(self, declined: Sequence[VersionKey] = ()) -> int | None:
        def look(connection: apsw.Connection) -> int | None:
            if not declined:
                return connection.execute(_Q["next wake"]).get  # type: ignore[no-any-return]
            return connection.execute(_Q["next wake of others"], (encode_json(declined).decode(),)).get  # type: ignore[no-any-return]

        return await self._reader.short(look)

    async def now(self) -> int:
        return self._clock.now()


def _has_lease(connection: apsw.Connection, worker: str, now: int) -> bool:
    return connection.execute(_Q["lease"], (worker, now)).get is not None


def _void_dead(connection: apsw.Connection, now: int) -> None:
    room = VOID_AT_ONCE
    for owner in decode_json(connection.execute(_Q["dead owners"], (now,)).get):
        if room > 0:
            connection.execute(_Q["void"], (now, owner, room))
            room -= connection.changes()


def _take(connection: apsw.Connection, worker: str, runs: str) -> list[Claimed]:
    """`runs` is a JSON list. Three statements for any number of runs: see `many.py`."""
    connection.execute(_Q["take"], (worker, runs))
    taken = decode_json(connection.execute(_Q["taken"], (runs,)).get)
    return [Claimed(head_of(row), bool(died), alive_until) for row, died, alive_until in taken]
