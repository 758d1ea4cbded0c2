"""Short ways to write the flows of these tests."""

from itertools import pairwise
from typing import Any

from perdure.testing.pure import PureRunner
from perdure.testing.pure_run import PureRun

Doc = dict[str, Any]


def row(*nodes: Doc, **rest: Any) -> Doc:
    """start, then the nodes one after the other (those with a parent are in its body, in a row of their own)."""
    all_nodes: list[Doc] = [{"id": "start", "type": "start"}, *nodes]
    edges = []
    for parent in dict.fromkeys(node.get("parent") for node in all_nodes):
        ids = [node["id"] for node in all_nodes if node.get("parent") == parent]
        edges += [{"source": a, "target": b} for a, b in pairwise(ids)]
    return {"nodes": all_nodes, "edges": edges, **rest}


def node(type: str, config: Any = None, id: str = "n", **rest: Any) -> Doc:
    return {"id": id, "type": type, "config": {} if config is None else config, **rest}


def given(value: Any, id: str = "given") -> Doc:
    """A step whose output is the value."""
    return {"id": id, "type": "python", "config": {"step": "give", "arguments": {"value": value}}}


def give(value: Any) -> Any:
    return value


def run(*nodes: Doc, input: Any = None, **options: Any) -> PureRun:
    """The run of these nodes in a row."""
    settings = options.pop("settings", {})
    signals = options.pop("signals", ())
    steps = {"give": give, **options.pop("steps", {})}
    return PureRunner(row(*nodes, settings=settings), steps=steps, restart=True, **options).run(input, signals=signals)


def output(*nodes: Doc, input: Any = None, **options: Any) -> Any:
    """The output of the run, which must complete."""
    result = run(*nodes, input=input, **options)
    assert result.status == "COMPLETED", result.failure
    return result.output


def failure(*nodes: Doc, input: Any = None, **options: Any) -> Any:
    """The failure of the run, which must fail."""
    result = run(*nodes, input=input, **options)
    assert result.status == "FAILED", (result.status, result.output)
    assert result.failure is not None
    return result.failure
