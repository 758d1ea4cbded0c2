"""A full disk: whoever asks is told so at once, nothing is lost, and it goes on by itself when there is room."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.engine import ActivationContext, Reply
from perdure.errors import PerdureError, StoreFull
from perdure.model.commands import Cancel, Signal
from perdure.service.fsck import fsck
from perdure.stores.sqlite import SqliteStore
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import NAMESPACE, child, output_of, signal, sleep, step, until, world
from tests.fixtures.moments import until as really_until


async def seconds_of(asking: Any) -> float:
    """How long it took to be told that there is no room."""
    loop = asyncio.get_running_loop()
    asked = loop.time()
    with pytest.raises(StoreFull):
        await asking
    return loop.time() - asked


@simulated()
async def test_a_start_is_refused_at_once_and_nothing_of_it_is_left() -> None:
    async with world() as w:
        await w.define("one", step())
        engine = await w.engine()
        with w.store.full():
            assert await seconds_of(w.start(engine, "one", key="k")) < 0.5
            assert not engine.runtime.roster.owned
        assert await w.beneath.runs.walk() == []
        run = await w.start(engine, "one", 7, key="k")
        assert output_of(await w.ended(engine, run)) == 7


@simulated()
async def test_a_signal_to_a_run_that_executes_is_refused_at_once_and_not_recorded_later() -> None:
    async with world() as w:
        done = asyncio.Event()

        async def long(context: ActivationContext) -> str:
            await done.wait()
            return "result"

        w.handlers.add("long", long)
        await w.define("one", step("long"), signal("go"))
        engine = await w.engine()
        run = await w.start(engine, "one")
        with w.store.full():
            assert await seconds_of(engine.send(NAMESPACE, run, Signal("go", 1))) < 0.5
            assert await seconds_of(engine.send(NAMESPACE, run, Cancel())) < 0.5
            done.set()  # its result comes when there is no room: it is kept
            await pass_time(3)
            assert await seconds_of(engine.send(NAMESPACE, run, Signal("go", 2))) < 2
        assert await engine.send(NAMESPACE, run, Signal("go", 3)) is Reply.DECIDED
        assert output_of(await w.ended(engine, run)) == 3
        names = await w.event_names(run)
        assert (names.count("SignalReceived"), w.handlers.count("long")) == (1, 1)
        assert w.diary.lost == []


@pytest.mark.parametrize("remembered", [20_000, 0])
def test_a_signal_to_a_parked_run_is_refused_at_once(remembered: int) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            await w.define("one", signal("go"))
            engine = await w.engine(parked_runs=remembered)
            run = await w.start(engine, "one")
            await until(lambda: not engine.runtime.roster.owned)
            with w.store.full():
                assert await seconds_of(engine.send(NAMESPACE, run, Signal("go", 1))) < 0.5
            await engine.send(NAMESPACE, run, Signal("go", 2))
            assert output_of(await w.ended(engine, run)) == 2

    check()


@simulated()
async def test_timers_children_and_results_wait_for_room_and_then_go_on() -> None:
    async with world() as w:
        w.handlers.add("inc", lambda context: context.input + 1)
        await w.define("child", step("inc"))
        await w.define("parent", sleep(0.5), child("child"), step("inc"))
        engine = await w.engine()
        runs = [await w.start(engine, "parent", n) for n in range(10)]
        with w.store.full():
            await pass_time(10)
        assert [output_of(await w.ended(engine, run)) for run in runs] == [n + 2 for n in range(10)]
        assert w.handlers.count("inc") == 20


@simulated()
async def test_when_it_stays_full_for_long_the_answer_stays_the_same_and_it_still_recovers_by_itself() -> None:
    async with world() as w:
        await w.define("one", step())
        await w.define("wait", signal("go"), step())
        engine = await w.engine(lease=30)
        run = await w.start(engine, "wait")
        with w.store.full():
            for _ in range(10):
                await pass_time(60)
                assert await seconds_of(w.start(engine, "one")) < 2
                assert await seconds_of(engine.send(NAMESPACE, run, Signal("go", 1))) < 2
            assert len(w.diary.lost) == 1, "the lease cannot be renewed either"
        await pass_time(5)
        assert output_of(await w.run(engine, "one", "again")) == "again"
        await engine.send(NAMESPACE, run, Signal("go", 2))
        assert output_of(await w.ended(engine, run)) == 2


# -- a file system that is really full ------------------------------------------------------------

FLOW = {
    "id": "asks",
    "nodes": [
        {"id": "start", "type": "start"},
        {"id": "work", "type": "python", "config": {"step": "work"}},
        {"id": "ask", "type": "wait-for-signal", "config": {"name": "go"}},
    ],
    "edges": [{"source": "start", "target": "work"}, {"source": "work", "target": "ask"}],
}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48m", "perdure-test", folder]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


async def test_an_application_on_a_disk_that_is_really_full(small_disk: Path) -> None:
    async def work(ctx: ActivationContext) -> str:
        return "x" * 500_000

    path = small_disk / "perdure.db"
    app = Perdure.open(f"sqlite:///{path}")
    app.register(work)
    ballast = small_disk / "ballast"
    async with app:
        await app.deploy(FLOW)
        first = await app.start("asks")
        await really_until(lambda: waits(first))
        with suppress(OSError), ballast.open("wb") as file:
            while True:
                file.write(os.urandom(1 << 16))
        started, refused = [first], 0
        for n in range(400):  # what the log has room for already is still taken
            try:
                started.append(await asyncio.wait_for(app.start("asks", {"n": n, "text": os.urandom(50_000).hex()}), 5))
            except StoreFull:
                refused += 1
                if refused > 3:
                    break
        assert refused > 3
        with pytest.raises(StoreFull):
            await asyncio.wait_for(first.signal("go", os.urandom(500_000).hex()), 5)
        ballast.unlink()
        await really_until(lambda: goes_through(lambda: first.signal("go", "room", id="s")))
        assert await asyncio.wait_for(first.result(), 30) == "room"
        for run in started[1:]:
            await really_until(lambda run=run: goes_through(lambda: run.signal("go", "room", id="s")))
            assert await asyncio.wait_for(run.result(), 30) == "room"
    store = SqliteStore(str(path))
    checker = Perdure(store)
    async with checker.at_rest():
        assert (await fsck(store, checker.library)).is_clean


async def waits(run: Any) -> bool:
    return bool((await run.status()) == "WAITING")


async def goes_through(ask: Any) -> bool:
    try:
        await ask()
    except PerdureError as problem:
        if problem.retryable:
            return False
        raise
    return True
