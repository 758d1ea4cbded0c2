"""Ids of signals: what a run remembers of them, so that each counts once.

Of a signal with an id the state keeps a number made from its name and payload, not these themselves. Release 0.1 kept
the signal's place in the order of arrival there, which says nothing about its content; such numbers are small.
"""

from __future__ import annotations

from hashlib import blake2b

from perdure.errors import KeyReused
from perdure.kernel.state import RunState
from perdure.model.commands import Signal
from perdure.model.values import Json, encode_sorted

REMEMBERED_IDS = 10_000
"""A signal whose id is among the last so many counts once. A run without an end must not remember without an end."""

_MADE_FROM_CONTENT = 1 << 62


def remember(state: RunState, id: str, name: str, payload: Json) -> None:
    state.signal_ids[id] = _mark(name, payload)
    if len(state.signal_ids) > REMEMBERED_IDS:
        del state.signal_ids[next(iter(state.signal_ids))]


def is_known(state: RunState, signal: Signal) -> bool:
    """Whether it has come before. Raises KeyReused where its id came with another signal."""
    if signal.id is None:
        return False
    mark = state.signal_ids.get(signal.id)
    if mark is None:
        return False
    if says_content(mark) and mark != _mark(signal.name, signal.payload):
        raise KeyReused(
            f"the id {signal.id!r} was used before, for another signal of this run",
            pointer="/id",
            expected="the same name and payload as before",
            remedy="give every signal an id of its own",
            signal=signal.id,
            run=state.run,
        )
    return True


def says_content(mark: int) -> bool:
    return mark >= _MADE_FROM_CONTENT


def _mark(name: str, payload: Json) -> int:
    content = blake2b(encode_sorted([name, payload]), digest_size=8).digest()
    return _MADE_FROM_CONTENT | int.from_bytes(content) >> 2
