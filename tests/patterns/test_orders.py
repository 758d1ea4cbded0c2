"""Every pattern keeps its law whatever the order: steps of random length, handlers slow to stop, signals at other
times, simultaneous things shuffled; every second run is restarted from a snapshot after each turn."""

from __future__ import annotations

import pytest

from perdure.model import events as e
from perdure.model.statuses import Status
from perdure.testing.pure_run import PureRun
from tests.patterns.harness import Pattern, Story, patterns, perturb
from tests.patterns.laws import LAWS

SEEDS = range(40)


@pytest.mark.parametrize("pattern", patterns(), ids=str)
def test_any_order_keeps_the_law(pattern: Pattern) -> None:
    for seed in SEEDS:
        scenario = pattern.scenarios[seed % len(pattern.scenarios)]
        run = perturb(pattern, scenario, seed)
        story = Story(run)
        try:
            LAWS[pattern.number](story, scenario)
            assert_clean(run)
        except AssertionError as broken:
            lines = "\n".join(story.lines)
            raise AssertionError(f"seed {seed}, {scenario['name']}: {run.status}\n{lines}") from broken


def assert_clean(run: PureRun) -> None:
    """Nothing is left behind by a run that came to its end."""
    state, flow = run.state, run.state.body
    if run.status is Status.WAITING:
        assert list(state.waiters) == ["ring"]  # a transient trigger that came too early
        return
    assert run.status in (Status.COMPLETED, Status.CANCELLED)
    assert not any((state.activations, state.timers, state.waiters))
    if not run.of(e.RunClosing):  # otherwise the rest was withdrawn, with the tokens where they were
        assert list(flow.scopes) == [0]
        assert not any((flow.ready, flow.loops, flow.held, flow.mutexes, flow.hungry, flow.given_up))
        assert not any(flow.scopes[0].moving.values())
