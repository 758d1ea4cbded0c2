"""The log: group commit of turns, and reading runs back."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from zlib import crc32

from perdure.errors import StoreUnavailable
from perdure.model.codec import decode_refs
from perdure.ports.hints import Hint
from perdure.ports.journal import (
    COMMITTED,
    FENCED,
    INBOX_MOVED,
    STALE_DEFINITION,
    Head,
    Loaded,
    Outcome,
    Row,
    TurnWrite,
    Verdict,
)
from perdure.stores.postgres.hints import PostgresHints
from perdure.stores.postgres.isolation import around_held, isolating
from perdure.stores.postgres.lanes import Lanes
from perdure.stores.postgres.links import Pool, Rows
from perdure.stores.postgres.queries import load_queries
from perdure.stores.postgres.records import head_of, row_of, unpack_off_loop
from perdure.stores.postgres.turns import further_columns, is_plain, pack_all, pinned_columns, plain_rows, weight

_SQL = load_queries("journal")
_BLOBS = load_queries("blobs")

COMMIT_SESSION = {
    # One plan for ever, and always the same: from the given ids to the heads by index, in the given order.
    "plan_cache_mode": "force_generic_plan",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_seqscan": "off",
}
GROUP = 128
LOADS = 64

_log = logging.getLogger(__name__)
_OUTCOMES = {"fenced": FENCED, "inbox moved": INBOX_MOVED, "stale definition": STALE_DEFINITION}


class PostgresJournal:
    def __init__(self, committers: Pool, readers: Pool, hints: PostgresHints, now: Callable[[], int | None]) -> None:
        self._committers = committers
        self._readers = readers
        self._hints = hints
        self._now = now
        self._lanes: Lanes[TurnWrite, Outcome] = Lanes(
            self._write_group,
            width=committers.size,
            limit=GROUP,
            deadline=committers.deadline,
            name=lambda turn: turn.run,
            weight=weight,
        )
        self._heads: Lanes[str, Head | None] = Lanes(self._head_group, width=2, limit=GROUP, deadline=readers.deadline)
        self._loads: Lanes[str, Loaded | None] = Lanes(
            self._load_group, width=2, limit=LOADS, deadline=readers.deadline
        )

    def commit(self, turn: TurnWrite) -> Awaitable[Outcome]:
        return self._lanes.submit(turn)

    async def load(self, run: str) -> Loaded | None:
        return await self._loads.submit(run)

    async def head(self, run: str) -> Head | None:
        return await self._heads.submit(run)

    async def history(self, run: str, after: int = 0, limit: int = 1000) -> Sequence[Row]:
        return [row_of(row) for row in await self._readers.fetch(_SQL["history"], run, after, limit)]

    async def close(self) -> None:
        await self._lanes.close()
        await self._heads.close()
        await self._loads.close()

    # -- writing -------------------------------------------------------------------------------------------------------

    async def _write_group(self, turns: Sequence[TurnWrite], ends: float) -> Sequence[Outcome | BaseException]:
        return await isolating(self._write_around_held, turns, ends)

    async def _write_around_held(self, turns: Sequence[TurnWrite], ends: float) -> Sequence[Outcome | BaseException]:
        return await around_held(self._committers, self._write, turns, ends, lambda turn: turn.run)

    async def _write(self, turns: Sequence[TurnWrite], ends: float) -> Sequence[Outcome | BaseException]:
        moving, starting = plain_rows(turns)
        if all(map(is_plain, turns)):
            rows = await self._committers.fetch_by(ends, _SQL["commit_turns"], moving, starting, self._now())
        else:
            further = further_columns(turns, await pack_all(turns))
            pinned = pinned_columns(turns)
            query = _SQL["commit_pinned_turns"] if pinned else _SQL["commit_full_turns"]
            rows = await self._committers.fetch_by(ends, query, moving, starting, *further, *pinned, self._now())
        if not rows:
            self._tell(turns)
            return [COMMITTED] * len(turns)
        return self._outcomes(turns, rows)

    def _outcomes(self, turns: Sequence[TurnWrite], rows: Rows) -> Sequence[Outcome | BaseException]:
        refused: dict[str, Outcome | BaseException] = {}
        for row in rows:
            match row["verdict"]:
                case "sent":
                    self._hints.give(*(Hint.INBOX, row["existing_run"]) if row["existing_run"] else (Hint.DUE,))
                case "key exists":
                    refused[row["run"]] = Outcome(Verdict.KEY_EXISTS, row["existing_run"], row["existing_digest"])
                case "again":
                    refused[row["run"]] = StoreUnavailable("another start was in the way", remedy="try again")
                case verdict:
                    refused[row["run"]] = _OUTCOMES[verdict]
        self._tell([turn for turn in turns if turn.run not in refused])
        return [refused.get(turn.run, COMMITTED) for turn in turns]

    def _tell(self, turns: Sequence[TurnWrite]) -> None:
        give = self._hints.give
        for turn in turns:
            if turn.owner is None:
                if turn.status.is_final:
                    give(Hint.CLOSED, turn.run)
                elif turn.wake_at is not None and turn.wake_at <= turn.at:
                    give(Hint.DUE)
            if turn.messages:
                give(Hint.OUTBOX)

    # -- reading -------------------------------------------------------------------------------------------------------

    async def _head_group(self, runs: Sequence[str], ends: float) -> Sequence[Head | BaseException | None]:
        return await isolating(self._read_heads, runs, ends)

    async def _read_heads(self, runs: Sequence[str], ends: float) -> Sequence[Head | BaseException | None]:
        rows = await self._readers.read_by(ends, _SQL["heads"], list(runs))
        heads = {row["id"]: head_of(row) for row in rows}
        return [heads.get(run) for run in runs]

    async def _load_group(self, runs: Sequence[str], ends: float) -> Sequence[Loaded | BaseException | None]:
        return await isolating(self._load_newest, runs, ends)

    async def _load_newest(self, runs: Sequence[str], ends: float) -> Sequence[Loaded | BaseException | None]:
        return await self._load_older(runs, [None] * len(runs), ends)

    async def _load_older(
        self, runs: Sequence[str], older: Sequence[int | None], ends: float
    ) -> list[Loaded | BaseException | None]:
        """From snapshots older than that. Heads first, then the rows up to them: rows never change, so together they
        are one moment."""
        heads = {row["id"]: row for row in await self._readers.read_by(ends, _SQL["states"], list(runs), list(older))}
        rows: dict[str, list[Row]] = defaultdict(list)
        wanted: dict[tuple[str, str], None] = {}
        if heads:
            found = await self._readers.read_by(
                ends,
                _SQL["rows"],
                list(heads),
                [row["snapshot_seq"] or 0 for row in heads.values()],
                [row["seq"] for row in heads.values()],
            )
            for row in found:
                rows[row["run"]].append(row_of(row))
                if row["refs"]:
                    wanted.update(((row["run"], ref.hash), None) for ref in decode_refs(row["refs"]))
        blobs = await self._fetch_blobs(list(wanted), ends)
        loaded: list[Loaded | BaseException | None] = []
        for run in runs:
            head = heads.get(run)
            if head is None:
                loaded.append(None)
            elif head["snapshot"] is None:
                loaded.append(Loaded(head_of(head), 0, None, rows[run], blobs[run]))
            elif crc32(head["snapshot"]) != head["crc"]:
                _log.warning("the snapshot of run %s at %s is damaged; an older one serves", run, head["snapshot_seq"])
                loaded += await self._load_older([run], [head["snapshot_seq"]], ends)
            else:
                snapshot = await unpack_off_loop(head["packed"], head["snapshot"])
                loaded.append(Loaded(head_of(head), head["snapshot_seq"], snapshot, rows[run], blobs[run]))
        return loaded

    async def _fetch_blobs(self, wanted: Sequence[tuple[str, str]], ends: float) -> dict[str, dict[str, bytes]]:
        blobs: dict[str, dict[str, bytes]] = defaultdict(dict)
        if wanted:
            runs, names = [run for run, _ in wanted], [name for _, name in wanted]
            rows = await self._readers.read_by(ends, _BLOBS["fetch"], runs, names)
            parts: dict[tuple[str, str], list[bytes]] = defaultdict(list)
            for row in rows:
                parts[row["run"], row["hash"]].append(await unpack_off_loop(row["packed"], row["data"]))
            for (run, hash), found in parts.items():
                blobs[run][hash] = b"".join(found)
        return blobs
