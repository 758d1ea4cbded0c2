"""Undoing: what completed, and what may have completed, in reverse order of completion, one at a time."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.policies import SECOND, Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig


def undoable(undo: str, **rest: Any) -> dict[str, Any]:
    return {"type": "step", "compensate": undo, **rest}


def _saga(**settings: Any) -> Rig:
    """a and b in parallel, then c, which is to fail."""
    nodes = {"s": "start", "a": undoable("ua"), "b": undoable("ub"), "c": "step", "ua": "step", "ub": "step"}
    return Rig(flow(nodes, "s>a s>b a>c b>c", **settings))


def test_what_completed_last_is_undone_first() -> None:
    rig = _saga()
    rig.complete("b", "from b")
    rig.complete("a", "from a")
    rig.fail("c")
    assert rig.executing == ["ua"]
    rig.complete("ua")
    assert rig.executing == ["ub"]
    rig.complete("ub")
    assert rig.state.final == "FAILED"
    assert rig.of(e.CompensationStarted)[0].order == [2, 3]
    assert rig.of(e.CompensationEnded)[0].undone == [2, 3]


def test_an_undo_is_told_what_it_undoes() -> None:
    rig = Rig(flow({"s": "start", "a": undoable("u"), "b": "step", "u": "step"}, "s>a a>b"), input={"order": 7})
    key = rig.state.activation_key(rig.live("a"))
    rig.complete("a", {"paid": True})
    rig.fail("b")
    assert rig.live("u").input == {"node": "a", "key": key, "input": {"order": 7}, "output": {"paid": True}}


def test_the_key_of_an_undo_is_the_key_of_what_it_undoes_and_undo() -> None:
    rig = Rig(flow({"s": "start", "a": undoable("u"), "b": "step", "u": "step"}, "s>a a>b"))
    key = rig.state.activation_key(rig.live("a"))
    rig.complete("a")
    rig.fail("b")
    assert rig.state.activation_key(rig.live("u")) == f"{key}/undo"


def test_nothing_is_undone_where_nothing_is_declared() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step"}, "s>a a>b"))
    rig.complete("a")
    rig.fail("b")
    assert rig.of(e.CompensationStarted) == []


def test_the_node_that_failed_is_not_undone() -> None:
    rig = Rig(flow({"s": "start", "a": undoable("u"), "u": "step"}, "s>a"))
    rig.fail("a")
    assert rig.state.final == "FAILED"
    assert rig.begun == ["s", "a"]


@pytest.mark.parametrize("code", ["OUTCOME_UNKNOWN", "TIMEOUT"])
def test_a_node_that_failed_without_a_known_outcome_is_undone(code: str) -> None:
    rig = Rig(flow({"s": "start", "a": undoable("u"), "u": "step"}, "s>a"))
    rig.fail("a", code=code)
    assert rig.executing == ["u"]


def test_a_node_that_did_not_run_is_not_undone() -> None:
    nodes = {
        "s": "start",
        "a": undoable("ua"),
        "b": undoable("ub", condition="false"),
        "c": "step",
        "ua": "step",
        "ub": "step",
    }
    rig = Rig(flow(nodes, "s>a s>b a>c b>c"))
    rig.complete("a")
    rig.fail("c")
    rig.complete("ua")
    assert rig.state.final == "FAILED"


def test_everything_is_stopped_before_anything_is_undone() -> None:
    nodes = {"s": "start", "a": undoable("u"), "b": "step", "c": "step", "u": "step"}
    rig = Rig(flow(nodes, "s>a s>b s>c"))
    rig.complete("a")
    rig.fail("b")
    assert rig.executing == []
    rig.stopped("c")
    assert rig.executing == ["u"]


def test_what_got_through_before_it_could_be_stopped_is_undone_first() -> None:
    nodes = {"s": "start", "a": undoable("ua"), "b": "step", "c": undoable("uc"), "ua": "step", "uc": "step"}
    rig = Rig(flow(nodes, "s>a s>b s>c"))
    rig.complete("a")
    rig.fail("b")
    rig.complete("c", "too late")
    assert rig.executing == ["uc"]
    assert rig.live("uc").input["output"] is None
    rig.complete("uc")
    assert rig.executing == ["ua"]


def test_what_stopped_before_it_began_is_not_undone() -> None:
    nodes = {"s": "start", "b": "step", "c": undoable("uc"), "uc": "step"}
    rig = Rig(flow(nodes, "s>b s>c"))
    rig.fail("b")
    rig.stopped("c", unknown=False)
    assert rig.state.final == "FAILED"


def test_strict_stops_at_the_first_undo_that_fails() -> None:
    rig = _saga()
    rig.complete("a")
    rig.complete("b")
    rig.fail("c", code="CAUSE")
    rig.fail("ub", code="WORSE")
    assert rig.state.final == "FAILED"
    assert rig.failure.code == "CAUSE"
    ended = rig.of(e.CompensationEnded)[0]
    assert (ended.undone, ended.failed) == ([], [3])


def test_best_effort_goes_on_after_an_undo_that_fails() -> None:
    rig = _saga(compensation="best_effort")
    rig.complete("a")
    rig.complete("b")
    rig.fail("c")
    rig.fail("ub")
    rig.complete("ua")
    ended = rig.of(e.CompensationEnded)[0]
    assert (ended.undone, ended.failed) == ([2], [3])
    assert rig.state.final == "FAILED"


def test_skip_undoes_nothing() -> None:
    rig = _saga(compensation="skip")
    rig.complete("a")
    rig.complete("b")
    rig.fail("c")
    assert rig.state.final == "FAILED"


def test_an_undo_is_tried_again_by_its_own_policy() -> None:
    nodes = {
        "s": "start",
        "a": undoable("u"),
        "b": "step",
        "u": {"type": "step", "retry": {"attempts": 2, "initial": 1}},
    }
    rig = Rig(flow(nodes, "s>a a>b"))
    rig.complete("a")
    rig.fail("b")
    key = rig.state.activation_key(rig.live("u"))
    rig.fail("u", retryable=True)
    rig.wake()
    assert rig.state.activation_key(rig.live("u")) == key
    rig.complete("u")
    assert rig.of(e.CompensationEnded)[0].undone == [2]


def test_a_run_that_is_over_its_time_is_compensated() -> None:
    nodes = {"s": "start", "a": undoable("u"), "b": "step", "u": "step"}
    rig = Rig(flow(nodes, "s>a a>b"), limits=Limits(active_time=SECOND))
    rig.complete("a")
    rig.tell(c.FireTimers(), after=SECOND)
    rig.stopped("b")
    assert rig.executing == ["u"]
    rig.complete("u")
    assert rig.state.final == "TIMED_OUT"


def test_a_cancelled_run_undoes_only_what_declares_it() -> None:
    nodes = {
        "s": "start",
        "a": undoable("ua", compensate_on_cancel=True),
        "b": undoable("ub"),
        "c": "step",
        "ua": "step",
        "ub": "step",
    }
    rig = Rig(flow(nodes, "s>a s>b a>c b>c"))
    rig.complete("a")
    rig.complete("b")
    rig.tell(c.Cancel())
    rig.stopped("c")
    assert rig.executing == ["ua"]
    rig.complete("ua")
    assert rig.state.final == "CANCELLED"


def test_a_cancelled_run_undoes_nothing_where_nothing_declares_it() -> None:
    rig = _saga()
    rig.complete("a")
    rig.tell(c.Cancel())
    rig.stopped("b")
    assert rig.state.final == "CANCELLED"


def test_a_completed_run_undoes_nothing() -> None:
    rig = _saga()
    for node in ("a", "b", "c"):
        rig.complete(node)
    assert rig.state.final == "COMPLETED"


def test_a_child_that_completed_is_undone_like_a_step() -> None:
    nodes = {"s": "start", "k": {"type": "call", "compensate": "u"}, "b": "step", "u": "step"}
    rig = Rig(flow(nodes, "s>k k>b"))
    rig.child_ended("k", output={"booked": 1})
    rig.fail("b")
    assert rig.live("u").input["output"] == {"booked": 1}


# -- loops -------------------------------------------------------------------------------------------------------------


def _looping(**loop: Any) -> Rig:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 3, "concurrency": 3, **loop},
        "a": undoable("u", parent="l"),
        "b": {"type": "step", "parent": "l"},
        "x": "step",
        "u": "step",
        "e": "end",
    }
    return Rig(flow(nodes, "s>l s>x l>e a>b"))


def _undone(rig: Rig) -> list[str]:
    """Which keys are undone, in order; every undo succeeds."""
    order = []
    while "u" in rig.executing:
        order.append(rig.live("u").input["key"])
        rig.complete("u")
    return order


def test_what_completed_in_open_iterations_is_undone_when_the_run_fails() -> None:
    rig = _looping()
    rig.complete("a", path="l.1")
    rig.complete("a", path="l.0")
    rig.fail("x")
    for path in ("l.0", "l.1"):
        rig.stopped("b", path=path)
    rig.stopped("a", path="l.2")
    assert _undone(rig) == ["r/a/l.0/1", "r/a/l.1/1"]
    assert rig.state.final == "FAILED"


def test_iterations_are_undone_in_reverse_order_of_completion_not_of_their_index() -> None:
    rig = _looping()
    for path in ("l.2", "l.0", "l.1"):
        rig.complete("a", path=path)
        rig.complete("b", path=path)
    rig.fail("x")
    assert _undone(rig) == ["r/a/l.1/1", "r/a/l.0/1", "r/a/l.2/1"]


def test_an_item_that_is_skipped_undoes_its_own_iteration_and_no_other() -> None:
    rig = _looping(on="skip")
    rig.complete("a", path="l.0")
    rig.complete("a", path="l.1")
    rig.fail("b", path="l.0")
    assert _undone(rig) == ["r/a/l.0/1"]
    rig.complete("b", "fine", path="l.1")
    rig.complete("a", path="l.2")
    rig.complete("b", "fine", path="l.2")
    rig.complete("x")
    assert rig.state.final == "COMPLETED"
    assert rig.output == {"count": 2, "failed": 1, "results": ["fine", "fine"]}


def test_what_a_nested_loop_completed_is_undone_with_the_iteration_around_it() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 1, "on": "skip"},
        "m": {"type": "loop", "count": 2, "parent": "l"},
        "a": undoable("u", parent="m"),
        "b": {"type": "step", "parent": "l"},
        "u": "step",
    }
    rig = Rig(flow(nodes, "s>l m>b"))
    rig.complete("a")
    rig.complete("a")
    rig.fail("b")
    assert _undone(rig) == ["r/a/l.0/m.1/1", "r/a/l.0/m.0/1"]
    assert rig.state.final == "COMPLETED"


def test_what_an_open_nested_loop_completed_is_undone_with_the_iteration_around_it() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 1, "on": "skip"},
        "m": {"type": "loop", "count": 2, "parent": "l"},
        "a": undoable("u", parent="m"),
        "b": {"type": "step", "parent": "m"},
        "u": "step",
    }
    rig = Rig(flow(nodes, "s>l a>b"))
    rig.complete("a")
    rig.complete("b")
    rig.complete("a")
    rig.fail("b")
    assert _undone(rig) == ["r/a/l.0/m.1/1", "r/a/l.0/m.0/1"]
    assert rig.state.final == "COMPLETED"


def test_an_iteration_that_waits_for_its_turn_to_be_undone_is_not_forgotten_when_the_run_is_cancelled() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 2, "concurrency": 2, "on": "skip"},
        "a": undoable("u", parent="l", compensate_on_cancel=True),
        "b": {"type": "step", "parent": "l"},
        "u": "step",
    }
    rig = Rig(flow(nodes, "s>l a>b"))
    rig.complete("a", path="l.0")
    rig.complete("a", path="l.1")
    rig.fail("b", path="l.0")
    rig.fail("b", path="l.1")
    rig.tell(c.Cancel())
    assert _undone(rig) == ["r/a/l.0/1", "r/a/l.1/1"]
    assert rig.state.final == "CANCELLED"


def test_a_run_that_fails_while_an_iteration_is_being_undone_finishes_that_first() -> None:
    rig = _looping(on="skip")
    rig.complete("a", path="l.0")
    rig.complete("a", path="l.1")
    rig.fail("b", path="l.0")
    assert rig.live("u").input["key"] == "r/a/l.0/1"
    rig.fail("x")
    rig.stopped("b", path="l.1")
    rig.stopped("a", path="l.2")
    assert _undone(rig) == ["r/a/l.0/1", "r/a/l.1/1"]
    assert rig.state.final == "FAILED"


def test_a_run_that_is_cancelled_while_an_iteration_is_being_undone_finishes_that_first() -> None:
    rig = _looping(on="skip")
    rig.complete("a", path="l.0")
    rig.fail("b", path="l.0")
    rig.tell(c.Cancel())
    for node, path in (("a", "l.1"), ("a", "l.2"), ("x", "")):
        rig.stopped(node, path=path)
    assert rig.state.final is None
    assert _undone(rig) == ["r/a/l.0/1"]
    assert rig.state.final == "CANCELLED"


def test_a_loop_that_has_enough_waits_for_an_iteration_that_is_being_undone() -> None:
    rig = _looping(on="skip", need=1)
    rig.complete("x")
    rig.complete("a", path="l.0")
    rig.complete("a", path="l.1")
    rig.fail("b", path="l.0")
    rig.complete("b", "enough", path="l.1")
    rig.stopped("a", path="l.2")
    assert rig.state.final is None
    assert _undone(rig) == ["r/a/l.0/1"]
    assert rig.state.final == "COMPLETED"
    assert rig.output == {"count": 1, "results": ["enough"]}
