"""Runs that sleep cost next to nothing, and wake in time however many are due together."""

from __future__ import annotations

import pytest

from tests.cost.measuring import measure, sized

pytestmark = [pytest.mark.serial, pytest.mark.slow, pytest.mark.timeout(600)]


def test_100000_sleeping_runs_cost_less_than_a_percent_of_a_core(url: str) -> None:
    found = measure("sleepers", url, sized(2_000, 100_000), sized(4, 30))
    assert found["percent_of_a_core"] < 1
    assert found["claim_ms"] < 20


@pytest.mark.parametrize(("kind", "seconds"), [("sqlite", 2), ("postgres", 5)])
def test_10000_runs_due_at_the_same_moment_wake_within_seconds(
    request: pytest.FixtureRequest, kind: str, seconds: float
) -> None:
    """Due at the same moment, not only in the same second; 99 % have ended by then."""
    found = measure("waking", request.getfixturevalue(f"{kind}_url"), sized(1_000, 10_000))
    assert found["started_before_s"] > 1, "they were still being started when they were due"
    assert found["p99_s"] <= sized(1, 2) * seconds / 2
