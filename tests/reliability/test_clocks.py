"""Clocks that are wrong, jump, stand still, or reach 2038 and 2100: no timer early, none twice, none lost."""

from __future__ import annotations

import asyncio

import pytest

from perdure.testing.simloop import SimClock, pass_time, simulated
from tests.engine.world import sleep, world


@pytest.mark.parametrize("jump", [3600.0, -3600.0, 5.0, -5.0])
def test_a_workers_clock_that_jumps_while_a_run_sleeps_fires_no_timer_early_or_late(jump: float) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            clock = SimClock()
            await w.define("nap", sleep(50))
            engine = await w.engine(clock=clock, park_after=100)
            run = await w.start(engine, "nap")
            await pass_time(1)
            clock.jump(jump)
            await w.ended(engine, run)
            assert 50 <= asyncio.get_running_loop().time() < 51

    check()
