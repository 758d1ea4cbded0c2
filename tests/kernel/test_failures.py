"""Where a failure goes: the node's own edge, the scopes around it, the document's failure node, the run."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.model import events as e
from perdure.model.policies import Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig


def _rig(edges: str, **more: Any) -> Rig:
    settings = more.pop("settings", {})
    nodes = {"s": "start", "a": "step", "ok": "step", "err": "step", "late": "step", **more}
    return Rig(flow(nodes, edges, **settings))


def test_an_error_edge_is_taken_by_a_failure_and_dead_otherwise() -> None:
    rig = _rig("s>a a>ok a>err:error")
    rig.fail("a", code="BROKEN")
    assert rig.executing == ["err"]
    assert rig.skipped == ["ok"]
    assert rig.live("err").input["error"]["code"] == "BROKEN"
    rig = _rig("s>a a>ok a>err:error")
    rig.complete("a")
    assert rig.executing == ["ok"]
    assert rig.skipped == ["err"]


def test_what_the_error_edge_carries_says_what_failed_and_what_there_was() -> None:
    from perdure.model import commands as c
    from perdure.model.failures import Failure

    rig = _rig("s>a a>err:error")
    rig.tell(c.Fail(rig.live("a").id, 1, Failure("BROKEN", "half done"), {"half": 1}))
    told = rig.live("err").input
    assert (told["node"], told["output"], told["error"]["message"]) == ("a", {"half": 1}, "half done")


def test_a_timeout_prefers_the_timeout_edge() -> None:
    rig = _rig("s>a a>err:error a>late:timeout")
    rig.fail("a", code="TIMEOUT")
    assert rig.executing == ["late"]


def test_a_timeout_takes_the_error_edge_where_there_is_no_other() -> None:
    rig = _rig("s>a a>err:error")
    rig.fail("a", code="TIMEOUT")
    assert rig.executing == ["err"]


def test_another_failure_does_not_take_the_timeout_edge() -> None:
    rig = _rig("s>a a>late:timeout")
    rig.fail("a")
    assert rig.state.final == "FAILED"


def test_the_condition_of_an_error_edge_decides_whether_it_takes_care() -> None:
    when = {"a>err": "data.error.code == 'MINE'"}
    rig = _rig("s>a a>err:error", settings={"whens": when})
    rig.fail("a", code="MINE")
    assert rig.executing == ["err"]
    rig = _rig("s>a a>err:error", settings={"whens": when})
    rig.fail("a", code="OTHER")
    assert (rig.state.final, rig.failure.code) == ("FAILED", "OTHER")


def test_of_several_error_edges_those_are_taken_whose_condition_holds() -> None:
    when = {"a>err": "data.error.code == 'MINE'", "a>late": "data.error.code == 'YOURS'"}
    rig = _rig("s>a a>err:error a>late:error", settings={"whens": when})
    rig.fail("a", code="YOURS")
    assert rig.executing == ["late"]
    assert "err" in rig.skipped


def test_a_failure_of_a_condition_fails_its_node() -> None:
    rig = _rig("s>a a>ok a>err:error", settings={"whens": {"a>ok": "data.x > 1"}})
    rig.complete("a", {"x": "no number"})
    assert rig.executing == ["err"]


def test_a_nodes_own_condition_that_cannot_be_evaluated_fails_the_node() -> None:
    rig = _rig("s>a s>c c>err:error", c={"type": "step", "condition": "input.x > 1"})
    assert sorted(rig.executing) == ["a", "err"]


def test_an_inline_node_that_fails_takes_its_error_edge() -> None:
    rig = _rig("s>f f>ok f>err:error", f="refuse")
    assert rig.executing == ["err"]
    assert rig.of(e.ActivationFailed)[0].failure.code == "REFUSED"


# -- the document's failure node ---------------------------------------------------------------------------------------


def test_a_failure_without_an_edge_leads_to_the_failure_node() -> None:
    rig = _rig("s>a a>ok", f="step", z="step", settings={"on_failure": "f"})
    rig.fail("a", code="BROKEN")
    assert rig.executing == ["f"]
    assert rig.live("f").input["error"]["code"] == "BROKEN"
    assert "ok" in rig.skipped
    rig.complete("f", "handled")
    assert rig.state.final == "COMPLETED"


def test_what_follows_the_failure_node_runs_after_it() -> None:
    rig = _rig("s>a f>z", f="step", z="step", settings={"on_failure": "f"})
    rig.fail("a")
    rig.complete("f")
    assert rig.executing == ["z"]


def test_an_error_edge_comes_before_the_failure_node() -> None:
    rig = _rig("s>a a>err:error", f="step", settings={"on_failure": "f"})
    rig.fail("a")
    assert rig.executing == ["err"]


def test_a_failure_behind_the_failure_node_fails_the_run() -> None:
    rig = _rig("s>a f>z", f="step", z="step", settings={"on_failure": "f"})
    rig.fail("a")
    rig.complete("f")
    rig.fail("z", code="SECOND")
    assert rig.failure.code == "SECOND"


def test_the_failure_node_does_not_run_when_nothing_fails() -> None:
    rig = _rig("s>a", f="step", settings={"on_failure": "f"})
    rig.complete("a")
    assert rig.state.final == "COMPLETED"
    assert "f" not in rig.begun


def test_two_failures_run_the_failure_node_twice() -> None:
    rig = _rig("s>a s>b", b="step", f="step", settings={"on_failure": "f"})
    rig.fail("a")
    rig.fail("b")
    assert rig.executing == ["f", "f"]


def test_an_outcome_that_is_called_failure_is_an_outcome_like_any_other() -> None:
    from perdure.model import commands as c

    rig = _rig("s>a a>ok:failure a>late", f="step", settings={"on_failure": "f"})
    rig.tell(c.Complete(rig.live("a").id, 1, None, "failure"))
    assert sorted(rig.executing) == ["late", "ok"]
    rig = _rig("s>a a>ok:failure a>late", f="step", settings={"on_failure": "f"})
    rig.fail("a")
    assert rig.executing == ["f"]


def test_errors_that_the_failure_node_takes_care_of_count_too() -> None:
    nodes: dict[str, Any] = {"s": "start", "f": "step"} | {f"a{i}": "step" for i in range(3)}
    rig = Rig(flow(nodes, "s>a0 s>a1 s>a2", on_failure="f"), limits=Limits(max_errors=2))
    rig.fail("a0")
    rig.fail("a1")
    rig.fail("a2")
    assert rig.failure.code == "TOO_MANY_ERRORS"


# -- loops -------------------------------------------------------------------------------------------------------------


def _loop(on: str = "fail", edges: str = "", **settings: Any) -> Rig:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 3, "concurrency": 2, "on": on},
        "a": {"type": "step", "parent": "l"},
        "b": {"type": "step", "parent": "l"},
        "e": "end",
        "err": "step",
    }
    return Rig(flow(nodes, f"s>l l>e a>b {edges}", **settings))


def test_a_failed_item_fails_the_loop_and_the_run() -> None:
    rig = _loop()
    rig.fail("a", path="l.0")
    rig.stopped("a", path="l.1")
    assert (rig.state.final, rig.failure.code, rig.failure.node) == ("FAILED", "BROKEN", "a")


def test_a_failed_item_takes_the_error_edge_of_its_loop_once_the_others_have_stopped() -> None:
    rig = _loop(edges="l>err:error")
    rig.fail("a", path="l.0")
    assert rig.executing == []
    rig.stopped("a", path="l.1")
    assert rig.executing == ["err"]
    assert rig.live("err").input["error"]["code"] == "BROKEN"
    assert list(rig.state.scopes) == [0]


def test_a_failed_item_leads_to_the_failure_node_if_the_loop_has_no_edge() -> None:
    rig = _loop(on_failure="err")
    rig.fail("a", path="l.0")
    rig.stopped("a", path="l.1")
    assert rig.executing == ["err"]


@pytest.mark.parametrize(("on", "results"), [("skip", [1, 2]), ("null", [None, 1, 2])])
def test_a_loop_may_go_on_without_a_failed_item(on: str, results: list[Any]) -> None:
    rig = _loop(on)
    rig.fail("a", path="l.0")
    for index in (1, 2):
        rig.complete("a", path=f"l.{index}")
        rig.complete("b", index, path=f"l.{index}")
    assert rig.output == {"count": 2, "failed": 1, "results": results}


def test_an_error_edge_inside_the_body_takes_care_before_the_loop_hears_of_it() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 1},
        "a": {"type": "step", "parent": "l"},
        "b": {"type": "step", "parent": "l"},
    }
    rig = Rig(flow(nodes, "s>l a>b:error"))
    rig.fail("a")
    assert rig.executing == ["b"]


def test_a_failure_bubbles_through_loops_that_do_not_take_care_of_it() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 2, "on": "null"},
        "m": {"type": "loop", "count": 2, "concurrency": 2, "parent": "l"},
        "a": {"type": "step", "parent": "m"},
        "e": "end",
    }
    rig = Rig(flow(nodes, "s>l l>e"))
    rig.fail("a", path="l.0/m.0")
    rig.stopped("a", path="l.0/m.1")
    for index in (0, 1):
        rig.complete("a", index, path=f"l.1/m.{index}")
    assert rig.output == {"count": 1, "failed": 1, "results": [None, {"count": 2, "results": [0, 1]}]}


def test_a_loop_with_items_still_to_begin_can_be_given_up() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 2, "on": "skip"},
        "b": {"type": "step", "parent": "l"},
        "m": {"type": "loop", "count": 600, "concurrency": 600, "parent": "l"},
        "a": {"type": "step", "parent": "m"},
    }
    rig = Rig(flow(nodes, "s>l"), checked=False)
    rig.fail("b", path="l.0")
    for id in [each.id for each in rig.state.activations.values() if each.phase == "cancelling"]:
        from perdure.model import commands as c

        rig.tell(c.CancelDone(id))
    assert rig.live("b").scope != 0
