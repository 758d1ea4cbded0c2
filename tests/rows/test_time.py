"""Rows I01–I11, I15, I16, C04, C05: sleeping, delays, limits of time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure import ActivationContext
from perdure.errors import RunEnded
from perdure.model.policies import Limits
from perdure.model.times import to_moment
from perdure.testing.simloop import pass_time
from tests.rows.worlds import World, flow, names, node, on_every_store, step

LONG = {"poll": 1e8, "lease": 3e8, "sweep": 1e8}
"""For tests that skip years: a worker that looks around every second would do so a billion times."""

UNITS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400, "weeks": 604_800}


def seconds(world: World) -> float:
    return world.clock.now() / 1_000_000


@on_every_store
async def test_i01_relative_sleeps_in_all_units_wake_when_they_should(world: World) -> None:
    async with world.app(**LONG) as app:
        for unit, size in UNITS.items():
            await app.deploy(
                flow(unit, node("nap", "sleep", {"mode": "relative", "duration_value": 2, "duration_unit": unit}))
            )
            begun = seconds(world)
            await (await app.start(unit)).result()
            assert 2 * size <= seconds(world) - begun < 2 * size + 1


@on_every_store
async def test_i02_i03_a_local_date_is_kept_in_utc_and_daylight_saving_has_a_rule(world: World) -> None:
    async with world.app() as app:
        cases = {
            "winter": ("2026-12-25T10:00", "America/New_York", "2026-12-25T15:00:00Z"),
            "gap": ("2026-03-08T02:30", "America/New_York", "2026-03-08T07:30:00Z"),
            "overlap": ("2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00Z"),
        }
        for name, (local, zone, expected) in cases.items():
            await app.deploy(flow(name, node("nap", "sleep", {"until": local, "timezone": zone})))
            run = await app.start(name)
            output = (await app.runs.state("default", run.id))[1].activations
            assert [a.output["sleep_scheduled_until"] for a in output.values()] == [expected]
            await run.cancel()


@on_every_store
async def test_i04_a_date_in_the_past_completes_at_once(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f", node("nap", "sleep", {"mode": "absolute", "target_date": "2020-01-01T00:00:00Z"})))
        begun = seconds(world)
        output = await (await app.start("f")).result()
        assert output["sleep_skipped"] is True
        assert seconds(world) - begun < 1


@on_every_store
async def test_i05_i10_thousands_sleep_without_holding_a_slot(world: World) -> None:
    async def quick() -> str:
        return "done"

    async with world.app(quick, slots=1) as app:
        await app.deploy(flow("sleeper", node("nap", "sleep", {"duration": "1h"}), step("quick")))
        await app.deploy(flow("quick", step("quick")))
        sleepers = [await app.start("sleeper") for _ in range(500)]
        assert {await run.status() for run in sleepers} == {"SLEEPING"}
        assert await (await app.start("quick")).result() == "done"
        begun = seconds(world)
        await asyncio.gather(*[run.result() for run in sleepers])
        assert seconds(world) - begun < 3605


@on_every_store
async def test_i07_what_became_due_while_nobody_was_there_wakes_once_at_the_start(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f", node("nap", "sleep", {"duration": "10m"})))
        runs = [(await app.start("f")).id for _ in range(20)]
    await pass_time(3600)
    async with world.app() as app:
        begun = seconds(world)
        for run in runs:
            await app.run(run).result()
            assert (await names(app, run)).count("TimerFired") == 1
        assert seconds(world) - begun < 5


@on_every_store
async def test_i08_fifty_years_are_no_problem(world: World) -> None:
    async with world.app(**LONG) as app:
        await app.deploy(flow("f", node("nap", "sleep", {"duration": "18262d"})))
        run = await app.start("f")
        assert await run.status() == "SLEEPING"
        begun = seconds(world)
        await run.result()
        assert seconds(world) - begun >= 18262 * 86_400


@on_every_store
async def test_i09_two_workers_wake_a_run_once(world: World) -> None:
    async with world.app() as one, world.app():
        await one.deploy(flow("f", node("nap", "sleep", {"duration": "30s"})))
        runs = [await one.start("f") for _ in range(50)]
        for run in runs:
            await run.result()
            assert (await names(one, run.id)).count("TimerFired") == 1


@on_every_store
async def test_i11_c04_a_delay_survives_a_restart(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f", node("pause", "delay", {"duration": 250})))
        begun = seconds(world)
        await (await app.start("f")).result()
        assert 0.25 <= seconds(world) - begun < 0.4
        await app.deploy(flow("g", node("pause", "delay", {"duration": 5000})))
        run = (await app.start("g")).id
        begun = seconds(world)
    async with world.app() as app:
        await app.run(run).result()
        assert seconds(world) - begun >= 4.999


@on_every_store
async def test_i15_only_active_time_counts_against_the_limit(world: World) -> None:
    async def works(seconds: float) -> None:
        await pass_time(seconds)

    async with world.app(works, sweep=1.0, poll=60.0, lease=600.0) as app:
        work = step("works", arguments={"seconds": "${input}"})
        await app.deploy(flow("f", node("nap", "sleep", {"duration": "5h"}), work))
        limits = Limits(active_time=60_000_000)
        await (await app.start("f", 50, limits=limits)).result()
        with pytest.raises(RunEnded) as caught:
            await (await app.start("f", 90, limits=limits)).result()
        assert caught.value.status_name == "TIMED_OUT"
        assert caught.value.failure is not None
        assert caught.value.failure["code"] == "LIMIT_ACTIVE_TIME"


@on_every_store
async def test_i16_a_step_over_its_time_is_stopped_and_says_so(world: World) -> None:
    stopped: list[str] = []

    async def slow(ctx: ActivationContext) -> None:
        try:
            await pass_time(100)
        except asyncio.CancelledError:
            stopped.append(ctx.node_id)
            raise

    async def rescue(ctx: ActivationContext) -> Any:
        return ctx.input["error"]["code"]

    async with world.app(slow, rescue) as app:
        await app.deploy(
            flow("f", step("slow", timeout="2s"), step("rescue"), edges=["start slow", "slow rescue timeout"])
        )
        begun = seconds(world)
        assert await (await app.start("f")).result() == "TIMEOUT"
        assert stopped == ["slow"]
        assert 2 <= seconds(world) - begun < 3


def test_moments_are_counted_in_utc() -> None:
    from datetime import UTC, datetime

    assert to_moment(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)) == 1_000_000
