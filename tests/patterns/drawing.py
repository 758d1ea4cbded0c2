"""Small flows drawn in a line or two, for the corners that no pattern document has room for.

    draw({"a": STEP, "b": STEP | {"mutex": "m"}}, "start>a>end start>b>end")

`start` and `end` need not be listed. What is no field of a node is its configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from perdure.model import commands as c
from perdure.model.documents import NodeDoc
from perdure.testing.pure import SECOND, PureRunner
from tests.patterns.harness import StandIn, Story

STEP: dict[str, Any] = {"type": "python"}
ALWAYS = ("start", "end")
OWN_WORDS = {"conditional": ("condition",), "wait-for-signal": ("timeout",)}
"""Words that are fields of every node and also of these types' configurations."""


def draw(nodes: Mapping[str, Mapping[str, Any]], edges: str, **settings: Any) -> dict[str, Any]:
    lines = [_edge(text) for path in edges.split() for text in _pairs(path)]
    used = {name for line in lines for name in (line["source"], line["target"])}
    given = {**{name: {"type": name} for name in ALWAYS if name in used}, **nodes}
    return {"nodes": [_node(id, dict(node)) for id, node in given.items()], "edges": lines, "settings": settings}


def _node(id: str, given: dict[str, Any]) -> dict[str, Any]:
    of_config = OWN_WORDS.get(given["type"], ())
    fields = {name: given.pop(name) for name in list(given) if name in NodeDoc.model_fields and name not in of_config}
    if fields["type"] == "python":
        given.setdefault("step", id)
    return {"id": id, **fields, "config": given}


def _pairs(path: str) -> list[str]:
    """`a>b>c:true*3` is `a>b` and `b>c:true*3`."""
    names = path.split(">")
    return [f"{one.split(':')[0]}>{other}" for one, other in pairwise(names)]


def _edge(text: str) -> dict[str, Any]:
    path, _, tokens = text.partition("*")
    path, _, outcome = path.partition(":")
    source, _, target = path.partition(">")
    return {"source": source, "target": target, "outcome": outcome or None, "tokens": int(tokens or 1)}


class _Stubborn(PureRunner):
    """Steps that take so many seconds to stop, by node."""

    slow: Mapping[str, float] = {}

    def _plan(self, at: int, target: str, command: c.Command) -> None:
        if isinstance(command, c.CancelDone):
            activation = self.runs[target].state.activations.get(command.activation)
            if activation is not None:
                at += round(self.slow.get(activation.node, 0) * SECOND)
        super()._plan(at, target, command)


def play(
    document: dict[str, Any],
    steps: Mapping[str, Any] | None = None,
    *,
    input: Any = None,
    signals: Any = (),
    slow: Mapping[str, float] | None = None,
    **runner: Any,
) -> Story:
    """Runs the flow. A step is told how long it takes, or all that a `StandIn` can be told."""
    told = {name: each if isinstance(each, dict) else {"seconds": each} for name, each in (steps or {}).items()}
    names = {node["config"]["step"] for node in document["nodes"] if node["type"] == "python"}
    stage = _Stubborn(document, steps={name: StandIn(told.get(name, {}), None) for name in names}, **runner)
    stage.slow = slow or {}
    return Story(stage.run(input, signals=signals))
