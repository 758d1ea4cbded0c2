"""Is a document one of Yantra's? Its graphs and ours look alike; these signs tell them apart.

A document that says its `kind` is believed. Otherwise what only ours has (a node's `parent`, an edge's `outcome`,
`settings` …) makes it ours, and what only Yantra's has (a node's `data`, an edge's handles or `condition`, edges of a
conditional that are told apart by their labels, a loop whose body is nowhere said, what its API
gives along with a graph) makes it Yantra's. A graph without
either is taken for Yantra's if all its nodes have a place in a picture and it has no id, as Yantra's files are.
"""

from __future__ import annotations

from typing import Any

from perdure.dialects.yantra.drawing import CONDITIONAL, LOOPS, TYPES, answer_of, graph_of

KIND = "yantra"
_OURS = frozenset({"settings", "input_schema"})
_OUR_NODES = frozenset(
    {
        "parent", "join", "condition", "retry", "timeout", "compensate", "compensate_on_cancel", "at_most_once",
        "mutex", "race", "cancels", "milestone", "queue", "missing", "comment",
    }
)  # fmt: skip
_OUR_EDGES = frozenset({"outcome", "when", "tokens"})
_THEIR_EDGES = frozenset({"sourceHandle", "targetHandle", "condition", "type", "animated", "markerEnd", "style"})
_OUR_CONFIGS = frozenset(
    {
        "items", "range", "item", "index", "concurrency", "on_item_failure", "accumulate", "accumulator", "results",
        "need", "enough", "array_path", "output", "terminate", "milliseconds", "until", "language", "source",
    }
)  # fmt: skip
_THEIR_ROWS = frozenset({"created_at", "updated_at", "is_active", "currentVersion"})
"""What the original's API gives along with a graph."""
_THEIR_START = frozenset({"triggerType", "cronSchedule", "webhookPath", "webhookRequireAuth"})


def is_yantra(document: dict[str, Any]) -> bool:
    if "kind" in document:
        return bool(document["kind"] == KIND)
    graph, _ = graph_of(document)
    nodes = [each for each in _list(graph.get("nodes")) if isinstance(each, dict)]
    edges = [each for each in _list(graph.get("edges")) if isinstance(each, dict)]
    if not nodes or _is_ours(document, nodes, edges):
        return False
    if _THEIR_ROWS & document.keys():
        return True
    return graph is not document or _is_theirs(nodes, edges) or _looks_theirs(document, nodes)


def _is_ours(document: dict[str, Any], nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> bool:
    return (
        bool(_OURS & document.keys())
        or any(_OUR_NODES & each.keys() for each in nodes)
        or any(_OUR_EDGES & each.keys() for each in edges)
    )


def _is_theirs(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> bool:
    if any("data" in each for each in nodes) or any(_THEIR_EDGES & each.keys() for each in edges):
        return True
    types = {each["id"]: each.get("type") for each in nodes if isinstance(each.get("id"), str)}
    if any(types.get(_text(each.get("source"))) == CONDITIONAL and answer_of(each.get("label")) for each in edges):
        return True
    return any(each.get("type") == "start" and bool(_THEIR_START & _keys(each.get("config"))) for each in nodes)


def _looks_theirs(document: dict[str, Any], nodes: list[dict[str, Any]]) -> bool:
    """Where both could be meant."""
    if any(_text(each.get("type")) not in TYPES or _OUR_CONFIGS & _keys(each.get("config")) for each in nodes):
        return False
    if any(each["type"] in LOOPS for each in nodes):
        return "name" in document or any("position" in each for each in nodes)
    return "id" not in document and all("position" in each for each in nodes)


def _keys(config: Any) -> set[str]:
    return set(config) if isinstance(config, dict) else set()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
