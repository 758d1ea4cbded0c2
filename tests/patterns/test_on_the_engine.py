"""The same documents, scenarios and laws on the real engine, with a store in memory and time that is a number."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import Any

import pytest

from examples.patterns.stand_ins import cast
from perdure import Perdure, PerdureError
from perdure.testing.pure import BEGIN
from perdure.testing.pure_run import PureRun
from perdure.testing.simloop import SimClock, run
from tests.patterns.harness import Pattern, Scenario, Story, patterns
from tests.patterns.laws import LAWS

MILLISECOND = 1000
CASES = [
    (pattern, scenario)
    for pattern in patterns()
    for scenario in pattern.scenarios
    if not re.match(r"\d+d", scenario["trace"][-1])  # an engine that polls through two weeks takes minutes
]
NAMES = [f"{pattern.slug}/{scenario['name']}" for pattern, scenario in CASES]


async def perform(pattern: Pattern, scenario: Scenario) -> tuple[PureRun, str]:
    """The run as its log tells it, and the status that the service tells."""
    id = pattern.document["id"]
    async with Perdure.open("memory://", clock=SimClock()) as app:
        for name, step in cast({id: scenario}).items():
            app.register(step, name=name)
        version = await app.deploy(pattern.document)
        started = await app.start(id, scenario.get("input"))
        loop, tasks = asyncio.get_running_loop(), []

        def later(seconds: float, call: Any) -> None:
            loop.call_later(seconds, lambda: tasks.append(asyncio.ensure_future(call())))

        for at, name, payload in scenario.get("signals", []):
            later(at, lambda name=name, payload=payload: send(started.signal(name, payload)))
        if "cancel_at" in scenario:
            later(scenario["cancel_at"], started.cancel)
        with contextlib.suppress(PerdureError):  # raised where the run did not complete
            await started.result()
        history = await started.history()
        replayed = PureRun(started.id, id, (await app.library.get("default", id, version.version)).kernel)
        for recorded in history:
            at = BEGIN + round((recorded.at - history[0].at) / MILLISECOND) * MILLISECOND
            replayed.turns.append((at, [recorded.event]))
            replayed.kernel.apply(replayed.state, recorded.event, at)
        return replayed, await started.status()


async def send(signal: Any) -> None:
    with contextlib.suppress(PerdureError):  # the run may have ended before
        await signal


def untimed(line: str) -> str:
    """An engine may be a little late, and orders what is simultaneous as it likes."""
    return line.partition(" ")[2]


@pytest.mark.parametrize(("pattern", "scenario"), CASES, ids=NAMES)
def test_the_engine_does_the_same(pattern: Pattern, scenario: Scenario) -> None:
    replayed, status = run(perform(pattern, scenario))
    story = Story(replayed)
    assert status == scenario["status"]
    assert replayed.output == scenario["output"]
    assert sorted(map(untimed, story.lines)) == sorted(map(untimed, scenario["trace"]))
    LAWS[pattern.number](story, scenario)
