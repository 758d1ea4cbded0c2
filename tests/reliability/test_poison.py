"""A poisonous step, an unreadable log: set aside with the cause in sight, while everybody else goes on (T-16)."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from perdure import Perdure
from perdure.engine import ActivationContext, Engine
from perdure.errors import HistoryUnreadable
from perdure.service.fsck import fsck
from perdure.stores.sqlite import SqliteStore
from perdure.testing.crashing import crash
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import output_of, result_of, step, until
from tests.reliability.places import STORES, world_on

ROOT = Path(__file__).resolve().parents[2]
HEALTHY = 40


async def life(url: str, way: str, seconds: float = 0.02) -> dict[str, Any] | int:
    """What the process says at its end, or how it died."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.reliability.poisoned",
        url,
        way,
        str(HEALTHY),
        str(seconds),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert process.returncode is not None
    return json.loads(said) if process.returncode == 0 else process.returncode


@pytest.mark.crash
@pytest.mark.parametrize(("way", "status"), [("exit", 9), ("kill", -9)])
async def test_a_step_that_kills_its_process_is_set_aside_after_three_deaths_and_the_healthy_go_on(
    tmp_path: Path, way: str, status: int
) -> None:
    url = f"sqlite:///{tmp_path / 'perdure.db'}"
    for _ in range(3):
        assert await life(url, way) == status
    last = await life(url, way)
    assert isinstance(last, dict)
    assert last["poison"]["status"] == "FAILED"
    failure = last["poison"]["failure"]
    assert (failure["code"], failure["node"]) == ("WORKER_DIED", "deadly")
    assert failure["details"] == {"deliveries": 3}
    assert last["completed"] >= 0.95 * HEALTHY

    cured = await life(url, "cured")
    assert isinstance(cured, dict)
    assert cured["poison"] == {"status": "COMPLETED", "output": "cured"}

    store = SqliteStore(str(tmp_path / "perdure.db"))
    app = Perdure(store)
    async with app.at_rest():
        assert (await fsck(store, app.library)).is_clean


@pytest.mark.parametrize("store", STORES)
def test_steps_that_merely_run_beside_a_poisonous_one_are_not_set_aside_with_it(store: str) -> None:
    @simulated()
    async def check() -> None:
        async with world_on(store) as (w, _):
            lives: list[Engine] = []

            async def deadly(context: ActivationContext) -> None:
                await pass_time(0.01)
                crash(lives[-1])

            async def long(context: ActivationContext) -> int:
                await pass_time(1.5)
                return 7

            w.handlers.add("deadly", deadly)
            w.handlers.add("long", long)
            await w.define("poison", step("deadly"))
            await w.define("healthy", step("long"))
            lives.append(await w.engine(lease=6))
            healthy = [await w.start(lives[0], "healthy") for _ in range(20)]
            poison = await w.start(lives[0], "poison")
            for _ in range(3):
                await until(lambda: lives[-1]._runtime is None)
                w.engines.remove(lives[-1])
                lives.append(await w.engine(lease=6))
            head = await w.ended(lives[-1], poison)
            assert result_of(head)["failure"]["code"] == "WORKER_DIED"
            for run in healthy:
                assert output_of(await w.ended(lives[-1], run)) == 7

    check()


@simulated()
async def test_a_run_that_waits_for_its_last_chance_holds_nobody_up_who_closes() -> None:
    async with world_on("memory") as (w, _):
        never = asyncio.Event()

        async def endless(context: ActivationContext) -> None:
            await never.wait()

        w.handlers.add("endless", endless)
        await w.define("one", step("endless"))
        engine = await w.engine(lease=6)
        runs = [await w.start(engine, "one") for _ in range(3)]
        for _ in range(2):
            await until(lambda: w.handlers.count("endless") % 3 == 0)
            crash(engine)
            w.engines.remove(engine)
            engine = await w.engine(lease=6, trial=1_000)
            await until(lambda: len(w.engines[-1].runtime.roster.owned) == 3)
        await until(lambda: w.handlers.count("endless") == 7)
        begun = asyncio.get_running_loop().time()
        await engine.close()
        w.engines.remove(engine)
        assert asyncio.get_running_loop().time() - begun <= 3
        never.set()
        last = await w.engine(lease=6)
        for run in runs:
            assert (await w.ended(last, run)).status == "COMPLETED"


WAITING = {
    "id": "waiting",
    "nodes": [
        {"id": "start", "type": "start"},
        {"id": "wait", "type": "wait-for-signal", "config": {"name": "go"}},
    ],
    "edges": [{"source": "start", "target": "wait"}],
}
DAMAGES = {
    "an unknown event": """UPDATE log SET data = CAST('[{"event":"FromTheFuture"}]' AS BLOB) WHERE run = ?""",
    "a row of a newer program": "UPDATE log SET codec = 99 WHERE run = ?",
    "a row that is no JSON": "UPDATE log SET data = x'fffe00' WHERE run = ?",
    "a row that is gone": "DELETE FROM log WHERE run = ?",
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_run_whose_log_is_damaged_is_set_aside_with_its_cause_in_sight_and_the_others_run(
    tmp_path: Path, damage: str
) -> None:
    path = str(tmp_path / "perdure.db")
    async with Perdure.open(f"sqlite:///{path}") as app:
        await app.deploy(WAITING)
        bad, good = await app.start("waiting"), await app.start("waiting")
    with closing(apsw.Connection(path)) as connection:
        connection.execute(DAMAGES[damage], (bad.id,))

    async with Perdure.open(f"sqlite:///{path}") as app:
        with pytest.raises(HistoryUnreadable) as refusal:
            await app.run(bad.id).signal("go")
        (why,) = await app.run(bad.id).why()
        assert refusal.value.message in why
        assert (await app.run(bad.id).view()).status == "WAITING"

        await app.run(good.id).signal("go", 7)
        assert await app.run(good.id).result() == 7

        report = await fsck(app.store, app.library)
        assert {finding.run for finding in report.findings} == {bad.id}

    async with Perdure(SqliteStore(path)).at_rest() as app:
        (why,) = await app.run(bad.id).why()
        assert "cannot go on" in why
