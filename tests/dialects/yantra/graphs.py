"""Short ways to write graphs as Yantra's editor does."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from perdure.dialects.yantra import Yantra
from perdure.model.events import NodeEvaluated
from perdure.model.problems import Problem
from perdure.nodes.catalogue import builtin_types
from perdure.testing.pure import PureRunner
from perdure.testing.pure_run import PureRun

Doc = dict[str, Any]
CATALOGUE = builtin_types()


def node(type: str, config: Any = None, id: str | None = None, **rest: Any) -> Doc:
    return {
        "id": id or f"{type}-1",
        "type": type,
        "position": {"x": 1, "y": 2},
        "data": {"config": config or {}},
        **rest,
    }


def edge(source: str, target: str, **rest: Any) -> Doc:
    return {"id": f"{source}-{target}", "source": source, "target": target, **rest}


def graph(nodes: list[Doc], edges: list[Doc], **rest: Any) -> Doc:
    return {"name": "A graph", "nodes": nodes, "edges": edges, **rest}


def row(*nodes: Doc, **rest: Any) -> Doc:
    """start, the nodes one after the other, end."""
    every = [node("start"), *nodes, node("end")]
    return graph(every, [edge(a["id"], b["id"]) for a, b in pairwise(every)], **rest)


def gathering(body: list[Doc], edges: list[Doc], config: Any = None, *, given: Any = None) -> Doc:
    """start, a json node, a loop-accumulator with this body, end."""
    data = given if given is not None else [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "c"}]
    nodes = [node("start"), node("json", {"data": data}), node("loop-accumulator", config, "loop"), *body, node("end")]
    around = [
        edge("start-1", "json-1"),
        edge("json-1", "loop", targetHandle="input"),
        edge("loop", "end-1", sourceHandle="output"),
    ]
    return graph(nodes, [*around, *edges])


def problems(document: Any) -> list[Problem]:
    return Yantra().validate(document, CATALOGUE)


def told(document: Any) -> list[tuple[str, str]]:
    """Code and pointer of every mistake."""
    return [(each.code, each.pointer) for each in problems(document) if each.is_error]


def run(document: Doc, input: Any = None, **options: Any) -> PureRun:
    return PureRunner(document, restart=True, **options).run(input)


def output(document: Doc, input: Any = None, **options: Any) -> Any:
    """The output of the run, which must complete."""
    found = run(document, input, **options)
    assert found.status == "COMPLETED", found.failure
    return found.output


def outputs(found: PureRun, id: str) -> list[Any]:
    """What a node has given, each time, in order."""
    return [event.output for event in found.events if isinstance(event, NodeEvaluated) and event.node == id]
