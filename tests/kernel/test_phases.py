"""From phase to phase: every step that the table lists is taken by some run, and every other one is refused."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from perdure.errors import InvariantBroken
from perdure.kernel import moves
from perdure.kernel.legality import PHASES
from perdure.kernel.scopes import is_within
from perdure.model import events as e
from perdure.model.failures import Failure
from perdure.model.statuses import Phase
from tests.kernel.catalogue import VIEW, flow
from tests.kernel.every_scenario import SCENARIOS
from tests.kernel.rig import Rig


class Watched(dict[Any, Any]):
    """The table, remembering what was looked up."""

    def __init__(self, table: dict[Any, Any]) -> None:
        super().__init__(table)
        self.seen: set[Any] = set()

    def __getitem__(self, key: Any) -> Any:
        self.seen.add(key)
        return super().__getitem__(key)


@pytest.fixture(scope="module")
def reached() -> set[tuple[Phase, type[e.Event]]]:
    table = Watched(PHASES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moves, "PHASES", table)
        for make in SCENARIOS.values():
            make()
    return table.seen


@pytest.mark.parametrize("step", PHASES, ids=lambda step: f"{step[0]}-{step[1].__name__}")
def test_each_step_of_the_table_is_taken_by_some_run(
    step: tuple[Phase, type[e.Event]], reached: set[tuple[Phase, type[e.Event]]]
) -> None:
    assert step in reached


FAILURE = Failure("BROKEN", "it broke")
EXAMPLES: dict[type[e.Event], e.Event] = {
    e.ActivationCompleted: e.ActivationCompleted(2),
    e.ActivationFailed: e.ActivationFailed(2, 1, FAILURE),
    e.ActivationRetrying: e.ActivationRetrying(2, 2, 99),
    e.ActivationCancelling: e.ActivationCancelling(2, "why"),
    e.ActivationCancelled: e.ActivationCancelled(2, "why"),
    e.TimerArmed: e.TimerArmed("a2", 99, "sleep", 2),
    e.TimerFired: e.TimerFired("a2"),
    e.SignalAwaited: e.SignalAwaited(2, "go"),
    e.SignalConsumed: e.SignalConsumed("go", 2, 1),
    e.TaskOpened: e.TaskOpened(2, VIEW),
    e.TaskReminded: e.TaskReminded(2),
    e.TaskAnswered: e.TaskAnswered(2, {"selectedOptions": {}}),
    e.ChildRequested: e.ChildRequested(2, "child", "sub"),
    e.ChildClosed: e.ChildClosed(2, "child", "COMPLETED"),
    e.LoopStarted: e.LoopStarted(2, 0),
    e.LoopSatisfied: e.LoopSatisfied(2),
}

ILLEGAL = [pair for pair in itertools.product(Phase, EXAMPLES) if pair not in PHASES]


def test_there_is_an_example_of_every_event_that_moves_an_activation() -> None:
    assert set(EXAMPLES) == {event for _, event in PHASES}


@pytest.mark.parametrize(("phase", "event"), ILLEGAL, ids=lambda each: getattr(each, "__name__", str(each)))
def test_a_step_that_is_not_listed_is_refused(phase: Phase, event: type[e.Event]) -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    rig.kernel.apply(rig.state, e.SignalReceived("go"), rig.now)
    moves.arm(rig.state, "a2", 50, "test", 2)
    rig.state.activations[2].phase = phase
    with pytest.raises(InvariantBroken, match=f"{event.__name__} on activation 2 in phase {phase}"):
        rig.kernel.apply(rig.state, EXAMPLES[event], rig.now)


@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_left_over_when_a_run_has_ended(name: str) -> None:
    state = SCENARIOS[name]().state
    if state.final is None:
        assert name.startswith("open_")
        return
    assert state.activations == {}
    assert state.timers == {}
    assert state.waiters == {}
    assert state.asking == {}
    assert state.executing == state.waiting == 0
    assert state.compensating is None
    assert all(is_within(state, scope, 0) for scope in state.scopes)


def test_counters_follow_from_the_phases_of_what_lives() -> None:
    for make in SCENARIOS.values():
        rig = make()
        phases = [activation.phase for activation in rig.state.activations.values()]
        assert rig.state.executing == phases.count(Phase.EXECUTING) + phases.count(Phase.CANCELLING)
        waiting = (Phase.SIGNAL, Phase.PERSON, Phase.CHILD)
        assert rig.state.waiting == sum(phases.count(phase) for phase in waiting)
