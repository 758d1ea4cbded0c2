"""Runs scenarios with a kill at every point, and says what was wrong afterwards.

    python -m tests.crash.runner --database sqlite|postgres [--dense] [--only NAME] [--share 1/2]

A process that has imported everything forks twice per point: one child that is killed, one that comes after it and
finishes the work. The second one's clock is a lease ahead, so nobody waits for a lease to run out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from perdure import Perdure
from perdure.assembly import open_store
from perdure.engine import EngineSettings
from perdure.engine.relay import Delivered
from perdure.model import events as e
from perdure.service.fsck import Checker
from tests.crash.killing import AFTER, BEFORE, KillingStore
from tests.crash.ledger import Ledger
from tests.crash.scenarios import SCENARIOS, Scenario, outcome, register
from tests.fixtures.postgres import start_cluster

LEASE_SECONDS = 30
PATIENCE_SECONDS = 20


class OffsetClock:
    def __init__(self, seconds: int) -> None:
        self._ahead = seconds * 1_000_000

    def now(self) -> int:
        return time.time_ns() // 1000 + self._ahead


class Point:
    """One kill: where, and where things are kept."""

    def __init__(
        self, scenario: Scenario, at: int | None, when: str, url: str, place: Path, ahead: int, dense: bool
    ) -> None:
        self.scenario, self.at, self.when, self.url = scenario, at, when, url
        self.dense = dense
        self.ahead = ahead
        self.ledger_path = place / "ledger"
        self.report_path = place / "report.json"
        self.namespace = place.name

    def __str__(self) -> str:
        return f"{self.scenario.name}, {self.when} point {self.at}"

    def application(self, at: int | None, ahead: int) -> tuple[Perdure, KillingStore]:
        clock = OffsetClock(ahead)
        store = KillingStore(open_store(self.url, clock), at, self.when, self.dense)
        settings = EngineSettings(
            park_after=0.0 if self.at is None or self.at % 2 else 1.0, grace=0.2, lease=LEASE_SECONDS
        )
        return Perdure(store, namespace=self.namespace, clock=clock, engine_settings=settings), store

    async def live(self) -> None:
        """The first life: deploy, then drive the client until the kill or the end."""
        app, store = self.application(None, self.ahead)
        ledger = Ledger(self.ledger_path)
        register(app, ledger)
        ear = Ear(app, ledger)
        async with app:
            for document in self.scenario.documents:
                await app.deploy(document)
            store.count, store.at = 0, self.at
            run = await self.scenario.client(app, ledger)
            await asyncio.wait_for(outcome(run), PATIENCE_SECONDS)
            await ear.hears(self.scenario.messages)
            ledger.write("points", str(store.count))
            store.at = None

    async def after(self) -> None:
        """The second life: the client comes back, the work is finished, everything is checked."""
        app, _ = self.application(None, self.ahead + 2 * LEASE_SECONDS)
        ledger = Ledger(self.ledger_path)
        register(app, ledger)
        ear = Ear(app, ledger)
        async with app:
            for document in self.scenario.documents:
                await app.deploy(document)
            run = await self.scenario.client(app, ledger)
            try:
                status, output = await asyncio.wait_for(outcome(run), PATIENCE_SECONDS)
            except TimeoutError:
                self.report_path.write_text(json.dumps([f"it does not end: {await run.why()}"]))
                return
            await ear.hears(self.scenario.messages)
            wrong = await self._judge(app, ledger, run.id, status, output)
        self.report_path.write_text(json.dumps(wrong))

    async def _judge(self, app: Perdure, ledger: Ledger, run: str, status: str, output: Any) -> list[str]:
        wrong: list[str] = []
        scenario = self.scenario
        if status != scenario.status:
            wrong.append(f"ended as {status} ({output}), not as {scenario.status}")
        elif scenario.check_output and output != scenario.output:
            wrong.append(f"the output is {output}, not {scenario.output}")
        if any(id != run for id in ledger.acked("start")):
            wrong.append("an acknowledged start is another run now")
        effects = ledger.effects()
        if scenario.effects >= 0 and len(effects) != scenario.effects:
            wrong.append(f"{len(effects)} different effects, not {scenario.effects}: {sorted(effects)}")
        repeated = {key: times for key, times in effects.items() if times > 1}
        allowed = 8 if scenario.name in ("retry", "parallel", "nested loops") else 2
        if any(times > allowed for times in repeated.values()):
            wrong.append(f"effects were repeated too often: {repeated}")
        undone = list(dict.fromkeys(ledger.lines("undo")))
        if scenario.undone and undone != scenario.undone:
            wrong.append(f"undone were {undone}, not {scenario.undone}")
        told = set(ledger.lines("message"))
        if len(told) != scenario.messages:
            wrong.append(f"{len(told)} different messages arrived, not {scenario.messages}")
        history = [recorded.event for recorded in await app.run(run).history(limit=10_000)]
        published = sum(isinstance(event, e.MessagePublished) for event in history)
        if published != scenario.messages:
            wrong.append(f"{published} messages were published")
        for id in ledger.acked("signal"):
            times = sum(isinstance(event, e.SignalReceived) and event.id == id for event in history)
            if times != 1:
                wrong.append(f"the acknowledged signal {id} is {times} times in the log")
        for id in ledger.acked("answer"):
            times = sum(isinstance(event, e.TaskAnswered) and event.request == id for event in history)
            reminded = sum(isinstance(event, e.TaskReminded) for event in history)
            if (times, reminded) != (1, 1):
                wrong.append(f"the acknowledged answer {id} is {times} times in the log, and {reminded} reminders")
        if ledger.acked("cancel") and status != "CANCELLED":
            wrong.append("an acknowledged cancel had no effect")
        checker = Checker(app.store, app.library)
        for view in await app.list_runs():
            head = await app.store.journal.head(view.id)
            assert head is not None
            await checker.check_run(head)
        wrong += [f"fsck {finding.invariant}: {finding.run}: {finding.text}" for finding in checker.report.findings]
        return wrong


class Ear:
    """The subscriber of all messages."""

    def __init__(self, app: Perdure, ledger: Ledger) -> None:
        self._ledger = ledger
        self._heard = asyncio.Event()
        app.on_message("*", self._hear)

    async def _hear(self, message: Delivered) -> None:
        self._ledger.write("message", f"{message.id} {message.type}")
        self._heard.set()

    async def hears(self, messages: int) -> None:
        """Comes back when the world has heard so many different ones, in this life or the one before."""
        while len(set(self._ledger.lines("message"))) < messages:
            self._heard.clear()
            try:
                await asyncio.wait_for(self._heard.wait(), PATIENCE_SECONDS)
            except TimeoutError:
                return


def in_child(work: Any) -> int:
    """Runs a coroutine in a forked child; gives its wait status."""
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(work())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return os.waitpid(pid, 0)[1]


class Campaign:
    def __init__(self, database: str, directory: Path, dense: bool, cluster: Any) -> None:
        self._database, self._directory, self._dense, self._cluster = database, directory, dense, cluster
        self._made = 0
        self._shared_url: str | None = None
        self.points = 0
        self.wrong: list[str] = []

    def point(self, scenario: Scenario, at: int | None, when: str) -> Point:
        self._made += 1
        place = self._directory / f"p{self._made}"
        place.mkdir()
        if self._cluster is None:
            url = f"sqlite:///{place / 'perdure.db'}"
        else:
            self._shared_url = self._shared_url or self._cluster.create_database()
            url = self._shared_url
        return Point(scenario, at, when, url, place, self._made * 4 * LEASE_SECONDS, self._dense)

    def run(self, scenario: Scenario) -> None:
        counting = self.point(scenario, None, BEFORE)
        if in_child(counting.live) != 0:
            self.wrong.append(f"{scenario.name}: does not even work without a kill")
            return
        total = int(Ledger(counting.ledger_path).lines("points")[-1])
        for at in range(1, total + 1):
            for when in (BEFORE, AFTER):
                self.kill_at(scenario, at, when)

    def kill_at(self, scenario: Scenario, at: int, when: str) -> None:
        point = self.point(scenario, at, when)
        status = in_child(point.live)
        self.points += 1
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if not killed and status != 0:
            self.wrong.append(f"{point}: the first life ended with {status}")
        if in_child(point.after) != 0:
            self.wrong.append(f"{point}: the second life broke down")
        elif point.report_path.exists():
            self.wrong += [f"{point}: {text}" for text in json.loads(point.report_path.read_text())]
        else:
            self.wrong.append(f"{point}: no report")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", choices=["sqlite", "postgres"], required=True)
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--only")
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="perdure-crash-") as directory:
        if options.database == "postgres":
            with start_cluster() as cluster:
                campaign = Campaign(options.database, Path(directory), options.dense, cluster)
                _run_all(campaign, options.only)
        else:
            campaign = Campaign(options.database, Path(directory), options.dense, None)
            _run_all(campaign, options.only)
    took = time.monotonic() - begun
    for text in campaign.wrong:
        sys.stdout.write(text + "\n")
    sys.stdout.write(f"{campaign.points} kills, {len(campaign.wrong)} wrong, {took:.0f} s\n")
    return 1 if campaign.wrong or not campaign.points else 0


def _run_all(campaign: Campaign, only: str | None) -> None:
    for scenario in SCENARIOS:
        if only is None or scenario.name == only:
            before, begun = campaign.points, time.monotonic()
            campaign.run(scenario)
            sys.stderr.write(f"{scenario.name}: {campaign.points - before} kills, {time.monotonic() - begun:.1f} s\n")


if __name__ == "__main__":
    sys.exit(main())
