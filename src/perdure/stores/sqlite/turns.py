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


def insert_turns(connection: apsw.Connection, turns: Sequence[TurnWrite]) -> bool:
    """Whether every one of them was carried out."""
    values: list[Any] = []
    changes = 0
    for turn in turns:
        changes += 1 if turn.seq == turn.expected else 2
        if turn.new is not None:
            values += _row(turn, _STARTS)
            if turn.new.key is not None:
                changes += 1
        elif turn.owner is not None and turn.result is None:
            values += _row(turn, _GOES_ON)
        else:
            values += _row(turn, _MOVES)
    before = connection.total_changes()
    insert_padded(connection, _Q["carry out"], _COLUMNS, values)
    return connection.total_changes() - before == changes


def settle(connection: apsw.Connection, clock: Clock, turns: Sequence[TurnWrite]) -> list[Outcome]:
    """What became of each turn after an insert that did not carry out all. Some are tried again: in a transaction."""
    return [COMMITTED if _is_written(connection, turn) else _reconsider(connection, clock, turn) for turn in turns]


def _is_written(connection: apsw.Connection, turn: TurnWrite) -> bool:
    query = _Q["turn of head"] if turn.seq == turn.expected else _Q["turn of log"]
    return bool(connection.execute(query, (turn.run, turn.seq)).get == turn.turn_id)


def _reconsider(connection: apsw.Connection, clock: Clock, turn: TurnWrite) -> Outcome:
    if turn.new is not None:
        return _refused_start(connection, clock, turn, turn.new)
    head = connection.execute(_Q["guards"], (turn.run,)).fetchone()
    if head is None or head[0] != turn.epoch or head[1] != turn.expected:
        return FENCED
    if turn.owner is None and head[2] != turn.inbox_seen:
        return INBOX_MOVED
    # Rare: the head has another owner, or the run was closed, or the turn before it in this group was reconsidered too.
    return _again(connection, turn, _MOVES)


def _refused_start(connection: apsw.Connection, clock: Clock, turn: TurnWrite, new: NewRun) -> Outcome:
    if new.key is not None:
        held = connection.execute(_Q["key"], (new.namespace, new.key)).fetchone()
        if held is not None:
            run, digest, closed_at = held
            if closed_at is None or closed_at + KEY_TTL > clock.now():
                return Outcome(Verdict.KEY_EXISTS, existing_run=run, existing_digest=digest)
            connection.execute(_Q["free key"], (new.namespace, new.key))
            if insert_turns(connection, [turn]):
                return COMMITTED
    if connection.execute(_Q["guards"], (turn.run,)).fetchone() is not None:
        return FENCED
    return STALE_DEFINITION


def _again(connection: apsw.Connection, turn: TurnWrite, kind: int) -> Outcome:
    before = connection.total_changes()
    insert_padded(connection, _Q["carry out"], _COLUMNS, list(_row(turn, kind)))
    if connection.total_changes() == before:
        raise InvariantBroken(f"turn {turn.turn_id} of run {turn.run} was refused for no known reason")
    return COMMITTED
