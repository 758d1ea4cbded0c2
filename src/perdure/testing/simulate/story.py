"""One seed: workers, runs, misfortune; then the faults stop, and everything must come to its right end."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
from collections import Counter
from typing import Any

import msgspec

from perdure.assembly import Perdure
from perdure.engine import ActivationError, Engine, EngineSettings, Observer
from perdure.engine.relay import Delivered, Relay
from perdure.errors import Busy, Conflict, StoreError
from perdure.kernel.backoff import fraction
from perdure.model.commands import Cancel, Signal
from perdure.model.events import SignalReceived
from perdure.model.policies import Limits
from perdure.ports.store import Store
from perdure.service.fsck import fsck
from perdure.service.histories import read_history
from perdure.stores.memory import MemoryStore
from perdure.stores.sqlite import SqliteStore
from perdure.testing.crashing import crash
from perdure.testing.faults import FaultyStore
from perdure.testing.simloop import SimClock, run
from perdure.testing.simulate.flows import PLOTS, Plot
from perdure.testing.simulate.misfortune import Misfortune, Site

NAMESPACE = "sim"
SIZES = {"small": (3, 4, 25.0), "medium": (4, 15, 60.0), "large": (6, 60, 180.0)}
"""Workers, runs, seconds of misfortune."""


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
        self.clock = SimClock()
        on_sqlite = self.chance.random() < 0.5
        self.store: Store = (
            SqliteStore(":memory:", clock=self.clock, writer="inline") if on_sqlite else MemoryStore(self.clock)
        )
        self.workers: list[tuple[Engine, Relay, FaultyStore] | None] = [None] * self.worker_count
        self.stores: list[FaultyStore] = []
        self.effects: Counter[str] = Counter()
        self.heard: Counter[str] = Counter()
        self.acked_signals: dict[str, set[str]] = {}
        self.acked_cancels: set[str] = set()

    # -- the world -------------------------------------------------------------------------------

    def steps(self, app: Perdure) -> None:
        async def act(ctx: Any, span: float) -> None:
            self.effects[ctx.key] += 1
            await asyncio.sleep(span * fraction(self.seed, self.effects[ctx.key], ctx.activation_id))

        async def add(ctx: Any, n: int) -> int:
            await act(ctx, 0.8)
            return n + 1

        async def slow(ctx: Any, n: int) -> int:
            await act(ctx, 15)
            return n + 1

        async def flaky(ctx: Any, n: int) -> int:
            await act(ctx, 0.3)
            if (
                Site.HANDLER_FAILS in self.misfortune.active
                and fraction(self.seed, ctx.activation_id, ctx.attempt) < 0.4
            ):
                self.misfortune.met[Site.HANDLER_FAILS] += 1
                raise ConnectionError("bad luck")
            return n + 1

        async def picky(ctx: Any, n: int) -> int:
            await act(ctx, 0.5)
            if n % 2:
                raise ActivationError("ODD", "odd numbers are not welcome")
            return n + 1

        async def undo(ctx: Any, n: int) -> None:
            await act(ctx, 0.5)

        app.register(add, slow, flaky, picky, undo)

    async def hear(self, message: Delivered) -> None:
        self.heard[message.id] += 1

    async def open_worker(self, place: int) -> None:
        faulty = FaultyStore(self.store, self.misfortune.commit_faults(), random.Random(self.chance.random()))
        skew = self.chance.choice([5.0, -5.0, 0.5]) if self.misfortune.strikes(Site.SKEW, 0.5) else 0.0
        app = Perdure(faulty, namespace=NAMESPACE)
        self.steps(app)
        app._assemble()
        settings = EngineSettings(lease=10, poll=1, stop_grace=1, grace=0.5, park_after=self.chance.choice([0.0, 1.0]))
        engine = Engine(
            faulty,
            app.library,
            app.handlers,
            clock=SimClock(skew=skew),
            settings=settings,
            observer=Observer(),
            chance=random.Random(self.chance.random()),
        )
        try:
            await engine.open()
        except StoreError:
            return
        relay = Relay(faulty, engine.worker, observer=Observer())
        relay.subscribe("*", self.hear)
        relay.open()
        self.workers[place] = (engine, relay, faulty)
        self.stores.append(faulty)

    async def trouble(self) -> None:
        """Things go wrong, one after another, until somebody stops it."""
        m = self.misfortune
        while True:
            await asyncio.sleep(self.chance.uniform(0.2, 4))
            place = self.chance.randrange(self.worker_count)
            worker = self.workers[place]
            if worker is None:
                await self.open_worker(place)
                continue
            engine, relay, faulty = worker
            if m.strikes(Site.CRASH, 0.4):
                self.workers[place] = None
                await relay.close()
                crash(engine)
            elif m.strikes(Site.HAND_OVER, 0.3):
                self.workers[place] = None
                await relay.close()
                await engine.close()
            elif m.strikes(Site.OUTAGE, 0.3):
                with faulty.down():
                    await asyncio.sleep(self.chance.choice([0.5, 5, 15]))
            elif m.strikes(Site.PAUSE, 0.3):
                await self.pause(engine, faulty, self.chance.choice([3, 9, 25]))

    async def pause(self, engine: Engine, faulty: FaultyStore, seconds: float) -> None:
        """As if the process stood still: its lease runs out without its noticing, its commits come too late."""
        lease = engine.runtime.lease
        with faulty.stalled():
            lease.lose = lambda: None  # type: ignore[method-assign]
            try:
                await asyncio.sleep(seconds)
            finally:
                del lease.lose

    # -- the clients -----------------------------------------------------------------------------

    def any_engine(self) -> Engine | None:
        open_ones = [worker[0] for worker in self.workers if worker is not None]
        return self.chance.choice(open_ones) if open_ones else None

    async def insist(self, call: Any) -> Any:
        """Until it is acknowledged, and sometimes once more. None: the run has ended already."""
        answer = None
        again = self.misfortune.strikes(Site.DUPLICATE, 0.3)
        while True:
            engine = self.any_engine()
            try:
                if engine is not None:
                    answer = await call(engine)
                    if not again:
                        return answer
                    again = False
                    continue
            except Conflict:
                return answer
            except (StoreError, Busy):
                pass
            await asyncio.sleep(self.chance.uniform(0.1, 1))

    async def client(self, number: int, name: str, plot: Plot) -> tuple[str, str, int]:
        limits = Limits(deliveries=1_000)
        run_id = await self.insist(
            lambda engine: engine.start(NAMESPACE, name, number, key=f"{name}-{number}", limits=limits)
        )
        for signal in plot.signals:
            await asyncio.sleep(self.chance.uniform(0, 3))
            id = f"{signal}-{number}"
            await self.insist(lambda engine, s=signal, i=id: engine.send(NAMESPACE, run_id, Signal(s, number, i)))
            self.acked_signals.setdefault(run_id, set()).add(id)
        if plot.is_cancelled:
            await asyncio.sleep(self.chance.uniform(0, 20))
            await self.insist(lambda engine: engine.send(NAMESPACE, run_id, Cancel("enough")))
            self.acked_cancels.add(run_id)
        return run_id, name, number

    # -- the end ---------------------------------------------------------------------------------

    async def live(self) -> Verdict:
        await self.store.open()
        app = Perdure(self.store, namespace=NAMESPACE)
        app._assemble()
        for plot in PLOTS.values():
            await app.deploy(plot.document)
        for place in range(self.worker_count):
            await self.open_worker(place)
        names = [self.chance.choice(list(PLOTS)) for _ in range(self.run_count)]
        troubles = asyncio.ensure_future(self.trouble())
        clients = [asyncio.ensure_future(self.client(n, name, PLOTS[name])) for n, name in enumerate(names)]
        await asyncio.sleep(self.trouble_seconds)
        troubles.cancel()
        await asyncio.wait([troubles])
        for faulty in self.stores:
            faulty.chances.clear()
            self.misfortune.count_commits([fault for fault, _ in faulty.struck])
        if self.any_engine() is None:
            await self.open_worker(0)
        wrong: list[str] = []
        for client in clients:
            try:
                run_id, name, number = await asyncio.wait_for(client, 1_000)
                wrong += await self.judge(app, run_id, name, number)
            except TimeoutError:
                wrong.append("a client was never answered")
        for worker in self.workers:
            if worker is not None:
                await worker[1].close()
                await worker[0].close()
        report = await fsck(self.store, app.library)
        wrong += [f"fsck {finding.invariant}: {finding.run}: {finding.text}" for finding in report.findings]
        log, digest = await self.digest(app)
        await self.store.close()
        met = {site.name: times for site, times in sorted(self.misfortune.met.items(), key=lambda pair: pair[0].name)}
        return Verdict(self.seed, wrong, digest, report.events, met, log)

    async def judge(self, app: Perdure, run_id: str, name: str, number: int) -> list[str]:
        plot = PLOTS[name]
        where = f"{name} {number} ({run_id})"
        engine = self.any_engine()
        assert engine is not None
        try:
            await asyncio.wait_for(engine.result(NAMESPACE, run_id), 2_000)
        except TimeoutError:
            reasons = await app.runs.explain(NAMESPACE, run_id)
            return [f"{where} does not end: {[reason.text for reason in reasons]}"]
        view = await app.runs.get(NAMESPACE, run_id)
        wrong = []
        if view.status != plot.status(number):
            wrong.append(f"{where} ended as {view.status}: {view.failure}")
        elif plot.output is not None and view.output != plot.output(number):
            wrong.append(f"{where} gave {view.output}")
        keys = {key for key in self.effects if key.startswith(run_id + "/")}
        if view.status == plot.status(number) and not plot.is_cancelled and len(keys) != plot.effects(number):
            wrong.append(f"{where} showed {len(keys)} different effects to the world, not {plot.effects(number)}")
        history = [recorded.event for recorded in await read_history(self.store, NAMESPACE, run_id, limit=100_000)]
        received = Counter(event.id for event in history if isinstance(event, SignalReceived))
        wrong += [
            f"{where}: the acknowledged signal {id} is {received[id]} times in the log"
            for id in sorted(self.acked_signals.get(run_id, ()))
            if received[id] != 1
        ]
        if plot.messages:
            wrong += await self.await_messages(where, run_id, plot.messages)
        return wrong

    async def await_messages(self, where: str, run_id: str, count: int) -> list[str]:
        for _ in range(400):
            found = [id for id in self.heard if id.startswith(run_id + "/")]
            if len(found) == count:
                return []
            await asyncio.sleep(1)
        return [f"{where}: {len(found)} of {count} messages reached the world"]

    async def digest(self, app: Perdure) -> tuple[list[str], str]:
        """The whole log in words, and its fingerprint."""
        log: list[str] = []
        after = ""
        while heads := await self.store.runs.walk(after, 500):
            for head in heads:
                history = await read_history(self.store, NAMESPACE, head.run, limit=1_000_000)
                log += [f"{head.run} {one.seq} {one.at} {msgspec.json.encode(one.event).decode()}" for one in history]
            after = heads[-1].run
        log += [f"effect {key} {times}" for key, times in sorted(self.effects.items())]
        return log, hashlib.sha256("\n".join(log).encode()).hexdigest()


def tell(seed: int, size: str = "small") -> Verdict:
    async def live() -> Verdict:
        return await Story(seed, size).live()

    logging.getLogger("perdure").setLevel(logging.CRITICAL)  # troubles are the point, not news
    return run(live(), seed)
