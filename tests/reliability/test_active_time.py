"""The budget of active time across deaths and hand-overs: what nobody executed does not count, what was used does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from perdure.engine import ActivationContext, Engine
from perdure.model.policies import Limits
from perdure.stores.sqlite import SqliteStore
from perdure.testing.contracts.subject import LEASE, ME, OTHER, SECOND, ManualClock, start
from perdure.testing.crashing import crash
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import World, result_of, step, until
from tests.reliability.places import STORES, world_on

BUDGET = Limits(active_time=60_000_000)


async def begun(w: World, engine: Engine) -> str:
    """A run with a minute of active time, in a step that never ends by itself."""

    async def endless(context: ActivationContext) -> None:
        await asyncio.Event().wait()

    w.handlers.add("endless", endless)
    await w.define("one", step("endless"))
    run = await w.start(engine, "one", limits=BUDGET)
    await until(lambda: w.handlers.count("endless") == 1)
    return run


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("down", [0, 3600])
def test_a_run_whose_worker_dies_after_forty_of_its_sixty_seconds_gets_the_other_twenty(store: str, down: int) -> None:
    @simulated()
    async def check() -> None:
        async with world_on(store) as (w, _):
            first = await w.engine(lease=6, sweep=1)
            run = await begun(w, first)
            await pass_time(40)
            crash(first)
            w.engines.remove(first)
            await pass_time(down)
            second = await w.engine(lease=6, sweep=1)
            await until(lambda: w.handlers.count("endless") == 2)
            again = asyncio.get_running_loop().time()
            head = await w.ended(second, run)
            assert result_of(head)["failure"]["code"] == "LIMIT_ACTIVE_TIME"
            took = asyncio.get_running_loop().time() - again
            assert 20 <= took <= 20 + 2 + 2, (
                "what was used since the last renewal (2 s) is forgiven; looked at each second"
            )

    check()


@pytest.mark.parametrize("store", STORES)
def test_the_time_between_a_hand_over_and_its_take_over_does_not_count(store: str) -> None:
    @simulated()
    async def check() -> None:
        async with world_on(store) as (w, _):
            first = await w.engine(lease=6, sweep=1, grace=0)
            run = await begun(w, first)
            await pass_time(40)
            await first.close()
            await pass_time(7200)
            second = await w.engine(lease=6, sweep=1)
            begin = asyncio.get_running_loop().time()
            head = await w.ended(second, run)
            assert head.status == "TIMED_OUT"
            assert 19 <= asyncio.get_running_loop().time() - begin <= 22

    check()


async def test_on_sqlite_whoever_opens_the_file_next_is_told_when_the_process_before_was_heard_of_last(
    tmp_path: Path,
) -> None:
    clock = ManualClock()
    first = SqliteStore(str(tmp_path / "perdure.db"), clock=clock, writer="inline")
    await first.open()
    await first.ownership.renew(ME, LEASE)
    await first.journal.commit(start("run-1"))
    last_heard = clock.now()
    await first.close()
    clock.advance(3600 * SECOND)
    second = SqliteStore(str(tmp_path / "perdure.db"), clock=clock, writer="inline")
    await second.open()
    await second.ownership.renew(OTHER, LEASE)
    (claimed,) = await second.ownership.claim(OTHER, 10)
    assert (claimed.died, claimed.alive_until) == (True, last_heard)
    await second.close()
