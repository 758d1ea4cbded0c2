"""A suspended run: nothing new starts, what is under way may finish, and what came meanwhile is there on resuming."""

from __future__ import annotations

import pytest

from perdure.errors import IllegalCommand
from perdure.kernel.outlook import next_wake
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.policies import SECOND, Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig, kinds


def _chain() -> Rig:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step"}, "s>a a>b"))
    rig.tell(c.Suspend("maintenance"))
    return rig


def test_what_is_under_way_finishes_and_nothing_new_starts() -> None:
    rig = _chain()
    assert kinds(rig.complete("a", 1)) == ["ActivationCompleted"]
    assert rig.state.activations == {}
    assert rig.last.effects == []
    rig.tell(c.Resume())
    assert rig.executing == ["b"]


def test_suspending_does_not_stop_a_handler() -> None:
    rig = _chain()
    assert rig.last.effects == []
    assert rig.phase("a") == "executing"


def test_a_failure_waits_for_its_next_attempt_until_the_run_is_resumed() -> None:
    rig = Rig(flow({"s": "start", "a": {"type": "step", "retry": {"attempts": 2, "initial": 1}}}, "s>a"))
    rig.tell(c.Suspend())
    rig.fail("a", retryable=True)
    assert rig.tell(c.FireTimers(), after=5 * SECOND) == []
    rig.tell(c.Resume())
    assert rig.phase("a") == "executing"
    assert rig.live("a").attempt == 2


def test_a_sleeper_that_is_due_wakes_when_the_run_is_resumed() -> None:
    rig = Rig(flow({"s": "start", "z": {"type": "sleep", "us": 50}, "b": "step"}, "s>z z>b"))
    rig.tell(c.Suspend())
    assert next_wake(rig.state) is None
    assert rig.tell(c.FireTimers(), after=100) == []
    rig.tell(c.Resume())
    assert rig.executing == ["b"]


def test_a_sleeper_that_is_not_due_yet_sleeps_on() -> None:
    rig = Rig(flow({"s": "start", "z": {"type": "sleep", "us": 50}}, "s>z"))
    rig.tell(c.Suspend())
    rig.tell(c.Resume(), after=10)
    assert next_wake(rig.state) == rig.now + 40


def test_a_signal_is_kept_and_delivered_on_resuming() -> None:
    rig = Rig(flow({"s": "start", "w": {"type": "signal", "name": "go"}, "b": "step"}, "s>w w>b"))
    rig.tell(c.Suspend())
    assert kinds(rig.signal("go", 1)) == ["SignalReceived"]
    assert rig.phase("w") == "signal"
    rig.tell(c.Resume())
    assert rig.live("b").input == 1


def test_a_signal_that_came_in_time_wins_over_a_timer_that_became_due_meanwhile() -> None:
    rig = Rig(flow({"s": "start", "w": {"type": "signal", "name": "go", "us": 50}, "e": "end"}, "s>w w>e"))
    rig.tell(c.Suspend())
    rig.signal("go", "in time")
    rig.tell(c.Resume(), after=100)
    assert rig.output == "in time"


def test_a_child_that_ends_is_recorded_and_nothing_follows_yet() -> None:
    rig = Rig(flow({"s": "start", "k": "call", "b": "step"}, "s>k k>b"))
    rig.tell(c.Suspend())
    rig.child_ended("k", output=5)
    assert rig.state.activations == {}
    rig.tell(c.Resume())
    assert rig.live("b").input == 5


def test_a_loop_goes_on_with_its_next_item_only_after_resuming() -> None:
    nodes = {"s": "start", "l": {"type": "loop", "count": 2}, "a": {"type": "step", "parent": "l"}}
    rig = Rig(flow(nodes, "s>l"))
    rig.tell(c.Suspend())
    rig.complete("a")
    assert len(rig.of(e.IterationStarted)) == 1
    rig.tell(c.Resume())
    assert len(rig.of(e.IterationStarted)) == 2


def test_items_that_come_by_signal_while_suspended_are_taken_on_resuming() -> None:
    nodes = {"s": "start", "l": {"type": "loop", "add": "more", "items": []}, "a": {"type": "step", "parent": "l"}}
    rig = Rig(flow(nodes, "s>l"))
    rig.tell(c.Suspend())
    rig.signal("more", [7])
    assert rig.of(e.ItemsAdded) == []
    rig.tell(c.Resume())
    assert rig.live("a").input == {"index": 0, "item": 7}


def test_resuming_survives_a_run_that_ends_by_what_was_kept() -> None:
    nodes = {
        "s": "start",
        "w": {"type": "signal", "name": "go"},
        "l": {"type": "loop", "add": "more", "items": []},
        "e": "end",
    }
    rig = Rig(flow(nodes, "s>w s>l w>e", whens={"w>e": "data.missing > 1"}))
    rig.tell(c.Suspend())
    rig.signal("go", {})
    rig.signal("more", [1])
    rig.tell(c.Resume())
    assert rig.state.final == "FAILED"


def test_an_unhandled_failure_ends_a_suspended_run() -> None:
    rig = _chain()
    rig.fail("a")
    assert rig.state.final == "FAILED"


def test_a_suspended_run_can_be_cancelled() -> None:
    rig = _chain()
    rig.tell(c.Cancel())
    rig.stopped("a")
    assert rig.state.final == "CANCELLED"


def test_suspending_twice_is_suspending_once() -> None:
    rig = _chain()
    assert rig.tell(c.Suspend("again")) == []
    assert rig.state.suspended == "maintenance"


def test_a_run_that_is_not_suspended_cannot_be_resumed() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    with pytest.raises(IllegalCommand):
        rig.tell(c.Resume())


def test_work_that_a_turn_left_ready_waits_for_resuming() -> None:
    nodes = {"s": "start"} | {f"a{i}": "step" for i in range(300)}
    rig = Rig(flow(nodes, " ".join(f"s>a{i}" for i in range(300))), limits=Limits(activations=1000))
    assert len(rig.state.activations) == 255
    rig.tell(c.Suspend())
    assert rig.tell(c.Proceed()) == []
    rig.tell(c.Resume())
    assert len(rig.state.activations) == 300
