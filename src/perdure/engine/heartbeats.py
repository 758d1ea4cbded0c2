"""Heartbeats: how far a handler says that it has come."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from perdure.engine.outputs import purified
from perdure.errors import InvalidInput, TooMuch
from perdure.model.commands import Heartbeat
from perdure.model.values import Json

if TYPE_CHECKING:
    from perdure.engine.execution import Execution
    from perdure.engine.runtime import Runtime

UNSAID: Final = object()


class Heartbeats:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def say(self, execution: Execution, details: Json) -> None:
        """Raises where the handler is: what is no JSON would otherwise be found out only by the run's next turn, which
        can do nothing about it. Handlers may have threads of their own, so it is looked where this one is."""
        try:
            details, size = purified(details)
        except InvalidInput as problem:
            said = f"what the heartbeat says: {problem.message}"
            raise InvalidInput(said, pointer=problem.pointer, expected=problem.expected) from problem
        if execution.concealed is not None:
            details = execution.concealed.value(details)
        most = execution.owned.state.limits.data
        if size > most:
            raise TooMuch(f"a heartbeat of {size} bytes; the run may hold {most}", limit=most)
        if threading.get_ident() == self._runtime.thread:
            self._hear(execution, details)
        else:
            self._runtime.loop.call_soon_threadsafe(self._hear, execution, details)

    def _hear(self, execution: Execution, details: Json) -> None:
        """Records it now if the last one is long enough ago, else the newest one when that is so."""
        if execution.silent:
            return
        loop, every = self._runtime.loop, self._runtime.settings.heartbeat_every
        waiting = execution.unheard is not UNSAID
        execution.unheard = details
        now = loop.time()
        if execution.heard_at is None or now >= execution.heard_at + every:
            self._record(execution)
        elif not waiting:
            loop.call_at(execution.heard_at + every, self._record, execution)

    def _record(self, execution: Execution) -> None:
        if execution.silent or execution.unheard is UNSAID:
            return
        details, execution.unheard = execution.unheard, UNSAID
        execution.heard_at = self._runtime.loop.time()
        execution.owned.deliver(Heartbeat(execution.id, execution.attempt, details))
