"""One seed: workers, runs, misfortune; then the faults stop, and everything must come to its right end."""

from __future__ import annotations

import asyncio
import logging
import random
from functools import partial
from typing import Any

import msgspec

from perdure.assembly import Perdure
from perdure.engine import EngineSettings
from perdure.errors import StoreError
from perdure.ports.store import Store
from perdure.service.fsck import fsck
from perdure.stores.memory import MemoryStore
from perdure.stores.sqlite import SqliteStore
from perdure.testing.faults import FaultyStore
from perdure.testing.simloop import SimClock, run
from perdure.testing.simulate.clients import NAMESPACE, Clients
from perdure.testing.simulate.flows import PLOTS
from perdure.testing.simulate.judging import Judge, fingerprint, in_words
from perdure.testing.simulate.misfortune import Misfortune, Site
from perdure.testing.simulate.umpire import Umpire
from perdure.testing.simulate.worker import HOUR, Worker
from perdure.testing.simulate.world import World

SIZES = {"small": (3, 4, 25.0), "medium": (4, 15, 60.0), "large": (6, 60, 180.0)}
"""Workers, runs, seconds of misfortune."""
LEASE = 10.0


class Verdict(msgspec.Struct, frozen=True):
    seed: int
    wrong: list[str]
    digest: str
    """Of the whole log: the same seed gives the same digest."""
    events: int
    met: dict[str, int]
    log: list[str]


class Story:
    def __init__(self, seed: int, size: str) -> None:
        self.seed = seed
        self.chance = random.Random(seed)
        self.misfortune = Misfortune(random.Random(self.chance.random()))
        self.worker_count, self.run_count, self.trouble_seconds = SIZES[size]
        clock = SimClock()
        on_sqlite = self.chance.random() < 0.5
        self.store: Store = SqliteStore(":memory:", clock=clock, writer="inline") if on_sqlite else MemoryStore(clock)
        self._clock = clock
        self.umpire: Umpire
        self.world: World
        self.workers: list[Worker | None] = [None] * self.worker_count
        self.clients: Clients

    def any_worker(self) -> Worker | None:
        living = [worker for worker in self.workers if worker is not None]
        return self.chance.choice(living) if living else None

    async def open_worker(self, place: int, *, calm: bool = False) -> None:
        m, chance = self.misfortune, self.chance
        faulty = FaultyStore(self.umpire, m.commit_faults(), random.Random(chance.random()), troubles=m.troubles())
        if calm:
            faulty.calm()
        skew = chance.choice([5.0, -5.0, 0.5, HOUR, -HOUR]) if m.strikes(Site.SKEW, 0.5) else 0.0
        app = Perdure(faulty, namespace=NAMESPACE)
        worker = Worker(faulty, SimClock(skew=skew), m)
        missing = None if calm or not m.befalls(Site.LACKING, 0.5) else chance.choice(list(self.world.steps()))
        for name, step in self.world.steps().items():
            if name == missing:
                worker.lack(partial(app.register, step))
            else:
                app.register(step)
        app._assemble()
        settings = EngineSettings(lease=LEASE, poll=1, stop_grace=1, grace=0.5, **drawn_settings(chance))
        try:
            await worker.open(app.library, app.handlers, settings, self.world.hear, random.Random(chance.random()))
        except StoreError:
            return
        self.workers[place] = worker

    async def trouble(self) -> None:
        """Things go wrong, one after another, until somebody stops it."""
        m, chance = self.misfortune, self.chance
        while True:
            await asyncio.sleep(chance.uniform(0.2, 4))
            place = chance.randrange(self.worker_count)
            worker = self.workers[place]
            if worker is None:
                await self.open_worker(place)
            elif m.strikes(Site.CRASH, 0.4):
                self._take_away(place)
                await worker.die()
            elif m.strikes(Site.HAND_OVER, 0.3):
                self._take_away(place)
                await worker.leave()
            elif m.strikes(Site.OUTAGE, 0.3):
                with worker.store.down():
                    await asyncio.sleep(chance.choice([0.5, 5, 15]))
            elif m.strikes(Site.PAUSE, 0.3):
                await worker.pause(chance.choice([3, chance.uniform(9, 14), 25]))
            elif m.strikes(Site.CLOCK_SET, 0.5):
                worker.clock.jump(chance.choice([HOUR, -HOUR, 5.0, -5.0]))
            elif m.befalls(Site.LACKING, 0.3):
                worker.equip()

    def _take_away(self, place: int) -> None:
        worker = self.workers[place]
        if worker is not None:
            self.misfortune.count(worker.store)
        self.workers[place] = None

    async def live(self) -> Verdict:
        await self.store.open()
        self.umpire = Umpire(self.store, self._clock)
        self.world = World(self.seed, self.misfortune, self.umpire)
        self.clients = Clients(self.chance, self.misfortune, self.umpire, self.any_worker)
        app = Perdure(self.store, namespace=NAMESPACE)
        app._assemble()
        for plot in PLOTS.values():
            await app.deploy(plot.document)
        for place in range(self.worker_count):
            await self.open_worker(place)
        names = [self.chance.choice(list(PLOTS)) for _ in range(self.run_count)]
        troubles = asyncio.ensure_future(self.trouble())
        clients = [asyncio.ensure_future(self.clients.run(n, name, PLOTS[name])) for n, name in enumerate(names)]
        await asyncio.sleep(self.trouble_seconds)
        troubles.cancel()
        await asyncio.wait([troubles])
        self._calm()
        if self.any_worker() is None:
            await self.open_worker(0, calm=True)
        wrong = await self._judge(app, clients)
        await asyncio.sleep(LEASE + 2)  # what a dead worker had acquired, and be it a closed run, is free only then
        for worker in self.workers:
            if worker is not None:
                self.misfortune.count(worker.store)
                await worker.leave()
        report = await fsck(self.store, app.library)
        wrong += [f"fsck {finding.invariant}: {finding.run}: {finding.text}" for finding in report.findings]
        wrong += await self.umpire.inspect()
        log = [*await in_words(self.store), *(f"effect {key} {n}" for key, n in sorted(self.world.effects.items()))]
        await self.store.close()
        met = {site.name: times for site, times in sorted(self.misfortune.met.items(), key=lambda pair: pair[0].name)}
        return Verdict(self.seed, wrong, fingerprint(log), report.events, met, log)

    def _calm(self) -> None:
        self.misfortune.active -= {Site.SUBSCRIBER_FAILS, Site.REPEATED_REPORT, Site.DUPLICATE}
        for worker in self.workers:
            if worker is not None:
                worker.store.calm()
                worker.equip()

    async def _judge(self, app: Perdure, clients: list[asyncio.Task[tuple[str, str, int]]]) -> list[str]:
        judge = Judge(app, self.world, self.clients)
        wrong: list[str] = []
        for client in clients:
            try:
                run_id, name, number = await asyncio.wait_for(client, 1_000)
            except TimeoutError:
                wrong.append("a client was never answered")
                continue
            worker = self.any_worker()
            assert worker is not None
            wrong += await judge.judge(worker.engine, run_id, name, number)
        return wrong + self.clients.wrong


def drawn_settings(chance: random.Random) -> dict[str, Any]:
    """Bounds that an ordinary story never reaches, or so tight that it always does."""
    return {
        "park_after": chance.choice([0.0, 1.0]),
        "snapshot_events": chance.choice([4, 20]),
        "parked_runs": chance.choice([0, 1, 20_000]),
        "max_runs": chance.choice([2, 10_000, 10_000]),
        "claim_batch": chance.choice([1, 500]),
        "loads": chance.choice([1, 32]),
        "turn_commands": chance.choice([1, 256]),
        "slots": chance.choice([1, 1_000, 1_000]),
        "decline": chance.choice([0.5, 5.0, 60.0]),
        "declines": chance.choice([1, 1_000]),
    }


def tell(seed: int, size: str = "small") -> Verdict:
    async def live() -> Verdict:
        return await Story(seed, size).live()

    logging.getLogger("perdure").setLevel(logging.CRITICAL)  # troubles are the point, not news
    return run(live(), seed)
