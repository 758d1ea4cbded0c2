"""What could not be undone is seen: in the failure of the run, in its explanation, in the refusal of a retry."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.errors import IllegalCommand
from perdure.kernel.program import SEMANTICS
from perdure.kernel.scopes import MOST_NOT_UNDONE
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.policies import SECOND, Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig


def undoable(undo: str, **rest: Any) -> dict[str, Any]:
    return {"type": "step", "compensate": undo, **rest}


def _failing(limits: Limits | None = None, semantics: int = SEMANTICS, **settings: Any) -> Rig:
    """a and b are done and are to be undone, b first."""
    nodes = {"s": "start", "a": undoable("ua"), "b": undoable("ub"), "c": "step", "ua": "step", "ub": "step"}
    rig = Rig(flow(nodes, "s>a a>b b>c", **settings), limits=limits or Limits(), started=False)
    rig.kernel.program.semantics = semantics
    rig.tell(rig.begin)
    rig.complete("a")
    rig.complete("b")
    return rig


def _compensation(rig: Rig) -> Any:
    return (rig.failure.details or {}).get("compensation")


def _texts(rig: Rig) -> list[str]:
    return [reason.text for reason in rig.reasons]


def test_the_failure_of_the_run_says_what_was_undone_and_what_could_not_be() -> None:
    rig = _failing(compensation="best_effort")
    rig.fail("c", code="CAUSE")
    rig.fail("ub", code="REFUND_REFUSED")
    rig.complete("ua")
    why = rig.of(e.ActivationFailed)[-1].failure.message
    failed = {"node": "b", "key": "r/b/1", "code": "REFUND_REFUSED", "message": why}
    assert rig.failure.code == "CAUSE"
    assert _compensation(rig) == {"undone": ["a"], "failed": [failed]}
    assert rig.of(e.RunFailed)[0].failure == rig.failure
    assert _texts(rig) == [f"b could not be undone: REFUND_REFUSED: {why}"]


def test_what_nobody_tried_to_undo_after_a_failure_is_named_too() -> None:
    rig = _failing()
    rig.fail("c")
    rig.fail("ub")
    told = _compensation(rig)
    assert (told["undone"], [each["node"] for each in told["failed"]], told["untried"]) == ([], ["b"], ["a"])


def test_a_run_that_was_undone_says_so_and_one_that_had_nothing_to_undo_says_nothing() -> None:
    rig = _failing()
    rig.fail("c")
    rig.complete("ub")
    rig.complete("ua")
    assert _compensation(rig) == {"undone": ["b", "a"], "failed": []}
    assert rig.reasons == []
    plain = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    plain.fail("a")
    assert _compensation(plain) is None


def test_a_run_that_is_over_its_time_says_it_as_well() -> None:
    rig = _failing(Limits(active_time=SECOND))
    rig.tell(c.FireTimers(), after=SECOND)
    rig.stopped("c")
    rig.fail("ub")
    assert rig.state.final == "TIMED_OUT"
    assert [each["node"] for each in _compensation(rig)["failed"]] == ["b"]


def test_a_run_that_was_cancelled_has_a_failure_only_if_something_could_not_be_undone() -> None:
    for fails in (False, True):
        undone = undoable("u", compensate_on_cancel=True)
        rig = Rig(flow({"s": "start", "a": undone, "b": "step", "u": "step"}, "s>a a>b"))
        rig.complete("a")
        rig.tell(c.Cancel("enough"))
        rig.stopped("b")
        rig.fail("u") if fails else rig.complete("u")
        assert rig.state.final == "CANCELLED"
        assert rig.state.closing is not None
        failure = rig.state.closing.failure
        if fails:
            assert failure is not None
            assert (failure.code, failure.message) == ("CANCELLED", "enough")
            assert [each["node"] for each in _compensation(rig)["failed"]] == ["a"]
        else:
            assert failure is None


def test_an_item_that_could_not_be_undone_is_seen_although_the_run_completes() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 1, "on": "skip"},
        "a": undoable("u", parent="l"),
        "b": {"type": "step", "parent": "l"},
        "u": "step",
    }
    rig = Rig(flow(nodes, "s>l a>b"))
    rig.complete("a")
    rig.fail("b")
    rig.fail("u", code="STUCK")
    assert rig.state.final == "COMPLETED"
    (reason,) = rig.reasons
    assert (reason.kind, reason.node, reason.subject) == ("not undone", "a", "r/a/l.0/1")
    assert "STUCK" in reason.text


def test_a_loop_that_can_undo_nothing_does_not_fill_the_state() -> None:
    items = MOST_NOT_UNDONE + 5
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": items, "on": "skip"},
        "a": undoable("u", parent="l"),
        "b": {"type": "step", "parent": "l"},
        "u": "step",
        "z": "step",
    }
    rig = Rig(flow(nodes, "s>l l>z a>b"))
    for _ in range(items):
        rig.complete("a")
        rig.fail("b")
        rig.fail("u")
    rig.fail("z")
    assert len(_compensation(rig)["failed"]) == MOST_NOT_UNDONE
    assert _compensation(rig)["failed_in_all"] == items


def test_the_refusal_of_a_retry_says_what_was_undone_and_what_could_not_be() -> None:
    half = _failing(compensation="best_effort")
    half.fail("c")
    half.fail("ub")
    half.complete("ua")
    none = _failing()
    none.fail("c")
    none.fail("ub")
    said = {half: "a has been undone and undoing b was begun and failed", none: "undoing b was begun and failed"}
    for rig, why in said.items():
        with pytest.raises(IllegalCommand) as refused:
            rig.tell(c.RetryRun())
        assert refused.value.message == f"the run cannot be retried: {why}"
        assert refused.value.remedy == "start it anew"


def test_a_run_that_began_before_keeps_its_failure_as_it_was() -> None:
    rig = _failing(semantics=1)
    rig.fail("c")
    rig.fail("ub")
    assert rig.failure.details is None
    assert _texts(rig)[0].startswith("b could not be undone: ")
