"""Nodes that somebody asks for, beside the graph of an open run (Drift's disconnected nodes)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from perdure import ActivationContext, ActivationError, Perdure
from perdure.errors import DocumentInvalid, IllegalCommand, KeyReused, NotFound, TooSlow
from perdure.model.statuses import Status
from tests.people.world import READ, SHOW, asked, flow

WEATHER = {"id": "weather", "type": "python", "config": {"step": "weather"}, "on_demand": True}
FLOW = flow(SHOW, READ, WEATHER)


@pytest.fixture
async def app() -> AsyncIterator[Perdure]:
    async with Perdure.open("memory://") as app:
        yield app


class Weather:
    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.begun = asyncio.Event()

    async def __call__(self, ctx: ActivationContext) -> Any:
        self.calls.append(ctx.input)
        self.begun.set()
        await self.gate.wait()
        if ctx.input == "nowhere":
            raise ActivationError("NO_WEATHER", "there is none")
        return {"sun": ctx.input}


@pytest.fixture
def weather(app: Perdure) -> Weather:
    found = Weather()

    async def step(ctx: ActivationContext) -> Any:
        return await found(ctx)

    app.register(step, name="weather")
    return found


async def test_its_result_is_returned_and_the_open_task_is_as_it_was(app: Perdure, weather: Weather) -> None:
    run = await asked(app, FLOW)
    before = await run.tasks()
    result = await run.execute_node("weather", {"city": "Bern"})
    assert (result.status, result.output) == ("COMPLETED", {"sun": {"city": "Bern"}})
    assert await run.tasks() == before
    assert await run.status() is Status.WAITING
    _, state = await app.runs.state(app.namespace, run.id)
    assert state.body.scopes[0].outputs["weather"] == {"sun": {"city": "Bern"}}
    await run.answer({"reason": "late"})
    assert (await run.result())["merged"] == "late"


async def test_the_same_request_gives_the_same_result_and_is_executed_once(app: Perdure, weather: Weather) -> None:
    run = await asked(app, FLOW)
    first = await run.execute_node("weather", 1, id="one")
    assert await run.execute_node("weather", 1, id="one") == first
    assert weather.calls == [1]
    with pytest.raises(KeyReused):
        await run.execute_node("weather", 2, id="one")


async def test_a_failure_is_told_and_changes_nothing_else(app: Perdure, weather: Weather) -> None:
    run = await asked(app, FLOW)
    result = await run.execute_node("weather", "nowhere")
    assert result.failure is not None
    assert (result.status, result.failure.code) == ("FAILED", "NO_WEATHER")
    assert await run.status() is Status.WAITING


async def test_what_cannot_be_asked_for_is_refused(app: Perdure, weather: Weather) -> None:
    run = await asked(app, FLOW)
    for name in ("show_status", "nobody"):
        with pytest.raises(NotFound, match="can be asked for"):
            await run.execute_node(name)
    await run.answer({"reason": "late"})
    await run.result()
    with pytest.raises(IllegalCommand):
        await run.execute_node("weather")


async def test_one_that_takes_long_goes_on_and_can_be_asked_for_again(app: Perdure, weather: Weather) -> None:
    run = await asked(app, FLOW)
    weather.gate.clear()
    with pytest.raises(TooSlow):
        await run.execute_node("weather", 3, id="one", patience=0.05)
    weather.gate.set()
    assert (await run.execute_node("weather", 3, id="one")).output == {"sun": 3}
    assert weather.calls == [3]


async def test_a_cancelled_run_takes_it_back(app: Perdure, weather: Weather) -> None:
    run = await asked(app, FLOW)
    weather.gate.clear()
    asking = asyncio.create_task(run.execute_node("weather", 3, id="one"))
    await weather.begun.wait()
    await run.cancel("enough")
    assert (await asking).status == "CANCELLED"


async def test_it_must_stand_beside_the_graph(app: Perdure) -> None:
    document = {**FLOW, "edges": [*FLOW["edges"], {"source": "start", "target": "weather"}]}
    with pytest.raises(DocumentInvalid) as refused:
        await app.deploy(document)
    assert refused.value.problems[0]["code"] == "ON_DEMAND_LED_TO"
