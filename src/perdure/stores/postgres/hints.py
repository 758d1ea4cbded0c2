"""Hints: at once to listeners in this process, by NOTIFY to other processes.

A notification takes one lock for the whole server when it commits, so they are gathered and sent at most fifty times a
second, outside every other transaction and without waiting for the disk. The link that listens is asked for a sign of
life every few seconds, because a half-open one would stay silent for ever; whenever it was made anew, everybody is told
to look (hints without a subject), since nobody knows what was missed.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable

from perdure.errors import PerdureError
from perdure.ports.hints import Hint, Listener
from perdure.stores.postgres.links import Connection, Link, Target

SETTINGS = {"synchronous_commit": "off"}
INTERVAL = 0.02
PAYLOAD_BYTES = 7900
"""PostgreSQL's limit is 8,000."""
MAX_PAYLOADS = 16
_NOTIFY = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload"
_ALIVE = "SELECT 1"
_HINTS = {hint.value: hint for hint in Hint}


class PostgresHints:
    def __init__(self, target: Target, *, check_every: float = 5.0, answer_within: float = 3.0) -> None:
        self._channel = f"perdure.{target.schema}"
        self._origin = uuid.uuid4().hex[:12]
        self._link = Link(target, SETTINGS, deadline=answer_within, on_connect=self._subscribe)
        self._check_every = check_every
        self._listeners: dict[object, Listener] = {}
        self._given: dict[tuple[Hint, str], None] = {}
        self._outgoing: dict[tuple[Hint, str], None] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.links_made = 0
        self.alive_at = 0.0
        """When the listening link last answered, on the loop's clock."""

    def give(self, hint: Hint, subject: str = "") -> None:
        self._spread(hint, subject)
        self._outgoing[hint, subject] = None
        self._wake.set()

    def listen(self, listener: Listener) -> Callable[[], None]:
        place = object()
        self._listeners[place] = listener

        def stop() -> None:
            self._listeners.pop(place, None)

        return stop

    async def open(self) -> None:
        await self._link.connected()
        self._task = asyncio.ensure_future(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._link.close()

    # -- the link ------------------------------------------------------------------------------------------------------

    async def _subscribe(self, connection: Connection) -> None:
        await connection.add_listener(self._channel, self._heard)
        connection.add_termination_listener(self._lost)
        self.links_made += 1
        self.alive_at = asyncio.get_running_loop().time()
        for hint in Hint:
            self._spread(hint, "")

    def _lost(self, _: object) -> None:
        self._wake.set()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        pause = INTERVAL
        while True:
            try:
                async with asyncio.timeout(self._check_every):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            try:
                payloads = self._payloads()
                if payloads:
                    await self._link.fetch(_NOTIFY, self._channel, payloads)
                else:
                    await self._link.fetch(_ALIVE)
                self.alive_at = loop.time()
                pause = INTERVAL
            except PerdureError:
                self._wake.set()  # a link that is gone is replaced without waiting for the next check
                pause = min(pause * 2, 1.0)
            await asyncio.sleep(pause)

    def _payloads(self) -> list[str]:
        """What has gathered. Too much of it is cut short: whoever is told to look sees the rest too."""
        outgoing, self._outgoing = self._outgoing, {}
        payloads: list[str] = []
        lines, size = [self._origin], len(self._origin)
        for hint, subject in outgoing:
            line = f"{hint.value} {subject}"
            length = len(line.encode()) + 1
            if length > PAYLOAD_BYTES // 2:
                line = f"{hint.value} "
                length = len(line) + 1
            if size + length > PAYLOAD_BYTES:
                payloads.append("\n".join(lines))
                lines, size = [self._origin], len(self._origin)
                if len(payloads) == MAX_PAYLOADS:
                    lines += [f"{each.value} " for each in Hint]
                    break
            lines.append(line)
            size += length
        if len(lines) > 1:
            payloads.append("\n".join(lines))
        return payloads

    def _heard(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        origin, *lines = str(payload).split("\n")
        if origin == self._origin:
            return
        for line in lines:
            name, _, subject = line.partition(" ")
            if (hint := _HINTS.get(name)) is not None:
                self._spread(hint, subject)

    def _spread(self, hint: Hint, subject: str) -> None:
        """To listeners here, on the loop's next turn, each different hint once."""
        if not self._given:
            asyncio.get_running_loop().call_soon(self._deliver)
        self._given[hint, subject] = None

    def _deliver(self) -> None:
        given, self._given = self._given, {}
        listeners = list(self._listeners.items())
        for hint, subject in given:
            for place, listener in listeners:
                if place in self._listeners:
                    listener(hint, subject)
