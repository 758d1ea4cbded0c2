"""A worker died: what it was executing is delivered again, within limits, or not at all where that is forbidden."""

from __future__ import annotations

import pytest

from perdure.model import commands as c
from perdure.model import effects as fx
from perdure.model import events as e
from perdure.model.policies import SECOND, Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig, kinds


def _rig(limits: Limits = Limits(), **node: object) -> Rig:  # noqa: B008 — a frozen value
    return Rig(flow({"s": "start", "a": {"type": "step", **node}, "e": "end"}, "s>a a>e"), limits=limits)


def test_what_was_executing_is_delivered_again_as_the_same_attempt() -> None:
    rig = _rig()
    key = rig.state.activation_key(rig.live("a"))
    assert kinds(rig.tell(c.TakeOver())) == ["ActivationsRedelivered"]
    a = rig.live("a")
    assert (a.attempt, a.deliveries) == (1, 2)
    assert rig.state.activation_key(a) == key
    assert rig.outstanding() == {("Execute", a.id, str(fx.Execute(a.id)))}


def test_a_worker_that_handed_over_counts_no_delivery() -> None:
    rig = _rig()
    assert rig.tell(c.TakeOver(died=False)) == []
    assert rig.live("a").deliveries == 1


def test_what_only_waits_counts_no_delivery() -> None:
    rig = Rig(flow({"s": "start", "z": {"type": "sleep", "us": 50}}, "s>z"))
    assert rig.tell(c.TakeOver()) == []


def test_an_activation_is_set_aside_after_three_deaths() -> None:
    rig = _rig()
    for _ in range(2):
        rig.tell(c.TakeOver())
        assert rig.state.final is None
    rig.tell(c.TakeOver())
    assert rig.state.final == "FAILED"
    assert rig.failure.code == "WORKER_DIED"
    assert rig.failure.details == {"deliveries": 3}


def test_deaths_do_not_use_up_attempts() -> None:
    rig = _rig(retry={"attempts": 2, "initial": 1})
    rig.tell(c.TakeOver())
    rig.tell(c.TakeOver())
    rig.fail("a", retryable=True)
    assert rig.phase("a") == "retrying"


def test_the_number_of_deaths_is_a_limit() -> None:
    rig = _rig(Limits(deliveries=1))
    rig.tell(c.TakeOver())
    assert rig.failure.code == "WORKER_DIED"


def test_a_poisonous_activation_follows_its_error_edge() -> None:
    nodes = {"s": "start", "a": "step", "b": "step"}
    rig = Rig(flow(nodes, "s>a a>b:error"), limits=Limits(deliveries=1))
    rig.tell(c.TakeOver())
    assert rig.executing == ["b"]


def test_a_node_that_may_run_only_once_fails_instead_of_being_repeated() -> None:
    rig = _rig(at_most_once=True)
    rig.tell(c.TakeOver())
    assert rig.failure.code == "OUTCOME_UNKNOWN"
    assert rig.state.final == "FAILED"


@pytest.mark.parametrize("code", ["OUTCOME_UNKNOWN", "TIMEOUT"])
def test_a_node_that_may_run_only_once_is_not_tried_again_after_an_unknown_outcome(code: str) -> None:
    retry = {"attempts": 3, "initial": 1}
    rig = Rig(flow({"s": "start", "a": {"type": "step", "at_most_once": True, "retry": retry}}, "s>a"))
    rig.fail("a", code, retryable=True)
    assert (rig.state.final, rig.failure.code) == ("FAILED", code)
    rig = Rig(flow({"s": "start", "a": {"type": "step", "retry": retry}}, "s>a"))
    rig.fail("a", code, retryable=True)
    assert rig.state.final is None


def test_a_run_of_before_tries_again_as_it_did() -> None:
    retry = {"attempts": 3, "initial": 1}
    rig = Rig(flow({"s": "start", "a": {"type": "step", "at_most_once": True, "retry": retry}}, "s>a"), started=False)
    rig.kernel.program.semantics = 2
    rig.tell(rig.begin)
    rig.fail("a", "TIMEOUT", retryable=True)
    assert rig.state.final is None


def test_others_are_not_disturbed_when_one_may_run_only_once() -> None:
    nodes = {"s": "start", "a": {"type": "step", "at_most_once": True}, "b": "step", "f": "step"}
    rig = Rig(flow(nodes, "s>a s>b a>f:error"))
    rig.tell(c.TakeOver())
    assert rig.executing == ["b", "f"]
    assert rig.live("b").deliveries == 2


def test_an_unknown_outcome_is_compensated() -> None:
    nodes = {"s": "start", "a": {"type": "step", "at_most_once": True, "compensate": "u"}, "u": "step"}
    rig = Rig(flow(nodes, "s>a"))
    rig.tell(c.TakeOver())
    assert rig.executing == ["u"]
    assert rig.live("u").input["output"] is None
    rig.complete("u")
    assert rig.state.final == "FAILED"


def test_a_handler_that_was_told_to_stop_is_told_again() -> None:
    rig = _rig()
    rig.tell(c.Cancel())
    rig.tell(c.TakeOver())
    assert {mark[0] for mark in rig.outstanding()} == {"StopHandler"}


def test_a_compensation_is_delivered_again_too() -> None:
    nodes = {"s": "start", "a": {"type": "step", "compensate": "u"}, "b": "step", "u": "step"}
    rig = Rig(flow(nodes, "s>a a>b"), limits=Limits(deliveries=1))
    rig.complete("a")
    rig.fail("b")
    rig.tell(c.TakeOver())
    assert rig.state.final == "FAILED"
    assert rig.of(e.CompensationEnded)[0].failed == [2]


def test_the_time_in_which_nobody_owned_the_run_is_no_active_time() -> None:
    rig = _rig()
    alive_until = rig.now + 10 * SECOND
    rig.tell(c.TakeOver(alive_until=alive_until), after=3600 * SECOND)
    rig.tell(c.Complete(rig.live("a").id, 1), after=5 * SECOND)
    assert rig.state.active_total == 15 * SECOND


def test_a_take_over_that_does_not_say_until_when_counts_all_of_it() -> None:
    rig = _rig()
    rig.tell(c.TakeOver(), after=60 * SECOND)
    rig.complete("a")
    assert rig.state.active_total == 60 * SECOND


def test_a_moment_before_the_activation_began_takes_away_no_more_than_there_was() -> None:
    rig = _rig()
    rig.tell(c.TakeOver(alive_until=0), after=60 * SECOND)
    rig.complete("a")
    assert rig.state.active_total == 0
