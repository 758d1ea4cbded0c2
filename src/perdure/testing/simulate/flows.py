"""What is simulated: flows that use every way in which a run can move, and what each must come to.

Steps act on the simulated world (they write down their key), take some time, and fail or not as the seed says, so what
a run must come to is known beforehand whatever happens to its workers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Plot:
    """A flow, and what a run with input n must come to."""

    document: dict[str, Any]
    status: Callable[[int], str]
    output: Callable[[int], Any] | None
    effects: Callable[[int], int]
    """How many different keys its steps (children's not counted) show to the world."""
    signals: tuple[str, ...] = ()
    ticks: int = 0
    """Signals without an id that it is sent before the others."""
    messages: int = 0
    is_cancelled: bool = False


def _step(id: str, does: str = "add", **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "python", "config": {"step": does, "arguments": {"n": "${input}"}}, **more}


def _flow(id: str, nodes: list[dict[str, Any]], *edges: str, **settings: Any) -> dict[str, Any]:
    parts = [edge.split() for edge in edges]
    return {
        "id": id,
        "nodes": [{"id": "start", "type": "start"}, *nodes],
        "edges": [
            {"source": part[0], "target": part[1], **({"outcome": part[2]} if len(part) > 2 else {})} for part in parts
        ],
        "settings": settings,
    }


def _always(status: str) -> Callable[[int], str]:
    return lambda n: status


PATIENT = {"retry": {"attempts": 60, "initial": 0.2, "multiplier": 1.2, "maximum": 5, "jitter": 0.5}}

PLOTS = {
    "chain": Plot(
        _flow("chain", [_step("a"), _step("b", "flaky", **PATIENT), _step("c")], "start a", "a b", "b c"),
        _always("COMPLETED"),
        lambda n: n + 1,
        lambda n: 3,
    ),
    "choice": Plot(
        _flow(
            "choice",
            [
                {"id": "if", "type": "conditional", "config": {"condition": "${input % 2 == 0}"}},
                _step("even"),
                _step("odd"),
                _step("also"),
                _step("join"),
            ],
            "start if",
            "start also",
            "if even true",
            "if odd false",
            "even join",
            "odd join",
            "also join",
        ),
        _always("COMPLETED"),
        lambda n: n + 1,
        lambda n: 3,
    ),
    "loop": Plot(
        _flow(
            "loop",
            [
                {"id": "each", "type": "loop", "config": {"items": "${[1, 2, 3]}", "concurrency": 2}},
                {"id": "nap", "type": "delay", "parent": "each", "config": {"duration": 700}},
                _step("work", "flaky", parent="each", **PATIENT),
            ],
            "start each",
            "nap work",
        ),
        _always("COMPLETED"),
        lambda n: {"count": 3, "results": [n + 1] * 3},
        lambda n: 3,
    ),
    "sleeper": Plot(
        _flow(
            "sleeper",
            [
                _step("a"),
                {"id": "nap", "type": "sleep", "config": {"duration": "20s"}},
                {"id": "tell", "type": "publish", "config": {"type": "woken", "payload": {"n": "${input}"}}},
                _step("b"),
            ],
            "start a",
            "a nap",
            "nap tell",
            "tell b",
        ),
        _always("COMPLETED"),
        lambda n: n + 1,
        lambda n: 2,
        messages=1,
    ),
    "asker": Plot(
        _flow(
            "asker",
            [
                {"id": "ask", "type": "wait-for-signal", "config": {"name": "one"}},
                _step("a"),
                {"id": "ask2", "type": "wait-for-signal", "config": {"name": "two"}},
                _step("b"),
            ],
            "start ask",
            "ask a",
            "a ask2",
            "ask2 b",
        ),
        _always("COMPLETED"),
        lambda n: n + 1,
        lambda n: 2,
        signals=("two", "one"),
    ),
    "teller": Plot(
        _flow(
            "teller",
            [
                {"id": "one", "type": "publish", "config": {"type": "told", "payload": 1}},
                _step("a"),
                {"id": "two", "type": "publish", "config": {"type": "told", "payload": 2}},
                {"id": "three", "type": "publish", "config": {"type": "told", "payload": 3}},
                _step("b"),
            ],
            "start one",
            "one a",
            "a two",
            "two three",
            "three b",
        ),
        _always("COMPLETED"),
        lambda n: n + 1,
        lambda n: 2,
        messages=3,
    ),
    "counter": Plot(
        _flow(
            "counter",
            [
                {"id": "first", "type": "wait-for-signal", "config": {"name": "tick"}},
                _step("a"),
                {"id": "second", "type": "wait-for-signal", "config": {"name": "tick"}},
                {"id": "enough", "type": "wait-for-signal", "config": {"name": "stop"}},
                _step("b"),
            ],
            "start first",
            "first a",
            "a second",
            "second enough",
            "enough b",
        ),
        _always("COMPLETED"),
        lambda n: n + 1,
        lambda n: 2,
        ticks=2,
        signals=("stop",),
    ),
    "deadline": Plot(
        _flow(
            "deadline",
            [
                {"id": "ask", "type": "wait-for-signal", "config": {"name": "never", "timeout": "6s"}},
                _step("yes"),
                _step("no"),
                _step("beside", "slow"),
            ],
            "start ask",
            "start beside",
            "ask yes",
            "ask no timeout",
        ),
        _always("COMPLETED"),
        None,
        lambda n: 2,
    ),
    "clerk": Plot(
        _flow(
            "clerk",
            [
                {
                    "id": "ask",
                    "type": "approval",
                    "config": {
                        "title": "May ${input} pass?",
                        "deadline": "15s",
                        "reminder": {"after": "4s"},
                        "escalation": {"after": "9s"},
                    },
                },
                _step("remind"),
                _step("boss", "slow"),
                _step("yes"),
                _step("late"),
            ],
            "start ask",
            "ask remind reminder",
            "ask boss escalation",
            "ask yes approved",
            "ask late timeout",
        ),
        _always("COMPLETED"),
        None,
        lambda n: 3,
    ),
    "parent": Plot(
        _flow(
            "parent",
            [
                {"id": "call", "type": "sub-flow", "config": {"definition": "chain", "input": "${input}"}},
                {"id": "call2", "type": "sub-flow", "config": {"definition": "saga", "input": "${input * 2 + 1}"}},
                _step("rescue"),
                _step("last"),
            ],
            "start call",
            "call call2",
            "call2 last",
            "call2 rescue error",
        ),
        _always("COMPLETED"),
        lambda n: n + 1,
        lambda n: 1,
    ),
    "saga": Plot(
        _flow(
            "saga",
            [
                _step("a", compensate="undo-a"),
                _step("b", compensate="undo-b"),
                _step("c", "picky"),
                _step("undo-a", "undo"),
                _step("undo-b", "undo"),
            ],
            "start a",
            "a b",
            "b c",
            compensation="best_effort",
        ),
        lambda n: "FAILED" if n % 2 else "COMPLETED",
        None,
        lambda n: 5 if n % 2 else 3,
    ),
    "quitter": Plot(
        _flow(
            "quitter",
            [_step("a", "slow"), {"id": "wait", "type": "wait-for-signal", "config": {"name": "never"}}],
            "start a",
            "a wait",
        ),
        _always("CANCELLED"),
        None,
        lambda n: 0,
        is_cancelled=True,
    ),
}
