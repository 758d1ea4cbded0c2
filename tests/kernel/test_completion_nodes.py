"""Completion nodes run after everything else, whatever the end was, and cannot change it."""

from __future__ import annotations

import pytest

from perdure.model import commands as c
from perdure.model import events as e
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig


def _rig(**after: object) -> Rig:
    nodes = {"s": "start", "a": "step", "e": "end", "n": {"type": "step", **after}, "m": "step"}
    return Rig(flow(nodes, "s>a a>e", after=["n", "m"]))


def test_they_run_one_after_the_other_when_the_run_has_completed() -> None:
    rig = _rig()
    rig.complete("a", "result")
    assert rig.state.final is None
    assert rig.executing == ["n"]
    assert rig.live("n").input == {"status": "COMPLETED", "output": "result", "error": None}
    rig.complete("n", "ignored")
    assert rig.executing == ["m"]
    rig.complete("m")
    assert (rig.state.final, rig.output) == ("COMPLETED", "result")


def test_they_run_when_the_run_has_failed() -> None:
    rig = _rig()
    rig.fail("a", code="BROKEN")
    assert rig.live("n").input["status"] == "FAILED"
    assert rig.live("n").input["error"]["code"] == "BROKEN"
    rig.complete("n")
    rig.complete("m")
    assert rig.state.final == "FAILED"


def test_they_run_when_the_run_was_cancelled_after_everything_has_stopped() -> None:
    rig = _rig()
    rig.tell(c.Cancel())
    assert rig.executing == []
    rig.stopped("a")
    assert rig.executing == ["n"]
    rig.complete("n")
    rig.complete("m")
    assert rig.state.final == "CANCELLED"


def test_they_run_after_the_compensation() -> None:
    nodes = {"s": "start", "a": {"type": "step", "compensate": "u"}, "b": "step", "u": "step", "n": "step"}
    rig = Rig(flow(nodes, "s>a a>b", after=["n"]))
    rig.complete("a")
    rig.fail("b")
    assert rig.executing == ["u"]
    rig.complete("u")
    assert rig.executing == ["n"]


@pytest.mark.parametrize("retryable", [False, True])
def test_one_that_fails_changes_nothing_about_the_result(retryable: bool) -> None:
    rig = _rig(retry={"attempts": 2, "initial": 1})
    rig.complete("a", "result")
    rig.fail("n", retryable=retryable)
    if retryable:
        rig.wake()
        rig.fail("n", retryable=True)
    rig.complete("m")
    assert (rig.state.final, rig.output) == ("COMPLETED", "result")


def test_inline_ones_are_over_in_the_same_turn() -> None:
    rig = Rig(flow({"s": "start", "n": "json"}, "s>n", after=["n"]))
    assert rig.state.final == "COMPLETED"
    rig = Rig(flow({"s": "start", "n": "json", "m": "refuse"}, "", after=["n", "m"]))
    assert rig.state.final == "COMPLETED"
    assert rig.begun == ["s", "n", "m"]


def test_one_may_sleep() -> None:
    rig = Rig(flow({"s": "start", "n": {"type": "sleep", "us": 50}}, "", after=["n"]))
    assert rig.state.final is None
    rig.wake()
    assert rig.state.final == "COMPLETED"


def test_they_run_again_when_a_failed_run_was_retried() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "n": "step"}, "s>a", after=["n"]))
    rig.fail("a")
    rig.complete("n")
    rig.tell(c.RetryRun())
    rig.complete("a", "now")
    assert rig.live("n").input["status"] == "COMPLETED"
    rig.complete("n")
    assert rig.state.final == "COMPLETED"


def test_a_cancel_that_comes_while_they_run_is_too_late() -> None:
    rig = _rig()
    rig.complete("a", "result")
    assert rig.tell(c.Cancel()) == []
    rig.complete("n")
    rig.complete("m")
    assert rig.state.final == "COMPLETED"


def test_the_result_is_recorded_before_they_begin() -> None:
    rig = _rig()
    rig.complete("a", "result")
    assert rig.of(e.RunClosing)[0].output == "result"
    assert rig.of(e.RunCompleted) == []
