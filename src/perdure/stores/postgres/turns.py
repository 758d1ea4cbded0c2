"""A group of turns as the columns that `commit_turns` and `commit_full_turns` take, in the order of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias
from zlib import crc32

from perdure.model.codec import encode_refs
from perdure.model.values import encode_json
from perdure.ports.journal import NewRun, TurnWrite

Columns: TypeAlias = list[list[object]]
Packed: TypeAlias = tuple[bool, bytes]
"""Whether it is packed, and the bytes."""


def is_plain(turn: TurnWrite) -> bool:
    """Brings nothing but its events and its head."""
    return not (turn.refs or turn.blobs or turn.consumed or turn.messages or turn.sends or turn.snapshot is not None)


def plain_columns(turns: Sequence[TurnWrite]) -> Columns:
    """Existing runs in order of ids, new ones in order of keys: the order in which the server takes its locks."""
    moving = sorted((turn for turn in turns if turn.new is None), key=_run)
    starting = sorted(((turn, turn.new) for turn in turns if turn.new is not None), key=_key)
    return [
        [turn.run for turn in moving],
        [turn.turn_id for turn in moving],
        [turn.epoch for turn in moving],
        [turn.expected for turn in moving],
        [turn.seq for turn in moving],
        [turn.at for turn in moving],
        [turn.data for turn in moving],
        [turn.codec for turn in moving],
        [encode_refs(turn.refs) if turn.refs else None for turn in moving],
        [turn.status for turn in moving],
        [turn.owner for turn in moving],
        [turn.wake_at for turn in moving],
        [turn.inbox_seen for turn in moving],
        [turn.result for turn in moving],
        [_attributes(turn) for turn in moving],
        [turn.run for turn, _ in starting],
        [turn.turn_id for turn, _ in starting],
        [turn.epoch for turn, _ in starting],
        [turn.seq for turn, _ in starting],
        [turn.at for turn, _ in starting],
        [turn.data for turn, _ in starting],
        [turn.codec for turn, _ in starting],
        [encode_refs(turn.refs) if turn.refs else None for turn, _ in starting],
        [turn.status for turn, _ in starting],
        [turn.owner for turn, _ in starting],
        [turn.wake_at for turn, _ in starting],
        [turn.result for turn, _ in starting],
        [_attributes(turn) for turn, _ in starting],
        [new.namespace for _, new in starting],
        [new.definition for _, new in starting],
        [new.version for _, new in starting],
        [new.hash for _, new in starting],
        [new.program for _, new in starting],
        [new.created_at for _, new in starting],
        [new.trigger for _, new in starting],
        [new.key for _, new in starting],
        [new.request_digest for _, new in starting],
        [new.parent for _, new in starting],
        [new.active_revision for _, new in starting],
    ]


def further_columns(turns: Sequence[TurnWrite], snapshots: Mapping[str, Packed]) -> Columns:
    """Snapshots (given by run, as they are stored), consumed commands, messages, references to blobs, and sends."""
    saved = [(turn, snapshots[turn.run]) for turn in turns if turn.snapshot is not None]
    consumed = [(turn.run, id) for turn in turns for id in turn.consumed]
    messages = [(turn, position, each) for turn in turns for position, each in enumerate(turn.messages)]
    refs = sorted({(turn.run, hash) for turn in turns for hash in (*turn.blobs, *(ref.hash for ref in turn.refs))})
    sends = [(turn.run, send) for turn in turns for send in turn.sends]
    return [
        [turn.run for turn, _ in saved],
        [turn.seq for turn, _ in saved],
        [packed for _, (packed, _) in saved],
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
        [run for run, _ in refs],
        [hash for _, hash in refs],
        [run for run, _ in sends],
        [send.run for _, send in sends],
        [send.command for _, send in sends],
        [send.request_id for _, send in sends],
    ]


def weight(turn: TurnWrite) -> int:
    """About how many bytes it sends."""
    return 500 + len(turn.data) + len(turn.snapshot or b"") + len(turn.result or b"")


def _run(turn: TurnWrite) -> str:
    return turn.run


def _key(start: tuple[TurnWrite, NewRun]) -> tuple[str, str, str]:
    turn, new = start
    return new.namespace, new.key or "", turn.run


def _attributes(turn: TurnWrite) -> str | None:
    return None if turn.attributes is None else encode_json(turn.attributes).decode()
