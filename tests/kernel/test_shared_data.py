"""Shared data: written by whoever completes, in the order in which events are recorded."""

from __future__ import annotations

from typing import Any

from perdure.model import commands as c
from perdure.model import events as e
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig


def test_writes_of_parallel_steps_apply_in_the_order_in_which_they_complete() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step"}, "s>a s>b"))
    rig.complete("b", vars={"x": "b", "y": "b"})
    rig.complete("a", vars={"x": "a"})
    assert rig.state.body.vars == {"x": "a", "y": "b"}


def test_reports_of_one_turn_apply_in_the_order_in_which_they_were_handed_in() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step"}, "s>a s>b"))
    a, b = rig.live("a").id, rig.live("b").id
    rig.tell(c.Complete(b, 1, vars={"x": "b"}), c.Complete(a, 1, vars={"x": "a"}))
    assert rig.state.body.vars == {"x": "a"}


def test_inline_writes_apply_in_the_order_of_the_document() -> None:
    nodes = {"s": "start", "a": {"type": "set", "x": 1}, "b": {"type": "set", "x": 2}}
    assert Rig(flow(nodes, "s>a s>b")).state.body.vars == {"x": 2}
    assert Rig(flow(nodes, "s>b s>a")).state.body.vars == {"x": 1}


def test_a_report_that_comes_twice_writes_once() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step", "z": "step"}, "s>a s>b s>z"))
    a = rig.live("a").id
    rig.complete("a", vars={"x": "a"})
    rig.complete("b", vars={"x": "b"})
    rig.tell(c.Complete(a, 1, vars={"x": "a"}))
    assert rig.state.body.vars == {"x": "b"}


def test_iterations_write_to_the_same_data() -> None:
    nodes = {"s": "start", "l": {"type": "loop", "count": 2, "concurrency": 2}, "a": {"type": "step", "parent": "l"}}
    rig = Rig(flow(nodes, "s>l"))
    rig.complete("a", vars={"x": "l.1"}, path="l.1")
    rig.complete("a", vars={"x": "l.0"}, path="l.0")
    assert rig.state.body.vars == {"x": "l.0"}


def test_a_failed_attempt_writes_nothing() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step"}, "s>a a>b:error"))
    rig.fail("a")
    assert rig.state.body.vars == {}


def test_expressions_see_what_was_written_before() -> None:
    nodes = {"s": "start", "a": "step", "b": {"type": "expr", "expr": "vars.x + 1"}, "e": "end"}
    rig = Rig(flow(nodes, "s>a a>b b>e"))
    rig.complete("a", vars={"x": 41})
    assert rig.output == 42


def test_what_a_value_held_when_it_was_read_does_not_change_later() -> None:
    nodes = {
        "s": "start",
        "a": "step",
        "b": {"type": "expr", "expr": "vars"},
        "d": {"type": "set", "x": 2},
        "e": "step",
    }
    rig = Rig(flow(nodes, "s>a a>b b>d d>e"))
    rig.complete("a", vars={"x": 1})
    assert rig.state.body.scopes[0].outputs["b"] == {"x": 1}


def test_side_effects_are_recorded_once() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    rig.tell(c.RecordSideEffect("dice", 4))
    assert rig.tell(c.RecordSideEffect("dice", 6)) == []
    assert rig.state.side_effects == {"dice": 4}


def test_attributes_are_merged_and_null_removes() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    rig.tell(c.SetAttributes({"colour": "red", "size": 1}))
    rig.tell(c.SetAttributes({"size": None, "shape": "round"}))
    assert rig.state.attributes == {"colour": "red", "shape": "round"}


def test_messages_for_the_outside_stand_in_the_log() -> None:
    rig = Rig(flow({"s": "start", "m": {"type": "say", "kind": "paid"}}, "s>m"), input={"x": 1})
    (message,) = rig.of(e.MessagePublished)
    assert (message.type, message.payload) == ("paid", {"x": 1})


def test_numbers_of_any_size_survive_a_snapshot() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step"}, "s>a a>b"))
    numbers: list[Any] = [2**63, 2**64, -(2**70), 2**1000, 0.1, -0.0, 1e300]
    rig.complete("a", numbers, vars={"n": 2**65})
    assert rig.kernel.copy(rig.state).activations[3].input == numbers
