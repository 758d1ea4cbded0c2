"""Clocks that are wrong, jump, stand still, or reach 2038 and 2100: no timer early, none twice, none lost (T-11).

Whether a timer is early is judged by the store's clock (the umpire of the simulation does, at the end of every test).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from perdure import Perdure
from perdure.engine import ActivationContext, Engine
from perdure.stores.postgres import PostgresStore
from perdure.testing.crashing import crash
from perdure.testing.simloop import SimClock, pass_time, simulated
from tests.engine.world import World, signal, sleep, step
from tests.reliability.places import STORES, world_on

HOUR = 3600.0
Y2038 = int(datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC).timestamp()) * 1_000_000
Y2100 = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000

ACCIDENTS: dict[str, Callable[[SimClock], None]] = {
    "an hour ahead": lambda clock: clock.jump(HOUR),
    "an hour back": lambda clock: clock.jump(-HOUR),
    "five seconds ahead": lambda clock: clock.jump(5),
    "five seconds back": lambda clock: clock.jump(-5),
    "standing still": lambda clock: clock.stop(),
    "leap to 2038": lambda clock: clock.leap_to(Y2038),
    "leap to 2100": lambda clock: clock.leap_to(Y2100),
}


def now() -> float:
    return asyncio.get_running_loop().time()


async def define(w: World) -> float:
    """A run with timers of every kind; returns how many seconds it must take."""
    attempts: dict[str, int] = {}

    async def third_time(context: ActivationContext) -> None:
        attempts[context.key] = attempts.get(context.key, 0) + 1
        if context.attempt < 3:
            raise ConnectionError("not yet")

    w.handlers.add("third time", third_time)
    await w.define("naps", sleep(0.7), step("third time", attempts=3), sleep(3), sleep(40))
    await w.define("deadline", signal("never", seconds=20))
    return 43.7


async def started(w: World, engines: list[Engine]) -> list[tuple[Engine, str]]:
    return [(engine, await w.start(engine, name)) for engine in engines for name in ("naps", "deadline")]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("accident", ACCIDENTS)
def test_whatever_a_workers_clock_does_its_timers_fire_on_time_and_no_lease_suffers(store: str, accident: str) -> None:
    @simulated()
    async def check() -> None:
        async with world_on(store) as (w, _):
            least = await define(w)
            clocks = [SimClock() for _ in range(3)]
            engines = [
                await w.engine(clock=clock, lease=10, park_after=after)
                for clock, after in zip(clocks, (0, 1, 99), strict=True)
            ]
            runs = await started(w, engines)
            await pass_time(1)
            for clock in clocks:
                ACCIDENTS[accident](clock)
            for engine, run in runs:
                await w.ended(engine, run)
            assert least <= now() < least + 5
            assert w.diary.lost == [], "a lease is judged by the store's clock"
            assert not any(died for _, died in w.diary.claims)

    check()


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("skew", [5.0, -5.0, HOUR, -HOUR])
def test_workers_whose_clocks_differ_agree_on_when_it_is_time(store: str, skew: float) -> None:
    @simulated()
    async def check() -> None:
        async with world_on(store) as (w, _):
            least = await define(w)
            engines = [await w.engine(clock=SimClock(skew=each), lease=10) for each in (skew, -skew, 0.0)]
            runs = await started(w, engines)
            await pass_time(10)
            crash(engines[0])
            w.engines.remove(engines[0])
            for _, run in runs:
                await w.ended(engines[1], run)
            assert least <= now() < least + 5

    check()


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("accident", ACCIDENTS)
def test_whatever_the_stores_clock_does_no_timer_is_lost_or_fires_twice(store: str, accident: str) -> None:
    behind = "back" in accident or accident == "standing still"

    @simulated()
    async def check() -> None:
        async with world_on(store, judged=not behind) as (w, clock):
            least = await define(w)
            engines = [await w.engine(lease=10, park_after=after) for after in (0, 1, 99)]
            runs = await started(w, engines)
            await pass_time(1)
            ACCIDENTS[accident](clock)
            if accident == "standing still":
                await pass_time(HOUR)
                clock.go_on()
            for engine, run in runs:
                assert (await w.ended(engine, run)).closed_at is not None
                names = await w.event_names(run)
                assert names.count("TimerFired") == names.count("TimerArmed") + names.count("ActivationRetrying")
            assert now() < HOUR + least + 20
            if behind:
                assert now() >= least, "by the time that has passed, none was early"

    check()


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("moment", [Y2038, Y2100], ids=["2038", "2100"])
def test_runs_sleep_across_the_end_of_an_age(store: str, moment: int) -> None:
    @simulated()
    async def check() -> None:
        async with world_on(store) as (w, clock):
            clock.leap_to(moment - 10_000_000)
            least = await define(w)
            engine = await w.engine(lease=10)
            runs = await started(w, [engine])
            for _, run in runs:
                head = await w.ended(engine, run)
                assert head.created_at < moment < (head.closed_at or 0)
            assert least <= now() < least + 5

    check()


class OffsetClock:
    def __init__(self, begin: int) -> None:
        self._ahead = begin - time.time_ns() // 1000

    def now(self) -> int:
        return time.time_ns() // 1000 + self._ahead


@pytest.mark.postgres
async def test_postgresql_lives_to_see_2100(postgres_url: str) -> None:
    clock = OffsetClock(Y2100 - 300_000)
    document = {
        "id": "nap",
        "nodes": [{"id": "start", "type": "start"}, {"id": "nap", "type": "delay", "config": {"duration": 500}}],
        "edges": [{"source": "start", "target": "nap"}],
    }
    async with Perdure(PostgresStore(postgres_url, clock=clock), clock=clock) as app:
        await app.deploy(document)
        run = await app.start("nap")
        await run.result()
        assert (await run.view()).created_at.startswith("2099-12-31T23:59:59")
        assert ((await run.view()).closed_at or "").startswith("2100-01-01T00:00:00")
