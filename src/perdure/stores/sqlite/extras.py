"""What few turns bring along: snapshots, inbox deletions and sends, messages, search attributes, blobs.

Written after the heads, for committed turns only, in the same transaction, with a number of statements that does not
depend on the number of turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from perdure.model.values import decode_json, encode_json
from perdure.ports.journal import TurnWrite
from perdure.stores.sqlite.attributes import index_rows
from perdure.stores.sqlite.many import insert_padded, insert_rows
from perdure.stores.sqlite.packing import checksum, chunk_rows, pack
from perdure.stores.sqlite.queries import queries

_Q = queries("turns")


def has_extras(turn: TurnWrite) -> bool:
    return bool(
        turn.snapshot is not None
        or turn.consumed
        or turn.messages
        or turn.sends
        or turn.refs
        or turn.blobs
        or turn.attributes is not None
    )


def write_extras(connection: apsw.Connection, turns: Sequence[TurnWrite], now: int) -> list[str]:
    """Returns the runs that were sent commands."""
    _consume(connection, turns)
    _keep_snapshots(connection, turns)
    _publish(connection, turns, now)
    _set_attributes(connection, turns)
    _keep_blobs(connection, turns, now)
    return _send(connection, turns, now)


def send_rows(connection: apsw.Connection, rows: Sequence[tuple[Any, ...]]) -> bool:
    """Puts commands into inboxes; whether all were accepted."""
    before = connection.total_changes()
    for start in range(0, len(rows), 256):
        values = [value for row in rows[start : start + 256] for value in row]
        insert_padded(connection, _Q["send"], 5, values)
    return connection.total_changes() - before == 2 * len(rows)


def owners_of(connection: apsw.Connection, runs: Sequence[str]) -> list[str]:
    """Who owns these runs ('' for nobody), to be told of what came for them."""
    owners: list[str] = decode_json(connection.execute(_Q["owners"], (_text(list(runs)),)).get)
    return owners


def _consume(connection: apsw.Connection, turns: Sequence[TurnWrite]) -> None:
    consumed = [(turn.run, id) for turn in turns for id in turn.consumed]
    if consumed:
        connection.execute(_Q["consume"], (_text(consumed),))


def _keep_snapshots(connection: apsw.Connection, turns: Sequence[TurnWrite]) -> None:
    rows = [(turn.run, turn.seq, *_with_checksum(*pack(turn.snapshot))) for turn in turns if turn.snapshot is not None]
    if rows:
        insert_rows(connection, _Q["keep snapshots"], rows)
        connection.execute(_Q["drop snapshots"], (_text([row[0] for row in rows]),))


def _with_checksum(packed: bool, data: bytes) -> tuple[bool, int, bytes]:
    return packed, checksum(data), data


def _publish(connection: apsw.Connection, turns: Sequence[TurnWrite], now: int) -> None:
    speaking = [turn for turn in turns if turn.messages]
    if speaking:
        namespaces = _namespaces(connection, speaking)
        rows = [
            (m.id, namespaces[turn.run], turn.run, m.type, m.key, _text(m.payload), now)
            for turn in speaking
            for m in turn.messages
        ]
        insert_rows(connection, _Q["publish"], rows)


def _send(connection: apsw.Connection, turns: Sequence[TurnWrite], now: int) -> list[str]:
    rows = [(None, send.run, send.request_id, send.command, now) for turn in turns for send in turn.sends]
    if rows:
        send_rows(connection, rows)
    return [row[1] for row in rows]


def _set_attributes(connection: apsw.Connection, turns: Sequence[TurnWrite]) -> None:
    changed = {turn.run: turn.attributes for turn in turns if turn.attributes is not None}
    if not changed:
        return
    old: list[tuple[str, str, str | None]] = decode_json(
        connection.execute(_Q["attributes of"], (_text(list(changed)),)).get
    )
    stale = [row for run, namespace, text in old if text for row in index_rows(namespace, run, decode_json(text))]
    fresh = [row for run, namespace, _ in old for row in index_rows(namespace, run, changed[run])]
    if stale:
        connection.execute(_Q["forget attribute"], (_text(stale),))
    connection.execute(_Q["set attributes"], (_text([(run, _text(values)) for run, values in changed.items()]),))
    if fresh:
        connection.execute(_Q["index attributes"], (_text(fresh),))


def _keep_blobs(connection: apsw.Connection, turns: Sequence[TurnWrite], now: int) -> None:
    holding = [turn for turn in turns if turn.blobs or turn.refs]
    if not holding:
        return
    namespaces = _namespaces(connection, holding)
    contents = {(namespaces[turn.run], name): data for turn in holding for name, data in turn.blobs.items()}
    if contents:
        highest, known = next(connection.execute(_Q["known blobs"], (_text(list(contents)),)))
        present = {(namespace, name) for namespace, name in decode_json(known)}
        missing = [(place, data) for place, data in contents.items() if place not in present]
        blobs = [(highest + n, *place, len(data), now) for n, (place, data) in enumerate(missing, 1)]
        insert_rows(connection, _Q["add blobs"], blobs)
        chunks = [row for n, (_, data) in enumerate(missing, 1) for row in chunk_rows(highest + n, data)]
        insert_rows(connection, _Q["add chunks"], chunks)
    names = [
        (namespaces[turn.run], name, turn.run)
        for turn in holding
        for name in dict.fromkeys([*turn.blobs, *(ref.hash for ref in turn.refs)])
    ]
    connection.execute(_Q["refer"], (_text(names),))


def _namespaces(connection: apsw.Connection, turns: Sequence[TurnWrite]) -> dict[str, str]:
    runs = _text([turn.run for turn in turns])
    found: dict[str, str] = decode_json(connection.execute(_Q["namespaces"], (runs,)).get)
    return found


def _text(value: Any) -> str:
    return encode_json(value).decode()
