"""Scripts of runs, on a real loop: workers that die under them, and runs that are cancelled."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import RunEnded
from perdure.nodes.catalogue import CATALOGUE
from perdure.nodes.scripts.pool import ScriptSettings
from perdure.stores.memory import MemoryStore
from tests.nodes.scripts.test_running import until_busy, workers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def application() -> Perdure:
    return Perdure(MemoryStore(), scripts=ScriptSettings(workers=1))


def flow(script: str, **node: Any) -> dict[str, Any]:
    nodes = [{"id": "start", "type": "start"}, {"id": "s", "type": "script", "config": {"script": script}, **node}]
    return {"id": "f", "nodes": nodes, "edges": [{"source": "start", "target": "s"}]}


async def test_a_run_outlives_the_worker_of_its_script() -> None:
    slow = "x = 0\nfor i in range(400000):\n    x += i\nx"
    async with application() as app:
        await app.deploy(flow("1"))
        assert await (await app.start("f")).result() == 1
        [worker] = workers()
        retry = {"attempts": 3, "initial": 0.001}
        await app.deploy(flow(slow, retry=retry))
        run = await app.start("f")
        await until_busy(worker)
        os.kill(worker, signal.SIGKILL)
        assert await run.result() == sum(range(400_000))
        failed = [each.event for each in await run.history() if type(each.event).__name__ == "ActivationFailed"]
        assert [each.failure.code for each in failed] == ["SCRIPT_CRASHED"]


async def test_a_run_that_is_cancelled_frees_the_worker_of_its_script() -> None:
    async with application() as app:
        await app.deploy(flow("1"))
        assert await (await app.start("f")).result() == 1
        [worker] = workers()
        endless = flow("while True: pass")
        endless["nodes"][1]["config"]["timeout"] = 25
        await app.deploy(endless)
        run = await app.start("f")
        await until_busy(worker)
        await run.cancel()
        with pytest.raises(RunEnded):
            await run.result()
        await app.deploy(flow("2"))
        async with asyncio.timeout(10):
            assert await (await app.start("f")).result() == 2


async def test_workers_end_with_the_application() -> None:
    before = workers()
    async with application() as app:
        await app.deploy(flow("1"))
        assert workers() == before  # nothing has run yet
        assert await (await app.start("f")).result() == 1
        assert len(workers()) == len(before) + 1
    assert workers() == before


def test_an_editor_is_told_that_the_field_is_a_script() -> None:
    schema = CATALOGUE["script"].config.model_json_schema()
    assert schema["properties"]["script"]["x-perdure"] == "script"
