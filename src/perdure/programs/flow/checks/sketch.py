"""A document as far as it can be made out, mistakes and all: what the checks on the graph work with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from perdure.expressions.places import nearest
from perdure.model.documents import ID_PATTERN
from perdure.model.policies import JoinRule
from perdure.model.problems import pointed
from perdure.programs.flow.names import Names
from perdure.programs.flow.nodetypes import Catalogue, NodeType

_RULES = frozenset(JoinRule)
_ID = re.compile(ID_PATTERN)


class NodeSketch:
    __slots__ = (
        "id",
        "index",
        "ins",
        "is_homeless",
        "is_odd",
        "loses",
        "misses",
        "outs",
        "parent",
        "pointer",
        "raw",
        "type",
    )

    def __init__(self, index: int, raw: dict[str, Any], type: NodeType | None) -> None:
        self.index = index
        self.raw = raw
        self.id: str = raw["id"]
        self.type = type
        self.pointer = pointed("/nodes", index)
        self.parent: str | None = text(raw.get("parent"))
        self.is_odd = not _ID.match(self.id)
        """Its id cannot be one, so others may call it by another."""
        self.is_homeless = False
        """It belongs to a body that cannot be found."""
        self.misses = False
        """An edge leads here that cannot be followed back …"""
        self.loses = False
        """… or leaves here and cannot be followed."""
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
        """Or may be meant to be."""
        given = self.raw.get("join")
        if given is None:
            return False
        rule = given.get("rule", JoinRule.ALL) if isinstance(given, dict) else given
        return rule == JoinRule.ANY or not isinstance(rule, str) or rule not in _RULES


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
    def __init__(self, document: dict[str, Any], catalogue: Catalogue, names: Names | None = None) -> None:
        self.document = document
        self.names = names
        self.catalogue = catalogue
        self.settings = mapping(document.get("settings"))
        self._hints = MOST_HINTS
        self._variables: dict[str, set[str] | None] = {}
        self._excused: set[str] = set()
        self.unread = 0
        """Nodes that cannot be told from their ids. What is said of unknown nodes may be about these."""
        self.nodes: list[NodeSketch] = []
        self.by_id: dict[str, NodeSketch] = {}
        """The first of each id."""
        for index, raw in enumerate(sequence(document.get("nodes"))):
            if isinstance(raw, dict) and isinstance(raw.get("id"), str) and raw["id"]:
                kind = raw.get("type")
                node = NodeSketch(index, raw, catalogue.get(kind) if isinstance(kind, str) else None)
                self.nodes.append(node)
                self.by_id.setdefault(node.id, node)
                self.unread += node.is_odd
            else:
                self.unread += 1
        for node in self.nodes:
            given = node.raw.get("parent")
            node.is_homeless = given is not None and self.find(given) is None
        self.edges: list[EdgeSketch] = []
        self.lost_sources = self.lost_targets = 0
        """How many edges come from, and lead to, nobody knows where."""
        self.has_lost_edges = not isinstance(document.get("edges", []), list)
        """Edges of which neither end can be made out: they may lead anywhere."""
        for index, raw in enumerate(sequence(document.get("edges"))):
            if isinstance(raw, dict):
                self._add_edge(EdgeSketch(index, raw, self.find(raw.get("source")), self.find(raw.get("target"))))
            else:
                self.has_lost_edges = True
        self.on_failure = self.find(self.settings.get("on_failure"))
        self.after = [
            self.by_id[id] for id in sequence(self.settings.get("after")) if isinstance(id, str) and id in self.by_id
        ]
        undoing = [node.raw.get("compensate") for node in self.nodes]
        beside = {id for id in undoing if isinstance(id, str)} | {node.id for node in self.after}
        beside |= {node.id for node in self.nodes if node.raw.get("on_demand") is True}
        self.beside = {id for id in beside if id in self.by_id and not self.by_id[id].ins}
        """Nodes that stand beside the graph: for compensation, for completion or on demand; no edge leads to them."""

    def _add_edge(self, edge: EdgeSketch) -> None:
        self.edges.append(edge)
        source, target = edge.source, edge.target
        if source is not None and target is not None:
            source.outs.append(edge)
            target.ins.append(edge)
        whole = source is not None and target is not None and source.parent == target.parent
        if source is not None and not whole:
            source.loses = True
        if target is not None and not whole:
            target.misses = True
        self.lost_sources += source is None
        self.lost_targets += target is None
        self.has_lost_edges |= source is None and target is None

    def find(self, id: Any) -> NodeSketch | None:
        return self.by_id.get(id) if isinstance(id, str) else None

    def excuses(self, id: str) -> bool:
        """Whether an id that no node has may be that of a node that cannot be read: then that is told, and this is no
        mistake of its own. Each such node excuses one id; if there is none to be read at all, all are excused."""
        if id not in self._excused and self.nodes and len(self._excused) >= self.unread:
            return False
        self._excused.add(id)
        return True

    @property
    def beside_is_doubtful(self) -> bool:
        """Whether some node may be meant to stand beside the graph, or to follow a failure, and cannot be told."""
        settings = self.document.get("settings", {})
        if not isinstance(settings, dict) or not isinstance(after := settings.get("after", []), list):
            return True
        named = [settings.get("on_failure"), *(node.raw.get("compensate") for node in self.nodes)]
        return any(self.find(id) is None for id in [*after, *(id for id in named if id is not None)])

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

    def remembered(self, loop: str, names: Callable[[NodeSketch | None], set[str] | None]) -> set[str] | None:
        """The variables of a loop, found once."""
        if loop not in self._variables:
            self._variables[loop] = names(self.by_id.get(loop))
        return self._variables[loop]

    def bodies(self) -> dict[str | None, list[NodeSketch]]:
        """The nodes of the graph by the loop that they belong to; the root is None."""
        found: dict[str | None, list[NodeSketch]] = {None: []}
        for node in self.nodes:
            if self.by_id[node.id] is node and node.id not in self.beside and not node.is_homeless:
                found.setdefault(node.parent, []).append(node)
        return found


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
