"""Starting runs: keys, versions, back-pressure."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.engine import ActivationContext
from perdure.errors import Busy, KeyReused
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import NAMESPACE, output_of, sleep, step, world


@simulated()
async def test_the_same_key_and_request_give_the_same_run() -> None:
    async with world() as w:
        await w.define("one", sleep(5), step())
        first = await w.engine()
        second = await w.engine()
        started = await first.begin(NAMESPACE, "one", {"a": 1, "b": 2}, key="k")
        again = await second.begin(NAMESPACE, "one", {"b": 2, "a": 1}, key="k")
        assert (again.run, again.existed, started.existed) == (started.run, True, False)
        await w.ended(first, started.run)
        assert (await first.begin(NAMESPACE, "one", {"a": 1, "b": 2}, key="k")).run == started.run


@simulated()
async def test_the_same_key_with_another_request_is_refused() -> None:
    async with world() as w:
        await w.define("one", step())
        await w.define("two", step())
        engine = await w.engine()
        run = await w.start(engine, "one", 1, key="k")
        for definition, input in (("one", 2), ("two", 1)):
            with pytest.raises(KeyReused) as refused:
                await w.start(engine, definition, input, key="k")
            assert refused.value.details["run"] == run
        await w.ended(engine, run)


@simulated()
async def test_of_many_simultaneous_starts_with_one_key_one_starts() -> None:
    async with world() as w:
        await w.define("one", step())
        engines = [await w.engine() for _ in range(3)]
        starts = [engine.begin(NAMESPACE, "one", key="k") for engine in engines for _ in range(10)]
        started = await asyncio.gather(*starts)
        assert len({one.run for one in started}) == 1
        assert sum(not one.existed for one in started) == 1
        await w.ended(engines[0], started[0].run)
        assert w.handlers.count("echo") == 1


@simulated()
async def test_a_run_keeps_its_version_and_new_runs_take_the_active_one_at_once() -> None:
    async with world() as w:
        w.handlers.add("one", lambda context: 1)
        w.handlers.add("two", lambda context: 2)
        await w.define("d", sleep(5), step("one"))
        engine = await w.engine()
        old = await w.start(engine, "d")
        await w.define("d", step("two"))
        new = await w.start(engine, "d")
        assert output_of(await w.ended(engine, new)) == 2, "although the first version was cached"
        assert output_of(await w.ended(engine, old)) == 1
        assert output_of(await w.run(engine, "d", version=1)) == 1


@simulated()
async def test_beyond_its_bound_an_engine_refuses_starts_and_says_when_to_come_back() -> None:
    async with world() as w:

        async def slow(context: ActivationContext) -> Any:
            await pass_time(10)

        w.handlers.add("slow", slow)
        await w.define("one", step("slow"))
        engine = await w.engine(max_runs=5)
        runs = [await w.start(engine, "one") for _ in range(5)]
        with pytest.raises(Busy) as refused:
            await w.start(engine, "one")
        assert refused.value.details["retry_after"] > 0
        for run in runs:
            await w.ended(engine, run)
        assert (await w.run(engine, "one")).status == "COMPLETED"


@simulated()
async def test_a_closed_engine_starts_nothing() -> None:
    async with world() as w:
        await w.define("one", step())
        engine = await w.engine()
        await engine.close()
        with pytest.raises(Busy):
            await w.start(engine, "one")


@simulated()
async def test_ids_of_runs_are_sortable_by_time_and_all_different() -> None:
    async with world() as w:
        await w.define("one", step())
        engine = await w.engine()
        runs = []
        for n in range(50):
            runs.append(await w.start(engine, "one"))
            await pass_time(0.001 * (n % 3))
        assert runs == sorted(set(runs))
        assert all(run.islower() or run.isdigit() for run in runs)
        for run in runs:
            await w.ended(engine, run)
