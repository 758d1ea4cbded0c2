"""The engine: takes up runs, decides, makes it durable, carries it out.

    engine = Engine(store, library, handlers)
    await engine.open()
    run = await engine.start("default", "fulfil", {"order": 7}, key="order-7")
    ended = await engine.result("default", run)
    await engine.close()

One engine is one worker. Any number of them may share a store that allows it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Any

from perdure.engine.answers import Reply
from perdure.engine.changes import Watch
from perdure.engine.handlers import Lack, NodeHandlers, lacking
from perdure.engine.ids import Ids
from perdure.engine.library import Library
from perdure.engine.observer import Observer
from perdure.engine.owned import OwnedRun
from perdure.engine.runtime import Runtime
from perdure.engine.secrets import GivenSecrets
from perdure.engine.settings import EngineSettings
from perdure.engine.starts import Started
from perdure.engine.storetime import SystemClock
from perdure.errors import Busy, StoreError
from perdure.kernel.kernel import Kernel
from perdure.kernel.state import RunState
from perdure.model.commands import Command, Fail
from perdure.model.failures import Failure
from perdure.model.policies import Limits
from perdure.model.references import Word
from perdure.model.statuses import Phase
from perdure.model.values import Json
from perdure.ports.clock import Clock
from perdure.ports.hints import Hint
from perdure.ports.journal import Head
from perdure.ports.secrets import Secrets
from perdure.ports.store import Store


class Engine:
    def __init__(
        self,
        store: Store,
        library: Library,
        handlers: NodeHandlers,
        *,
        clock: Clock | None = None,
        settings: EngineSettings | None = None,
        observer: Observer | None = None,
        chance: random.Random | None = None,
        secrets: Secrets | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._parts = (store, library, handlers)
        self._settings = settings or EngineSettings()
        self._observer = observer
        self._chance = chance
        self._secrets = secrets or GivenSecrets(None, {})
        self._runtime: Runtime | None = None
        self._deafen: Callable[[], None] | None = None
        self._closing: asyncio.Future[None] | None = None

    @property
    def runtime(self) -> Runtime:
        if self._runtime is None:
            raise Busy("the engine is not open")
        return self._runtime

    @property
    def worker(self) -> str:
        return self.runtime.worker

    @property
    def set_aside(self) -> Mapping[str, BaseException]:
        """Runs that this worker cannot go on with, and why."""
        return self._runtime.roster.aside if self._runtime is not None else {}

    async def open(self) -> None:
        """Takes a lease and begins to work. The store must be open."""
        store, library, handlers = self._parts
        ids = Ids(self._clock, self._chance)
        runtime = Runtime(store, library, handlers, self._settings, self._observer, ids, self._secrets)
        await runtime.lease.open()
        self._runtime = runtime
        self._closing = None
        self._deafen = store.hints.listen(self._hear)
        runtime.alarms.open()
        runtime.post.open()
        runtime.claimer.open()
        runtime.stalls.open()

    def _hear(self, hint: Hint, subject: str) -> None:
        runtime = self._runtime
        if runtime is None:
            return
        if hint is Hint.CLOSED:
            runtime.results.hinted(subject)
        elif hint is Hint.DUE:
            runtime.claimer.nudge()
        elif hint is Hint.INBOX and subject in (runtime.worker, ""):
            runtime.post.collect()

    # -- what others ask of it ---------------------------------------------------------------------

    async def start(  # noqa: PLR0913 — every one is an option of a start
        self,
        namespace: str,
        definition: str,
        input: Json = None,
        *,
        key: str | None = None,
        version: int | Word | None = None,
        trigger: str = "api",
        thread: dict[str, Any] | None = None,
        lookups: dict[str, Any] | None = None,
        limits: Limits | None = None,
        attributes: dict[str, Any] | None = None,
    ) -> str:
        """The id of the run, durable. With a key that was used before for the same request: of the run that it
        started."""
        started = await self.begin(
            namespace,
            definition,
            input,
            key=key,
            version=version,
            trigger=trigger,
            thread=thread,
            lookups=lookups,
            limits=limits,
            attributes=attributes,
        )
        return started.run

    async def begin(  # noqa: PLR0913 — every one is an option of a start
        self,
        namespace: str,
        definition: str,
        input: Json = None,
        *,
        key: str | None = None,
        version: int | Word | None = None,
        trigger: str = "api",
        thread: dict[str, Any] | None = None,
        lookups: dict[str, Any] | None = None,
        limits: Limits | None = None,
        attributes: dict[str, Any] | None = None,
        request: Json = None,
    ) -> Started:
        """Like `start`, and says whether the run existed already. Two starts with one key are the same if their
        `request` is; without one, if definition, version, input and thread are."""
        return await self.runtime.starts.outside(
            namespace,
            definition,
            input,
            key=key,
            version=version,
            trigger=trigger,
            thread=thread,
            lookups=lookups,
            limits=limits,
            attributes=attributes,
            request=request,
        )

    async def send(self, namespace: str, run: str, command: Command, *, request_id: str | None = None) -> Reply:
        """Gets a command to the run, open or (RetryRun) ended. Durable when it returns. Raises the run's refusal."""
        return await self.runtime.dispatch.send(namespace, run, command, request_id)

    async def result(self, namespace: str, run: str) -> Head:
        """The head of the run when it has ended; waits for that."""
        return await self.runtime.results.wait(namespace, run)

    def watch(self, run: str) -> Watch:
        """To wait until the run has moved on. Ask for it before looking at the run."""
        return self.runtime.changes.watch(run)

    def lacking(self, kernel: Kernel, state: RunState) -> dict[str, Lack]:
        """By node: what this worker does not have of what the run is to execute."""
        found: dict[str, Lack] = {}
        for activation in state.activations.values():
            if activation.phase is Phase.EXECUTING:
                lack = lacking(self._parts[2], kernel.program.work(state, activation))
                if lack is not None:
                    found[activation.node] = lack
        return found

    def equipped(self) -> None:
        """There are handlers, steps or node types that were not here before: what was left to others for want of them
        is tried again at once."""
        if self._runtime is not None:
            self._runtime.declined.forget()

    # -- leaving -----------------------------------------------------------------------------------

    async def close(self) -> None:
        """Hands everything over: takes nothing new, lets handlers end for a while, then gives all runs back to the
        store. Once begun it is finished, even if the caller is cancelled: a worker that is half closed would keep its
        runs and do nothing for them."""
        if self._closing is None and self._runtime is not None:
            self._closing = asyncio.ensure_future(self._close(self._runtime))
        if self._closing is not None:
            await asyncio.shield(self._closing)

    async def _close(self, runtime: Runtime) -> None:
        settings = runtime.settings
        runtime.starts.is_open = False
        runtime.claimer.close()
        if self._deafen is not None:
            self._deafen()
        unfinished = await runtime.runner.drain(settings.grace)
        for execution in unfinished:
            owned = execution.owned
            if not owned.dropped and owned.kernel.program.is_at_most_once(owned.state, execution.activation):
                execution.silent = True
                unknown = Failure("OUTCOME_UNKNOWN", "its worker was closed; whether it took effect is not known")
                owned.deliver(Fail(execution.id, execution.attempt, unknown))
        await runtime.runner.close(settings.grace)
        await _quiet(runtime, settings.farewell)
        runtime.alarms.close()
        runtime.post.close()
        runtime.stalls.close()
        runtime.results.close(Busy("the engine was closed"))
        await runtime.lease.close()
        await runtime.end_tasks()
        self._runtime = None
        runtime.roster.drop_all()
        try:
            await asyncio.wait_for(runtime.ownership.leave(runtime.worker), settings.farewell)
        except (StoreError, TimeoutError) as problem:
            runtime.trouble("leaving (others will take the runs when the lease has run out)", problem)


async def _quiet(runtime: Runtime, patience: float) -> None:
    """Until no commit is under way."""
    until = runtime.loop.time() + patience
    for pause in runtime.pauses():
        if runtime.loop.time() >= until or not any(map(_is_under_way, runtime.roster.owned.values())):
            break
        await asyncio.sleep(pause)


def _is_under_way(owned: OwnedRun) -> bool:
    """Of a run that was just taken over and whose first turn has not begun, nothing is."""
    return owned.busy and (owned.in_flight is not None or not owned.fresh)
