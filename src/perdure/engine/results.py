"""Waiting for the end of runs, wherever they run.

By push: at the commit of the final turn if that happens here, else by hint. Hints may be lost, so heads are also looked
at now and then: a fixed number each poll, whoever has waited longest unasked first.
"""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING

from perdure.errors import NotFound, StoreError
from perdure.ports.journal import Head, TurnWrite

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun
    from perdure.engine.runtime import Runtime

_HEADS_PER_POLL = 64


class Results:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._waiting: dict[str, list[asyncio.Future[Head]]] = {}
        self._poll: asyncio.TimerHandle | None = None

    def close(self, why: Exception) -> None:
        if self._poll is not None:
            self._poll.cancel()
        for waiting in self._waiting.values():
            for future in waiting:
                if not future.done():
                    future.set_exception(why)
        self._waiting = {}

    async def wait(self, namespace: str, run: str) -> Head:
        runtime = self._runtime
        owned = runtime.roster.owned.get(run)
        if owned is not None and owned.namespace != namespace:
            raise NotFound(f"there is no run {run}")
        future: asyncio.Future[Head] = runtime.loop.create_future()
        self._waiting.setdefault(run, []).append(future)
        try:
            if owned is None or owned.new is not None:
                # The waiter is registered first: what ends between this read and the next line is pushed.
                head = await runtime.journal.head(run)
                if head is None or head.namespace != namespace:
                    raise NotFound(f"there is no run {run}")
                if head.status.is_final:
                    return head
            if self._poll is None:
                self._next_poll()
            return await future
        finally:
            self._leave(run, future)

    def _leave(self, run: str, future: asyncio.Future[Head]) -> None:
        waiting = self._waiting.get(run)
        if waiting is not None and future in waiting:
            waiting.remove(future)
            if not waiting:
                del self._waiting[run]

    def closed(self, owned: OwnedRun, write: TurnWrite) -> None:
        observer = self._runtime.observer
        if observer is not None:
            observer.run_closed(owned.namespace, owned.state.definition, write.status)
        waiting = self._waiting.pop(owned.run, None)
        if waiting is not None:
            _tell(waiting, _head(owned, write))

    def hinted(self, run: str) -> None:
        """`run` has ended; with no name: any run may have. One that is held here tells its end itself."""
        if run in self._waiting and run not in self._runtime.roster.owned:
            self._runtime.spawn(self._look([run]))
        elif not run and self._waiting:
            self._runtime.spawn(self._look(self._some()))

    def _next_poll(self) -> None:
        runtime = self._runtime
        self._poll = runtime.loop.call_later(runtime.ids.jitter(runtime.settings.poll), self._on_poll)

    def _on_poll(self) -> None:
        self._poll = None
        if self._waiting:
            runs = self._some()
            if runs:
                self._runtime.spawn(self._look(runs))
            self._next_poll()

    def _some(self) -> list[str]:
        """Those that have not been looked at for longest; they go to the end of the queue."""
        owned = self._runtime.roster.owned
        candidates = [run for run in islice(self._waiting, 4 * _HEADS_PER_POLL) if run not in owned]
        runs = candidates[:_HEADS_PER_POLL]
        for run in runs:
            self._waiting[run] = self._waiting.pop(run)
        return runs

    async def _look(self, runs: list[str]) -> None:
        for run in runs:
            try:
                head = await self._runtime.journal.head(run)
            except StoreError as problem:
                self._runtime.trouble("looking for results", problem)
                return
            if head is not None and head.status.is_final and (waiting := self._waiting.pop(run, None)):
                _tell(waiting, head)


def _tell(waiting: list[asyncio.Future[Head]], head: Head) -> None:
    for future in waiting:
        if not future.done():
            future.set_result(head)


def _head(owned: OwnedRun, write: TurnWrite) -> Head:
    """As the store has it now."""
    state = owned.state
    return Head(
        run=state.run,
        namespace=owned.namespace,
        definition=state.definition,
        version=state.version,
        hash=state.hash,
        program=state.program,
        status=write.status,
        seq=write.seq,
        epoch=write.epoch,
        turn_id=write.turn_id,
        owner=None,
        wake_at=None,
        inbox_seq=write.inbox_seen,
        created_at=state.started_at,
        updated_at=write.at,
        closed_at=write.at,
        trigger=state.trigger,
        key=state.key,
        parent=state.parent.run if state.parent is not None else None,
        attributes=state.attributes,
        result=write.result,
        pins=state.pins,
    )
