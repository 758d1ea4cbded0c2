"""What the fleet runs: small flows that move in every way, and what each must come to for an input n."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PATIENT = {"retry": {"attempts": 50, "initial": 0.1, "multiplier": 1.5, "maximum": 1, "jitter": 0.5}}


@dataclass(frozen=True)
class Plan:
    document: dict[str, Any]
    output: Any
    """Where it is a number: to be added to the input."""
    nodes: tuple[str, ...]
    """The keys that its own steps show to the world, without the run's id."""
    signals: tuple[str, ...] = ()


def _step(id: str, does: str = "add", **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "python", "config": {"step": does, "arguments": {"n": "${input}"}}, **more}


def _flow(id: str, nodes: list[dict[str, Any]], *edges: str) -> dict[str, Any]:
    pairs = [edge.split() for edge in edges]
    return {
        "id": id,
        "nodes": [{"id": "start", "type": "start"}, *nodes],
        "edges": [{"source": source, "target": target} for source, target in pairs],
    }


PLANS = {
    "chain": Plan(
        _flow("chain", [_step("a"), _step("b", "flaky", **PATIENT), _step("c", "block")], "start a", "a b", "b c"),
        1,
        ("a/1", "b/1", "c/1"),
    ),
    "sleeper": Plan(
        _flow(
            "sleeper",
            [_step("a"), {"id": "nap", "type": "sleep", "config": {"duration": "3s"}}, _step("b")],
            "start a",
            "a nap",
            "nap b",
        ),
        1,
        ("a/1", "b/1"),
    ),
    "asker": Plan(
        _flow(
            "asker",
            [
                {"id": "first", "type": "wait-for-signal", "config": {"name": "one"}},
                _step("a", "block"),
                {"id": "second", "type": "wait-for-signal", "config": {"name": "two"}},
                _step("b"),
            ],
            "start first",
            "first a",
            "a second",
            "second b",
        ),
        1,
        ("a/1", "b/1"),
        signals=("two", "one"),
    ),
    "loop": Plan(
        _flow(
            "loop",
            [
                {"id": "each", "type": "loop", "config": {"items": "${[1, 2, 3]}", "concurrency": 2}},
                _step("work", parent="each"),
            ],
            "start each",
        ),
        None,
        ("work/each.0/1", "work/each.1/1", "work/each.2/1"),
    ),
    "parent": Plan(
        _flow(
            "parent",
            [{"id": "call", "type": "sub-flow", "config": {"definition": "chain", "input": "${input}"}}, _step("last")],
            "start call",
            "call last",
        ),
        1,
        ("last/1",),
    ),
    "endless": Plan(_flow("endless", [_step("a", "endless")], "start a"), 1, ("a/1",)),
}
