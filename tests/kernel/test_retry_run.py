"""A failed run is taken up where it failed: what was done stays done, what failed or was stopped is done again."""

from __future__ import annotations

import pytest

from perdure.errors import IllegalCommand
from perdure.kernel.outlook import next_wake
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.failures import Failure
from perdure.model.policies import SECOND, Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig


def test_only_the_failed_node_and_what_comes_after_it_run_again() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step", "z": "step"}, "s>a a>b b>z"))
    rig.complete("a", "kept")
    rig.fail("b")
    before = len(rig.events)
    rig.tell(c.RetryRun())
    assert rig.executing == ["b"]
    assert rig.live("b").input == "kept"
    rig.complete("b", 1)
    rig.complete("z", 2)
    assert (rig.state.final, rig.output) == ("COMPLETED", 2)
    again = [event for event in rig.events[before:] if isinstance(event, e.ActivationScheduled)]
    assert [event.node for event in again] == ["z"]


def test_the_retried_activation_keeps_its_id_and_its_key() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    id, key = rig.live("a").id, rig.state.activation_key(rig.live("a"))
    rig.fail("a")
    rig.tell(c.RetryRun())
    assert rig.live("a").id == id
    assert rig.state.activation_key(rig.live("a")) == key


def test_a_new_key_is_given_when_it_is_asked_for() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    key = rig.state.activation_key(rig.live("a"))
    rig.fail("a")
    rig.tell(c.RetryRun(new_key=True))
    second = rig.state.activation_key(rig.live("a"))
    assert second != key
    rig.fail("a")
    rig.tell(c.RetryRun(new_key=True))
    assert rig.state.activation_key(rig.live("a")) not in (key, second)


def test_a_retried_activation_has_all_its_attempts_again() -> None:
    rig = Rig(flow({"s": "start", "a": {"type": "step", "retry": {"attempts": 2, "initial": 1}}}, "s>a"))
    for _ in range(2):
        rig.fail("a", retryable=True)
        rig.wake()
        rig.fail("a", retryable=True)
        assert rig.state.final == "FAILED"
        rig.tell(c.RetryRun())
    rig.fail("a", retryable=True)
    assert next_wake(rig.state) == rig.now + SECOND


def test_a_late_report_about_an_attempt_before_the_retry_changes_nothing() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    id = rig.live("a").id
    rig.fail("a")
    rig.tell(c.RetryRun())
    assert rig.tell(c.Fail(id, 1, Failure("LATE", "delivered twice"))) == []
    assert rig.tell(c.Complete(id, 1, "late")) == []
    assert rig.executing == ["a"]


def test_what_was_stopped_by_the_failure_runs_again() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step"}, "s>a s>b"))
    rig.fail("a")
    rig.stopped("b")
    assert rig.state.final == "FAILED"
    rig.tell(c.RetryRun())
    assert rig.executing == ["a", "b"]


def test_a_retry_has_to_wait_until_the_failed_run_is_wound_up() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step"}, "s>a s>b"))
    rig.fail("a")
    with pytest.raises(IllegalCommand):
        rig.tell(c.RetryRun())


def test_a_sleeper_sleeps_on_until_its_old_time() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "z": {"type": "sleep", "us": 100}}, "s>a s>z"))
    due = next_wake(rig.state)
    rig.fail("a")
    rig.now += 10
    rig.tell(c.RetryRun())
    assert rig.phase("z") == "sleeping"
    assert next_wake(rig.state) == due
    rig.wake()
    rig.complete("a")
    assert rig.state.final == "COMPLETED"


def test_a_sleeper_whose_time_has_passed_wakes_at_once() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "z": {"type": "sleep", "us": 100}, "b": "step"}, "s>a s>z z>b"))
    rig.fail("a")
    rig.now += 5000
    rig.tell(c.RetryRun())
    rig.wake()
    assert sorted(rig.executing) == ["a", "b"]


def test_a_waiting_node_waits_again_with_the_rest_of_its_time() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "w": {"type": "signal", "name": "go", "us": 100}}, "s>a s>w"))
    due = next_wake(rig.state)
    rig.fail("a")
    rig.tell(c.RetryRun())
    assert rig.phase("w") == "signal"
    assert next_wake(rig.state) == due
    rig.signal("go")
    rig.complete("a")
    assert rig.state.final == "COMPLETED"
    assert rig.state.waiters == {}


def test_a_signal_that_came_while_the_run_wound_up_is_delivered_after_the_retry() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step", "w": {"type": "signal", "name": "go"}}, "s>a s>b s>w"))
    rig.fail("a")
    rig.signal("go", "kept")
    rig.stopped("b")
    rig.tell(c.RetryRun())
    assert sorted(rig.executing) == ["a", "b"]
    assert rig.state.signals == {}


def test_a_pause_between_attempts_is_cut_short() -> None:
    nodes = {"s": "start", "a": "step", "b": {"type": "step", "retry": {"attempts": 2, "initial": 60}}}
    rig = Rig(flow(nodes, "s>a s>b"))
    rig.fail("b", retryable=True)
    rig.fail("a")
    rig.tell(c.RetryRun())
    assert rig.executing == ["a", "b"]
    assert rig.state.timers == {}


def test_a_child_that_was_cancelled_is_started_anew() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "k": "call"}, "s>a s>k"))
    first = rig.live("k").child
    rig.fail("a")
    rig.tell(c.RetryRun())
    assert rig.phase("k") == "child"
    assert rig.live("k").child not in (first, None)


def test_a_child_that_was_left_alone_is_waited_for_again() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "k": {"type": "call", "close": "abandon"}}, "s>a s>k"))
    first = rig.live("k").child
    rig.fail("a")
    rig.tell(c.RetryRun())
    assert rig.live("k").child == first


def test_a_child_that_failed_is_started_anew() -> None:
    rig = Rig(flow({"s": "start", "k": "call"}, "s>k"))
    first = rig.live("k").child
    rig.child_ended("k", "FAILED")
    rig.tell(c.RetryRun())
    assert rig.live("k").child not in (first, None)


def test_a_wait_that_was_over_its_time_waits_again_from_the_beginning() -> None:
    rig = Rig(flow({"s": "start", "w": {"type": "signal", "name": "go", "us": 100}}, "s>w"))
    rig.wake()
    assert rig.state.final == "FAILED"
    rig.tell(c.RetryRun())
    assert rig.phase("w") == "signal"
    assert next_wake(rig.state) == rig.now + 100
    rig.signal("go")
    assert rig.state.final == "COMPLETED"


def test_a_loop_goes_on_with_the_iterations_that_it_had() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 3, "concurrency": 2},
        "a": {"type": "step", "parent": "l"},
        "e": "end",
    }
    rig = Rig(flow(nodes, "s>l l>e"))
    rig.complete("a", "zero", path="l.0")
    rig.fail("a", path="l.1")
    rig.stopped("a", path="l.2")
    rig.tell(c.RetryRun())
    assert rig.executing == ["a", "a"]
    rig.complete("a", "one", path="l.1")
    rig.complete("a", "two", path="l.2")
    assert rig.output == {"count": 3, "results": ["zero", "one", "two"]}


def test_a_node_that_could_not_be_evaluated_is_evaluated_again() -> None:
    rig = Rig(flow({"s": "start", "a": {"type": "expr", "expr": "input.x + 1"}}, "s>a"))
    assert rig.state.final == "FAILED"
    rig.tell(c.RetryRun())
    assert rig.state.final == "FAILED"
    assert [event.id for event in rig.of(e.ActivationFailed)] == [2, 2]


def test_a_run_that_has_been_compensated_cannot_be_retried() -> None:
    nodes = {"s": "start", "a": {"type": "step", "compensate": "u"}, "b": "step", "u": "step"}
    rig = Rig(flow(nodes, "s>a a>b"))
    rig.complete("a")
    rig.fail("b")
    rig.complete("u")
    with pytest.raises(IllegalCommand, match=r"a has been undone$") as refused:
        rig.tell(c.RetryRun())
    assert refused.value.remedy == "start it anew"
    assert rig.state.final == "FAILED"


def test_an_item_that_was_undone_long_before_does_not_forbid_a_retry() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 1, "on": "skip"},
        "a": {"type": "step", "compensate": "u", "parent": "l"},
        "b": {"type": "step", "parent": "l"},
        "u": "step",
        "z": "step",
    }
    rig = Rig(flow(nodes, "s>l l>z a>b"))
    rig.complete("a")
    rig.fail("b")
    rig.complete("u")
    rig.fail("z")
    rig.tell(c.RetryRun())
    assert rig.executing == ["z"]


def test_what_was_withdrawn_before_the_run_failed_is_not_taken_up_again() -> None:
    nodes = {"s": "start", "a": {"type": "step", "cancels": ["b"]}, "b": "step", "z": "step", "y": "step"}
    rig = Rig(flow(nodes, "s>a s>b s>z b>y"))
    rig.complete("a")
    rig.fail("z")
    rig.stopped("b")
    assert rig.state.final == "FAILED"
    rig.tell(c.RetryRun())
    assert rig.executing == ["z"]
    rig.complete("z")
    assert rig.state.final == "COMPLETED"


def test_a_loop_that_was_being_given_up_ends_after_the_retry() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 2, "concurrency": 2, "need": 1},
        "a": {"type": "step", "parent": "l"},
        "z": "step",
        "e": "end",
    }
    rig = Rig(flow(nodes, "s>l s>z l>e"))
    rig.complete("a", "enough", path="l.0")
    rig.fail("z")
    rig.stopped("a", path="l.1")
    assert rig.state.final == "FAILED"
    rig.tell(c.RetryRun())
    rig.complete("z")
    assert rig.state.final == "COMPLETED"
    assert rig.output == {"count": 1, "results": ["enough"]}


def test_a_loop_that_failed_itself_begins_anew() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 3, "concurrency": 2},
        "a": {"type": "step", "parent": "l"},
        "e": "end",
    }
    rig = Rig(flow(nodes, "s>l l>e"), limits=Limits(accumulator=100))
    rig.complete("a", "x" * 200, path="l.0")
    rig.stopped("a", path="l.1")
    assert rig.failure.code == "LIMIT_ACCUMULATOR"
    rig.tell(c.RetryRun())
    assert rig.executing == ["a", "a"]
    for index in (0, 1, 2):
        rig.complete("a", index, path=f"l.{index}")
    assert rig.output == {"count": 3, "results": [0, 1, 2]}
    assert list(rig.state.scopes) == [0]
    assert list(rig.state.body.scopes) == [0]


def test_a_run_that_was_over_its_time_gets_its_time_again() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"), limits=Limits(active_time=10 * SECOND))
    rig.tell(c.FireTimers(), after=10 * SECOND)
    rig.stopped("a")
    assert rig.state.final == "TIMED_OUT"
    rig.tell(c.RetryRun())
    assert rig.tell(c.FireTimers(), after=9 * SECOND) == []
    rig.complete("a")
    assert rig.state.final == "COMPLETED"
