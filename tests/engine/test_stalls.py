"""A step that keeps the loop to itself is named once. Real threads and a real loop: what blocks is real, too."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure import Perdure
from perdure.engine import ActivationContext, EngineSettings
from perdure.engine.stalls import StallWatch
from perdure.settings import Settings
from perdure.stores.memory import MemoryStore
from tests.fixtures.moments import until

SOON = 0.02


def spin(condition: Callable[[], bool]) -> None:
    """Keeps this thread busy until it is so, as a careless step would: nothing else runs on the loop meanwhile."""
    for _ in range(100_000_000):
        if condition():
            return
    raise AssertionError("it did not come to that")


@asynccontextmanager
async def app_with(step: Callable[..., Any], **settings: Any) -> AsyncIterator[tuple[Perdure, StallWatch]]:
    app = Perdure(MemoryStore(), engine_settings=EngineSettings(**{"stall": SOON, **settings}))
    app.register(step, name="careless")
    async with app:
        nodes = [{"id": "start", "type": "start"}, {"id": "n", "type": "python", "config": {"step": "careless"}}]
        await app.deploy({"id": "d", "nodes": nodes, "edges": [{"source": "start", "target": "n"}]})
        yield app, app.engine.runtime.stalls


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "perdure.engine.stalls"]


async def test_an_async_step_that_blocks_the_loop_is_named_with_its_time_and_the_remedy(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def careless(ctx: ActivationContext) -> str:
        await asyncio.sleep(0)
        spin(lambda: watch.noticed > 0)
        return "done"

    async with app_with(careless) as (app, watch):
        assert await (await app.start("d")).result() == "done"
        await until(lambda: bool(said(caplog)))
        (message,) = said(caplog)
        assert "the async step 'careless' blocked the event loop for 0." in message
        assert "`def` instead of `async def`" in message
        assert "blocking=True" in message


async def test_it_is_said_once_per_step(caplog: pytest.LogCaptureFixture) -> None:
    async def careless(ctx: ActivationContext) -> None:
        before = watch.noticed
        spin(lambda: watch.noticed > before)

    async with app_with(careless) as (app, watch):
        for _ in range(3):
            await (await app.start("d")).result()
        rounds = watch.rounds
        await until(lambda: watch.rounds > rounds)
        assert watch.noticed >= 3
        assert len(said(caplog)) == 1


async def test_one_that_does_not_stop_is_named_while_it_blocks(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)

    async def careless(ctx: ActivationContext) -> None:
        spin(lambda: bool(said(caplog)))

    async with app_with(careless, lease=0.3) as (app, _):
        await app.start("d")
        await until(lambda: bool(said(caplog)))
        assert "and still does" in said(caplog)[0]


async def test_a_plain_function_may_block_as_it_likes(caplog: pytest.LogCaptureFixture) -> None:
    loop_thread = threading.get_ident()

    def careless(ctx: ActivationContext) -> None:
        assert threading.get_ident() != loop_thread
        enough = watch.rounds + 5
        spin(lambda: watch.rounds >= enough)

    async with app_with(careless) as (app, watch):
        await (await app.start("d")).result()
        assert said(caplog) == []


async def test_whoever_does_not_want_to_know_has_no_thread_for_it() -> None:
    before = threading.active_count()
    async with app_with(lambda: None, stall=0) as (_, watch):
        assert not watch.is_open
        assert threading.active_count() == before


def test_an_application_looks_after_half_a_second_unless_told_otherwise() -> None:
    for settings, seconds in ((Settings(), 0.5), (Settings(stall_seconds=3), 3)):
        app = Perdure.open("memory://", settings=settings)
        assert app._engine_settings is not None
        assert app._engine_settings.stall == seconds
