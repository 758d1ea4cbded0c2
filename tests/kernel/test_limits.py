"""What a run may use: up to the limit it goes well, one beyond it fails with the limit's own code."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from perdure.kernel.outlook import active_deadline
from perdure.model import commands as c
from perdure.model.events import Chunk, ParentLink
from perdure.model.policies import SECOND, Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig


def _chain(length: int) -> Any:
    nodes = {"s": "start"} | {f"n{i}": "pass" for i in range(length - 1)}
    ids = list(nodes)
    return flow(nodes, " ".join(f"{a}>{b}" for a, b in itertools.pairwise(ids)))


def test_activations() -> None:
    assert Rig(_chain(5), limits=Limits(activations=5)).state.final == "COMPLETED"
    rig = Rig(_chain(6), limits=Limits(activations=5))
    assert (rig.state.final, rig.failure.code, rig.failure.node) == ("FAILED", "LIMIT_ACTIVATIONS", "n4")


def test_activations_are_counted_over_all_generations() -> None:
    rig = Rig(flow({"s": "start", "g": "again"}, "s>g"), limits=Limits(activations=300), checked=False)
    while rig.state.final is None:
        rig.tell(c.Proceed())
    assert rig.failure.code == "LIMIT_ACTIVATIONS"


def _nested(depth: int) -> Any:
    nodes: dict[str, Any] = {"s": "start", "l1": {"type": "loop", "count": 1}}
    nodes |= {f"l{i}": {"type": "loop", "count": 1, "parent": f"l{i - 1}"} for i in range(2, depth + 1)}
    return flow(nodes, "s>l1")


def test_depth() -> None:
    assert Rig(_nested(5)).state.final == "COMPLETED"
    rig = Rig(_nested(6))
    assert (rig.failure.code, rig.failure.node) == ("LIMIT_DEPTH", "l6")


def _loop(**config: Any) -> Any:
    return flow({"s": "start", "l": {"type": "loop", **config}, "b": {"type": "pass", "parent": "l"}}, "s>l")


@pytest.mark.parametrize("config", [{"count": 4}, {"items": [0, 0, 0, 0]}])
def test_iterations(config: dict[str, Any]) -> None:
    assert Rig(_loop(**config), limits=Limits(iterations=4)).state.final == "COMPLETED"
    rig = Rig(_loop(**config), limits=Limits(iterations=3))
    assert (rig.failure.code, rig.failure.node) == ("LIMIT_ITERATIONS", "l")


def test_iterations_of_items_that_live_in_blobs() -> None:
    chunks = [Chunk("x", 2, 9), Chunk("y", 2, 9)]
    rig = Rig(_loop(chunks=[(each.blob, each.count, each.size) for each in chunks]), limits=Limits(iterations=3))
    assert rig.failure.code == "LIMIT_ITERATIONS"


def test_iterations_of_items_that_are_added_later() -> None:
    rig = Rig(_loop(items=[], add="more"), limits=Limits(iterations=3))
    rig.signal("more", [1, 2])
    rig.signal("more", [3])
    assert rig.state.final is None
    rig.signal("more", [4])
    assert rig.failure.code == "LIMIT_ITERATIONS"


def test_data() -> None:
    document = flow({"s": "start", "a": "step", "b": "step"}, "s>a a>b")
    rig = Rig(document, limits=Limits(data=1000))
    rig.complete("a", "x" * 398, size=400)
    rig.complete("b", "x" * 598, size=600)
    assert rig.state.final == "COMPLETED"
    rig = Rig(document, limits=Limits(data=1000))
    rig.complete("a", "x" * 398, size=400)
    rig.complete("b", "x" * 599, size=601)
    assert (rig.state.final, rig.failure.code) == ("FAILED", "LIMIT_DATA")


def test_data_of_inline_nodes() -> None:
    document = flow(
        {"s": "start", "a": {"type": "json", "data": "x" * 500}, "b": {"type": "json", "data": "x" * 500}}, "s>a a>b"
    )
    assert Rig(document, limits=Limits(data=1004)).state.final == "COMPLETED"
    assert Rig(document, limits=Limits(data=1003)).failure.code == "LIMIT_DATA"


def test_accumulator() -> None:
    nodes = {"s": "start", "l": {"type": "loop", "count": 2}, "b": {"type": "json", "data": "x" * 48, "parent": "l"}}
    document = flow(nodes, "s>l")
    assert Rig(document, limits=Limits(accumulator=102)).state.final == "COMPLETED"
    rig = Rig(document, limits=Limits(accumulator=101))
    assert (rig.failure.code, rig.failure.node) == ("LIMIT_ACCUMULATOR", "l")


def test_child_depth() -> None:
    document = flow({"s": "start", "k": "call"}, "s>k")
    assert Rig(document, parent=ParentLink("p", 1, 15)).phase("k") == "child"
    assert Rig(document, limits=Limits(child_depth=1)).phase("k") == "child"
    rig = Rig(document, parent=ParentLink("p", 1, 16))
    assert (rig.failure.code, rig.failure.node) == ("LIMIT_CHILD_DEPTH", "k")
    assert rig.last.effects == []


def test_max_errors() -> None:
    nodes: dict[str, Any] = {"s": "start"} | {f"a{i}": "step" for i in range(12)}
    edges = "s>a0 " + " ".join(f"a{i}>a{i + 1}:error" for i in range(11))
    rig = Rig(flow(nodes, edges))
    for i in range(10):
        rig.fail(f"a{i}")
        assert rig.executing == [f"a{i + 1}"]
    rig.fail("a10", code="LAST")
    assert (rig.failure.code, rig.failure.node) == ("TOO_MANY_ERRORS", "a10")
    assert rig.failure.details is not None
    assert rig.failure.details["last"]["code"] == "LAST"


def test_a_success_begins_the_count_of_errors_anew() -> None:
    nodes: dict[str, Any] = {"s": "start"} | {f"a{i}": "step" for i in range(5)}
    rig = Rig(flow(nodes, "s>a0 a0>a1:error a1>a2 a2>a3:error a3>a4:error"), limits=Limits(max_errors=2))
    rig.fail("a0")
    rig.complete("a1")
    rig.fail("a2")
    rig.fail("a3")
    assert rig.executing == ["a4"]


# -- active time -------------------------------------------------------------------------------------------------------


def _timed(nodes: dict[str, Any], edges: str, seconds: int = 10) -> Rig:
    return Rig(flow({"s": "start", **nodes}, edges), limits=Limits(active_time=seconds * SECOND))


def test_active_time() -> None:
    rig = _timed({"a": "step"}, "s>a")
    assert active_deadline(rig.state) == rig.now + 10 * SECOND
    assert rig.tell(c.FireTimers(), after=10 * SECOND - 1) == []
    rig.tell(c.FireTimers(), after=1)
    rig.stopped("a")
    assert (rig.state.final, rig.failure.code) == ("TIMED_OUT", "LIMIT_ACTIVE_TIME")


def test_active_time_is_the_union_of_what_executes_not_the_sum() -> None:
    rig = _timed({"a": "step", "b": "step", "d": "step"}, "s>a s>b a>d b>d")
    rig.now += 3 * SECOND
    rig.complete("a")
    rig.now += 3 * SECOND
    rig.complete("b")
    assert rig.state.active_total + rig.now - rig.state.active_since == 6 * SECOND
    assert active_deadline(rig.state) == rig.now + 4 * SECOND


@pytest.mark.parametrize(
    "node", [{"type": "sleep", "us": 3600 * SECOND}, {"type": "signal", "name": "go"}, {"type": "call"}]
)
def test_sleeping_and_waiting_is_no_active_time(node: dict[str, Any]) -> None:
    rig = _timed({"z": node, "a": "step"}, "s>z z>a")
    assert active_deadline(rig.state) is None
    rig.now += 3600 * SECOND
    rig.tell(c.FireTimers())
    if node["type"] == "signal":
        rig.signal("go")
    elif node["type"] == "call":
        rig.child_ended("z")
    assert rig.executing == ["a"]
    assert active_deadline(rig.state) == rig.now + 10 * SECOND


def test_the_pause_between_attempts_is_no_active_time() -> None:
    rig = _timed({"a": {"type": "step", "retry": {"attempts": 2, "initial": 3600, "maximum": 3600}}}, "s>a")
    rig.now += SECOND
    rig.fail("a", retryable=True)
    rig.wake()
    assert active_deadline(rig.state) == rig.now + 9 * SECOND


def test_suspended_time_is_no_active_time_once_nothing_executes() -> None:
    rig = _timed({"a": "step", "b": "step"}, "s>a a>b")
    rig.tell(c.Suspend())
    rig.complete("a")
    rig.now += 3600 * SECOND
    rig.tell(c.Resume())
    assert active_deadline(rig.state) == rig.now + 10 * SECOND


def test_time_that_was_used_is_not_given_back() -> None:
    rig = _timed({"a": "step", "z": {"type": "sleep", "us": 5}, "b": "step"}, "s>a a>z z>b")
    rig.now += 6 * SECOND
    rig.complete("a")
    rig.wake()
    assert active_deadline(rig.state) == rig.now + 4 * SECOND


def test_winding_up_is_not_cut_short_by_the_limit() -> None:
    nodes = {"a": {"type": "step", "compensate": "u"}, "b": "step", "u": "step"}
    rig = _timed(nodes, "s>a a>b")
    rig.complete("a")
    rig.fail("b")
    rig.tell(c.FireTimers(), after=3600 * SECOND)
    rig.complete("u")
    assert rig.state.final == "FAILED"
