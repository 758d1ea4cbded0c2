"""Notices when something keeps the event loop to itself.

An `async` step that blocks stops everything in the process, leases included, and nothing on the loop can say so: it
does not run either. So a thread asks the loop for a sign of life now and then. When there is none it looks whose task
the loop is at, and says so, once per step. Steps and turns pay nothing for it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perdure.engine.runtime import Runtime

_LOGGER = logging.getLogger(__name__)


class StallWatch:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._patience = runtime.settings.stall
        self._longest = max(self._patience, runtime.settings.lease / 3)
        """After so long it is not waited for the end to say how long it took: the lease is in danger."""
        self._stop = threading.Event()
        self._named: set[str] = set()
        self.is_open = False
        self.noticed = 0
        """How often the loop gave no sign in time because of somebody's task."""
        self.rounds = 0

    def open(self) -> None:
        if self._patience > 0:
            self.is_open = True
            threading.Thread(target=self._watch, name="perdure-stalls", daemon=True).start()

    def close(self) -> None:
        """Does not wait for the thread, which has nothing to lose."""
        self.is_open = False
        self._stop.set()

    # -- in the thread ----------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._stop.wait(self._patience / 2):
            sign = threading.Event()
            asked = time.monotonic()
            try:
                self._runtime.loop.call_soon_threadsafe(sign.set)
            except RuntimeError:
                return  # the loop is closed
            if not sign.wait(self._patience):
                self._name(sign, asked)
                while not (sign.wait(self._patience) or self._stop.is_set()):
                    pass
            self.rounds += 1

    def _name(self, sign: threading.Event, asked: float) -> None:
        culprit = self._culprit()
        if culprit is None:
            return
        self.noticed += 1
        if culprit in self._named:
            return
        self._named.add(culprit)
        is_over = sign.wait(self._longest)
        seconds = time.monotonic() - asked
        _LOGGER.warning(
            "%s %s the event loop for %.1f s%s. Meanwhile nothing else moved in this process, and a worker that is "
            "blocked for long loses its lease. Write the step as `def` instead of `async def` (the handler of a node "
            "type: blocking=True), then it runs in a thread",
            culprit,
            "blocked" if is_over else "has blocked",
            seconds,
            "" if is_over else " and still does",
        )

    def _culprit(self) -> str | None:
        """Whose task it is that the loop does not come back from. None: the loop's own, the engine's, or nobody's (the
        whole process may have been stopped for a while)."""
        runtime = self._runtime
        task = asyncio.current_task(runtime.loop)
        if task is None or runtime.owns(task):
            return None
        execution = runtime.runner.driven_by(task)
        if execution is None:
            return f"the coroutine {getattr(task.get_coro(), '__qualname__', task.get_name())}"
        config = getattr(execution, "context", None) and execution.context.config  # gone if it has just ended
        if isinstance(config, dict) and isinstance(config.get("step"), str):
            return f"the async step {config['step']!r}"
        return f"the handler of {execution.type!r} nodes"
