"""A process with a poisonous step: whoever executes it dies. Started again and again by the test.

    python -m tests.reliability.poisoned DATABASE_URL exit|kill|cured HEALTHY_RUNS HEALTHY_SECONDS

It starts the runs (with keys, so the next life finds them), waits for the end of all and says what became of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import Any

from perdure import Perdure
from perdure.assembly import open_store
from perdure.engine import EngineSettings
from perdure.errors import RunEnded
from tests.fixtures.moments import moment

POISON = {
    "id": "poison",
    "nodes": [
        {"id": "start", "type": "start"},
        {"id": "before", "type": "python", "config": {"step": "healthy"}},
        {"id": "deadly", "type": "python", "config": {"step": "deadly"}},
    ],
    "edges": [{"source": "start", "target": "before"}, {"source": "before", "target": "deadly"}],
}
HEALTHY = {
    "id": "healthy",
    "nodes": [
        {"id": "start", "type": "start"},
        *({"id": f"step-{n}", "type": "python", "config": {"step": "healthy"}} for n in range(5)),
    ],
    "edges": [
        {"source": "start", "target": "step-0"},
        *({"source": f"step-{n}", "target": f"step-{n + 1}"} for n in range(4)),
    ],
}


async def live(url: str, way: str, healthy: int, seconds: float) -> dict[str, Any]:
    app = Perdure(open_store(url), engine_settings=EngineSettings(lease=2.0))

    async def healthy_step(ctx: Any) -> str:
        await moment(seconds)
        return "fine"

    async def deadly(ctx: Any) -> str:
        if way == "exit":
            os._exit(9)
        if way == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        return "cured"

    app.register(healthy_step, name="healthy")
    app.register(deadly)
    async with app:
        for document in (POISON, HEALTHY):
            await app.deploy(document)
        runs = [await app.start("healthy", n, key=f"healthy-{n}") for n in range(healthy)]
        poison = await app.start("poison", key="poison")
        if way == "cured":
            await poison.retry()
        try:
            ending = {"status": "COMPLETED", "output": await poison.result()}
        except RunEnded as ended:
            ending = {"status": ended.status_name, "failure": ended.failure}
        outcomes = await asyncio.gather(*(run.result() for run in runs), return_exceptions=True)
        return {"poison": ending, "completed": sum(outcome == "fine" for outcome in outcomes), "run": poison.id}


def main() -> None:
    url, way, healthy, seconds = sys.argv[1:]
    sys.stdout.write(json.dumps(asyncio.run(live(url, way, int(healthy), float(seconds)))) + "\n")


if __name__ == "__main__":
    main()
