"""A turn as the one write that makes it durable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from perdure.kernel.outlook import next_wake, search_attributes, status_of
from perdure.kernel.state import RunState
from perdure.kernel.turn import Turn
from perdure.model.codec import CODEC, EncodedTurn, encode_command, encode_events
from perdure.model.events import (
    ActivationCancelled,
    ActivationFailed,
    AttributesSet,
    Event,
    MessagePublished,
    RunRetried,
    TaskAnswered,
    TaskOpened,
)
from perdure.model.failures import Failure
from perdure.model.values import encode_json
from perdure.ports.journal import Message, NewRun, Send, TurnWrite

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun

_Told: TypeAlias = tuple[Sequence[Message], dict[str, Any] | None]
"""Messages, and the search attributes where they changed."""

_NO_EVENTS = EncodedTurn(b"[]", [], {})
_OF_TASKS: frozenset[type[Event]] = frozenset(
    {TaskOpened, TaskAnswered, ActivationFailed, ActivationCancelled, RunRetried}
)
"""After these, other tasks may be open than before."""
_TELLING: frozenset[type[Event]] = _OF_TASKS | {MessagePublished, AttributesSet}
_NOTHING_TOLD: _Told = ((), None)


class SnapshotGauge:
    """Says when a snapshot is worth its bytes: as many bytes of events as the last one has must have come since."""

    __slots__ = ("bytes", "events", "last")

    def __init__(self, last: int = 0) -> None:
        self.events = 0
        self.bytes = 0
        self.last = last

    def wants_one(self, least_events: int) -> bool:
        return self.events >= least_events and self.bytes >= self.last

    def taken(self, size: int) -> None:
        self.events = self.bytes = 0
        self.last = size


def write_of(
    owned: OwnedRun, turn: Turn, *, turn_id: str, owner: str | None, wake_at: int | None, new: NewRun | None
) -> TurnWrite:
    """Everything that must become durable together. The state has moved to the end of the turn already."""
    state, events = owned.state, turn.events
    encoded = encode_events(events) if events else _NO_EVENTS
    final = state.final is not None
    messages, attributes = _NOTHING_TOLD if _TELLING.isdisjoint(map(type, events)) else _told_outside(state, events)
    return TurnWrite(
        run=state.run,
        turn_id=turn_id,
        epoch=owned.epoch,
        expected=owned.durable,
        seq=state.seq,
        at=turn.at,
        data=encoded.data,
        codec=CODEC,
        refs=encoded.refs,
        blobs={**encoded.blobs, **turn.blobs} if turn.blobs else encoded.blobs,
        status=status_of(owned.kernel.program, state),
        owner=None if final else owner,
        unparks=owned.unparks,
        wake_at=_wake(state, wake_at) if not final else None,
        inbox_seen=owned.inbox_seen,
        new=new,
        snapshot=_snapshot(owned, turn, len(encoded.data)),
        consumed=owned.consumed,
        messages=messages,
        sends=_sends(turn, turn_id) if turn.sends else (),
        attributes=attributes,
        result=_result(state) if final else None,
    )


def _wake(state: RunState, wake_at: int | None) -> int | None:
    return wake_at if wake_at is not None else next_wake(state) if state.timer_heap else None


def _sends(turn: Turn, turn_id: str) -> list[Send]:
    return [Send(run, encode_command(command), f"{turn_id}/{n}") for n, (run, command) in enumerate(turn.sends)]


def _snapshot(owned: OwnedRun, turn: Turn, size: int) -> bytes | None:
    gauge = owned.gauge
    gauge.events += len(turn.events)
    gauge.bytes += size
    if not (
        turn.must_snapshot or (owned.state.final is None and gauge.wants_one(owned.runtime.settings.snapshot_events))
    ):
        return None
    snapshot = owned.kernel.snapshot(owned.state)
    gauge.taken(len(snapshot))
    return snapshot


def _told_outside(state: RunState, events: list[Any]) -> _Told:
    messages: list[Message] = []
    attributes = None
    for place, event in enumerate(events):
        kind = type(event)
        if kind is MessagePublished:
            messages.append(Message(f"{state.run}/{state.seq}/{place}", event.type, event.payload, event.key))
        elif kind is AttributesSet or (kind in _OF_TASKS and state.tasks_opened):
            attributes = search_attributes(state)
    return messages, attributes


def _result(state: RunState) -> bytes:
    closing = state.closing
    assert closing is not None
    if state.final == "COMPLETED":
        return encode_json({"output": closing.output})
    failure = closing.failure or Failure(str(state.final), closing.reason or "the run was cancelled")
    return encode_json({"failure": failure})
