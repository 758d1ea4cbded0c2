"""Runs started by runs: waited for or not, failed, given up, and told about."""

from __future__ import annotations

import pytest

from perdure.model import commands as c
from perdure.model import effects as fx
from perdure.model import events as e
from perdure.model.events import ParentLink
from perdure.model.failures import Failure
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig, kinds


def _parent(**node: object) -> Rig:
    return Rig(flow({"s": "start", "k": {"type": "call", **node}, "e": "end"}, "s>k k>e"), input={"x": 1})


def test_a_child_is_asked_for_with_the_input_of_its_node() -> None:
    rig = _parent()
    (effect,) = rig.last.effects
    assert isinstance(effect, fx.StartChild)
    assert (effect.definition, effect.input) == ("sub", {"x": 1})
    assert effect.run == rig.live("k").child


def test_a_child_that_completes_gives_its_output_to_its_node() -> None:
    rig = _parent()
    rig.child_ended("k", output={"y": 2})
    assert rig.output == {"y": 2}


def test_a_parent_that_waits_takes_no_notice_of_the_start() -> None:
    rig = _parent()
    assert rig.child_ended("k", "STARTED") == []
    assert rig.phase("k") == "child"


def test_a_parent_that_does_not_wait_goes_on_when_the_child_exists() -> None:
    rig = _parent(wait=False)
    run = rig.live("k").child
    rig.child_ended("k", "STARTED")
    assert rig.output == {"run": run}


@pytest.mark.parametrize("status", ["FAILED", "TIMED_OUT", "CANCELLED"])
def test_a_child_that_does_not_complete_fails_its_node(status: str) -> None:
    rig = _parent()
    run = rig.live("k").child
    rig.child_ended("k", status)
    assert rig.failure.code == "CHILD_FAILED"
    assert rig.failure.details is not None
    assert rig.failure.details["run"] == run
    assert rig.failure.details["status"] == status


def test_the_failure_of_a_child_says_which_run_which_node_and_why() -> None:
    rig = _parent()
    run = rig.live("k").child
    cause = Failure("CARD_DECLINED", "no money", node="pay", details={"balance": 0})
    rig.child_ended("k", "FAILED", failure=cause)
    assert rig.failure.message == f"child flow 'sub' (run {run}) failed at node 'pay': CARD_DECLINED: no money"
    assert rig.failure.details == {"run": run, "definition": "sub", "status": "FAILED", "failure": cause.as_dict()}


@pytest.mark.parametrize(
    ("status", "failure", "said"),
    [
        ("FAILED", None, "failed"),
        ("FAILED", Failure("NOT_FOUND", "there is no such flow"), "failed: NOT_FOUND: there is no such flow"),
        ("TIMED_OUT", Failure("LIMIT_ACTIVE_TIME", "30 s", node="a"), "timed out at node 'a': LIMIT_ACTIVE_TIME: 30 s"),
        ("CANCELLED", None, "was cancelled"),
    ],
)
def test_what_is_not_known_of_a_childs_end_is_not_said(status: str, failure: Failure | None, said: str) -> None:
    rig = _parent()
    run = rig.live("k").child
    rig.child_ended("k", status, failure=failure)
    assert rig.failure.message == f"child flow 'sub' (run {run}) {said}"


def test_through_several_generations_the_innermost_cause_is_said_and_the_chain_is_kept() -> None:
    failure, runs = Failure("CARD_DECLINED", "no money", node="pay"), []
    for _ in range(3):
        rig = _parent()
        runs.append(rig.live("k").child)
        rig.child_ended("k", "FAILED", failure=failure)
        failure = rig.failure
    assert failure.message == (
        f"child flow 'sub' (run {runs[2]}) failed at node 'k': child flow 'sub' (run {runs[1]}) failed at node 'k': "
        f"child flow 'sub' (run {runs[0]}) failed at node 'pay': CARD_DECLINED: no money"
    )
    chain, codes = failure.as_dict(), []
    while chain:
        codes.append((chain["code"], chain["node"]))
        chain = (chain.get("details") or {}).get("failure")
    assert codes == [("CHILD_FAILED", "k")] * 3 + [("CARD_DECLINED", "pay")]


def test_a_long_chain_is_cut_in_the_middle_and_never_at_the_cause() -> None:
    failure = Failure("CARD_DECLINED", "no money", node="pay")
    for _ in range(40):
        rig = _parent()
        run = rig.live("k").child
        rig.child_ended("k", "FAILED", failure=failure)
        failure = rig.failure
        assert len(failure.message) < 1_500
    assert failure.message.startswith(f"child flow 'sub' (run {run}) failed at node 'k': …")
    assert failure.message.endswith("failed at node 'pay': CARD_DECLINED: no money")


def test_a_run_that_began_under_older_rules_words_the_failure_of_a_child_as_it_did() -> None:
    rig = Rig(flow({"s": "start", "k": "call"}, "s>k"), started=False)
    rig.kernel.program.semantics = 1
    rig.tell(rig.begin)
    run = rig.live("k").child
    rig.child_ended("k", "FAILED", failure=Failure("CARD_DECLINED", "no money", node="pay"))
    assert rig.failure.message == f"the child run {run} ended as FAILED"


def test_a_failed_child_is_tried_again_as_another_run() -> None:
    rig = _parent(retry={"attempts": 2, "initial": 1})
    first = rig.live("k").child
    rig.child_ended("k", "FAILED")
    assert rig.phase("k") == "retrying"
    rig.wake()
    second = rig.live("k").child
    assert second is not None
    assert second != first
    rig.child_ended("k", output="done")
    assert rig.output == "done"


def test_a_cancelled_child_is_not_tried_again() -> None:
    rig = _parent(retry={"attempts": 2, "initial": 1})
    rig.child_ended("k", "CANCELLED")
    assert rig.state.final == "FAILED"


def test_the_end_of_another_child_changes_nothing() -> None:
    rig = _parent()
    assert rig.tell(c.ChildEnded(rig.live("k").id, "somebody-else", "COMPLETED")) == []


def test_the_end_of_a_child_counts_once() -> None:
    nodes = {"s": "start", "k": "call", "a": "step"}
    rig = Rig(flow(nodes, "s>k k>a"))
    id, run = rig.live("k").id, rig.live("k").child
    assert run is not None
    rig.child_ended("k")
    assert rig.tell(c.ChildEnded(id, run, "COMPLETED")) == []
    assert rig.tell(c.ChildEnded(id, run, "FAILED")) == []


def test_a_parent_that_is_cancelled_cancels_its_child() -> None:
    rig = _parent()
    run = rig.live("k").child
    rig.tell(c.Cancel("enough"))
    assert rig.state.final == "CANCELLED"
    ((target, command),) = rig.last.sends
    assert target == run
    assert isinstance(command, c.Cancel)
    assert "enough" in (command.reason or "")


def test_a_parent_that_fails_cancels_its_child() -> None:
    rig = Rig(flow({"s": "start", "k": "call", "a": "step"}, "s>k s>a"))
    run = rig.live("k").child
    rig.fail("a")
    assert [target for target, _ in rig.last.sends] == [run]


def test_an_abandoned_child_is_left_alone() -> None:
    rig = _parent(close="abandon")
    rig.tell(c.Cancel())
    assert rig.state.final == "CANCELLED"
    assert rig.last.sends == []


def test_a_child_that_ended_already_is_not_cancelled() -> None:
    rig = Rig(flow({"s": "start", "k": "call", "a": "step"}, "s>k s>a"))
    rig.child_ended("k")
    rig.tell(c.Cancel())
    assert rig.last.sends == []


@pytest.mark.parametrize(
    ("end", "status"),
    [(lambda rig: rig.complete("a", 7), "COMPLETED"), (lambda rig: rig.fail("a"), "FAILED")],
)
def test_a_child_tells_its_parent_how_it_ended(end: object, status: str) -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"), parent=ParentLink("p", 4))
    assert rig.last.sends == []
    end(rig)  # type: ignore[operator]
    ((target, command),) = rig.last.sends
    assert target == "p"
    assert isinstance(command, c.ChildEnded)
    assert (command.activation, command.run, command.status) == (4, "r", status)
    if status == "COMPLETED":
        assert command.output == 7
    else:
        assert command.failure == rig.failure


def test_a_child_tells_its_parent_only_once() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"), parent=ParentLink("p", 4))
    id = rig.live("a").id
    rig.complete("a")
    rig.tell(c.Complete(id, 1))
    assert rig.last.sends == []


def test_starting_the_same_child_twice_is_starting_it_once() -> None:
    first, second = _parent(), _parent()
    assert first.live("k").child == second.live("k").child


def test_children_of_different_visits_are_different_runs() -> None:
    nodes = {"s": "start", "l": {"type": "loop", "count": 2, "concurrency": 2}, "k": {"type": "call", "parent": "l"}}
    rig = Rig(flow(nodes, "s>l"))
    runs = [each.child for each in rig.state.activations.values() if each.child]
    assert len(set(runs)) == 2


def test_the_log_says_which_child_was_asked_for_and_how_it_ended() -> None:
    rig = _parent()
    rig.child_ended("k", output=1)
    assert "ChildRequested" in kinds(rig.events)
    (closed,) = rig.of(e.ChildClosed)
    assert (closed.status, closed.output) == ("COMPLETED", 1)
