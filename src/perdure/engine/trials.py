"""Last chances, one after the other.

When a worker dies, everything that it was executing is suspected, and most of it is innocent: one step has brought the
process down, the others merely ran beside it. The first death is told at once and everything goes on together. But
what would be set aside by the next death (see `Limits.deliveries`) gets its last chance alone: its run is held here
until those before it have ended, or have gone well for a while. Until then its death is not told, so a worker that dies
meanwhile counts against the one that was being tried, and not against those in the queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from perdure.kernel.program import Program
from perdure.kernel.state import RunState
from perdure.model.statuses import Phase

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun
    from perdure.engine.runtime import Runtime

_LOOK_EVERY = 0.01


class Trials:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._bench = asyncio.Lock()

    async def hold(self, owned: OwnedRun, begin: Callable[[], None]) -> None:
        """Begins when it is the run's turn, and watches it for a while."""
        loop = self._runtime.loop
        async with self._bench:
            begin()
            until = loop.time() + self._runtime.settings.trial
            while not owned.dropped and loop.time() < until and (owned.busy or is_on_trial(owned.state)):  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_EVERY)


def has_last_chance(program: Program, state: RunState) -> bool:
    """Whether a death that is still to be told leaves something with one delivery, and no other after it."""
    return any(
        activation.phase is Phase.EXECUTING
        and activation.deliveries + 1 == state.limits.deliveries
        and not program.is_at_most_once(state, activation)
        for activation in state.activations.values()
    )


def is_on_trial(state: RunState) -> bool:
    return any(
        activation.phase is Phase.EXECUTING and activation.deliveries >= state.limits.deliveries
        for activation in state.activations.values()
    )
