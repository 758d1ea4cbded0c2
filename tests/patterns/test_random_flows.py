"""Random flows with every feature of the language end, leave nothing behind and keep their mutexes, in any order of
events, with steps that fail and handlers slow to stop, restarted at every turn or not at all."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.policies import Limits
from perdure.model.statuses import Status
from perdure.nodes.catalogue import CATALOGUE
from perdure.programs.flow.validate import validate_flow
from perdure.testing.pure_run import PureRun
from tests.patterns.harness import SlowToStop, StandIn, Story
from tests.patterns.random_flows import random_flow

SEEDS, PARTS = 400, 8
RETRIES = 3
SMALL = Limits(activations=400, max_errors=50)


class Shaky(StandIn):
    """Fails now and then."""

    def _answer(self, context: Any, **arguments: Any) -> Any:
        assert self._chance is not None
        if self._chance.random() < 0.02:
            raise RuntimeError("not today")
        return super()._answer(context, **arguments)


def perform(document: dict[str, Any], seed: int, *, restart: bool) -> PureRun:
    chance = random.Random(seed)
    steps = {}
    for node in document["nodes"]:
        if node["type"] == "python":
            told = {"outcome": ["again"] * chance.randint(0, 2) + ["on"]} if "outcomes" in node["config"] else {}
            steps[node["config"]["step"]] = Shaky(told, random.Random(f"{seed}/{node['id']}"))
    runner = SlowToStop(document, steps=steps, shuffle=seed, restart=restart, limits=SMALL)
    signals = [(chance.randint(0, 12), name, chance.choice((None, 7, [1, 2]))) for name in "xyxy"]
    run = runner.run(None, signals=signals)
    for _ in range(RETRIES):
        if run.status is Status.FAILED:
            runner.tell(run, c.RetryRun())
            runner.go()
    while not run.state.is_final:  # a loop that takes items from signals waits for its end
        runner.signal(run, "y")
        runner.go()
    return run


def assert_lawful(document: dict[str, Any], run: PureRun) -> None:
    state, flow = run.state, run.state.body
    assert not state.activations
    if run.status is Status.COMPLETED and not run.of(e.RunClosing):
        left = (flow.ready, flow.held, flow.loops, flow.hungry, flow.given_up, flow.mutexes, state.closing_scopes)
        assert not any(left), left
        assert list(flow.scopes) == list(state.scopes) == [0]
        assert not any(flow.scopes[0].moving.values())
    if not run.of(e.RunRetried):
        story = Story(run)
        for mutex in "mn":
            holders = [node["id"] for node in document["nodes"] if node.get("mutex") == mutex]
            held = [fact for fact in story.of(*holders) if fact.began is not None and fact.end is not None]
            assert all(one.last <= other.first for one, other in pairwise(sorted(held, key=lambda fact: fact.first)))


@pytest.mark.parametrize("part", range(PARTS))
def test_a_random_flow_keeps_the_rules(part: int) -> None:
    ran = 0
    for seed in range(part, SEEDS, PARTS):
        document = random_flow(seed)
        flow, problems = validate_flow(document, CATALOGUE)
        if flow is None:
            assert {problem.code for problem in problems if problem.is_error} == {"NODE_UNREACHABLE"}
            continue
        ran += 1
        try:
            run = perform(document, seed, restart=False)
            assert_lawful(document, run)
            assert Story(perform(document, seed, restart=True)).lines == Story(run).lines
        except Exception as fault:
            raise AssertionError(f"seed {seed}") from fault
    assert ran > SEEDS / PARTS / 2
