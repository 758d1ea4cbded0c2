"""The log of runs in memory: turns are applied one after the other in the loop's next iteration."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

from perdure.model.statuses import FINAL
from perdure.ports.hints import Hint
from perdure.ports.journal import (
    COMMITTED,
    FENCED,
    INBOX_MOVED,
    STALE_DEFINITION,
    Head,
    Loaded,
    NewRun,
    Outcome,
    Row,
    TurnWrite,
    Verdict,
)
from perdure.stores.memory.tables import Blob, Parcel, Run, Tables

KEY_TTL = 24 * 60 * 60 * 1_000_000
"""How long after its end a run still answers for its start key."""


class MemoryJournal:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._queued: list[tuple[TurnWrite, asyncio.Future[Outcome]]] = []

    def commit(self, turn: TurnWrite) -> Awaitable[Outcome]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        if not self._queued:
            loop.call_soon(self.flush)
        self._queued.append((turn, future))
        return future

    def flush(self) -> None:
        queued, self._queued = self._queued, []
        for turn, future in queued:
            try:
                outcome = self._apply(turn)
            except Exception as problem:
                if not future.done():
                    future.set_exception(problem)
                continue
            if outcome is COMMITTED:
                self._tell(turn)
            if not future.done():
                future.set_result(outcome)

    async def head(self, run: str) -> Head | None:
        found = self._tables.runs.get(run)
        return None if found is None else found.head()

    async def load(self, run: str) -> Loaded | None:
        found = self._tables.runs.get(run)
        if found is None:
            return None
        seq = max(found.snapshots, default=0)
        rows = [row for row in found.rows if row.seq > seq]
        blobs = {
            ref.hash: blob.data
            for row in rows
            for ref in row.refs
            if (blob := self._tables.blobs.get((found.new.namespace, ref.hash))) is not None
        }
        return Loaded(found.head(), seq, found.snapshots.get(seq), rows, blobs)

    async def history(self, run: str, after: int = 0, limit: int = 1000) -> Sequence[Row]:
        found = self._tables.runs.get(run)
        return [] if found is None else [row for row in found.rows if row.seq > after][:limit]

    def _apply(self, turn: TurnWrite) -> Outcome:
        """First every check, then every change: so it is all or nothing."""
        run = self._tables.runs.get(turn.run)
        if turn.new is not None:
            refusal = self._refused_start(turn.new, run)
            if refusal is not None:
                return refusal
            run = self._tables.runs[turn.run] = Run(turn.run, turn.new, turn.status, turn.epoch)
            if turn.new.key is not None:
                self._tables.keys[turn.new.namespace, turn.new.key] = turn.run
        elif run is None or run.epoch != turn.epoch or run.seq != turn.expected:
            return FENCED
        elif (turn.owner is None or run.owner is None) and run.inbox_seq != turn.inbox_seen:
            return INBOX_MOVED
        run.move(turn)
        if turn.seq > turn.expected:
            run.rows.append(
                Row(turn.seq, turn.expected + 1, turn.at, turn.turn_id, turn.codec, turn.data, list(turn.refs))
            )
        self._apply_extras(turn, run)
        return COMMITTED

    def _refused_start(self, new: NewRun, run: Run | None) -> Outcome | None:
        if new.key is not None:
            holder = self._tables.runs.get(self._tables.keys.get((new.namespace, new.key), ""))
            now = self._tables.clock.now()
            if holder is not None and (holder.closed_at is None or holder.closed_at + KEY_TTL > now):
                digest = holder.new.request_digest
                return Outcome(Verdict.KEY_EXISTS, existing_run=holder.id, existing_digest=digest)
        if run is not None:
            return FENCED
        if new.active_revision is not None:
            definition = self._tables.definitions.get((new.namespace, new.definition))
            if definition is None or definition.revision != new.active_revision:
                return STALE_DEFINITION
        return None

    def _apply_extras(self, turn: TurnWrite, run: Run) -> None:
        tables, namespace, now = self._tables, run.new.namespace, self._tables.clock.now()
        if turn.snapshot is not None:
            run.snapshots[turn.seq] = turn.snapshot
            for seq in sorted(run.snapshots)[:-2]:
                del run.snapshots[seq]
        for number in turn.consumed:
            if number in tables.inbox and tables.inbox[number].run == turn.run:
                del tables.inbox[number]
        if turn.attributes is not None:
            run.attributes = dict(turn.attributes)
        for name, data in turn.blobs.items():
            tables.blobs.setdefault((namespace, name), Blob(data, now))
        for name in (*turn.blobs, *(ref.hash for ref in turn.refs)):
            if (namespace, name) in tables.blobs:
                tables.blobs[namespace, name].runs.add(turn.run)
        for message in turn.messages:
            tables.outbox[message.id] = Parcel(turn.run, message, now)
        for send in turn.sends:
            tables.send(None, send.run, send.command, send.request_id)

    def _tell(self, turn: TurnWrite) -> None:
        hints = self._tables.hints
        if turn.status in FINAL:
            hints.give(Hint.CLOSED, turn.run)
        elif turn.owner is None and turn.wake_at is not None and turn.wake_at <= turn.at:
            hints.give(Hint.DUE)
        if turn.messages:
            hints.give(Hint.OUTBOX)
