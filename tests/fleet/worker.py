"""One engine process of the fleet.

    python -m tests.fleet.worker URL EFFECTS_FILE [--unaware] [--without STEP …]

Takes requests as JSON lines on its standard input, answers them on its standard output, and tells there what its
observer hears and which of its commits the store refused. SIGTERM makes it leave in good order. With --unaware it takes
a lease once and never looks again, so that after standing still it writes on as if nothing had happened. Steps that it
is to be without it does not register.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perdure import Perdure
from perdure.assembly import open_store
from perdure.engine import EngineSettings, Observer
from perdure.engine.lease import Lease
from perdure.errors import Busy, PerdureError
from perdure.model.policies import Limits
from perdure.ports.journal import TurnWrite, Verdict
from tests.fixtures.moments import moment
from tests.fleet.flows import PLANS
from tests.fleet.ledger import EffectsFile

LEASE = 2.0
GRACE = 1.0
DECLINE = 0.5
LIMITS = Limits(deliveries=1_000)
LONGEST_STEP = 0.4


def tell(**said: Any) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


class Teller(Observer):
    def claimed(self, runs: int, died: int) -> None:
        if died:
            tell(event="took over", runs=died)

    def fenced(self, run: str) -> None:
        tell(event="fenced", run=run)

    def lease_lost(self, worker: str, runs: int) -> None:
        tell(event="lease lost", runs=runs)

    def handed_back(self, run: str, lacking: str) -> None:
        tell(event="handed back", run=run, lacking=lacking)

    def run_set_aside(self, run: str, problem: BaseException) -> None:
        tell(event="set aside", run=run, problem=repr(problem))


class TellingJournal:
    """Says which turns the store refused because somebody else owns the run."""

    def __init__(self, journal: Any) -> None:
        self._journal = journal

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def commit(self, turn: TurnWrite) -> Any:
        future = asyncio.ensure_future(self._journal.commit(turn))
        future.add_done_callback(lambda done: self._look(turn, done))
        return future

    def _look(self, turn: TurnWrite, done: asyncio.Future[Any]) -> None:
        if not done.cancelled() and done.exception() is None and done.result().verdict is Verdict.FENCED:
            tell(event="refused", run=turn.run, turn=turn.turn_id)


def register(app: Perdure, effects: EffectsFile, without: Sequence[str]) -> None:
    chance = random.Random()

    async def add(ctx: Any, n: int) -> int:
        effects.write(ctx.key)
        await moment(chance.uniform(0, LONGEST_STEP))
        return n + 1

    def block(ctx: Any, n: int) -> int:
        effects.write(ctx.key)
        threading.Event().wait(chance.uniform(0, LONGEST_STEP))
        return n + 1

    async def flaky(ctx: Any, n: int) -> int:
        effects.write(ctx.key)
        await moment(chance.uniform(0, LONGEST_STEP))
        if chance.random() < 0.3:
            raise ConnectionError("bad luck")
        return n + 1

    async def endless(ctx: Any, n: int) -> int:
        """Until somebody who came after has begun the same."""
        effects.write(ctx.key)
        while len({effect.process for effect in effects.read() if effect.key == ctx.key}) < 2:
            await moment(0.05)
        return n + 1

    app.register(*(step for step in (add, block, flaky, endless) if step.__name__ not in without))


async def serve(app: Perdure) -> None:
    """One request after the other is begun; answers come as they come."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    answering: set[asyncio.Task[None]] = set()
    while line := await reader.readline():
        task = asyncio.ensure_future(answer(app, json.loads(line)))
        answering.add(task)
        task.add_done_callback(answering.discard)


async def answer(app: Perdure, request: dict[str, Any]) -> None:
    try:
        if request["op"] == "start":
            run = await app.start(request["definition"], request["input"], key=request["key"], limits=LIMITS)
            tell(answer=request["id"], said=run.id)
        else:
            await app.run(request["run"]).signal(request["name"], request["payload"], id=request["signal"])
            tell(answer=request["id"], said=None)
    except PerdureError as problem:
        tell(answer=request["id"], error=problem.code, again=problem.retryable or isinstance(problem, Busy))


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("effects", type=Path)
    parser.add_argument("--unaware", action="store_true")
    parser.add_argument("--without", nargs="*", default=[])
    options = parser.parse_args()
    if options.unaware:
        Lease._check = lambda self: None  # type: ignore[method-assign]
        Lease._keep = lambda self: asyncio.Event().wait()  # type: ignore[assignment, method-assign, return-value]
    store: Any = open_store(options.url)
    store.journal = TellingJournal(store.journal)
    settings = EngineSettings(lease=LEASE, grace=GRACE, stop_grace=0.5, decline=DECLINE)
    app = Perdure(store, engine_settings=settings, observer=Teller())
    register(app, EffectsFile(options.effects), options.without)
    leaving = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leaving.set)
    async with app:
        for plan in PLANS.values():
            await app.deploy(plan.document)
        tell(event="ready", worker=app.engine.worker)
        serving = asyncio.ensure_future(serve(app))
        await leaving.wait()
        serving.cancel()
        tell(event="leaving")
    tell(event="left")


if __name__ == "__main__":
    asyncio.run(main())
