"""A turn computes only so much: what is left goes on in the next, so that a lease is looked after in between."""

from __future__ import annotations

import itertools
from typing import Any

from perdure.kernel.turn import TURN_WORK
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.effects import Continue
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig

HEAVY = "len([sum(range(400)) for i in range(500)])"
"""Costs more than 600,000 units of work."""
NODES_A_TURN = TURN_WORK // 600_000 + 1


def _chain(length: int, **more: Any) -> Any:
    nodes = {"s": "start"} | {f"n{i}": {"type": "expr", "expr": HEAVY, **more} for i in range(length)}
    return flow(nodes, " ".join(f"{a}>{b}" for a, b in itertools.pairwise(nodes)))


def _to_the_end(rig: Rig) -> list[int]:
    """How many nodes were evaluated in each turn."""
    turns = [_evaluated(rig)]
    while Continue() in rig.last.effects:
        rig.tell(c.Proceed())
        turns.append(_evaluated(rig))
    return turns


def _evaluated(rig: Rig) -> int:
    return sum(isinstance(event, e.NodeEvaluated) and event.node != "s" for event in rig.last.events)


def test_expensive_nodes_are_spread_over_several_turns() -> None:
    rig = Rig(_chain(20))
    turns = _to_the_end(rig)
    assert rig.state.final == "COMPLETED"
    assert sum(turns) == 20
    assert len(turns) >= 3
    assert max(turns) <= NODES_A_TURN


def test_cheap_nodes_share_a_turn() -> None:
    nodes = {"s": "start"} | {f"n{i}": {"type": "expr", "expr": "1 + 1"} for i in range(200)}
    rig = Rig(flow(nodes, " ".join(f"{a}>{b}" for a, b in itertools.pairwise(nodes))))
    assert _to_the_end(rig) == [200]


def test_conditions_of_edges_count() -> None:
    nodes: dict[str, Any] = {"s": "start"} | {f"n{i}": "pass" for i in range(20)}
    pairs = [f"{a}>{b}" for a, b in itertools.pairwise(nodes)]
    rig = Rig(flow(nodes, " ".join(pairs), whens=dict.fromkeys(pairs, f"{HEAVY} > 0")))
    turns = _to_the_end(rig)
    assert rig.state.final == "COMPLETED"
    assert max(turns) <= NODES_A_TURN


def test_a_node_whose_edges_cost_too_much_together_fails() -> None:
    nodes: dict[str, Any] = {"s": "start"} | {f"n{i}": "pass" for i in range(30)}
    pairs = [f"s>n{i}" for i in range(30)]
    rig = Rig(flow(nodes, " ".join(pairs), whens=dict.fromkeys(pairs, f"{HEAVY} > 0")))
    assert (rig.state.final, rig.failure.code, rig.failure.node) == ("FAILED", "EXPRESSION_LIMIT", "s")


def test_iterations_of_a_loop_are_spread_over_several_turns() -> None:
    nodes: dict[str, Any] = {
        "s": "start",
        "l": {"type": "loop", "count": 20},
        "b": {"type": "expr", "expr": HEAVY, "parent": "l"},
    }
    rig = Rig(flow(nodes, "s>l"))
    turns = _to_the_end(rig)
    assert rig.state.final == "COMPLETED"
    assert sum(turns) == 20
    assert max(turns) <= NODES_A_TURN


def test_timers_that_are_due_together_wait_for_one_another() -> None:
    nodes: dict[str, Any] = {"s": "start"} | {f"z{i}": {"type": "sleep", "us": 5} for i in range(20)}
    nodes |= {f"n{i}": "pass" for i in range(20)}
    edges = " ".join(f"s>z{i} z{i}>n{i}" for i in range(20))
    rig = Rig(flow(nodes, edges, whens={f"z{i}>n{i}": f"{HEAVY} > 0" for i in range(20)}))
    turns = 0
    while rig.state.final is None:
        rig.now += 5
        rig.tell(c.FireTimers())
        fired = sum(isinstance(event, e.TimerFired) for event in rig.last.events)
        assert fired <= NODES_A_TURN
        turns += 1
    assert rig.state.final == "COMPLETED"
    assert turns >= 3
