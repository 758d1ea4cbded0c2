"""Three real engine processes on one PostgreSQL: killed, stopped past their lease, sent away. Nothing is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from tests.fixtures.moments import moment, until
from tests.fleet.fleet import Fleet, Member, fleet
from tests.fleet.flows import PLANS
from tests.fleet.looking import Observatory, judge, observatory
from tests.fleet.worker import GRACE, LEASE

LONG = bool(os.environ.get("PERDURE_FLEET"))
RUNS = 1_000 if LONG else 100
ACCIDENTS = 40 if LONG else 4
RETAKEN_WITHIN = LEASE + 2.0
OPEN_RUNS = 40
NAMES = ["chain", "sleeper", "asker", "loop", "parent"]


class Client:
    """Starts runs with keys and sends signals with ids, until each is acknowledged."""

    def __init__(self, members: Fleet) -> None:
        self._fleet = members
        self.started: dict[str, tuple[str, int]] = {}
        self.signals: dict[str, set[str]] = {}

    async def go(self, number: int) -> None:
        name = NAMES[number % len(NAMES)]
        run = await self._fleet.insist(op="start", definition=name, input=number, key=f"{name}-{number}")
        self.started[run] = name, number
        for each in PLANS[name].signals:
            id = f"{each}-{number}"
            await self._fleet.insist(op="signal", run=run, name=each, payload=number, signal=id)
            self.signals.setdefault(run, set()).add(id)

    async def go_on(self, watch: Observatory, accidents: asyncio.Event) -> None:
        """So many that there is work as long as accidents happen, and never too many at once."""
        going: list[asyncio.Task[None]] = []
        while len(going) < RUNS or not accidents.is_set():
            if await watch.open_runs() < OPEN_RUNS:
                going.append(asyncio.ensure_future(self.go(len(going))))
            await moment(0.05)
        await asyncio.gather(*going)


async def killed(members: Fleet, watch: Observatory, member: Member) -> float:
    """Seconds until others had all its work; then there is another one in its place."""
    died = await members.kill(member)
    seconds = await watch.until_free_of(member.pid, died)
    await members.enlist()
    return seconds


async def stopped(watch: Observatory, member: Member) -> float:
    """Stands still until others have its work. Then it wakes up, and must notice that it has lost everything."""
    member.signal(signal.SIGSTOP)
    seconds = await watch.until_free_of(member.pid, time.monotonic())
    losses = member.has_said("lease lost")
    member.signal(signal.SIGCONT)
    await until(lambda: member.has_said("lease lost") > losses)
    return seconds


@pytest.mark.serial
@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.timeout(1800 if LONG else 180)
async def test_nothing_is_lost_while_workers_are_killed_and_stopped_past_their_lease(
    postgres_url: str, tmp_path: Path
) -> None:
    async with fleet(postgres_url, tmp_path / "effects", 3) as members, observatory(postgres_url) as watch:
        client = Client(members)
        over = asyncio.Event()
        busy = asyncio.ensure_future(client.go_on(watch, over))
        takeovers: list[float] = []
        for accident in range(ACCIDENTS):
            victim = members.chance.choice(members.awake)
            await until(lambda pid=victim.pid: owns_something(watch, pid))
            takeovers.append(await (stopped(watch, victim) if accident % 2 else killed(members, watch, victim)))
        over.set()
        await busy
        await watch.until_all_ended(patience=60)
        assert len(client.started) >= RUNS
        assert await judge(members, client.started, client.signals) == []
        print(f"{len(client.started)} runs, taken over after {sorted(round(each, 1) for each in takeovers)} s")  # noqa: T201
        assert max(takeovers) <= RETAKEN_WITHIN, takeovers


async def owns_something(watch: Observatory, pid: int) -> bool:
    return await watch.owned_by(pid) > 0


@pytest.mark.serial
@pytest.mark.slow
@pytest.mark.postgres
async def test_a_worker_that_stood_still_and_does_not_know_it_finds_its_commits_refused(
    postgres_url: str, tmp_path: Path
) -> None:
    async with fleet(postgres_url, tmp_path / "effects", 1) as members, observatory(postgres_url) as watch:
        (other,) = members.members
        unaware = await members.enlist(unaware=True)
        run = await unaware.ask(1, 10, op="start", definition="endless", input=1, key="one")
        await until(lambda: len(members.effects.read()) == 1)
        unaware.signal(signal.SIGSTOP)
        await watch.until_free_of(unaware.pid, time.monotonic())
        unaware.signal(signal.SIGCONT)
        await until(lambda: unaware.has_said("refused") > 0)
        await watch.until_all_ended(patience=20)
        effects = members.effects.read()
        assert {effect.process for effect in effects} == {unaware.pid, other.pid}
        assert {effect.key for effect in effects} == {f"{run}/a/1"}
        assert unaware.has_said("fenced") == 1
        assert await judge(members, {run: ("endless", 1)}, {}) == []


@pytest.mark.serial
@pytest.mark.slow
@pytest.mark.postgres
async def test_a_worker_that_is_told_to_leave_hands_its_work_over_within_a_second_and_the_grace(
    postgres_url: str, tmp_path: Path
) -> None:
    async with fleet(postgres_url, tmp_path / "effects", 2) as members, observatory(postgres_url) as watch:
        leaver, stayer = members.members
        run = await leaver.ask(1, 10, op="start", definition="endless", input=1, key="one")
        await until(lambda: len(members.effects.read()) == 1)
        leaver.signal(signal.SIGTERM)
        told = time.monotonic()
        await until(lambda: len(members.effects.read()) == 2)
        again = members.effects.read()[1]
        assert again.process == stayer.pid
        assert again.at - told <= 1.0 + GRACE
        assert await leaver.process.wait() == 0
        await watch.until_all_ended(patience=20)
        assert stayer.has_said("took over") == 0, "a hand-over is no death"
        assert await judge(members, {run: ("endless", 1)}, {}) == []


@pytest.mark.serial
@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.timeout(180)
async def test_processes_that_lack_different_steps_bring_the_runs_to_their_end_together(
    postgres_url: str, tmp_path: Path
) -> None:
    async with fleet(postgres_url, tmp_path / "effects", 0) as members, observatory(postgres_url) as watch:
        lacking: list[tuple[str, ...]] = [("add",), ("flaky", "block"), ("block",)]
        for without in lacking:
            await members.enlist(without=without)
        client = Client(members)
        going = asyncio.gather(*(client.go(number) for number in range(40)))
        await until(lambda: all(member.has_said("handed back") > 0 for member in members.members))
        await members.kill(members.members[1])
        await members.enlist(without=("flaky", "block"))
        await going
        await watch.until_all_ended(patience=60)
        assert await judge(members, client.started, client.signals) == []
        assert {event["lacking"] for member in members.members for event in member.events if "lacking" in event} >= {
            "the step 'add'",
            "the step 'block'",
        }
        assert not any(member.has_said("set aside") for member in members.members)
