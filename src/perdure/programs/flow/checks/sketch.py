"""A document as far as it can be made out, mistakes and all: what the checks on the graph work with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from perdure.expressions.places import nearest
from perdure.model.problems import pointed
from perdure.programs.flow.nodetypes import Catalogue, NodeType


class NodeSketch:
    __slots__ = ("id", "index", "ins", "outs", "parent", "pointer", "raw", "type")

    def __init__(self, index: int, raw: dict[str, Any], type: NodeType | None) -> None:
        self.index = index
        self.raw = raw
        self.id: str = raw["id"]
        self.type = type
        self.pointer = pointed("/nodes", index)
        self.parent: str | None = text(raw.get("parent"))
        self.ins: list[EdgeSketch] = []
        self.outs: list[EdgeSketch] = []

    @property
    def config(self) -> dict[str, Any]:
        return mapping(self.raw.get("config"))

    @property
    def join(self) -> dict[str, Any]:
        given = self.raw.get("join")
        return {"rule": given} if isinstance(given, str) else mapping(given)

    @property
    def is_any(self) -> bool:
        return self.join.get("rule") == "any"


class EdgeSketch:
    __slots__ = ("index", "pointer", "raw", "source", "target")

    def __init__(self, index: int, raw: dict[str, Any], source: NodeSketch | None, target: NodeSketch | None) -> None:
        self.index = index
        self.raw = raw
        self.pointer = pointed("/edges", index)
        self.source = source
        self.target = target


MOST_PARENTS = 64
"""Bodies that are followed outwards; far more than may be nested."""
MOST_HINTS = 100
"""Names that are looked for among all nodes because they are nearly right: each look costs time."""


class Sketch:
    def __init__(self, document: dict[str, Any], catalogue: Catalogue) -> None:
        self.document = document
        self.catalogue = catalogue
        self.settings = mapping(document.get("settings"))
        self._hints = MOST_HINTS
        self._variables: dict[str, set[str]] = {}
        self.nodes: list[NodeSketch] = []
        self.by_id: dict[str, NodeSketch] = {}
        """The first of each id."""
        for index, raw in enumerate(sequence(document.get("nodes"))):
            if isinstance(raw, dict) and isinstance(raw.get("id"), str):
                kind = raw.get("type")
                node = NodeSketch(index, raw, catalogue.get(kind) if isinstance(kind, str) else None)
                self.nodes.append(node)
                self.by_id.setdefault(node.id, node)
        self.edges: list[EdgeSketch] = []
        for index, raw in enumerate(sequence(document.get("edges"))):
            if isinstance(raw, dict):
                source, target = text(raw.get("source")), text(raw.get("target"))
                edge = EdgeSketch(index, raw, self.by_id.get(source or ""), self.by_id.get(target or ""))
                self.edges.append(edge)
                if edge.source is not None and edge.target is not None:
                    edge.source.outs.append(edge)
                    edge.target.ins.append(edge)
        self.on_failure = self.by_id.get(text(self.settings.get("on_failure")) or "")
        self.after = [
            self.by_id[id] for id in sequence(self.settings.get("after")) if isinstance(id, str) and id in self.by_id
        ]
        undoing = [node.raw.get("compensate") for node in self.nodes]
        beside = {id for id in undoing if isinstance(id, str)} | {node.id for node in self.after}
        self.beside = {id for id in beside if id in self.by_id and not self.by_id[id].ins}
        """Nodes that stand beside the graph: for compensation or completion, and no edge leads to them."""

    def around(self, node: NodeSketch) -> Iterator[str | None]:
        """The bodies that a node lives in, from the inside out; the root is None. Ends where parents form a cycle."""
        seen: set[str] = set()
        parent = node.parent
        while parent is not None and parent not in seen and len(seen) < MOST_PARENTS:
            yield parent
            seen.add(parent)
            above = self.by_id.get(parent)
            parent = above.parent if above is not None else None
        yield None

    def hint(self, id: str) -> str | None:
        """The id of a node that was probably meant."""
        self._hints -= 1
        return nearest(id, self.by_id) if self._hints >= 0 else None

    def beginning_with(self, start: str) -> str | None:
        """The id of a node that begins so."""
        return next((id for id in self.by_id if id.startswith(start)), None) if self._hints >= 0 else None

    def remembered(self, loop: str, names: Callable[[NodeSketch | None], set[str]]) -> set[str]:
        """The variables of a loop, found once."""
        if loop not in self._variables:
            self._variables[loop] = names(self.by_id.get(loop))
        return self._variables[loop]

    def bodies(self) -> dict[str | None, list[NodeSketch]]:
        """The nodes of the graph by the loop that they belong to; the root is None."""
        found: dict[str | None, list[NodeSketch]] = {None: []}
        for node in self.nodes:
            if self.by_id[node.id] is node and node.id not in self.beside:
                found.setdefault(node.parent, []).append(node)
        return found


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
