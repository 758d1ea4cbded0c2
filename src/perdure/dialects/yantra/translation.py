"""A graph of Yantra's as a flow of ours, and the way back from the places of the flow to those of the document."""

from __future__ import annotations

import hashlib
import re
from typing import Any, NamedTuple

from perdure.dialects.yantra.bodies import Adding, Bodies
from perdure.dialects.yantra.conditions import automatic, expression
from perdure.dialects.yantra.configs import TRANSLATORS, Form
from perdure.dialects.yantra.drawing import ACCUMULATOR, CONDITIONAL, END, LOOPS, START, Drawing, Edge, Node, answer_of
from perdure.dialects.yantra.names import ACCUMULATED, YantraNames
from perdure.errors import PerdureError
from perdure.expressions import Path
from perdure.model.documents import ID_PATTERN
from perdure.model.problems import Problem, pointed
from perdure.model.values import encode_json

_ID = re.compile(ID_PATTERN)
ADDING = ".accumulator-input"
"""After the id of a loop-accumulator: the end of its body, to which the edges lead that add a value."""
PASSING_ON = ("sleep", "delay", CONDITIONAL)
"""Types whose output has the fields of their input."""


class Place(NamedTuple):
    """Where a node of the flow stands in the document."""

    pointer: str
    config: str
    names: dict[str, str]
    given: frozenset[str]


class Translation:
    """Made of any document; where it has mistakes, `problems` tell them and the flow has something harmless there."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.problems: list[Problem] = list(self.drawing.problems)
        nodes = self.drawing.nodes
        self.ids = {id: legal_id(id) for id in nodes}
        self.names = YantraNames(self.ids)
        self._nodes: list[dict[str, Any]] = []
        self._edges: list[dict[str, Any]] = []
        self._places: list[Place] = []
        self._edge_places: list[str] = []
        self._drawn: set[tuple[Any, ...]] = set()
        start = self.drawing.start
        roots = [start.id] if start is not None else self._beginnings()
        self.bodies = Bodies(self.drawing, roots)
        self._led_to = {edge.target for edge in self.bodies.plain} | {each.edge.target for each in self.bodies.entries}
        self._tell_unused()
        if start is None:
            self._begin(roots)
        for id in self.bodies.order:
            if self._is_there(nodes[id]):
                self._add_node(nodes[id])
        for edge in self.bodies.plain:
            self._add_edge(edge, self.ids[edge.source], self.ids[edge.target])
        for loop in dict.fromkeys(each.loop for each in self.bodies.adding):
            self._add_end([each for each in self.bodies.adding if each.loop == loop], nodes[loop])

    @property
    def flow(self) -> dict[str, Any]:
        return {"nodes": self._nodes, "edges": self._edges, "settings": {"missing": "lenient"}}

    def pointer(self, place: str) -> str:
        """Where in the document stands what stands there in the flow."""
        steps = place.split("/")[1:]
        if len(steps) < 2 or not steps[1].isdecimal():
            return ""
        index = int(steps[1])
        if steps[0] == "edges" and index < len(self._edge_places):
            pointer = self._edge_places[index]
            return pointed(pointer, "condition") if steps[2:3] == ["when"] else pointer
        if steps[0] != "nodes" or index >= len(self._places):
            return ""
        found = self._places[index]
        if steps[2:3] != ["config"]:
            return found.pointer + "".join(f"/{step}" for step in steps[2:3] if step in ("id", "type"))
        if len(steps) == 3:
            return found.config
        name = found.names.get(steps[3], steps[3])
        if name not in found.given:
            return found.config
        rest = steps[4:] if name == steps[3] else []
        return "/".join([pointed(found.config, name), *rest])

    # -- nodes ----------------------------------------------------------------------------------------

    def _beginnings(self) -> list[str]:
        targets = {edge.target for edge in self.drawing.edges}
        return [id for id in self.drawing.nodes if id not in targets] or list(self.drawing.nodes)[:1]

    def _begin(self, roots: list[str]) -> None:
        """A fragment without a start gets one."""
        id = "start"
        while id in self.ids.values():
            id += "_"
        self._nodes.append({"id": id, "type": START})
        self._places.append(Place("", "", {}, frozenset()))
        for root in roots:
            self._edges.append({"source": id, "target": self.ids[root]})
            self._edge_places.append(self.drawing.nodes[root].pointer)

    def _tell_unused(self) -> None:
        reached = set(self.bodies.order)
        for node in self.drawing.nodes.values():
            if node.id not in reached:
                told = f"no way leads to {node.id!r}: it is never run"
                self.problems.append(Problem("NODE_UNREACHABLE", node.pointer, told, severity="warning"))
        for edge, why in self.bodies.unused:
            told = f"the edge from {edge.source!r} to {edge.target!r} is never followed: {why}"
            self.problems.append(Problem("YANTRA_EDGE_UNUSED", edge.pointer, told, severity="warning"))
        for entry in self.bodies.entries:
            if entry.edge.condition not in (None, "", True):
                told = "a condition on the edge into a loop's body has no effect; ask it in the body"
                place = pointed(entry.edge.pointer, "condition")
                self.problems.append(Problem("YANTRA_EDGE_UNUSED", place, told, severity="warning"))

    def _is_there(self, node: Node) -> bool:
        """Ends to which nothing leads any more are left out, and those in the body of a loop-accumulator: what comes
        there is not added."""
        if node.type != END:
            return True
        home = self.bodies.parent[node.id]
        if home is not None and self.drawing.nodes[home].type == ACCUMULATOR:
            return False
        return node.id in self._led_to

    def _add_node(self, node: Node) -> None:
        form = Form(node.config, node.config_pointer, self.drawing.nodes)
        translator = TRANSLATORS.get(node.type)
        config = translator(form) if translator is not None else {}
        self.problems += form.problems
        home = self.bodies.parent[node.id]
        if node.type in (*LOOPS, "transform"):
            self._look_around(node, config, home)
        if node.type == ACCUMULATOR and self._mentions_results(node, config):
            config["carries"] = True
        made: dict[str, Any] = {
            "id": self.ids[node.id],
            "type": node.type if translator is not None else "transform",
            "config": config,
        }
        if home is not None:
            made["parent"] = self.ids[home]
        self._nodes.append(made)
        self._places.append(Place(node.pointer, node.config_pointer, form.places, frozenset(node.config)))

    def _look_around(self, node: Node, config: dict[str, Any], home: str | None) -> None:
        """Paths are looked for in the input; those that begin with a variable of a loop around, or with the id of a
        node, are looked for there next."""
        variables = {ACCUMULATED} if home is not None else set()
        for loop in self.bodies.around(home):
            given = self.drawing.nodes[loop].config
            for name, default in (("itemVariable", "item"), ("indexVariable", "index"), ("accumulatorVariable", None)):
                found = given.get(name) or default
                if isinstance(found, str):
                    variables.add(found)
        also: dict[str, str] = {}
        for path in _paths(config):
            root = _root(path)
            if root in variables and root.isidentifier():
                also[root] = "${" + root + " ?? null}"
            elif root in self.ids:
                also[root] = '${_outputs["' + root.replace("\\", "\\\\").replace('"', '\\"') + '"] ?? null}'
        if also:
            config["also"] = also

    def _mentions_results(self, node: Node, config: dict[str, Any]) -> bool:
        """Whether a node that gets the input of an iteration, or what is passed on of it, reads the results so far."""
        names = {config["accumulator"], ACCUMULATED}
        todo = [entry.edge.target for entry in self.bodies.entries if entry.loop == node.id]
        seen = set(todo)
        while todo:
            found = self.drawing.nodes[todo.pop()]
            text = encode_json(found.config).decode()
            if any(name in text for name in names):
                return True
            if found.type in PASSING_ON:
                further = {edge.target for edge in self.bodies.plain if edge.source == found.id} - seen
                seen |= further
                todo += further
        return False

    # -- edges ----------------------------------------------------------------------------------------

    def _add_edge(self, edge: Edge, source: str, target: str) -> None:
        made: dict[str, Any] = {"source": source, "target": target}
        is_choice = self.drawing.nodes[edge.source].type == CONDITIONAL
        condition = edge.condition
        if isinstance(condition, str) and condition.strip():
            outcome = automatic(condition) if is_choice else None
            made |= {"outcome": outcome} if outcome else {"when": expression(condition, self.drawing.nodes)}
        elif condition is False:
            made["when"] = "false"
        elif condition is not True and is_choice:
            answer = edge.leaves_by if edge.leaves_by in ("true", "false") else answer_of(edge.label)
            if answer is not None:
                made["outcome"] = answer
            elif edge.label is not None:
                told = f"the label {edge.label[:64]!r} is no answer: the edge is followed whatever the conditional says"
                remedy = "say true or false (or yes or no), as label or as sourceHandle"
                place = pointed(edge.pointer, "label")
                self.problems.append(Problem("NO_EFFECT", place, told, remedy=remedy, severity="warning"))
        mark = tuple(made.items())
        if mark not in self._drawn:  # drawn twice
            self._drawn.add(mark)
            self._edges.append(made)
            self._edge_places.append(edge.pointer)

    def _add_end(self, adding: list[Adding], loop: Node) -> None:
        id = self.ids[loop.id][: 128 - len(ADDING)] + ADDING
        self._nodes.append({"id": id, "type": END, "parent": self.ids[loop.id]})
        self._places.append(Place(loop.pointer, loop.config_pointer, {}, frozenset()))
        for each in adding:
            if each.source != loop.id:
                source = self.drawing.nodes[each.source]
                is_own = each.edge.source == each.source
                edge = each.edge if is_own else Edge(source.id, loop.id, None, None, None, None, each.edge.pointer)
                self._add_edge(edge, self.ids[source.id], id)


def legal_id(id: str) -> str:
    """The id, or one made of it where ours cannot look like that."""
    if _ID.match(id):
        return id
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", id).strip("._-")[:100] or "node"
    return f"{cleaned}-{hashlib.blake2b(id.encode(), digest_size=4).hexdigest()}"


def _paths(config: dict[str, Any]) -> list[str]:
    """The paths in the configuration of a loop or a transform."""
    found = [config["arrayPath"]] if "arrayPath" in config else []
    for operation in config.get("operations", ()):
        settings = operation["config"]
        found += [mapping["from"] for mapping in settings.get("mappings", ())]
        found += [settings[name] for name in ("jsonPath", "inputKey") if name in settings]
        found += settings.get("inputs", ())
    return found


def _root(path: str) -> str:
    try:
        steps = Path.parse(path.removeprefix("$.").removeprefix("$")).steps
    except PerdureError:
        return ""
    return str(steps[0]) if steps else ""
