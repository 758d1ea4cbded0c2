"""Which nodes are run once per item of which loop, and which edges are never followed.

A plain loop's body is all that comes after it. A loop-accumulator's is what its handle `loop-output` leads to, as far
as the handle `accumulator-input`; what its handle `output` leads to comes after it. Each node is run at most once per
run or item: an edge that leads back to a node on its own way is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from perdure.dialects.yantra.drawing import ACCUMULATOR, END, LOOP, LOOPS, Drawing, Edge

BODY, AFTER, FEEDBACK = "loop-output", "output", "accumulator-input"


class Entry(NamedTuple):
    """An edge from a loop to a node with which its body begins."""

    loop: str
    edge: Edge


class Adding(NamedTuple):
    """An edge by which a value is added to what a loop-accumulator gathers."""

    source: str
    """The node of the body itself that gives the value."""
    loop: str
    edge: Edge


class Bodies:
    def __init__(self, drawing: Drawing, roots: Iterable[str]) -> None:
        self._nodes = drawing.nodes
        self._outs: dict[str, list[Edge]] = {id: [] for id in drawing.nodes}
        for edge in drawing.edges:
            self._outs[edge.source].append(edge)
        self.unused: list[tuple[Edge, str]] = []
        """Edges that are never followed, and why."""
        self._feeding: list[Edge] = []
        self._is_body: dict[str, bool] = {}
        self.order: list[str] = self._walk(list(roots))
        """Every node that can be reached."""
        gone = {edge.pointer for edge in self._feeding} | {edge.pointer for edge, _ in self.unused} | self._back
        self._outs = {id: [edge for edge in outs if edge.pointer not in gone] for id, outs in self._outs.items()}
        self._inside: dict[str, set[str]] = {}
        for id in self.order:
            if self._nodes[id].type in LOOPS:
                self._inside[id] = self._members(id)
        every = self._inside.values()
        self._depths = {loop: sum(loop in inside for inside in every) for loop in self._inside}
        self.parent: dict[str, str | None] = {id: self._owner(id) for id in self.order}
        self.plain: list[Edge] = []
        self.entries: list[Entry] = []
        self.adding: list[Adding] = []
        self._settle_ends()
        for id in self.order:
            for edge in self._outs[id]:
                self._place(edge)
        for edge in self._feeding:
            self._feed(edge)
        self._add_leaves()

    # -- walking --------------------------------------------------------------------------------------

    def _walk(self, roots: list[str]) -> list[str]:
        """All that can be reached, depth first and without recursion; edges that lead back are taken out."""
        self._back: set[str] = set()
        state: dict[str, int] = {}
        for root in roots:
            if root in state:
                continue
            stack = [(root, iter(self._outs[root]))]
            state[root] = 1
            while stack:
                id, edges = stack[-1]
                edge = next(edges, None)
                if edge is None:
                    state[id] = 2
                    stack.pop()
                elif self._nodes[id].type == END:
                    self.unused.append((edge, f"nothing follows after {id!r}, which is an end"))
                elif self._nodes[edge.target].type == ACCUMULATOR and (
                    edge.enters_by == FEEDBACK or state.get(edge.target) == 1
                ):
                    self._feeding.append(edge)
                elif state.get(edge.target) == 1:
                    self._back.add(edge.pointer)
                    if self._nodes[edge.target].type != LOOP:
                        self.unused.append((edge, f"it leads back to {edge.target!r}, and a node is run once"))
                elif edge.target not in state:
                    state[edge.target] = 1
                    stack.append((edge.target, iter(self._outs[edge.target])))
        return [id for id in self._nodes if id in state]

    def _reach(self, starts: Iterable[str], but: str) -> set[str]:
        found = {id for id in starts if id != but}
        todo = list(found)
        while todo:
            for edge in self._outs[todo.pop()]:
                if edge.target not in found and edge.target != but:
                    found.add(edge.target)
                    todo.append(edge.target)
        return found

    def _members(self, loop: str) -> set[str]:
        outs = self._outs[loop]
        if self._nodes[loop].type == LOOP:
            return self._reach((edge.target for edge in outs), loop)
        body = {edge.target for edge in outs if self.is_body(edge)}
        after = {edge.target for edge in outs if not self.is_body(edge)}
        return self._reach(body, loop) - self._reach(after, loop)

    def is_body(self, edge: Edge) -> bool:
        """Whether an edge of a loop leads into its body. One that does not say by which handle it leaves does, if it
        leads back to the loop."""
        if self._nodes[edge.source].type == LOOP or edge.leaves_by == BODY:
            return True
        if edge.leaves_by == AFTER:
            return False
        if edge.pointer not in self._is_body:
            reached = self._reach([edge.target], edge.source)
            back = any(each.target == edge.source and each.source in reached for each in self._feeding)
            self._is_body[edge.pointer] = back
        return self._is_body[edge.pointer]

    def _owner(self, id: str) -> str | None:
        """The innermost loop around a node."""
        around = [loop for loop, inside in self._inside.items() if id in inside]
        return max(around, key=self._depths.__getitem__, default=None)

    def _settle_ends(self) -> None:
        """An end does nothing of its own, so one that several ways of different depth lead to belongs to the
        outermost; the others simply end."""
        homes: dict[str, list[str | None]] = {}
        for id in self.order:
            for edge in self._outs[id]:
                if self._nodes[edge.target].type == END:
                    homes.setdefault(edge.target, []).append(self._home(edge))
        for end, found in homes.items():
            self.parent[end] = min(dict.fromkeys(found), key=lambda home: len(self.around(home)))

    def _home(self, edge: Edge) -> str | None:
        """The body in which an edge lives."""
        source = edge.source
        return source if self._nodes[source].type in LOOPS and self.is_body(edge) else self.parent[source]

    def around(self, loop: str | None) -> list[str]:
        """The loop and those around it, from the inside out."""
        found: list[str] = []
        while loop is not None and loop not in found:
            found.append(loop)
            loop = self.parent[loop]
        return found

    # -- edges ----------------------------------------------------------------------------------------

    def _place(self, edge: Edge) -> None:
        home, target = self._home(edge), self.parent[edge.target]
        is_end = self._nodes[edge.target].type == END
        if is_end and target is not None and self._nodes[target].type == ACCUMULATOR:
            return  # an item that comes here is dropped
        if home != target:
            if not is_end:
                self.unused.append((edge, "it leads out of the body of a loop, or into one, past the loop itself"))
        elif home == edge.source:
            self.entries.append(Entry(edge.source, edge))
        else:
            self.plain.append(edge)

    def _feed(self, edge: Edge) -> None:
        """From deeper inside, it is the loop in the body that gives the value."""
        loop, source = edge.target, edge.source
        if source == loop:
            self.adding.append(Adding(source, loop, edge))
            return
        while self.parent.get(source) is not None and self.parent[source] != loop:
            source = str(self.parent[source])
        if self.parent.get(source) != loop:
            self.unused.append((edge, f"{edge.source!r} is not in the body of {loop!r}"))
        else:
            self.adding.append(Adding(source, loop, edge))

    def _add_leaves(self) -> None:
        """Without an edge back, a loop-accumulator gathers what the last nodes of its body give."""
        fed = {each.loop for each in self.adding}
        busy = {edge.source for edge in self.plain}
        for id in self.order:
            loop = self.parent[id]
            if loop is None or loop in fed or id in busy or self._nodes[loop].type != ACCUMULATOR:
                continue
            if self._nodes[id].type != END:
                handle = "true" if self._nodes[id].type == "conditional" else None
                self.adding.append(
                    Adding(id, loop, Edge(id, loop, handle, FEEDBACK, None, None, self._nodes[id].pointer))
                )
