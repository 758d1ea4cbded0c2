"""Who may notice a bug: the parts of the suite, each run until it finds something wrong, and how long that took."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perdure.ports.store import Store
from perdure.stores.memory import MemoryStore
from perdure.stores.sqlite import SqliteStore
from perdure.testing.contracts.subject import ManualClock, Subject
from perdure.testing.simulate import tell

ROOT = Path(__file__).resolve().parents[2]
SEEDS = 100


@dataclass(frozen=True)
class Sighting:
    """Something is wrong, and this is the first sign of it."""

    after: int
    """Seeds, tests, kills or cuts, the one that showed it included."""
    sign: str


Oracle = Callable[[str], Sighting | None]
"""Takes the name of the bug, for those who must plant it in another process."""


@dataclass(frozen=True)
class Watcher:
    name: str
    unit: str
    look: Oracle


def simulation(bug: str, seeds: int = SEEDS) -> Sighting | None:
    for seed in range(seeds):
        try:
            wrong = tell(seed).wrong
        except Exception as problem:  # the bug may break the story itself
            wrong = [repr(problem)]
        if wrong:
            return Sighting(seed + 1, wrong[0])
    return None


def contract(*suites: type) -> Oracle:
    def look(bug: str) -> Sighting | None:
        for number, (name, test, arguments) in enumerate(_tests(suites), start=1):
            for make in (
                MemoryStore,
                lambda clock: SqliteStore(":memory:", clock=clock, writer="inline"),
            ):
                try:
                    asyncio.run(_held_to(test, arguments, make))
                except Exception as problem:
                    return Sighting(number, f"{name}: {type(problem).__name__}")
        return None

    return look


async def _held_to(test: Any, arguments: dict[str, Any], make: Callable[[ManualClock], Store]) -> None:
    clock = ManualClock()
    store = make(clock)
    await store.open()
    try:
        async with asyncio.timeout(5):
            await test(subject=Subject(store, clock, is_bounded=False), **arguments)
    finally:
        await store.close()


def _tests(suites: tuple[type, ...]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    for suite in suites:
        for name, function in inspect.getmembers(suite, inspect.isfunction):
            if name.startswith("test_"):
                for arguments in _arguments(function):
                    yield name, getattr(suite(), name), arguments


def _arguments(function: Any) -> Iterator[dict[str, Any]]:
    """What pytest would make of `parametrize`."""
    choices: list[list[dict[str, Any]]] = []
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == "parametrize":
            names, values = mark.args[0], mark.args[1]
            names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
            choices.append([dict(zip(names, value if len(names) > 1 else [value], strict=True)) for value in values])
    for chosen in itertools.product(*choices):
        yield {name: value for part in chosen for name, value in part.items()}


def engine_test(test: Callable[[], None]) -> Oracle:
    def look(bug: str) -> Sighting | None:
        try:
            test()
        except Exception as problem:
            return Sighting(1, f"{test.__name__}: {type(problem).__name__}")
        return None

    return look


def crash_points(scenario: str) -> Oracle:
    """Real kills; in a process of its own, which plants the bug and forks."""

    def look(bug: str) -> Sighting | None:
        return _told_by([sys.executable, "-m", "tests.planted.killing", "--bug", bug, "--scenario", scenario])

    return look


def power_cuts(bug: str) -> Sighting | None:
    return _told_by([sys.executable, "-m", "tests.reliability.powercut", "--cuts", "16", "--bug", bug])


def _told_by(command: list[str]) -> Sighting | None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    report = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {"first": None, "error": done.stderr}
    assert "error" not in report, report
    return Sighting(report["first"], report["wrong"][0]) if report["first"] else None
