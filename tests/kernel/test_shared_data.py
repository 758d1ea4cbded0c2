"""Shared data: written by whoever completes, in the order in which events are recorded."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

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


def _read(*expressions: str) -> Rig:
    """Nodes a, b, c evaluate these one after the other, with a step k in between; all see {"n": 5} as input."""
    nodes: dict[str, Any] = {"s": "start", "a": {"type": "expr", "expr": expressions[0]}, "k": "step"}
    nodes |= {id: {"type": "expr", "expr": each} for id, each in zip("bcd", expressions[1:], strict=False)}
    ids = list(nodes)
    edges = " ".join(f"{x}>{y}" for x, y in itertools.pairwise([*ids, "e"]))
    rig = Rig(flow(nodes | {"e": "end"}, edges), input={"n": 5})
    rig.complete("k", {"m": 6})
    return rig


@pytest.mark.parametrize("whole", ["nodes", "_global"])
def test_all_outputs_can_be_read_as_a_whole_and_stay_what_they_were(whole: str) -> None:
    rig = _read(whole, "nodes.a.output")
    seen = rig.output
    assert seen == ({"s": {"output": {"n": 5}}} if whole == "nodes" else {"n": 5, "s": {"n": 5}})
    assert type(seen) is dict


def test_an_output_that_is_not_there_has_a_substitute_and_one_that_is_there_has_none() -> None:
    assert _read("1", "nodes.s.output.n ?? 9").output == 5
    assert _read("1", "nodes.nobody.output.n ?? 9").output == 9
    assert _read("1", "_global.k.m ?? 9").output == 6
    assert _read("1", "_global.n ?? 9").output == 5


def test_an_output_can_be_named_by_a_value() -> None:
    assert _read("'s'", "nodes[nodes.a.output].output.n").output == 5


def test_what_a_loop_has_gathered_does_not_change_for_those_who_have_read_it() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 2, "concurrency": 2, "gather": "sofar"},
        "x": {"type": "expr", "expr": "sofar", "parent": "l"},
        "k": {"type": "step", "parent": "l"},
        "y": {"type": "expr", "expr": "[len(nodes.x.output), len(sofar)]", "parent": "l"},
        "e": "end",
    }
    rig = Rig(flow(nodes, "s>l x>k k>y l>e"))
    rig.complete("k", path="l.0")
    rig.complete("k", path="l.1")
    assert rig.output["results"] == [[0, 0], [0, 1]]


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
