"""Running the handlers of nodes: on the loop, or in threads those that block.

Each execution ends in exactly one report to its run (Complete, Fail or CancelDone), or in none if the run was dropped
or handed over. A handler that does not stop when told is left alone after a grace period: its outcome counts as
unknown and what it says later is not heard. Its slot stays taken until it really ends.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from perdure.engine.answers import Letter
from perdure.engine.caching import OutputCache
from perdure.engine.concealing import Concealed
from perdure.engine.context import ActivationContext
from perdure.engine.declining import leave_to_others
from perdure.engine.handlers import HandlerSpec, Lack, NodeHandlers, lacking
from perdure.engine.heartbeats import UNSAID, Heartbeats
from perdure.engine.reports import cancelled_itself, completed, failed, timed_out
from perdure.kernel.program import Kept, Work
from perdure.model.commands import CancelDone, Command, Heartbeat
from perdure.model.statuses import Phase
from perdure.model.values import Json

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun
    from perdure.engine.runtime import Runtime
    from perdure.kernel.state import Activation


class Execution:
    """One attempt of one activation, under way."""

    __slots__ = (
        "activation",
        "attempt",
        "begun",
        "concealed",
        "context",
        "expired",
        "heard_at",
        "id",
        "in_thread",
        "is_wanted",
        "kept",
        "owned",
        "runner",
        "silent",
        "spec",
        "started",
        "task",
        "timeout",
        "timer",
        "type",
        "unheard",
    )

    def __init__(
        self, runner: HandlerRunner, owned: OwnedRun, activation: Activation, spec: HandlerSpec, type: str
    ) -> None:
        self.context: ActivationContext
        self.concealed: Concealed | None = None
        """The secrets that it has read."""
        self.runner = runner
        self.owned = owned
        self.activation = activation
        self.id = activation.id
        self.attempt = activation.attempt
        self.spec = spec
        self.type = type
        self.task: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.timeout: float | None = None
        """Seconds that it may take."""
        self.begun = False
        self.kept: Kept | None = None
        self.in_thread = False
        """It cannot be interrupted. What depends on its end (another attempt, an undo, a mutex) waits for it, but no
        longer than for any other that does not stop."""
        self.is_wanted = True
        """False once it was told to stop."""
        self.expired = False
        """Told to stop because it took too long."""
        self.silent = False
        """Its report has been given by somebody else, or nobody wants it."""
        self.started = 0.0
        self.heard_at: float | None = None
        self.unheard: Json = UNSAID


class HandlerRunner:
    def __init__(self, runtime: Runtime, handlers: NodeHandlers) -> None:
        settings = runtime.settings
        self._runtime = runtime
        self._handlers = handlers
        self.time = runtime.time
        self.blobs = runtime.store.blobs
        self.cells = runtime.store.cells
        self.secrets = runtime.secrets
        self._cache = OutputCache(self.cells, runtime.trouble)
        self.heartbeats = Heartbeats(runtime)
        self._slots = settings.slots
        self._threads = settings.threads
        self._queue: deque[tuple[OwnedRun, int]] = deque()
        self._thread_queue: deque[tuple[OwnedRun, int]] = deque()
        self._pool: ThreadPoolExecutor | None = None
        self._live: dict[Execution, None] = {}  # in the order in which they began
        self._emptied: asyncio.Future[None] | None = None
        self.is_open = True

    # -- beginning ---------------------------------------------------------------------------------

    def execute(self, owned: OwnedRun, id: int) -> None:
        if not self.is_open:
            return  # it stays outstanding; the next owner executes it
        state = owned.state
        activation = state.activations.get(id)
        if activation is None or activation.phase is not Phase.EXECUTING:
            return
        under_way = owned.running.get(id)
        if under_way is not None:
            if under_way.attempt == activation.attempt:
                return
            # Somebody else has reported how that attempt ended: the worker that had the run before.
            self._disown(under_way)
        try:
            work = owned.kernel.program.work(state, activation)
        except Exception as problem:
            owned.deliver(failed(id, activation.attempt, problem))
            return
        spec = self._handlers.get(work.type)
        if spec is None or (spec.lacks is not None and spec.lacks(work.config) is not None):
            lack = lacking(self._handlers, work)
            assert lack is not None
            leave_to_others(owned, lack)
        elif work.kept is None and spec.blocks(work.config):
            if self._threads:
                self._begin_blocking(Execution(self, owned, activation, spec, work.type), work)
            else:
                self._thread_queue.append((owned, id))
        elif self._slots:
            self._begin(Execution(self, owned, activation, spec, work.type), work)
        else:
            self._queue.append((owned, id))

    def is_busy_with(self, owned: OwnedRun) -> bool:
        """Something of the run executes here, or waits for a slot."""
        if owned.running:
            return True
        waiting = (id for one, id in [*self._queue, *self._thread_queue] if one is owned)
        return any(_is_executing(owned.state.activations.get(id)) for id in waiting)

    def lack_of(self, owned: OwnedRun) -> Lack | None:
        """What is not here of what the run needs, if there is nothing else that it could execute here."""
        found: Lack | None = None
        for activation in owned.state.activations.values():
            if _is_executing(activation):
                try:
                    work = owned.kernel.program.work(owned.state, activation)
                except Exception:
                    return None  # a failure, and for that anybody is good enough
                found = lacking(self._handlers, work)
                if found is None:
                    return None
        return found

    def _begin(self, execution: Execution, work: Work) -> None:
        runtime = self._runtime
        self._slots -= 1
        self._admit(execution, work.timeout)
        execution.kept = work.kept
        execution.context = ActivationContext(execution, work)
        execution.task = runtime.loop.create_task(self._drive(execution), context=runtime.context.copy())

    async def _drive(self, execution: Execution) -> None:
        execution.begun = True
        report: Command
        try:
            if execution.kept is not None:
                report = await self._cache.around(execution, execution.kept, partial(self._attempt, execution))
            else:
                report = await self._attempt(execution)
        except asyncio.CancelledError:
            report = self._stopped(execution)
        except BaseException as problem:  # a step that says sys.exit() ends itself, not the worker
            report = failed(execution.id, execution.attempt, problem, execution.concealed)
        self._slots += 1
        self._end(execution, report)
        if self._queue:
            self._admit_next(self._queue)

    async def _attempt(self, execution: Execution) -> Command:
        context, call = execution.context, execution.spec.call
        if execution.kept is not None and execution.spec.blocks(context.config):
            output = await asyncio.to_thread(call, context)
        else:
            output = call(context)
        if hasattr(output, "__await__"):
            output = await output
        return completed(execution.id, execution.attempt, output)

    def _begin_blocking(self, execution: Execution, work: Work) -> None:
        runtime = self._runtime
        if self._pool is None:
            self._pool = ThreadPoolExecutor(runtime.settings.threads, "perdure-handler")
        self._threads -= 1
        self._admit(execution, work.timeout)
        execution.begun = execution.in_thread = True
        execution.context = ActivationContext(execution, work)
        call: Callable[..., Any] = runtime.context.copy().run
        future = runtime.loop.run_in_executor(self._pool, call, execution.spec.call, execution.context)
        future.add_done_callback(lambda done: self._end_blocking(execution, done), context=runtime.context)

    def _end_blocking(self, execution: Execution, done: asyncio.Future[Any]) -> None:
        report: Command
        problem = done.exception() if not done.cancelled() else RuntimeError("the thread pool was closed")
        if execution.expired:
            report = timed_out(execution.id, execution.attempt)
        elif problem is not None:
            report = failed(execution.id, execution.attempt, problem, execution.concealed)
        else:
            try:
                report = completed(execution.id, execution.attempt, done.result())
            except Exception as invalid:
                report = failed(execution.id, execution.attempt, invalid, execution.concealed)
        self._threads += 1
        self._end(execution, report)
        if self._thread_queue:
            self._admit_next(self._thread_queue)

    def _admit(self, execution: Execution, timeout: int | None) -> None:
        runtime = self._runtime
        self._live[execution] = None
        execution.owned.running[execution.id] = execution
        execution.timeout = timeout / 1_000_000 if timeout is not None else None
        self.set_timer(execution)
        if runtime.observer is not None:
            execution.started = runtime.loop.time()
            runtime.observer.handler_started(execution.owned.namespace, execution.type)

    def set_timer(self, execution: Execution) -> None:
        """From now on it may take as long as it says."""
        if execution.timeout is not None:
            execution.timer = self._runtime.loop.call_later(execution.timeout, self._expire, execution)

    def _admit_next(self, queue: deque[tuple[OwnedRun, int]]) -> None:
        while queue and (self._slots if queue is self._queue else self._threads):
            owned, id = queue.popleft()
            if not owned.dropped:
                self.execute(owned, id)

    def driven_by(self, task: asyncio.Task[Any]) -> Execution | None:
        """The execution whose handler this task runs. May be asked from any thread."""
        return next((execution for execution in list(self._live) if execution.task is task), None)

    # -- ending ------------------------------------------------------------------------------------

    def _end(self, execution: Execution, report: Command) -> None:
        self._live.pop(execution, None)
        del execution.context  # a cycle, which would be left to the garbage collector
        execution.task = None
        if self._emptied is not None and not self._live and not self._emptied.done():
            self._emptied.set_result(None)
        if not execution.silent:
            self._report(execution, report)

    def _report(self, execution: Execution, report: Command) -> None:
        """The one thing that the run hears about the end."""
        if execution.concealed is not None:
            report = execution.concealed.report(report)
        execution.silent = True
        execution.is_wanted = False
        if execution.timer is not None:
            execution.timer.cancel()
        owned = execution.owned
        if owned.running.get(execution.id) is execution:
            del owned.running[execution.id]
        observer = self._runtime.observer
        if observer is not None:
            seconds = self._runtime.loop.time() - execution.started
            observer.handler_ended(owned.namespace, execution.type, seconds, _ending(execution, report))
        if execution.unheard is not UNSAID and not isinstance(report, CancelDone):
            letters: list[Letter] = [
                (Heartbeat(execution.id, execution.attempt, execution.unheard), None, 0),
                (report, None, 0),
            ]
            owned.deliver_all(letters)
        else:
            owned.deliver(report)

    def _stopped(self, execution: Execution) -> Command:
        """The task was cancelled: by us, or by its own doing."""
        if execution.expired:
            return timed_out(execution.id, execution.attempt)
        if not execution.is_wanted:
            return CancelDone(execution.id, unknown=True)
        return cancelled_itself(execution.id, execution.attempt)

    def _expire(self, execution: Execution) -> None:
        execution.expired = True
        self._interrupt(execution, timed_out(execution.id, execution.attempt))

    def stop(self, owned: OwnedRun, id: int) -> None:
        execution = owned.running.get(id)
        if execution is not None:
            self._interrupt(execution, CancelDone(id, unknown=True))
        else:
            never_began = any(one is owned and number == id for one, number in [*self._queue, *self._thread_queue])
            owned.deliver(CancelDone(id, unknown=not never_began))

    def _interrupt(self, execution: Execution, in_the_end: Command) -> None:
        """Tells the handler to stop. If it has not ended after the grace period, the report is `in_the_end`."""
        execution.is_wanted = False
        if execution.timer is not None:
            execution.timer.cancel()
        if execution.task is None:
            pass  # a thread cannot be interrupted
        elif not execution.begun:
            # Cancelled before its first step, a coroutine never gets to say anything.
            execution.task.cancel()
            self._slots += 1
            unknown = isinstance(in_the_end, CancelDone)
            self._end(execution, CancelDone(execution.id, unknown=False) if unknown else in_the_end)
            return
        else:
            execution.task.cancel()
        grace = self._runtime.settings.stop_grace
        execution.timer = self._runtime.loop.call_later(grace, self._give_up, execution, in_the_end)

    def _give_up(self, execution: Execution, report: Command) -> None:
        if not execution.silent:
            self._report(execution, report)

    # -- leaving -----------------------------------------------------------------------------------

    def abandon(self, owned: OwnedRun) -> None:
        """The run belongs to somebody else now; nobody listens to its handlers here."""
        for execution in list(owned.running.values()):
            self._disown(execution)

    def _disown(self, execution: Execution) -> None:
        """Tells the handler to stop, and hears nothing of it any more."""
        del execution.owned.running[execution.id]
        execution.silent = True
        if execution.is_wanted:
            self._interrupt(execution, CancelDone(execution.id, unknown=True))
        if execution.timer is not None:
            execution.timer.cancel()

    async def drain(self, grace: float) -> list[Execution]:
        """Begins nothing more and waits for what runs. Returns what had not ended by then."""
        self.is_open = False
        self._queue.clear()
        self._thread_queue.clear()
        if self._live:
            self._emptied = self._runtime.loop.create_future()
            await asyncio.wait([self._emptied], timeout=grace)
        return list(self._live)

    async def close(self, patience: float) -> None:
        """Cancels what still runs; no reports are made."""
        tasks = []
        for execution in list(self._live):
            execution.silent = True
            execution.is_wanted = False
            if execution.timer is not None:
                execution.timer.cancel()
            if execution.task is not None:
                execution.task.cancel()
                tasks.append(execution.task)
        if tasks:
            await asyncio.wait(tasks, timeout=patience)
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _is_executing(activation: Activation | None) -> bool:
    return activation is not None and activation.phase is Phase.EXECUTING


def _ending(execution: Execution, report: Command) -> str:
    if execution.expired:
        return "timed out"
    return {"Complete": "completed", "Fail": "failed"}.get(type(report).__name__, "cancelled")
