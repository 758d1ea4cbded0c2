"""Bugs of stores: what a store could forget to check, on the memory store and on SQLite alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import msgspec

from perdure.ports.journal import Outcome, TurnWrite
from perdure.ports.outbox import Outgoing
from perdure.ports.ownership import Claimed
from perdure.stores.memory.journal import MemoryJournal
from perdure.stores.memory.outbox import MemoryOutbox
from perdure.stores.memory.ownership import MemoryOwnership
from perdure.stores.memory.runs import MemoryRuns
from perdure.stores.memory.tables import Run
from perdure.stores.sqlite import ownership as sqlite_ownership
from perdure.stores.sqlite import runs as sqlite_runs
from perdure.stores.sqlite import store as sqlite_store
from perdure.stores.sqlite.journal import SqliteJournal
from perdure.stores.sqlite.outbox import SqliteOutbox
from perdure.stores.sqlite.ownership import SqliteOwnership
from perdure.testing.simloop import pass_time
from tests.planted.swapping import swapped, swapped_item, without

Planting = AbstractContextManager[None]


@contextmanager
def both(*plantings: Planting) -> Iterator[None]:
    with ExitStack() as stack:
        for planting in plantings:
            stack.enter_context(planting)
        yield


def applied_as(change: Callable[[Run, TurnWrite], TurnWrite]) -> Planting:
    """The memory store applies another turn than it was given."""
    apply = MemoryJournal._apply

    def changed(self: MemoryJournal, turn: TurnWrite) -> Outcome:
        run = self._tables.runs.get(turn.run)
        return apply(self, turn if run is None or turn.new is not None else change(run, turn))

    return swapped(MemoryJournal, "_apply", changed)


def handed_in_as(change: Callable[[TurnWrite], TurnWrite]) -> Planting:
    """Both stores commit another turn than they were given."""

    def changing(journal: Any) -> Planting:
        commit = journal.commit
        return swapped(journal, "commit", lambda self, turn: commit(self, change(turn)))

    return both(changing(MemoryJournal), changing(SqliteJournal))


def no_fence() -> Planting:
    """A store that takes turns of an outdated epoch."""
    return both(
        applied_as(lambda run, turn: msgspec.structs.replace(turn, epoch=run.epoch)),
        without(sqlite_store, "script", " AND epoch = NEW.epoch", " AND owner = NEW.owner"),
    )


def seq_unchecked() -> Planting:
    """A store that does not ask whether the log has moved on."""

    def pretend(run: Run, turn: TurnWrite) -> TurnWrite:
        run.seq = turn.expected
        return turn

    return both(applied_as(pretend), without(sqlite_store, "script", " AND seq = NEW.expected"))


def parking_ignores_inbox() -> Planting:
    """A store that parks a run although a command has come for it."""
    return both(
        applied_as(lambda run, turn: msgspec.structs.replace(turn, inbox_seen=run.inbox_seq)),
        without(sqlite_store, "script", "AND (NEW.owner IS NOT NULL OR inbox_seq = NEW.inbox_seen)"),
    )


def wake_time_dropped() -> Planting:
    """A run is parked without its wake time."""
    return handed_in_as(lambda turn: msgspec.structs.replace(turn, wake_at=None) if turn.owner is None else turn)


def dead_workers_runs_not_due() -> Planting:
    """The wake time is used up by the claim, and a run whose worker died gets none back."""

    def set_free(self: Run, now: int, *, died: bool, alive_until: int | None) -> None:
        self.owner, self.died, self.wake_at = None, died, self.wake_at if not died else None

    void = "UPDATE runs SET owner = NULL, died = 1, epoch = epoch + 1, wake_at = NULL WHERE "
    queries = sqlite_ownership._Q
    return both(
        swapped(Run, "set_free", set_free),
        swapped_item(
            queries,
            "void",
            f"{void} ?1 IS NOT NULL AND id IN (SELECT id FROM runs WHERE owner = ?2 ORDER BY id LIMIT ?3)",
        ),
        swapped_item(queries, "void one", f"{void} ?1 IS NOT NULL AND id = ?2"),
    )


def key_not_unique() -> Planting:
    """A start with a key that is in use starts another run."""
    refused = MemoryJournal._refused_start

    def careless(self: MemoryJournal, new: Any, run: Any) -> Outcome | None:
        return refused(self, msgspec.structs.replace(new, key=None), run)

    return both(
        swapped(MemoryJournal, "_refused_start", careless),
        without(
            sqlite_store, "script", "INSERT OR IGNORE INTO start_keys", instead="INSERT OR REPLACE INTO start_keys"
        ),
    )


def cursor_outbox() -> Planting:
    """Messages are followed by a cursor: what was read once is never looked at again."""

    def following(outbox: Any) -> Planting:
        take = outbox.take
        read: set[str] = set()

        async def beyond(self: Any, worker: str, limit: int, lease: int) -> Sequence[Outgoing]:
            found = [one for one in await take(self, worker, limit, lease) if one.message.id not in read]
            read.update(one.message.id for one in found)
            return found

        return swapped(outbox, "take", beyond)

    return both(following(MemoryOutbox), following(SqliteOutbox))


def rescue_without_recheck() -> Planting:
    """Who may be claimed is read first and written later, and nobody looks again in between."""

    async def memory(self: MemoryOwnership, worker: str, limit: int, *_: Any) -> Sequence[Claimed]:
        tables = self._tables
        if not tables.has_lease(worker):
            return []
        now = tables.clock.now()
        found = [run for run in tables.runs.values() if run.owner is None and run.wake_at and run.wake_at <= now]
        found += [run for run in tables.runs.values() if run.owner is not None and not tables.has_lease(run.owner)]
        await pass_time(0.01)
        return [self._take(worker, run) for run in found[:limit]]

    async def sqlite(self: SqliteOwnership, worker: str, limit: int, *_: Any) -> Sequence[Claimed]:
        queries, now = sqlite_ownership._Q, self._clock.now()

        def read(connection: Any) -> str:
            sqlite_ownership._void_dead(connection, now)
            return str(connection.execute(queries["due"], (now, limit)).get)

        if await self._writer.call(lambda connection: not sqlite_ownership._has_lease(connection, worker, now)):
            return []
        runs = await self._writer.call(read)
        await pass_time(0.01)
        return await self._writer.call(lambda connection: sqlite_ownership._take(connection, worker, runs))

    return both(swapped(MemoryOwnership, "claim", memory), swapped(SqliteOwnership, "claim", sqlite))


def lease_outlives_itself() -> Planting:
    """A lease that has run out can be renewed as if nothing had happened."""

    async def renew(self: MemoryOwnership, worker: str, lease: int) -> bool:
        self._tables.workers[worker] = self._tables.clock.now() + lease
        return True

    always = """INSERT INTO workers (id, expires_at, renewed_at) VALUES (?1, ?2, ?3)
                ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at"""
    return both(
        swapped(MemoryOwnership, "renew", renew),
        swapped_item(sqlite_ownership._Q, "renew", always),
    )


def death_forgotten() -> Planting:
    """A claim that is given back takes the news of a death with it."""
    give_back, query = MemoryOwnership.give_back, sqlite_ownership._Q["give back"]

    async def forgetful(self: MemoryOwnership, worker: str, claimed: Sequence[Claimed]) -> None:
        await give_back(self, worker, claimed)
        for one in claimed:
            self._tables.runs[one.head.run].died = False

    return both(
        swapped(MemoryOwnership, "give_back", forgetful),
        swapped_item(sqlite_ownership._Q, "give back", query.replace("SET owner", "SET died = 0, owner")),
    )


def namespace_forgotten() -> Planting:
    """A list of runs shows those of other namespaces too."""
    find = MemoryRuns.find

    async def found(self: MemoryRuns, filter: Any, before: str | None = None, limit: int = 100) -> Any:
        return await find(self, msgspec.structs.replace(filter, namespace=None), before, limit)

    return both(
        swapped(MemoryRuns, "find", found),
        swapped_item(sqlite_runs._Q, "of namespace", ":namespace IS NOT NULL"),
    )


def synchronous_normal() -> Planting:
    """SQLite syncs now and then instead of at each commit."""
    connect = sqlite_store.connect

    def faster(path: str, *, read_only: bool = False) -> Any:
        connection = connect(path, read_only=read_only)
        connection.execute("PRAGMA synchronous = NORMAL").fetchall()
        return connection

    return swapped(sqlite_store, "connect", faster)
