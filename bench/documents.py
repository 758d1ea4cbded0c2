"""The flows that the benchmarks run. Every step is an effectful Python step: durable before the next begins."""

from __future__ import annotations

from typing import Any


def _flow(id: str, nodes: list[dict[str, Any]], edges: list[tuple[str, str]]) -> dict[str, Any]:
    return {
        "id": id,
        "nodes": [{"id": "start", "type": "start"}, *nodes],
        "edges": [{"source": source, "target": target} for source, target in edges],
    }


def _step(id: str) -> dict[str, Any]:
    return {"id": id, "type": "python", "config": {"step": "noop"}}


def chain(length: int) -> dict[str, Any]:
    """Steps one after another."""
    names = [f"s{number}" for number in range(length)]
    return _flow(f"chain-{length}", [_step(name) for name in names], list(zip(["start", *names], names, strict=False)))


def fan(width: int) -> dict[str, Any]:
    """Steps side by side."""
    names = [f"s{number}" for number in range(width)]
    return _flow(f"fan-{width}", [_step(name) for name in names], [("start", name) for name in names])


def sleeper() -> dict[str, Any]:
    """Sleeps until a given moment, then tells by how much it was late."""
    sleep = {"id": "sleep", "type": "sleep", "config": {"until": "${input.due}"}}
    late = {"id": "late", "type": "python", "config": {"step": "late", "arguments": {"due": "${input.due_seconds}"}}}
    return _flow("sleeper", [sleep, late], [("start", "sleep"), ("sleep", "late")])


def waiter() -> dict[str, Any]:
    """Waits for one signal and gives its payload back."""
    wait = {"id": "wait", "type": "wait-for-signal", "config": {"name": "go"}}
    return _flow("waiter", [wait], [("start", "wait")])


def sleeping() -> dict[str, Any]:
    """Sleeps until a given moment, and that is all."""
    sleep = {"id": "sleep", "type": "sleep", "config": {"until": "${input.until}"}}
    return _flow("sleeping", [sleep], [("start", "sleep")])


def loop_of(items: int) -> dict[str, Any]:
    """Runs over numbers and keeps what each iteration gives: a small object."""
    nodes = [
        {"id": "loop", "type": "loop", "config": {"range": {"stop": items}, "concurrency": 100}},
        {"id": "body", "type": "json", "parent": "loop", "config": {"data": {"n": "${index}", "twice": "${item * 2}"}}},
    ]
    return _flow(f"loop-{items}", nodes, [("start", "loop")])


def pipe(steps: int) -> dict[str, Any]:
    """The first step makes a payload, each other one reads all of it and writes it anew."""
    names = [f"s{number}" for number in range(steps)]
    nodes = [
        {"id": name, "type": "python", "config": {"step": "make" if number == 0 else "turn"}}
        for number, name in enumerate(names)
    ]
    return _flow(f"pipe-{steps}", nodes, list(zip(["start", *names], names, strict=False)))
