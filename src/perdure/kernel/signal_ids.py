"""Ids of signals and of answers: what a run remembers of them, so that each counts once.

Of a signal with an id the state keeps a number made from its name and payload, not these themselves; so of an answer.
Release 0.1 kept the signal's place in the order of arrival there, which says nothing about its content; such numbers
are small.
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


def remember(state: RunState, id: str, mark: int) -> None:
    state.signal_ids[id] = mark
    if len(state.signal_ids) > REMEMBERED_IDS:
        del state.signal_ids[next(iter(state.signal_ids))]


def is_known(state: RunState, signal: Signal) -> bool:
    """Whether it has come before. Raises KeyReused where its id came with another signal."""
    return is_repeated(state, signal.id, mark_of(signal.name, signal.payload), "signal")


def is_repeated(state: RunState, id: str | None, mark: int, what: str) -> bool:
    """Whether this request has come before. Raises KeyReused where its id came with another one."""
    known = state.signal_ids.get(id) if id is not None else None
    if known is None:
        return False
    if says_content(known) and known != mark:
        raise KeyReused(
            f"the id {id!r} was used before, for another {what} of this run",
            pointer="/id",
            expected="the same name and payload as before" if what == "signal" else "the same content as before",
            remedy=f"give every {what} an id of its own",
            signal=id,
            run=state.run,
        )
    return True


def says_content(mark: int) -> bool:
    return mark >= _MADE_FROM_CONTENT


def mark_of(*content: Json) -> int:
    made = blake2b(encode_sorted(content), digest_size=8).digest()
    return _MADE_FROM_CONTENT | int.from_bytes(made) >> 2
