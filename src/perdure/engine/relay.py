"""The outbox relay: hands published messages to whoever subscribed, after the turn that published them is durable.

A message is delivered at least once, in order per run, with an id that stays the same. It leaves the outbox only after
every subscriber has taken it, so a crash in between repeats it. A subscriber that raises gets it again later, with
growing pauses; messages of other runs do not wait for it. A process without any subscriber takes nothing; one that
has some lets messages go that match none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from perdure.engine.observer import Observer
from perdure.errors import StoreError
from perdure.ports.hints import Hint
from perdure.ports.outbox import Outgoing
from perdure.ports.store import Store

BATCH = 100
LEASE = 30_000_000
"""A message that a worker took and neither delivered nor gave back is taken by another after so long."""
FAREWELL = 5.0
"""Seconds that a subscriber may take to stop."""
FIRST_PAUSE, LONGEST_PAUSE = 1_000_000, 300_000_000


class Delivered(msgspec.Struct, frozen=True):
    """What a subscriber gets."""

    id: str
    """The same on every delivery: remember it, to treat a repetition as one."""
    namespace: str
    run: str
    type: str
    payload: Any
    key: str | None
    attempt: int


Subscriber = Callable[[Delivered], Awaitable[None]]


class Relay:
    def __init__(self, store: Store, worker: str, poll: float = 1.0, observer: Observer | None = None) -> None:
        self._store = store
        self._worker = worker
        self._poll = poll
        self._observer = observer
        self._subscribers: list[tuple[str, Subscriber]] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._deafen: Callable[[], None] | None = None

    def subscribe(self, pattern: str, subscriber: Subscriber) -> None:
        """`order.*` and the like: `*` stands for anything, `?` for one sign."""
        self._subscribers.append((pattern, subscriber))
        self._wake.set()

    def open(self) -> None:
        self._deafen = self._store.hints.listen(self._hear)
        self._task = asyncio.ensure_future(self._work())

    async def close(self) -> None:
        """A subscriber that does not stop when told is left alone: the engine behind it wants to be closed too."""
        if self._deafen is not None:
            self._deafen()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=FAREWELL)

    def _hear(self, hint: Hint, subject: str) -> None:
        if hint is Hint.OUTBOX:
            self._wake.set()

    async def _work(self) -> None:
        while True:
            self._wake.clear()
            try:
                while self._subscribers and await self.deliver_due() == BATCH:
                    pass
            except StoreError as problem:
                if self._observer is not None:
                    self._observer.trouble("relaying messages", problem)
            try:
                async with asyncio.timeout(self._poll if self._subscribers else None):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def deliver_due(self) -> int:
        """One batch; runs side by side, messages of one run one after another."""
        taken = await self._store.outbox.take(self._worker, BATCH, LEASE)
        by_run: dict[str, list[Outgoing]] = {}
        for outgoing in taken:
            by_run.setdefault(outgoing.run, []).append(outgoing)
        await asyncio.gather(*[self._deliver_in_order(messages) for messages in by_run.values()])
        return len(taken)

    async def _deliver_in_order(self, messages: Sequence[Outgoing]) -> None:
        done: list[str] = []
        for outgoing in messages:
            try:
                await self._deliver(outgoing)
            except Exception as problem:
                if done:
                    await self._store.outbox.done(done)
                    done = []
                await self._put_off(outgoing, problem)
                return
            done.append(outgoing.message.id)
        await self._store.outbox.done(done)

    async def _deliver(self, outgoing: Outgoing) -> None:
        message = outgoing.message
        told = Delivered(
            message.id,
            outgoing.namespace,
            outgoing.run,
            message.type,
            message.payload,
            message.key,
            outgoing.attempts + 1,
        )
        for pattern, subscriber in self._subscribers:
            if fnmatchcase(message.type, pattern):
                await subscriber(told)

    async def _put_off(self, outgoing: Outgoing, problem: Exception) -> None:
        pause = min(FIRST_PAUSE * 2**outgoing.attempts, LONGEST_PAUSE)
        due = await self._store.ownership.now() + pause
        await self._store.outbox.again(outgoing.message.id, due, f"{type(problem).__name__}: {problem}"[:1000])
        if self._observer is not None:
            self._observer.trouble(f"delivering message {outgoing.message.id}", problem)
