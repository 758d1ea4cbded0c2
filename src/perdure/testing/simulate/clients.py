"""Clients, who each start a run and send it what it waits for until it is acknowledged; and strangers, who may not."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from perdure.engine import Engine, Reply
from perdure.errors import Busy, Conflict, NotFound, StoreError
from perdure.model.commands import Cancel, Command, Signal
from perdure.model.policies import Limits
from perdure.testing.simulate.flows import Plot
from perdure.testing.simulate.misfortune import Misfortune, Site
from perdure.testing.simulate.umpire import Umpire
from perdure.testing.simulate.worker import Call, Worker

NAMESPACE = "sim"
ELSEWHERE = "elsewhere"


class Clients:
    def __init__(
        self, chance: random.Random, misfortune: Misfortune, umpire: Umpire, any_worker: Callable[[], Worker | None]
    ) -> None:
        self._chance = chance
        self._misfortune = misfortune
        self._umpire = umpire
        self._any_worker = any_worker
        self.acked_signals: dict[str, set[str]] = {}
        """Per run: the ids of the signals that were acknowledged."""
        self.acked_ticks: Counter[str] = Counter()
        """Per run: signals without an id that were acknowledged …"""
        self.unclear_ticks: Counter[str] = Counter()
        """… and those of which nobody knows."""
        self.wrong: list[str] = []

    async def run(self, number: int, name: str, plot: Plot) -> tuple[str, str, int]:
        chance = self._chance
        limits = Limits(deliveries=1_000, generation_events=chance.choice([6, 10_000]))
        run_id: str = await self._insist(
            lambda engine: engine.start(NAMESPACE, name, number, key=f"{name}-{number}", limits=limits)
        )
        self._umpire.answered(run_id)
        if chance.random() < 0.3:
            await self._intrude(run_id)
        for _ in range(plot.ticks):
            await asyncio.sleep(chance.uniform(0, 3))
            await self._tick(run_id)
        for signal in plot.signals:
            await asyncio.sleep(chance.uniform(0, 3))
            id = f"{signal}-{number}"
            if await self._insist(partial(_send, run_id, Signal(signal, number, id))) is Reply.DECIDED:
                self._umpire.answered(run_id, id)
            self.acked_signals.setdefault(run_id, set()).add(id)
        if plot.is_cancelled:
            await asyncio.sleep(chance.uniform(0, 20))
            await self._insist(partial(_send, run_id, Cancel("enough")))
        return run_id, name, number

    async def _insist(self, call: Call) -> Any:
        """Until it is acknowledged, and sometimes once more. None: the run has ended already."""
        answer = None
        again = self._misfortune.strikes(Site.DUPLICATE, 0.3)
        while True:
            worker = self._any_worker()
            try:
                if worker is not None:
                    said = await worker.ask(call)
                    if answer is not None and not isinstance(said, Reply) and said != answer:
                        self.wrong.append(f"the same start was answered with {answer} and with {said}")
                    answer = said
                    if not again:
                        return answer
                    again = False
                    continue
            except Conflict:
                return answer
            except NotFound as problem:
                self.wrong.append(f"what was acknowledged is gone: {problem}")
                return answer
            except (StoreError, Busy, ConnectionError):
                pass
            await asyncio.sleep(self._chance.uniform(0.1, 1))

    async def _tick(self, run_id: str) -> None:
        """A signal without an id: sent again only because nobody knows, it may count twice; else exactly once."""
        while True:
            worker = self._any_worker()
            if worker is not None:
                try:
                    await worker.ask(partial(_send, run_id, Signal("tick")))
                except (StoreError, Busy, ConnectionError):
                    self.unclear_ticks[run_id] += 1
                except (Conflict, NotFound) as problem:
                    self.wrong.append(f"a run that waits for more did not take a signal: {problem}")
                    return
                else:
                    self.acked_ticks[run_id] += 1
                    return
            await asyncio.sleep(self._chance.uniform(0.1, 1))

    async def _intrude(self, run_id: str) -> None:
        """Somebody of another namespace, who has found out the run's id, tries to stop it and to see it."""
        worker = self._any_worker()
        if worker is None:
            return
        attempts: list[Call] = [
            lambda engine: engine.send(ELSEWHERE, run_id, Cancel("mine now")),
            lambda engine: asyncio.wait_for(engine.result(ELSEWHERE, run_id), 100),
        ]
        for attempt in attempts:
            try:
                said = await worker.ask(attempt)
            except NotFound:
                continue
            except TimeoutError:
                said = "a promise to tell its result"
            except (StoreError, Busy, ConnectionError):
                return
            self.wrong.append(f"a stranger who asked for {run_id} got {said}")


def _send(run_id: str, command: Command, engine: Engine) -> Awaitable[Reply]:
    return engine.send(NAMESPACE, run_id, command)
