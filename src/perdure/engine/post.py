"""Commands that come through inboxes: from other processes, and from other runs."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from perdure.engine.answers import Letter
from perdure.errors import HistoryUnreadable, StoreError
from perdure.model.codec import decode_command
from perdure.ports.inbox import Received, Waiting

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun
    from perdure.engine.runtime import Runtime


class Post:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._wanted = False
        self._at_work = False
        self._poll: asyncio.TimerHandle | None = None

    def open(self) -> None:
        self._next_poll()

    def close(self) -> None:
        if self._poll is not None:
            self._poll.cancel()

    def _next_poll(self) -> None:
        runtime = self._runtime
        self._poll = runtime.loop.call_later(runtime.ids.jitter(runtime.settings.poll), self._on_poll)

    def _on_poll(self) -> None:
        if self._runtime.roster.owned:
            self.collect()
        self._next_poll()

    def collect(self) -> None:
        """Fetches what waits for the runs held here."""
        self._wanted = True
        if not self._at_work:
            self._at_work = True
            self._runtime.spawn(self._collect())

    async def _collect(self) -> None:
        runtime = self._runtime
        try:
            while self._wanted:
                self._wanted = False
                worker, newest = runtime.worker, runtime.roster.count
                received = await runtime.inbox.receive(worker)
                if worker == runtime.worker:
                    self._hand_out(received, newest)
        except StoreError as problem:
            runtime.trouble("receiving commands", problem)
        finally:
            self._at_work = False

    def _hand_out(self, received: Received, newest: int) -> None:
        """To the runs that were here when the store was asked. Of those that came later, the answer may hold commands
        that an earlier owner has consumed."""
        by_run: dict[str, list[Waiting]] = defaultdict(list)
        for waiting in received.waiting:
            by_run[waiting.run].append(waiting)
        for run, rows in by_run.items():
            owned = self._runtime.roster.owned.get(run)
            if owned is not None and owned.number <= newest:
                owned.deliver_all(self._letters(owned, rows, received))

    def _letters(self, owned: OwnedRun, rows: Sequence[Waiting], received: Received) -> list[Letter]:
        letters: list[Letter] = []
        for row in rows:
            if row.id <= owned.received:
                continue  # it is on its way through a turn, or has been through one since the store was asked
            owned.received = row.id
            try:
                letters.append((decode_command(row.command), None, row.id))
            except HistoryUnreadable as problem:
                # Perhaps a newer worker can read it. It stays where it is.
                self._runtime.trouble(f"a command for {owned.run}", problem)
        owned.inbox_seen = max(owned.inbox_seen, received.inbox_seqs.get(owned.run, 0))
        return letters

    async def receive_for(self, owned: OwnedRun) -> list[Letter]:
        received = await self._runtime.inbox.receive(self._runtime.worker, [owned.run])
        rows = [waiting for waiting in received.waiting if waiting.run == owned.run]
        return self._letters(owned, rows, received)

    async def receive_patiently(self, owned: OwnedRun) -> list[Letter]:
        """Until the store answers or the run is dropped."""
        for pause in self._runtime.pauses():
            try:
                return await self.receive_for(owned)
            except StoreError as problem:
                self._runtime.trouble(f"receiving commands for {owned.run}", problem)
            if owned.dropped:
                break
            await asyncio.sleep(pause)
        return []

    def fetch(self, owned: OwnedRun) -> None:
        """Its inbox has moved; the run stays here until it has been looked at."""
        owned.pending += 1
        self._runtime.spawn(self._fetch(owned))

    async def _fetch(self, owned: OwnedRun) -> None:
        owned.fetched(await self.receive_patiently(owned))
