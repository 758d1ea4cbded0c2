"""Questions about a drawn flow, answered the slow way: by walking it, every time."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

Json = Any


class Graph:
    """A flow document as plain dictionaries. Nothing is indexed; small results are remembered only to save time."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.nodes: dict[str, dict[str, Any]] = {node["id"]: node for node in document["nodes"]}
        self.edges: list[dict[str, Any]] = [edge | {"number": i} for i, edge in enumerate(document["edges"])]
        self.settings: dict[str, Any] = document.get("settings", {})

    def outs(self, id: str) -> list[dict[str, Any]]:
        return [edge for edge in self.edges if edge["source"] == id]

    def ins(self, id: str) -> list[dict[str, Any]]:
        return [edge for edge in self.edges if edge["target"] == id]

    def join(self, id: str) -> tuple[str, int, bool]:
        """Rule, how many live tokens it needs, whether it cancels the rest."""
        join = self.nodes[id].get("join", "all")
        if isinstance(join, str):
            return join, 1, False
        rule = join.get("rule", "all")
        return rule, join.get("n", 1) if rule == "n_of_m" else 1, join.get("cancel_rest", False)

    def reach(self, starts: Iterable[str], without: str | None = None) -> set[str]:
        """What can be reached from these, themselves included."""
        found: set[str] = set()
        todo = [id for id in starts if id != without]
        while todo:
            id = todo.pop()
            if id not in found:
                found.add(id)
                todo += [edge["target"] for edge in self.outs(id) if edge["target"] != without]
        return found

    def after(self, id: str) -> set[str]:
        """What comes after the node; itself only if it is on a cycle."""
        return self.reach(edge["target"] for edge in self.outs(id))

    def round_trip(self, id: str) -> frozenset[str]:
        """The nodes that lie on a cycle with this one; only itself if there is none."""
        return frozenset({id} | {other for other in self.after(id) if id in self.after(other)})

    @cached_property
    def parts(self) -> dict[str, frozenset[str]]:
        return {id: self.round_trip(id) for id in self.nodes}

    def is_cyclic(self, id: str) -> bool:
        return id in self.after(id)

    def leaves_a_cycle(self, edge: dict[str, Any]) -> bool:
        return self.is_cyclic(edge["source"]) and edge["target"] not in self.parts[edge["source"]]

    def body(self, loop: str | None) -> list[str]:
        """The nodes of a loop's body, or of the flow itself, in the order of the document."""
        return [id for id, node in self.nodes.items() if node.get("parent") == loop and not self.is_beside(id)]

    def is_beside(self, id: str) -> bool:
        undoing = {node.get("compensate") for node in self.nodes.values()} | set(self.settings.get("after", []))
        return id in undoing and not self.ins(id)

    def entries(self, loop: str | None) -> list[str]:
        body = self.body(loop)
        starts = [id for id in body if self.nodes[id]["type"] == "start"]
        return starts or [id for id in body if not self.ins(id) and id != self.settings.get("on_failure")]

    @cached_property
    def behind_failure(self) -> set[str]:
        failure = self.settings.get("on_failure")
        return self.reach([failure]) if failure else set()

    def rest(self, join: str) -> set[str]:
        """What needs not go on when the join is satisfied: every way from there to an end leads through it."""
        body = self.body(self.nodes[join].get("parent"))
        ends = {id for id in body if not self.outs(id)}
        before = {id for id in body if id != join and join in self.after(id)}
        return {id for id in before if not self.reach([id], without=join) & ends}
