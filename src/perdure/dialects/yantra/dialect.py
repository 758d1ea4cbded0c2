"""The dialect: recognise, name, check, compile and hash."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from perdure.dialects.yantra.drawing import CONDITIONAL, Drawing, answer_of, graph_of
from perdure.dialects.yantra.signs import KIND, is_yantra
from perdure.dialects.yantra.translation import Translation
from perdure.dialects.yantra.triggers import trigger_problems
from perdure.errors import InvalidInput
from perdure.model.documents import ID_PATTERN, FlowDocument
from perdure.model.problems import Problem, in_order
from perdure.model.references import Parts, Reference
from perdure.model.values import Json, check_json
from perdure.programs.flow.graph import Graph, compile_flow
from perdure.programs.flow.nodetypes import Catalogue
from perdure.programs.flow.validate import validate_flow

_NO_CONCERN = ("NODE_NO_END",)
"""What is told of flows and means nothing here: a way without an end simply ends."""
_NODE = ("id", "type", "config")
_EDGE = ("source", "target", "sourceHandle", "targetHandle", "condition")


class Yantra:
    kind = KIND

    def recognises(self, document: dict[str, Any]) -> bool:
        return is_yantra(document)

    def id_of(self, document: dict[str, Any]) -> str | None:
        given = document.get("id")
        if isinstance(given, str) and re.fullmatch(ID_PATTERN, given):
            return given
        name = document.get("name")
        return slug(name) if isinstance(name, str) and name.strip() else None

    def validate(self, document: Any, catalogue: Catalogue) -> list[Problem]:
        if not isinstance(document, dict):
            return [Problem("FIELD_TYPE", "", "the document is no object", expected="an object")]
        try:
            check_json(document)
        except InvalidInput as fault:
            return [Problem("VALUE_INVALID", fault.pointer or "", fault.message, expected=fault.expected)]
        drawing = Drawing(document)
        if not drawing.nodes or any(each.code.startswith("LIMIT_") for each in drawing.problems):
            return in_order(drawing.problems)  # the rest would take its time, or say nothing
        translation = Translation(drawing)
        problems = [*translation.problems, *trigger_problems(document)]
        told = {problem.pointer for problem in problems if problem.is_error}
        for problem in validate_flow(translation.flow, catalogue, translation.names)[1]:
            place = translation.pointer(problem.pointer)
            if problem.code not in _NO_CONCERN and place not in told:
                problems.append(msgspec.structs.replace(problem, pointer=place))
        return in_order(problems)

    def compile(self, document: Any, catalogue: Catalogue) -> Graph:
        translation = Translation(Drawing(document))
        return compile_flow(FlowDocument.model_validate(translation.flow), catalogue, translation.names)

    def semantic(self, document: Json) -> Json:
        """What is executed: positions, labels, titles and whatever else an editor keeps are not."""
        if not isinstance(document, dict):
            return document
        graph, _ = graph_of(document)
        kept = {key: document[key] for key in ("schedule", "timezone", "webhookPath") if document.get(key)}
        nodes, edges = graph.get("nodes"), graph.get("edges")
        if isinstance(nodes, list):
            kept["nodes"] = [_node(each) for each in nodes]
        if isinstance(edges, list):
            types = {each["id"]: each.get("type") for each in kept.get("nodes", ()) if _has_id(each)}
            kept["edges"] = [_edge(each, types) for each in edges]
        return kept

    def references(self, document: Any) -> Sequence[Reference]:
        return ()

    def link(self, document: Any, parts: Parts) -> Any:
        return document

    def part_problems(self, kind: str, document: Any, catalogue: Catalogue) -> list[Problem] | None:
        return None


def slug(name: str) -> str:
    """An id made of a title."""
    cleaned = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:100].strip("-")
    mark = hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    return cleaned or f"yantra-{mark}"


def _has_id(node: Json) -> bool:
    return isinstance(node, dict) and isinstance(node.get("id"), str)


def _node(node: Json) -> Json:
    if not isinstance(node, dict):
        return node
    kept = {key: node[key] for key in _NODE if key in node}
    data = node.get("data")
    if isinstance(data, dict) and data.get("config") is not None:
        kept["config"] = data["config"]
    if kept.get("config") is None:
        kept["config"] = {}
    return kept


def _edge(edge: Json, types: dict[str, Any]) -> Json:
    if not isinstance(edge, dict):
        return edge
    kept = {key: edge[key] for key in _EDGE if edge.get(key) not in (None, "")}
    source = edge.get("source")
    if isinstance(source, str) and types.get(source) == CONDITIONAL:
        answer = answer_of(edge.get("label"))
        if answer is not None and not kept.keys() & {"condition", "sourceHandle"}:
            kept["label"] = answer
    return kept


__all__ = ["Yantra", "slug"]
