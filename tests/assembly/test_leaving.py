"""An application is left in good order, whatever happens to whoever leaves it."""

from __future__ import annotations

import asyncio

import pytest

from perdure import Perdure
from perdure.engine.relay import Delivered
from perdure.testing.simloop import pass_time
from tests.rows.worlds import World, flow, node, on_every_store, step


@on_every_store
async def test_a_caller_who_is_cancelled_while_he_leaves_leaves_nevertheless(world: World) -> None:
    begun = asyncio.Event()

    async def waits() -> str:
        if begun.is_set():
            return "the second"
        begun.set()
        await asyncio.Event().wait()
        return "the first"

    runs = []

    async def work() -> None:
        async with world.app(waits) as app:
            await app.deploy(flow("f", step("s", "waits")))
            runs.append((await app.start("f")).id)
            await begun.wait()

    working = asyncio.ensure_future(work())
    await begun.wait()
    for _ in range(20):  # wherever in its leaving that meets it
        await pass_time(0.1)
        working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    async with world.app(waits) as app:
        before = world.clock.now()
        assert await app.run(runs[0]).result() == "the second"
        assert world.clock.now() - before < 5_000_000  # the lease would be 30 seconds


@on_every_store
async def test_a_subscriber_who_does_not_stop_does_not_keep_the_engine(world: World) -> None:
    met = asyncio.Event()
    enough = asyncio.Event()

    async def stubborn(message: Delivered) -> None:
        met.set()
        while not enough.is_set():
            try:
                await enough.wait()
            except asyncio.CancelledError:
                continue

    def subscribe(app: Perdure) -> None:
        app.on_message("*", stubborn)

    async with world.app(prepare=subscribe) as app:
        await app.deploy(flow("f", node("p", "publish", {"type": "order.paid"})))
        await (await app.start("f")).result()
        await met.wait()
    async with world.app() as app:
        assert len(await app.list_runs()) == 1
    enough.set()
