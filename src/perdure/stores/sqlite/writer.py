"""The one writer: everything that changes the database queues here and is committed in groups.

While a group is being synced to disk the next one gathers; then one transaction takes all of it and the loop is woken
once. `ThreadWriter` is for use: SQLite works without the interpreter lock while the loop goes on. `InlineWriter` does
the same on the loop itself, in its next iteration, so that a simulation is a function of its seed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

import apsw

from perdure.errors import CommitUnknown, PerdureError, StoreUnavailable
from perdure.ports.hints import Hint, Hints
from perdure.ports.inbox import Sent
from perdure.ports.journal import Outcome, TurnWrite, Verdict
from perdure.stores.sqlite.committer import Committer, Done, Failed, Letter, Operation

T = TypeVar("T")
OnFatal = Callable[[BaseException], None]

IDLE_SECONDS = 1.0
_GROUP = 256
_LEAST_SHARE = 32
_LOOP_SECONDS = 50e-6
"""About what the loop needs for one turn. A disk that needs longer for a group than the loop for its turns is to be
asked as seldom as possible; a quicker one works beside the loop."""
_log = logging.getLogger(__name__)

_Queued = tuple[Operation, "asyncio.Future[Any]"]


class Writer(Protocol):
    def turn(self, turn: TurnWrite) -> asyncio.Future[Outcome]: ...

    def send(self, letter: Letter) -> asyncio.Future[Sent]: ...

    def call(self, operation: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        """Runs the function inside the next group's transaction. It may be run again after a rollback."""
        ...

    async def stop(self) -> None:
        """Finishes what is queued."""
        ...


class Chore(Protocol):
    """Work that the writer's thread does beside commits. What it raises is fatal."""

    def after_commit(self) -> None: ...

    def when_idle(self) -> None: ...

    def finish(self) -> None: ...


class _Queue:
    """What both writers share: futures in, groups out, answers and hints back on the loop."""

    def __init__(self, committer: Committer, hints: Hints, on_fatal: OnFatal | None) -> None:
        self._committer = committer
        self._hints = hints
        self._on_fatal = on_fatal
        self._loop = asyncio.get_running_loop()
        self._queued: deque[_Queued] = deque()
        self._called = False
        self._refusal: PerdureError | None = None

    def turn(self, turn: TurnWrite) -> asyncio.Future[Outcome]:
        return self._put(turn)

    def send(self, letter: Letter) -> asyncio.Future[Sent]:
        return self._put(letter)

    def call(self, operation: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        return self._put(operation)

    def _put(self, operation: Operation) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        if self._refusal is not None:
            future.set_exception(self._refusal)
            return future
        self._queued.append((operation, future))
        if not self._called:
            self._called = True
            self._loop.call_soon(self._gathered)
        return future

    def _gathered(self) -> None:
        """Everything that this iteration of the loop had to say is queued."""
        raise NotImplementedError

    def _take(self, most: int = _GROUP) -> list[_Queued]:
        taken: list[_Queued] = []
        take = self._queued.popleft
        with contextlib.suppress(IndexError):
            while len(taken) < most:
                taken.append(take())
        return taken

    def _answer(self, group: list[_Queued], done: Done) -> None:
        for (operation, future), result in zip(group, done.results, strict=True):
            if isinstance(operation, TurnWrite):
                self._tell(operation, result)
            if future.done():
                continue
            if isinstance(result, Failed):
                future.set_exception(result.problem)
            else:
                future.set_result(result)
        for owner in done.addressees:
            self._hints.give(Hint.INBOX if owner else Hint.DUE, owner)

    def _tell(self, turn: TurnWrite, outcome: Outcome | Failed) -> None:
        if isinstance(outcome, Failed) or outcome.verdict is not Verdict.COMMITTED:
            return
        if turn.owner is None:
            if turn.result is not None:
                self._hints.give(Hint.CLOSED, turn.run)
            elif turn.wake_at is not None and turn.wake_at <= turn.at:
                self._hints.give(Hint.DUE)
        if turn.messages:
            self._hints.give(Hint.OUTBOX)

    def _break(self, group: list[_Queued], problem: BaseException) -> None:
        """Never tries again: after a failed fsync the kernel may have dropped the pages and report success."""
        _log.critical("the database failed and is given up: %s", problem)
        self._refusal = StoreUnavailable(
            f"the database failed and this process has given it up: {problem}", remedy="restart the server"
        )
        unknown = CommitUnknown(f"the database failed while it committed: {problem}")
        for _, future in group:
            if not future.done():
                future.set_exception(unknown)
        while self._queued:
            _, future = self._queued.popleft()
            if not future.done():
                future.set_exception(self._refusal)
        if self._on_fatal is not None:
            self._on_fatal(problem)

    def _refuse(self) -> None:
        self._refusal = self._refusal or StoreUnavailable("the store is closed")


class InlineWriter(_Queue):
    def __init__(
        self, connection: apsw.Connection, committer: Committer, hints: Hints, on_fatal: OnFatal | None
    ) -> None:
        super().__init__(committer, hints, on_fatal)
        self._connection = connection

    def _gathered(self) -> None:
        self._called = False
        while self._queued:
            group = self._take()
            try:
                done = self._committer.commit([operation for operation, _ in group])
            except Exception as problem:
                self._break(group, problem)
                return
            self._answer(group, done)

    async def stop(self) -> None:
        self._refuse()
        if self._queued:
            self._gathered()
        self._connection.close()


class ThreadWriter(_Queue):
    def __init__(
        self,
        connection: apsw.Connection,
        committer: Committer,
        hints: Hints,
        on_fatal: OnFatal | None,
        chores: Sequence[Chore] = (),
    ) -> None:
        super().__init__(committer, hints, on_fatal)
        self._connection = connection
        self._chores = chores
        self._waits = False
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._stopping = False
        self._stopped: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._work, name="perdure-writer", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        self._refuse()
        self._stopping = True
        self._bell.put(None)
        await asyncio.shield(self._stopped)
        self._thread.join()

    def _gathered(self) -> None:
        self._called = False
        if self._waits:
            self._waits = False
            self._bell.put(None)

    # -- in the thread -------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        last, is_quick = 0, False
        try:
            while self._wait():
                group = self._take(self._share(last) if is_quick else _GROUP)
                begun = time.perf_counter()
                if group and not self._commit(group):
                    break
                last = len(group)
                is_quick = time.perf_counter() - begun < last * _LOOP_SECONDS
        finally:
            self._let_go()
            self._on_loop(self._finish)

    def _share(self, last: int) -> int:
        """Half of what is on its way, so that the loop goes on with one half while the other is committed. All of it
        would have thread and loop wait for each other in turn."""
        return min(_GROUP, max(_LEAST_SHARE, (len(self._queued) + last + 1) // 2))

    def _commit(self, group: list[_Queued]) -> bool:
        try:
            done = self._committer.commit([operation for operation, _ in group])
        except Exception as problem:  # a thread that dies silently would leave its callers waiting for ever
            self._on_loop(self._break, group, problem)
            return False
        self._on_loop(self._answer, group, done)
        return self._do_chores(idle=False)

    def _wait(self) -> bool:
        """Until something is queued. False: it is time to stop and nothing is left."""
        idle = False
        while not self._queued:
            if self._stopping:
                return False
            self._waits = True
            if self._queued:
                break
            try:
                self._bell.get(timeout=None if idle else IDLE_SECONDS)
            except Empty:
                idle = True
                if not self._do_chores(idle=True):
                    return False
        self._waits = False
        return True

    def _do_chores(self, *, idle: bool) -> bool:
        try:
            for chore in self._chores:
                chore.when_idle() if idle else chore.after_commit()
        except Exception as problem:
            self._on_loop(self._break, [], problem)
            return False
        return True

    def _let_go(self) -> None:
        with contextlib.suppress(apsw.Error):
            for chore in self._chores:
                chore.finish()
            self._connection.close()

    def _on_loop(self, callback: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _finish(self) -> None:
        if not self._stopped.done():
            self._stopped.set_result(None)
