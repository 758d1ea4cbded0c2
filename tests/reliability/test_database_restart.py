"""PostgreSQL crashes and comes back in the middle of runs: all of them complete, and no process is restarted (G16)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from perdure import Perdure
from perdure.assembly import open_store
from perdure.engine import EngineSettings
from perdure.errors import PerdureError
from perdure.model.policies import Limits
from perdure.service.fsck import fsck
from tests.fixtures.moments import moment, until
from tests.fixtures.postgres import Cluster, start_cluster

RUNS = 30
DOCUMENT = {
    "id": "journey",
    "nodes": [
        {"id": "start", "type": "start"},
        {"id": "a", "type": "python", "config": {"step": "act"}},
        {"id": "nap", "type": "sleep", "config": {"duration": "2s"}},
        {"id": "b", "type": "python", "config": {"step": "act"}},
        {"id": "ask", "type": "wait-for-signal", "config": {"name": "go"}},
        {"id": "c", "type": "python", "config": {"step": "act"}},
    ],
    "edges": [
        {"source": source, "target": target}
        for source, target in (("start", "a"), ("a", "nap"), ("nap", "b"), ("b", "ask"), ("ask", "c"))
    ],
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with start_cluster() as cluster:
        yield cluster


async def insist(call: Any) -> Any:
    while True:
        try:
            return await call()
        except PerdureError as problem:
            if not problem.retryable:
                raise
        await moment(0.05)


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("lease", [30.0, 1.0], ids=["the lease outlives it", "the lease does not"])
async def test_runs_in_the_middle_of_which_the_database_crashes_all_complete(cluster: Cluster, lease: float) -> None:
    acted: dict[str, int] = {}

    async def act(ctx: Any) -> str:
        acted[ctx.key] = acted.get(ctx.key, 0) + 1
        await moment(0.2)
        return "done"

    store = open_store(cluster.create_database())
    app = Perdure(store, engine_settings=EngineSettings(lease=lease))
    app.register(act)
    async with app:
        await app.deploy(DOCUMENT)
        worker = app.engine.runtime

        async def client(number: int) -> str:
            run = await insist(lambda: app.start("journey", number, key=f"k{number}", limits=Limits(deliveries=100)))
            await insist(lambda: run.signal("go", number, id=f"go-{number}"))
            return str(await run.result())

        first = [asyncio.ensure_future(client(number)) for number in range(RUNS)]
        await until(lambda: len(acted) >= RUNS // 2)
        await asyncio.to_thread(cluster.restart, "immediate")
        second = [asyncio.ensure_future(client(number)) for number in range(RUNS, 2 * RUNS)]
        await until(lambda: len(acted) >= 3 * RUNS)
        await asyncio.to_thread(cluster.restart, "immediate")
        async with asyncio.timeout(60):
            assert await asyncio.gather(*first, *second) == ["done"] * (2 * RUNS)
        assert app.engine.runtime is worker, "the same engine all the time"
        assert len(acted) == 3 * 2 * RUNS, "each step showed one key, however often it was repeated"
        report = await fsck(store, app.library)
        assert report.is_clean, report.findings
