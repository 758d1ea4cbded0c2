"""Taking up a run that was parked here, by the very write of its next turn.

A run that nobody owns still has the epoch of whoever parked it, and claiming it would raise that. So the one who parked
it need not claim it first: it decides from the state that it remembers, and its write, which requires epoch, seq and
inbox to be unchanged, shows whether that state was still the newest. A signal to a waiting run costs one write so, not
two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.engine.alarms import FIRE
from perdure.engine.answers import Letter
from perdure.engine.owned import OwnedRun
from perdure.kernel.outlook import next_wake

if TYPE_CHECKING:
    from perdure.engine.runtime import Runtime


def take_back(runtime: Runtime, run: str, letter: Letter) -> bool:
    """False: it is not remembered here, or was not parked but left to others, with something to do at once."""
    remembered = runtime.roster.parked
    parked = remembered.pop(run) if remembered.is_at_rest(run) else None
    if parked is None:
        return False
    owned = OwnedRun(
        runtime, parked.kernel, parked.namespace, parked.state, parked.epoch, gauge=parked.gauge, size=parked.size
    )
    owned.inbox_seen = parked.inbox_seen
    owned.children = parked.children
    owned.unparks = True
    runtime.roster.add(owned)
    wake = next_wake(owned.state)
    if wake is not None and wake <= runtime.time.now():
        owned.mailbox.append((FIRE, None, 0))
    owned.deliver(*letter)
    return True
