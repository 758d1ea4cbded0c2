"""What a document draws: nodes and edges, each with its place, and what is wrong with them at first sight.

The configuration of a node is its `data.config`, as the editor writes it, or its `config`, as people do; where both are
there, the first. A document may also be wrapped as the original's API has it, with the graph under `definition`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from perdure.model.problems import Problem, pointed
from perdure.programs.flow.checks.options import MAX_EDGES, MAX_NODES

START, END, CONDITIONAL, LOOP, ACCUMULATOR = "start", "end", "conditional", "loop", "loop-accumulator"
TYPES = (
    START, END, CONDITIONAL, "delay", "sleep", "json", "json-array", "transform", "json_to_csv", LOOP, ACCUMULATOR,
    "http", "email", "slack",
)  # fmt: skip
LOOPS = (LOOP, ACCUMULATOR)
_ANSWERS = {"true": "true", "yes": "true", "false": "false", "no": "false"}
LONGEST_ID = 256
MAX_LOOPS = 200


class Node(NamedTuple):
    id: str
    type: str
    config: dict[str, Any]
    pointer: str
    config_pointer: str


class Edge(NamedTuple):
    source: str
    target: str
    leaves_by: str | None
    """`sourceHandle`."""
    enters_by: str | None
    """`targetHandle`."""
    condition: Any
    label: str | None
    pointer: str


class Drawing:
    """Only what can be made out; `problems` tell the rest."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.problems: list[Problem] = []
        graph, base = graph_of(document)
        self.nodes: dict[str, Node] = {}
        self._read_nodes(graph, base)
        self.edges: list[Edge] = []
        self._read_edges(graph, base)
        self._check_ends(pointed(base, "nodes"))

    @property
    def start(self) -> Node | None:
        return next((node for node in self.nodes.values() if node.type == START), None)

    def tell(self, code: str, pointer: str, message: str, **rest: Any) -> None:
        self.problems.append(Problem(code, pointer, message, **rest))

    # -- nodes ----------------------------------------------------------------------------------------

    def _read_nodes(self, graph: dict[str, Any], base: str) -> None:
        place = pointed(base, "nodes")
        given = graph.get("nodes")
        if not isinstance(given, list):
            code = "FIELD_TYPE" if "nodes" in graph else "FIELD_MISSING"
            self.tell(code, place, "a graph has a list of nodes", expected="a list")
            return
        if not given:
            self.tell("FIELD_RANGE", place, "there are no nodes", expected="at least a start and an end")
        if len(given) > MAX_NODES:
            self.tell("LIMIT_NODES", place, f"{len(given)} nodes", expected=f"at most {MAX_NODES}")
            return
        for index, raw in enumerate(given):
            self._read_node(raw, pointed(place, index))
        loops = sum(node.type in LOOPS for node in self.nodes.values())
        if loops > MAX_LOOPS:
            self.tell("LIMIT_NODES", place, f"{loops} loops", expected=f"at most {MAX_LOOPS}")

    def _read_node(self, raw: Any, pointer: str) -> None:
        if not isinstance(raw, dict):
            self.tell("FIELD_TYPE", pointer, "a node is an object", expected="an object")
            return
        id, kind = raw.get("id"), raw.get("type")
        for name, value in (("id", id), ("type", kind)):
            if not isinstance(value, str) or not value:
                code = "FIELD_TYPE" if name in raw else "FIELD_MISSING"
                self.tell(code, pointed(pointer, name), f"the {name} of a node is text", expected="text")
        if isinstance(kind, str) and kind and kind not in TYPES:
            self.tell(
                "NODE_TYPE_UNKNOWN",
                pointed(pointer, "type"),
                f"there is no node type {kind[:64]!r} in Yantra",
                expected=f"one of {', '.join(TYPES)}",
            )
        if not isinstance(id, str) or not id:
            return
        if len(id) > LONGEST_ID:
            self.tell("ID_INVALID", pointed(pointer, "id"), f"{len(id)} characters", expected=f"at most {LONGEST_ID}")
            return
        if id in self.nodes:
            self.tell("NODE_DUPLICATE_ID", pointed(pointer, "id"), f"two nodes are called {id!r}")
            return
        config, config_pointer = self._config(raw, pointer)
        self.nodes[id] = Node(id, kind if isinstance(kind, str) else "", config, pointer, config_pointer)

    def _config(self, raw: dict[str, Any], pointer: str) -> tuple[dict[str, Any], str]:
        data = raw.get("data")
        if isinstance(data, dict) and data.get("config") is not None:
            config, place = data["config"], pointed(pointer, "data", "config")
        else:
            config, place = raw.get("config"), pointed(pointer, "config")
        if config is not None and not isinstance(config, dict):
            self.tell("FIELD_TYPE", place, "a configuration is an object", expected="an object")
        return (config if isinstance(config, dict) else {}), place

    def _check_ends(self, place: str) -> None:
        starts = [node for node in self.nodes.values() if node.type == START]
        ends = [node for node in self.nodes.values() if node.type == END]
        if not self.nodes or (not starts and not ends):
            return  # a fragment, as documentation shows them: it begins where nothing leads to, and ends by itself
        if not starts:
            self.tell("NO_START", place, "there is no start", expected="exactly one node of type start")
        for extra in starts[1:]:
            told = f"{starts[0].id!r} is the start already"
            self.tell("MANY_STARTS", extra.pointer, told, expected="exactly one start")
        if not ends:
            wanted = "at least one node of type end"
            self.problems.append(Problem("YANTRA_NO_END", place, "there is no end", expected=wanted))

    # -- edges ----------------------------------------------------------------------------------------

    def _read_edges(self, graph: dict[str, Any], base: str) -> None:
        place = pointed(base, "edges")
        given = graph.get("edges")
        if given is None:
            return
        if not isinstance(given, list):
            self.tell("FIELD_TYPE", place, "edges are a list", expected="a list")
            return
        if len(given) > MAX_EDGES:
            self.tell("LIMIT_EDGES", place, f"{len(given)} edges", expected=f"at most {MAX_EDGES}")
            return
        for index, raw in enumerate(given):
            self._read_edge(raw, pointed(place, index))

    def _read_edge(self, raw: Any, pointer: str) -> None:
        if not isinstance(raw, dict):
            self.tell("FIELD_TYPE", pointer, "an edge is an object", expected="an object")
            return
        for name in ("source", "target"):
            value = raw.get(name)
            if not isinstance(value, str) or not value:
                code = "FIELD_TYPE" if name in raw else "FIELD_MISSING"
                self.tell(code, pointed(pointer, name), f"the {name} of an edge is the id of a node", expected="text")
                return
            if value not in self.nodes:
                self.tell("EDGE_DANGLING", pointed(pointer, name), f"there is no node {value[:64]!r}")
                return
        condition = raw.get("condition")
        if condition is not None and not isinstance(condition, str | bool):
            self.tell("FIELD_TYPE", pointed(pointer, "condition"), "a condition is text", expected="an expression")
            condition = None
        self.edges.append(
            Edge(
                raw["source"],
                raw["target"],
                _text(raw.get("sourceHandle")),
                _text(raw.get("targetHandle")),
                condition,
                _text(raw.get("label")),
                pointer,
            )
        )


def graph_of(document: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The part of the document that has the nodes, and where it is."""
    inner = document.get("definition")
    if "nodes" not in document and isinstance(inner, dict):
        return inner, "/definition"
    return document, ""


def answer_of(label: Any) -> str | None:
    """Which answer of a conditional the label of an edge means, if it means one."""
    return _ANSWERS.get(label.strip().lower()) if isinstance(label, str) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
