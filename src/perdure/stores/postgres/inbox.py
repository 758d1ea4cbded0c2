"""Commands for runs that somebody else may own. Senders that come together share a transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec

from perdure.ports.hints import Hint
from perdure.ports.inbox import Received, Sent, Waiting
from perdure.stores.postgres.hints import PostgresHints
from perdure.stores.postgres.isolation import around_held, isolating
from perdure.stores.postgres.lanes import Lanes
from perdure.stores.postgres.links import Pool, Rows
from perdure.stores.postgres.queries import load_queries

_SQL = load_queries("inbox")
GROUP = 128


class _Sending(msgspec.Struct, frozen=True):
    namespace: str
    run: str
    command: bytes
    request_id: str


class PostgresInbox:
    def __init__(self, pool: Pool, hints: PostgresHints, now: Callable[[], int | None]) -> None:
        self._pool = pool
        self._hints = hints
        self._now = now
        self._lanes: Lanes[_Sending, Sent] = Lanes(
            self._send_group, width=1, limit=GROUP, deadline=pool.deadline, weight=lambda each: len(each.command)
        )

        self._receiving: Lanes[Sequence[str], Received] = Lanes(
            self._receive_group, width=2, limit=GROUP, deadline=pool.deadline, weight=len, max_weight=10_000
        )

    async def send(self, namespace: str, run: str, command: bytes, request_id: str) -> Sent:
        return await self._lanes.submit(_Sending(namespace, run, command, request_id))

    async def _send_group(self, group: Sequence[_Sending], ends: float) -> Sequence[Sent | BaseException]:
        return await isolating(self._send_around_held, group, ends)

    async def _send_around_held(self, group: Sequence[_Sending], ends: float) -> Sequence[Sent | BaseException]:
        return await around_held(self._pool, self._send, group, ends, lambda each: each.run)

    async def _send(self, group: Sequence[_Sending], ends: float) -> Sequence[Sent | BaseException]:
        rows = await self._pool.fetch_by(
            ends,
            _SQL["send"],
            [each.namespace for each in group],
            [each.run for each in group],
            [each.command for each in group],
            [each.request_id for each in group],
            self._now(),
        )
        for row in rows:
            if row["verdict"] == "accepted":
                if row["owner"] is None:
                    self._hints.give(Hint.DUE)
                else:
                    self._hints.give(Hint.INBOX, row["owner"])
        return [Sent(row["verdict"]) for row in rows]

    async def receive(self, worker: str, runs: Sequence[str] | None = None) -> Received:
        if runs is None:
            return _received(await self._pool.fetch(_SQL["receive_all"], worker))
        return await self._receiving.submit(runs)

    async def _receive_group(self, group: Sequence[Sequence[str]], ends: float) -> Sequence[Received | BaseException]:
        return await isolating(self._receive, group, ends)

    async def _receive(self, group: Sequence[Sequence[str]], ends: float) -> Sequence[Received | BaseException]:
        """Those who ask together are answered together: a thousand runs that wake at once cost a few statements."""
        rows = await self._pool.read_by(ends, _SQL["receive"], list({run for runs in group for run in runs}))
        if len(group) == 1:
            return [_received(rows)]
        of_run: dict[str, Rows] = defaultdict(list)
        for row in rows:
            of_run[row["run"]].append(row)
        return [
            _received(sorted((row for run in set(runs) for row in of_run[run]), key=lambda row: row["id"] or 0))
            for runs in group
        ]

    async def close(self) -> None:
        await self._lanes.close()
        await self._receiving.close()


def _received(rows: Rows) -> Received:
    waiting = [Waiting(row["id"], row["run"], row["request_id"], row["command"]) for row in rows if row["id"]]
    return Received(waiting, {row["run"]: row["inbox_seq"] for row in rows})
