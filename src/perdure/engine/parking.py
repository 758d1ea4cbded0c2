"""When a run is let go, and how: at rest, until something wakes it, or due at once, for somebody else to go on with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from perdure.kernel.outlook import next_wake
from perdure.model.effects import AnyEffect

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun


def may_park(owned: OwnedRun, effects: Sequence[AnyEffect], now: int) -> bool:
    """Nothing executes or is being fetched, and nothing is awaited that is near."""
    state = owned.state
    if owned.queued:
        return True
    if effects or owned.mailbox or owned.pending:
        return False
    if owned.lack is not None:
        return not owned.runtime.runner.is_busy_with(owned)
    if state.executing:
        return False
    if state.final is not None:
        return True
    wake = next_wake(state)
    return wake is None or wake > now + owned.runtime.park_after


def is_for_others(owned: OwnedRun) -> bool:
    """Whoever gets it next has something to do at once."""
    return owned.queued or owned.lack is not None
