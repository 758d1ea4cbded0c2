"""Everything at once: engines that die, pause and lose answers, while runs sleep, wait, retry and have children.

Each seed is one history, the same every time. At its end all faults stop, everything must come to the right result, and
the database must be sound. A failing seed is reproduced by `pytest 'tests/engine/test_chaos.py' -k '[SEED]'`.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from perdure.engine import ActivationContext, Engine
from perdure.errors import Busy, CommitUnknown, IllegalCommand, StoreError
from perdure.model.commands import Signal
from perdure.model.events import SignalReceived
from perdure.model.policies import Limits
from perdure.testing.crashing import crash
from perdure.testing.faults import Fault, FaultyStore
from perdure.testing.simloop import SimClock, pass_time, simulated
from tests.engine.world import NAMESPACE, World, child, output_of, signal, sleep, step, world

RATES = {
    Fault.LOST_AFTER: 0.03,
    Fault.LOST_BEFORE: 0.02,
    Fault.LATE: 0.02,
    Fault.UNAVAILABLE: 0.03,
    Fault.FULL: 0.01,
}


class Chaos:
    def __init__(self, w: World, chance: random.Random) -> None:
        self.w = w
        self.chance = chance
        self.stores: dict[int, FaultyStore] = {}
        self.all_stores: list[FaultyStore] = []
        self.engines: list[Engine | None] = [None] * 3
        self.sent: dict[str, set[str]] = {}
        """Per run, the ids of signals that were acknowledged."""

    async def open(self, place: int) -> None:
        store = FaultyStore(self.w.beneath, RATES, random.Random(self.chance.random()))
        clock = SimClock(skew=self.chance.choice([0, 0, 5, -5]))
        try:
            self.engines[place] = await self.w.engine(clock=clock, store=store, lease=10, poll=1, stop_grace=1)
            self.stores[place] = store
            self.all_stores.append(store)
        except StoreError:
            pass

    def any_engine(self) -> Engine | None:
        return self.chance.choice([engine for engine in self.engines if engine is not None] or [None])

    async def misfortunes(self) -> None:
        chance = self.chance
        while True:
            await pass_time(chance.uniform(0.2, 5))
            place = chance.randrange(len(self.engines))
            engine = self.engines[place]
            if engine is None:
                await self.open(place)
            elif chance.random() < 0.4:
                self.engines[place] = None
                crash(engine)
                self.w.engines.remove(engine)
            elif chance.random() < 0.3:
                self.engines[place] = None
                await engine.close()
            elif chance.random() < 0.5:
                with self.stores[place].down():
                    await pass_time(chance.choice([0.5, 5, 15]))
            else:
                await self.pause(engine, self.stores[place], chance.choice([3, 9, 25]))

    async def pause(self, engine: Engine, store: FaultyStore, seconds: float) -> None:
        """As if the process stood still: its lease runs out without its noticing, its commits come too late."""
        lease = engine.runtime.lease
        with store.stalled():
            lease.lose = lambda: None  # type: ignore[method-assign]
            try:
                await pass_time(seconds)
            finally:
                del lease.lose

    async def start(self, definition: str, number: int) -> str:
        while True:
            engine = self.any_engine()
            try:
                if engine is not None:
                    return await engine.start(
                        NAMESPACE, definition, number, key=f"{definition}-{number}", limits=Limits(deliveries=1_000)
                    )
            except (StoreError, Busy):
                pass
            await pass_time(self.chance.uniform(0.1, 1))

    async def send(self, run: str, payload: int, id: str) -> None:
        """Until it is acknowledged. An id makes it safe to send it again when nobody knows."""
        while True:
            engine = self.any_engine()
            try:
                if engine is not None:
                    await engine.send(NAMESPACE, run, Signal("go", payload, id))
                    self.sent.setdefault(run, set()).add(id)
                    return
            except IllegalCommand:
                return  # it has ended, so an earlier attempt got through
            except (StoreError, Busy, CommitUnknown):
                pass
            await pass_time(self.chance.uniform(0.1, 1))


async def story(seed: int) -> None:
    chance = random.Random(seed)
    async with world() as w:
        attempts: dict[str, int] = {}

        async def inc(context: ActivationContext) -> Any:
            attempts[context.key] = attempts.get(context.key, 0) + 1
            await pass_time(chance.choice([0, 0.1, 2, 6]))
            return context.input + 1

        async def flaky(context: ActivationContext) -> Any:
            await pass_time(0.05)
            if chance.random() < 0.3:
                raise ConnectionError("bad luck")
            return context.input + 1

        w.handlers.add("inc", inc)
        w.handlers.add("flaky", flaky)
        await w.define("leaf", step("inc"), sleep(1.5), step("flaky", attempts=50))
        await w.define(
            "tree",
            *(step("inc"), child("leaf"), step("inc"), sleep(4), step("inc"), child("leaf"), signal("go")),
            *(step("inc"), sleep(0.3), step("inc"), step("flaky", attempts=50)),
        )
        chaos = Chaos(w, chance)
        for place in range(3):
            await chaos.open(place)
        troubles = asyncio.ensure_future(chaos.misfortunes())
        runs = {n: await chaos.start("tree", n * 100) for n in range(5)}
        for n, run in runs.items():
            await chaos.send(run, n * 1000, f"signal-{n}")
        await pass_time(60)
        troubles.cancel()
        await asyncio.wait([troubles])
        for store in chaos.all_stores:
            store.chances.clear()
        healthy = await w.engine(lease=10, poll=1, store=w.store)
        for n, run in runs.items():
            head = await asyncio.wait_for(healthy.result(NAMESPACE, run), 2_000)
            assert output_of(head) == n * 1000 + 3
            received = {event.id for event in await w.events(run) if isinstance(event, SignalReceived)}
            assert chaos.sent.get(run, set()) <= received, "an acknowledged signal was lost"
        assert len({key for key in attempts if key.endswith("/0/1")}) == 15, "every run and every child began"


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(150))
def test_whatever_goes_wrong_everything_comes_to_its_right_end(seed: int) -> None:
    simulated(seed)(story)(seed)
