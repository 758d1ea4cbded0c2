"""Thousands of histories that never happened; each must end well. One seed again: perdure simulate --seed N."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from perdure.testing.simulate import tell
from perdure.testing.simulate.campaign import campaign
from perdure.testing.simulate.misfortune import Site

SEEDS = int(os.environ.get("PERDURE_SEEDS", "2000"))
BATCH = 100


@pytest.mark.simulation
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_whatever_goes_wrong_every_run_comes_to_its_right_end(first: int) -> None:
    failed, met = campaign(range(first, first + BATCH))
    assert not failed, [(verdict.seed, verdict.wrong) for verdict in failed]
    never = [site.value for site in Site if not met[site.name]]
    assert not never, f"in {BATCH} seeds these misfortunes were never met: {never}"


@pytest.mark.simulation
def test_a_seed_tells_the_same_story_every_time() -> None:
    for seed in (1, 7, 4711):
        first, second = tell(seed), tell(seed)
        assert first.log == second.log
        assert first.digest == second.digest


@pytest.mark.simulation
def test_another_seed_tells_another_story() -> None:
    digests = Counter(tell(seed).digest for seed in range(10))
    assert len(digests) == 10


@pytest.mark.simulation
def test_many_runs_at_once_come_to_their_right_ends_too() -> None:
    failed, _ = campaign(range(3), "medium")
    assert not failed, [(verdict.seed, verdict.wrong) for verdict in failed]
