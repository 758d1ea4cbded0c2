"""What is told of undoing: what was undone, what could not be, and what nobody tried any more."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.kernel.state import Closing, NotUndone, RunState
from perdure.model.failures import Failure

MOST_NAMES = 100
"""Names that one list of a failure's details has at most."""


def with_compensation(state: RunState, closing: Closing, failure: Failure) -> Failure:
    """The failure of the run, with what became of undoing among its details."""
    told = _told(state, closing)
    if state.semantics < 2 or told is None:
        return failure
    return msgspec.structs.replace(failure, details={**(failure.details or {}), "compensation": told})


def failed_to_undo(state: RunState, closing: Closing) -> Failure | None:
    """A run that was cancelled has no failure, unless something that should have been undone was not."""
    if state.semantics < 2 or not state.not_undone_count:
        return None
    message = closing.reason or "the run was cancelled"
    return with_compensation(state, closing, Failure(closing.status, message))


def _told(state: RunState, closing: Closing) -> dict[str, Any] | None:
    if not (closing.undone or closing.untried or state.not_undone_count):
        return None
    told: dict[str, Any] = {"undone": _names(closing.undone), "failed": [_entry(each) for each in state.not_undone]}
    if state.not_undone_count > len(state.not_undone):
        told["failed_in_all"] = state.not_undone_count
    if closing.untried:
        told["untried"] = _names(closing.untried)
    return told


def _entry(each: NotUndone) -> dict[str, Any]:
    entry = {"node": each.node, "key": each.key}
    return entry if each.failure is None else {**entry, "code": each.failure.code, "message": each.failure.message}


def _names(names: list[str]) -> list[str]:
    return names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], f"and {len(names) - MOST_NAMES} more"]


def why_not_undone(each: NotUndone) -> str:
    return f"{each.node} could not be undone" + (f": {each.failure}" if each.failure is not None else "")


def why_no_retry(state: RunState) -> str:
    """Of a run whose undoing was begun."""
    undone = state.closing.undone if state.closing is not None else []
    failed = list(dict.fromkeys(each.node for each in state.not_undone))
    parts = []
    if undone:
        parts.append(f"{_listed(undone)} {'has' if len(undone) == 1 else 'have'} been undone")
    if failed:
        parts.append(f"undoing {_listed(failed)} was begun and failed")
    return " and ".join(parts) or "undoing its steps was begun"


def _listed(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
