"""A group of turns as `commit_turns` and `commit_full_turns` take it: rows, and columns of what few of them bring."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TypeAlias
from zlib import crc32

from perdure.model.codec import encode_refs
from perdure.model.values import encode_json
from perdure.ports.blobs import CHUNK
from perdure.ports.journal import NewRun, TurnWrite
from perdure.stores.postgres.records import OFF_LOOP_ABOVE, Packed, pack, pieces

Rows: TypeAlias = list[tuple[object, ...]]
Columns: TypeAlias = list[list[object]]


def is_plain(turn: TurnWrite) -> bool:
    """Brings nothing but its events and its head."""
    return not (
        turn.refs
        or turn.blobs
        or turn.consumed
        or turn.messages
        or turn.sends
        or turn.snapshot is not None
        or (turn.new is not None and turn.new.pins)
    )


def plain_rows(turns: Sequence[TurnWrite]) -> tuple[Rows, Rows]:
    """As `turn_in` and `start_in` have them. Existing runs in order of ids, new ones in order of keys: the order in
    which the server takes its locks."""
    moving = sorted((turn for turn in turns if turn.new is None), key=_run)
    starting = sorted(((turn, turn.new) for turn in turns if turn.new is not None), key=_key)
    return [_turn_row(turn) for turn in moving], [_start_row(turn, new) for turn, new in starting]


def _turn_row(turn: TurnWrite) -> tuple[object, ...]:
    return (
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
        _attributes(turn),
    )


def _start_row(turn: TurnWrite, new: NewRun) -> tuple[object, ...]:
    return (
        turn.run,
        turn.turn_id,
        turn.epoch,
        turn.seq,
        turn.at,
        turn.data,
        turn.codec,
        encode_refs(turn.refs) if turn.refs else None,
        turn.status,
        turn.owner,
        turn.wake_at,
        turn.result,
        _attributes(turn),
        new.namespace,
        new.definition,
        new.version,
        new.hash,
        new.program,
        new.created_at,
        new.trigger,
        new.key,
        new.request_digest,
        new.parent,
        new.active_revision,
    )


def further_columns(turns: Sequence[TurnWrite], packed: Mapping[bytes, Packed]) -> Columns:
    """Snapshots, consumed commands, messages, blobs, references to them, and sends. `packed` has the snapshots and the
    pieces of blobs as they are stored."""
    saved = [(turn, packed[turn.snapshot]) for turn in turns if turn.snapshot is not None]
    consumed = [(turn.run, id) for turn in turns for id in turn.consumed]
    messages = [(turn, position, each) for turn in turns for position, each in enumerate(turn.messages)]
    blobs = [(turn.run, hash, content) for turn in turns for hash, content in turn.blobs.items()]
    parts = [
        (run, hash, position, *packed[piece])
        for run, hash, content in blobs
        for position, piece in enumerate(pieces(content, CHUNK))
    ]
    refs = sorted({(turn.run, hash) for turn in turns for hash in (*turn.blobs, *(ref.hash for ref in turn.refs))})
    sends = [(turn.run, send) for turn in turns for send in turn.sends]
    return [
        [turn.run for turn, _ in saved],
        [turn.seq for turn, _ in saved],
        [is_packed for _, (is_packed, _) in saved],
        [crc32(data) for _, (_, data) in saved],
        [data for _, (_, data) in saved],
        [run for run, _ in consumed],
        [id for _, id in consumed],
        [turn.run for turn, _, _ in messages],
        [each.id for _, _, each in messages],
        [turn.seq for turn, _, _ in messages],
        [position for _, position, _ in messages],
        [each.type for _, _, each in messages],
        [each.key for _, _, each in messages],
        [encode_json(each.payload) for _, _, each in messages],
        [run for run, _, _ in blobs],
        [hash for _, hash, _ in blobs],
        [len(content) for _, _, content in blobs],
        [run for run, _, _, _, _ in parts],
        [hash for _, hash, _, _, _ in parts],
        [position for _, _, position, _, _ in parts],
        [is_packed for _, _, _, is_packed, _ in parts],
        [data for _, _, _, _, data in parts],
        [run for run, _ in refs],
        [hash for _, hash in refs],
        [run for run, _ in sends],
        [send.run for _, send in sends],
        [send.command for _, send in sends],
        [send.request_id for _, send in sends],
    ]


def pinned_columns(turns: Sequence[TurnWrite]) -> Columns:
    """Runs that keep versions of stored parts; none, as a rule."""
    pinned = [(turn, turn.new.pins) for turn in turns if turn.new is not None and turn.new.pins]
    if not pinned:
        return []
    return [
        [turn.run for turn, _ in pinned],
        [turn.turn_id for turn, _ in pinned],
        [encode_json(pins).decode() for _, pins in pinned],
    ]


async def pack_all(turns: Sequence[TurnWrite]) -> dict[bytes, Packed]:
    """What is large of these turns, and how it is stored."""
    large = [turn.snapshot for turn in turns if turn.snapshot is not None]
    large += [piece for turn in turns for content in turn.blobs.values() for piece in pieces(content, CHUNK)]
    if sum(map(len, large)) <= OFF_LOOP_ABOVE:
        return {data: pack(data) for data in large}
    return await asyncio.to_thread(lambda: {data: pack(data) for data in large})


def weight(turn: TurnWrite) -> int:
    """About how many bytes it sends."""
    brought = len(turn.data) + len(turn.snapshot or b"") + len(turn.result or b"")
    return 500 + brought + (sum(map(len, turn.blobs.values())) if turn.blobs else 0)


def _run(turn: TurnWrite) -> str:
    return turn.run


def _key(start: tuple[TurnWrite, NewRun]) -> tuple[str, str]:
    """Of two with the same key the one that came first stays first."""
    return start[1].namespace, start[1].key or ""


def _attributes(turn: TurnWrite) -> str | None:
    return None if turn.attributes is None else encode_json(turn.attributes).decode()
