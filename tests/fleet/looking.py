"""What the database says, asked by somebody who takes no part."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from perdure import Perdure
from perdure.assembly import open_store
from perdure.model.events import SignalReceived
from perdure.service.fsck import fsck
from perdure.service.histories import read_history
from tests.fixtures.moments import moment
from tests.fleet.fleet import Fleet
from tests.fleet.flows import PLANS

NAMESPACE = "default"


class Observatory:
    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._lock = asyncio.Lock()

    async def _count(self, condition: str, *values: object) -> int:
        async with self._lock:
            query = f"SELECT count(*) FROM perdure.runs WHERE closed_at IS NULL AND {condition}"
            return int(await self._connection.fetchval(query, *values))

    async def owned_by(self, pid: int) -> int:
        """Runs whose owner is that process. Its number is part of its name."""
        return await self._count("owner ~ $1", f"-{pid}-[^-]*$")

    async def open_runs(self) -> int:
        return await self._count("true")

    async def until_free_of(self, pid: int, since: float, patience: float = 20.0) -> float:
        """Seconds since then until the process owned nothing any more."""
        while await self.owned_by(pid):
            assert time.monotonic() - since < patience, f"process {pid} still owns runs"
            await moment(0.02)
        return time.monotonic() - since

    async def until_all_ended(self, patience: float) -> None:
        end = time.monotonic() + patience
        while left := await self.open_runs():
            assert time.monotonic() < end, f"{left} runs do not end"
            await moment(0.1)


@asynccontextmanager
async def observatory(url: str) -> AsyncIterator[Observatory]:
    connection = await asyncpg.connect(url)
    try:
        yield Observatory(connection)
    finally:
        await connection.close()


async def judge(fleet: Fleet, started: dict[str, tuple[str, int]], signals: dict[str, set[str]]) -> list[str]:
    """What is wrong with what the runs came to. `started`: definition and input of each acknowledged run."""
    wrong: list[str] = []
    app = Perdure(open_store(fleet.url))
    keys = {effect.key for effect in fleet.effects.read()}
    async with app.at_rest():
        for run, (name, number) in started.items():
            plan = PLANS[name]
            view = await app.runs.get(NAMESPACE, run)
            expected = plan.output + number if plan.output is not None else {"count": 3, "results": [number + 1] * 3}
            if (view.status, view.output) != ("COMPLETED", expected):
                wrong.append(f"{name} {number}: {view.status}, {view.output}, {view.failure}")
            shown = {key.removeprefix(f"{run}/") for key in keys if key.startswith(f"{run}/")}
            if shown != set(plan.nodes):
                wrong.append(f"{name} {number}: its steps showed the keys {sorted(shown)} to the world")
            history = [one.event for one in await read_history(app.store, NAMESPACE, run, limit=100_000)]
            times = Counter(event.id for event in history if isinstance(event, SignalReceived))
            wrong += [
                f"{name} {number}: the acknowledged signal {id} is {times[id]} times in the log"
                for id in signals.get(run, ())
                if times[id] != 1
            ]
        heads = await app.store.runs.walk("", 10_000)
        children = sum(head.parent is not None for head in heads)
        if len(heads) - children != len(started):
            wrong.append(f"{len(heads) - children} runs for {len(started)} keys")
        report = await fsck(app.store, app.library)
        wrong += [f"fsck {finding.invariant}: {finding.run}: {finding.text}" for finding in report.findings]
    return wrong
