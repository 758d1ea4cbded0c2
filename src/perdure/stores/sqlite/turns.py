"""Turns as rows of `turn_in`, and why a turn was refused.

A whole group is one INSERT (see `sql/session.sql`). If it changed as many rows as it should, every turn is committed.
Only otherwise does anybody ask which was not, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import msgspec

from perdure.errors import InvariantBroken
from perdure.model.codec import encode_refs
from perdure.ports.clock import Clock
from perdure.ports.journal import (
    COMMITTED,
    FENCED,
    INBOX_MOVED,
    STALE_DEFINITION,
    NewRun,
    Outcome,
    TurnWrite,
    Verdict,
)
from perdure.stores.sqlite.many import insert_padded
from perdure.stores.sqlite.queries import queries

KEY_TTL = 24 * 60 * 60 * 1_000_000
"""How long after its end a run still answers for its start key."""

MOST = 256
"""Turns in one statement."""

_GOES_ON, _MOVES, _STARTS = 0, 1, 2
_COLUMNS = 16

_Q = queries("turns")
_encode = msgspec.json.Encoder().encode


def _row(turn: TurnWrite, kind: int) -> tuple[Any, ...]:
    return (
        kind,
        turn.run,
        turn.turn_id,
        turn.epoch,
        turn.expected,
        turn.seq,
        turn.at,
        turn.data,
        turn.codec,
        encode_refs(turn.refs) if turn.refs else None,
        turn.status,
        turn.owner,
        turn.wake_at,
        turn.inbox_seen,
        turn.result,
        None if turn.new is None else _encode(turn.new).decode(),
    )


class Turns:
    """Knows the last row of the log, and so which rows a group has added."""

    def __init__(self, connection: apsw.Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._last_row: int | None = None

    def forget(self) -> None:
        """Something was rolled back."""
        self._last_row = None

    def insert(self, turns: Sequence[TurnWrite]) -> bool:
        """Whether every one of them was carried out. If not, `settle` says what became of each."""
        if self._last_row is None:
            self._last_row = int(self._connection.execute(_Q["last row"]).get or 0)
        values: list[Any] = []
        rows = changes = 0
        for turn in turns:
            changes += 1
            if turn.seq != turn.expected:
                rows += 1
            if turn.new is not None:
                values += _row(turn, _STARTS)
                if turn.new.key is not None:
                    changes += 1
            elif turn.owner is not None and turn.result is None and not turn.unparks:
                values += _row(turn, _GOES_ON)
            else:
                values += _row(turn, _MOVES)
        if self._carry_out(values) != changes + rows:
            return False
        self._last_row += rows
        return True

    def settle(self, turns: Sequence[TurnWrite]) -> list[Outcome]:
        """Some are tried again, so it needs a transaction."""
        last_row = self._last_row or 0
        outcomes = [COMMITTED if self._is_new(turn, last_row) else self._reconsider(turn) for turn in turns]
        self._last_row = None
        return outcomes

    def _carry_out(self, values: list[Any]) -> int:
        before = self._connection.total_changes()
        insert_padded(self._connection, _Q["carry out"], _COLUMNS, values)
        return self._connection.total_changes() - before

    def _is_new(self, turn: TurnWrite, last_row: int) -> bool:
        """Not only written, but written just now: the same turn may have been committed before."""
        if turn.seq == turn.expected:
            head = (turn.turn_id, turn.epoch, turn.seq)
            return self._connection.execute(_Q["turn of head"], (turn.run,)).fetchone() == head
        found = self._connection.execute(_Q["turn of log"], (turn.run, turn.seq)).fetchone()
        return found is not None and found[0] == turn.turn_id and found[1] > last_row

    def _reconsider(self, turn: TurnWrite) -> Outcome:
        if turn.new is not None:
            return self._refused_start(turn, turn.new)
        head = self._connection.execute(_Q["guards"], (turn.run,)).fetchone()
        if head is None or head[0] != turn.epoch or head[1] != turn.expected:
            return FENCED
        if (turn.owner is None or head[3] is None) and head[2] != turn.inbox_seen:
            return INBOX_MOVED
        # Rare: the head has another owner, or the run was closed, or the turn before it was reconsidered too.
        if self._carry_out(list(_row(turn, _MOVES))) == 0:
            raise InvariantBroken(f"turn {turn.turn_id} of run {turn.run} was refused for no known reason")
        return COMMITTED

    def _refused_start(self, turn: TurnWrite, new: NewRun) -> Outcome:
        if new.key is not None:
            held = self._connection.execute(_Q["key"], (new.namespace, new.key)).fetchone()
            if held is not None:
                run, digest, closed_at = held
                if closed_at is None or closed_at + KEY_TTL > self._clock.now():
                    return Outcome(Verdict.KEY_EXISTS, existing_run=run, existing_digest=digest)
                self._connection.execute(_Q["free key"], (new.namespace, new.key))
                if self._carry_out(list(_row(turn, _STARTS))) > 0:
                    return COMMITTED
        if self._connection.execute(_Q["guards"], (turn.run,)).fetchone() is not None:
            return FENCED
        return STALE_DEFINITION
