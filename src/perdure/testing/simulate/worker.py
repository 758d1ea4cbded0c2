"""A worker of the simulated fleet: an engine and a relay on a store with faults of its own, and its accidents."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from perdure.engine import Engine, EngineSettings, Observer
from perdure.engine.execution import Execution
from perdure.engine.handlers import NodeHandlers
from perdure.engine.library import Library
from perdure.engine.relay import Relay, Subscriber
from perdure.errors import PerdureError
from perdure.model.commands import Command
from perdure.testing.crashing import crash
from perdure.testing.faults import FaultyStore
from perdure.testing.simloop import SimClock
from perdure.testing.simulate.misfortune import Misfortune, Site

Call: TypeAlias = Callable[[Engine], Awaitable[Any]]
HOUR = 3600.0


class _Watch(Observer):
    def __init__(self, misfortune: Misfortune) -> None:
        self._misfortune = misfortune

    def handed_back(self, run: str, lacking: str) -> None:
        self._misfortune.met[Site.LACKING] += 1


class Worker:
    def __init__(self, store: FaultyStore, clock: SimClock, misfortune: Misfortune) -> None:
        self.store = store
        self.clock = clock
        self.engine: Engine
        self._misfortune = misfortune
        self._relay: Relay
        self._again: list[asyncio.Task[None]] = []
        self._missing: list[Callable[[], None]] = []
        self._death: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def open(
        self,
        library: Library,
        handlers: NodeHandlers,
        settings: EngineSettings,
        hear: Subscriber,
        chance: random.Random,
    ) -> None:
        self.engine = Engine(
            self.store,
            library,
            handlers,
            clock=self.clock,
            settings=settings,
            observer=_Watch(self._misfortune),
            chance=chance,
        )
        await self.engine.open()
        if Site.REPEATED_REPORT in self._misfortune.active:
            self._repeat_reports()
        self._relay = Relay(self.store, self.engine.worker, observer=Observer())
        self._relay.subscribe("*", hear)
        self._relay.open()

    def lack(self, get: Callable[[], None]) -> None:
        """It is without something, until `equip` gets it."""
        self._missing.append(get)

    def equip(self) -> None:
        while self._missing:
            self._missing.pop()()
            self.engine.equipped()

    async def ask(self, call: Call) -> Any:
        """What the engine answers; ConnectionResetError if it dies before."""
        answer: asyncio.Future[Any] = asyncio.ensure_future(call(self.engine))
        await asyncio.wait([answer, self._death], return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            raise ConnectionResetError("the worker died")
        return answer.result()

    async def die(self) -> None:
        if self._misfortune.chance.random() < 0.5:
            self.store.cut()  # else what it has sent still arrives
        if not self._death.done():
            self._death.set_result(None)
        crash(self.engine)
        await self._relay.close()

    async def leave(self) -> None:
        await self._relay.close()
        await self.engine.close()

    async def pause(self, seconds: float) -> None:
        """As if the process stood still: its lease runs out without its noticing, its commits come too late."""
        lease = self.engine.runtime.lease
        with self.store.stalled():
            lease.lose = lambda: None  # type: ignore[method-assign]
            try:
                await asyncio.sleep(seconds)
            finally:
                del lease.lose

    def _repeat_reports(self) -> None:
        loop, runner = asyncio.get_running_loop(), self.engine.runtime.runner
        once = runner._report

        def and_again(execution: Execution, report: Command) -> None:
            once(execution, report)
            if self._misfortune.strikes(Site.REPEATED_REPORT, 0.8):
                owned = execution.owned
                loop.call_later(
                    self._misfortune.chance.uniform(0.1, 2), self._report_again, owned.namespace, owned.run, report
                )

        runner._report = and_again  # type: ignore[method-assign]

    def _report_again(self, namespace: str, run: str, report: Command) -> None:
        """As if it came from another process: through the inbox, or to whoever holds the run."""

        async def send() -> None:
            with contextlib.suppress(PerdureError, ConnectionError):
                await self.ask(lambda engine: engine.send(namespace, run, report))

        if not self._death.done():
            self._again.append(asyncio.ensure_future(send()))
