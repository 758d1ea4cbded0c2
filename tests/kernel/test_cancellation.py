"""Cancelling: what waits ends at once, what executes is told and waited for, and the result is fixed meanwhile."""

from __future__ import annotations

from perdure.model import commands as c
from perdure.model import effects as fx
from perdure.model import events as e
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig, kinds


def _two_steps() -> Rig:
    return Rig(flow({"s": "start", "a": "step", "b": "step", "z": "step"}, "s>a s>b a>z b>z"))


def test_a_cancelled_run_stops_its_handlers_and_waits_for_them() -> None:
    rig = _two_steps()
    rig.tell(c.Cancel("enough"))
    assert list(rig.last.effects) == [fx.StopHandler(2), fx.StopHandler(3)]
    assert rig.state.final is None
    rig.stopped("a")
    assert rig.state.final is None
    rig.stopped("b")
    assert rig.state.final == "CANCELLED"
    assert rig.of(e.RunCancelled)[0].reason == "enough"


def test_what_only_waits_is_withdrawn_at_once() -> None:
    nodes = {
        "s": "start",
        "w": {"type": "signal", "name": "go"},
        "z": {"type": "sleep", "us": 50},
        "k": "call",
        "l": {"type": "loop", "add": "more"},
    }
    rig = Rig(flow(nodes, "s>w s>z s>k s>l"))
    rig.tell(c.Cancel())
    assert rig.state.final == "CANCELLED"
    assert rig.last.effects == []


def test_an_activation_that_waits_for_its_next_attempt_is_withdrawn_at_once() -> None:
    rig = Rig(flow({"s": "start", "a": {"type": "step", "retry": {"attempts": 2}}}, "s>a"))
    rig.fail("a", retryable=True)
    rig.tell(c.Cancel())
    assert rig.state.final == "CANCELLED"


def test_a_handler_that_got_through_before_it_was_stopped_leaves_an_unknown_outcome() -> None:
    rig = _two_steps()
    rig.tell(c.Cancel())
    rig.complete("a", "too late")
    cancelled = rig.of(e.ActivationCancelled)
    assert [event.unknown for event in cancelled] == [True]
    rig.fail("b")
    assert rig.state.final == "CANCELLED"
    assert rig.begun == ["s", "a", "b"]


def test_a_second_cancel_changes_nothing() -> None:
    rig = _two_steps()
    rig.tell(c.Cancel("first"))
    assert rig.tell(c.Cancel("second")) == []
    assert rig.state.closing is not None
    assert rig.state.closing.reason == "first"


def test_the_answer_of_a_stopped_handler_counts_once() -> None:
    rig = _two_steps()
    rig.tell(c.Cancel())
    id = rig.live("a").id
    rig.stopped("a")
    assert rig.tell(c.CancelDone(id)) == []
    assert rig.tell(c.Complete(id, 1)) == []


def test_a_handler_that_was_not_told_to_stop_cannot_report_that_it_has() -> None:
    rig = _two_steps()
    assert rig.tell(c.CancelDone(rig.live("a").id)) == []
    assert rig.phase("a") == "executing"


def test_what_was_scheduled_by_the_very_turn_that_cancels_never_runs() -> None:
    rig = _two_steps()
    rig.tell(c.Complete(2, 1), c.Complete(3, 1), c.Cancel())
    assert rig.state.final == "CANCELLED"
    assert rig.last.effects == []
    assert rig.of(e.ActivationCancelled)[-1].unknown is False


def test_a_child_that_was_asked_for_by_the_very_turn_that_cancels_is_never_started() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "k": "call"}, "s>a a>k"))
    rig.tell(c.Complete(rig.live("a").id, 1), c.Cancel())
    assert rig.state.final == "CANCELLED"
    assert rig.last.effects == []


def test_an_end_node_that_terminates_withdraws_the_rest_and_completes() -> None:
    nodes = {"s": "start", "a": "step", "b": "step", "e": {"type": "end", "terminate": True}}
    rig = Rig(flow(nodes, "s>a s>b a>e"))
    rig.complete("a", "won")
    assert rig.state.closing is not None
    rig.stopped("b")
    assert (rig.state.final, rig.output) == ("COMPLETED", "won")


def test_a_region_is_withdrawn_when_the_node_that_cancels_it_completes() -> None:
    nodes = {"s": "start", "a": {"type": "step", "cancels": ["b", "z"]}, "b": "step", "z": "step", "o": "step"}
    rig = Rig(flow(nodes, "s>a s>b s>o b>z"))
    rig.complete("a")
    assert rig.phase("b") == "cancelling"
    rig.stopped("b")
    assert rig.executing == ["o"]
    assert "z" in rig.skipped


def test_a_region_that_has_not_begun_is_skipped() -> None:
    nodes = {
        "s": "start",
        "a": {"type": "step", "cancels": ["b"], "mutex": "m"},
        "b": {"type": "step", "mutex": "m"},
    }
    rig = Rig(flow(nodes, "s>a s>b"))
    assert rig.executing == ["a"]
    rig.complete("a")
    assert rig.state.final == "COMPLETED"
    assert rig.skipped == ["b"]


def test_a_withdrawn_loop_takes_its_iterations_with_it() -> None:
    nodes = {
        "s": "start",
        "a": {"type": "step", "cancels": ["l"]},
        "l": {"type": "loop", "count": 3, "concurrency": 2},
        "b": {"type": "step", "parent": "l"},
        "e": "end",
    }
    rig = Rig(flow(nodes, "s>a s>l l>e"))
    rig.complete("a")
    assert len(rig.last.effects) == 2
    rig.stopped("b", path="l.0")
    rig.stopped("b", path="l.1")
    assert rig.state.final == "COMPLETED"
    assert rig.skipped == ["e"]
    assert list(rig.state.scopes) == [0]


def test_nested_loops_are_withdrawn_with_the_loop_around_them() -> None:
    nodes = {
        "s": "start",
        "a": {"type": "step", "cancels": ["l"]},
        "l": {"type": "loop", "count": 2, "concurrency": 2},
        "m": {"type": "loop", "count": 2, "concurrency": 2, "parent": "l"},
        "b": {"type": "step", "parent": "m"},
        "z": "step",
    }
    rig = Rig(flow(nodes, "s>a s>l a>z"))
    rig.complete("a")
    for id in [each.id for each in rig.state.activations.values() if each.phase == "cancelling"]:
        rig.tell(c.CancelDone(id))
    assert [each.node for each in rig.state.activations.values()] == ["z"]
    assert list(rig.state.scopes) == [0]
    assert list(rig.state.body.scopes) == [0]
    assert rig.state.body.loops == {}


def test_cancelling_a_run_with_nothing_alive_ends_it_in_the_same_turn() -> None:
    rig = Rig(flow({"s": "start", "z": {"type": "sleep", "us": 50}}, "s>z"))
    assert kinds(rig.tell(c.Cancel())) == ["RunClosing", "ActivationCancelled", "RunCancelled"]
