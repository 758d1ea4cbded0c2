"""Test the tests: bugs are planted in the product, one at a time, and the suite must notice each (T-25)."""

from __future__ import annotations

import pytest

from perdure.testing import contracts
from tests.planted import oracles, page
from tests.planted.bugs import BUGS, POISON, Watcher

PAIRS = [(bug.name, watcher) for bug in BUGS.values() for watcher in bug.watchers]


@pytest.mark.simulation
@pytest.mark.parametrize(("name", "watcher"), PAIRS, ids=[f"{name}-{watcher.name}" for name, watcher in PAIRS])
def test_a_planted_bug_is_noticed(name: str, watcher: Watcher, capsys: pytest.CaptureFixture[str]) -> None:
    bug = BUGS[name]
    with bug.plant():
        sighting = watcher.look(name)
    with capsys.disabled():
        print(page.row(bug, watcher, sighting))  # noqa: T201
    assert sighting is not None, f"nobody in {watcher.name} noticed: {bug.says}"


def test_where_nothing_is_planted_nothing_is_noticed() -> None:
    suites = [suite for name, suite in vars(contracts).items() if name in ("FencingContract", "LeasesContract")]
    assert len(suites) == 2
    assert oracles.contract(*suites)("") is None
    assert POISON.look("") is None
    assert oracles.simulation("", seeds=5) is None


def test_at_least_two_dozen_bugs_are_planted() -> None:
    assert len(BUGS) >= 24


def test_the_page_shows_every_bug_and_who_notices_it() -> None:
    """After a change: python -m tests.planted"""
    assert page.shown() == [(bug.says, watcher.name) for bug in BUGS.values() for watcher in bug.watchers]
