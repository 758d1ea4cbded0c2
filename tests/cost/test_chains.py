"""What a node costs depends neither on how many came before it nor on how many there are."""

from __future__ import annotations

import pytest

from tests.cost.measuring import IS_FULL, measure, sized

pytestmark = [pytest.mark.serial, pytest.mark.slow, pytest.mark.timeout(600)]

ATTEMPTS = 3
"""What disturbs a measurement only adds to it, so the best of a few counts."""


def ratio_of(url: str, short: int, long: int, bound: float) -> float:
    """How many times the CPU of the short chain the long one takes, start-up subtracted."""
    best = float("inf")
    for _ in range(ATTEMPTS):
        best = min(best, measure("chains", url, short, long)["ratio"])
        if best <= bound:
            break
    return best


def without_disk(url: str) -> str:
    """What is measured is CPU; waiting for the disk eight thousand times only takes long."""
    return url if IS_FULL or not url.startswith("sqlite") else "sqlite:///:memory:"


def test_8000_nodes_cost_no_more_than_120_times_what_80_cost(sqlite_url: str) -> None:
    assert ratio_of(without_disk(sqlite_url), 80, 8000, 120) <= 120


def test_a_step_costs_the_same_up_to_2000(url: str) -> None:
    """W3, in CPU: what a step takes at 2,000 is what it takes at 100."""
    assert ratio_of(without_disk(url), 100, 2000, 1.25 * 20) <= 1.25 * 20


@pytest.mark.skipif(not IS_FULL, reason="takes minutes: make scale")
def test_the_same_on_postgresql(postgres_url: str) -> None:
    assert ratio_of(postgres_url, 80, 8000, 120) <= 120


def test_a_chain_of_10000_nodes_takes_less_than_50_mb_of_a_worker(sqlite_url: str) -> None:
    """E16. Its compiled definition included."""
    nodes = sized(2_500, 10_000)
    measure("deploy_chain", sqlite_url, nodes)
    assert measure("chain_memory", sqlite_url, nodes)["growth_mb"] < sized(20, 50)
