"""Random flows: valid documents of every shape that the reference interpreter knows, and what happens to them.

A flow grows node by node; each node follows one to three earlier ones, so everything can be reached. Cycles lead back
to a node that takes any token. What happens is a list of numbers, read by the test as choices; so both shrink well.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Node = dict[str, Any]

CHOICES = st.lists(st.integers(0, 999), min_size=30, max_size=90)

TYPES = ["step"] * 16 + ["pass", "json", "set", "choose", "sleep", "sleep", "signal", "call", "call", "refuse"]
OUTCOMES = ("a", "b")


@st.composite
def flows(draw: st.DrawFn, size: int = 9, depth: int = 2) -> dict[str, Any]:
    """A flow document with up to `size` nodes per body and loops in loops up to `depth`."""
    grower = Grower(draw)
    start = {"id": "s", "type": "start"}
    grower.nodes.append(start)
    grower.grow("", None, [start], draw(st.integers(1, size)), depth)
    settings: dict[str, Any] = {
        "max_parallel": draw(st.sampled_from([None, None, 1, 2])),
        "compensation": draw(st.sampled_from(["strict", "strict", "best_effort", "skip"])),
    }
    if rarely(draw, 5):
        settings["on_failure"] = "handler"
        grower.nodes.append({"id": "handler", "type": "step"})
        if draw(st.booleans()):
            grower.nodes.append({"id": "behind", "type": draw(st.sampled_from(["step", "end"]))})
            grower.edges.append({"source": "handler", "target": "behind"})
    if rarely(draw, 6):
        settings["after"] = ["last"]
        grower.nodes.append({"id": "last", "type": "step"})
    if any(node.get("compensate") for node in grower.nodes):
        grower.nodes.append({"id": "undo", "type": "step"})
    return {"nodes": grower.nodes, "edges": grower.edges, "settings": settings}


class Grower:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.nodes: list[Node] = []
        self.edges: list[dict[str, Any]] = []

    def grow(self, prefix: str, parent: str | None, body: list[Node], size: int, depth: int) -> None:
        draw = self.draw
        for number in range(size):
            id = f"{prefix}{'abcdefghijklm'[number]}"
            sources = self.sources(body)
            node = self.node(id, parent, len(sources), depth)
            for source in sources:
                self.edge(source, node)
            if not sources and body:
                node.pop("condition", None)
            body.append(node)
            self.nodes.append(node)
            if node["type"] == "loop":
                self.grow(f"{id}_", id, [], draw(st.integers(1, 4)), depth - 1)
        self.lead_back([node for node in body if node["type"] == "step"], body)

    def sources(self, body: list[Node]) -> list[Node]:
        """The last one, mostly; now and then others too."""
        if not body:
            return []
        count = min(len(body), self.draw(st.sampled_from([1, 1, 2, 1, 2, 3])))
        places = self.draw(st.lists(st.integers(0, len(body) - 1), min_size=count, max_size=count, unique=True))
        return [body[-1 - place] for place in places]

    def node(self, id: str, parent: str | None, ins: int, depth: int) -> Node:
        draw = self.draw
        types = [*TYPES, *["loop"] * 6] if depth else TYPES
        node: Node = {"id": id, "type": draw(st.sampled_from(types))}
        if parent is not None:
            node["parent"] = parent
        node |= self.configured(node["type"])
        if ins > 1:
            node["join"] = draw(joins(ins))
        if rarely(draw, 12):
            node["condition"] = f"data == {draw(st.integers(0, 2))}"
        if node["type"] in ("step", "call"):
            if rarely(draw, 3):
                node["retry"] = {"attempts": draw(st.integers(2, 3)), "initial": 1}
            if rarely(draw, 2):
                node |= {"compensate": "undo", "compensate_on_cancel": draw(st.booleans())}
        return node

    def configured(self, type: str) -> Node:
        draw = self.draw
        match type:
            case "json":
                config: dict[str, Any] = {"data": draw(st.integers(0, 2))}
            case "set":
                config = {draw(st.sampled_from("xy")): draw(st.integers(0, 9))}
            case "choose":
                config = {"outcome": draw(st.sampled_from(OUTCOMES))}
            case "sleep":
                config = {"us": draw(st.integers(1, 5))}
            case "signal":
                config = {"name": draw(st.sampled_from(["go", "on"]))}
                if draw(st.booleans()):
                    config["us"] = draw(st.integers(1, 9))
            case "loop":
                config = {
                    "count": draw(st.sampled_from([1, 2, 3, 2, 3, 0])),
                    "concurrency": draw(st.integers(1, 3)),
                    "on": draw(st.sampled_from(["fail", "skip", "null"])),
                }
                if rarely(draw, 4):
                    config["need"] = draw(st.integers(1, 2))
            case _:
                return {}
        return {"config": config}

    def edge(self, source: Node, target: Node, outcomes: tuple[str | None, ...] = ()) -> None:
        draw = self.draw
        if not outcomes:
            own = OUTCOMES if source["type"] in ("step", "choose") else ()
            failing = ("error",) if source["type"] in ("step", "call", "loop", "refuse") else ()
            timing = ("timeout",) if source["type"] in ("step", "signal") else ()
            outcomes = (*[None] * 8, *own, *failing, *timing)
        edge: dict[str, Any] = {"source": source["id"], "target": target["id"]}
        outcome = draw(st.sampled_from(outcomes))
        if outcome is not None:
            edge["outcome"] = outcome
        if outcome not in ("error", "timeout") and rarely(draw, 10):
            edge["when"] = f"data == {draw(st.integers(0, 2))}"
        self.edges.append(edge)

    def lead_back(self, steps: list[Node], body: list[Node]) -> None:
        """Edges from later to earlier nodes, which then take any token."""
        draw = self.draw
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            if not steps:
                return
            source = draw(st.sampled_from(steps))
            earlier = [each for each in body[: body.index(source) + 1] if each["type"] != "start"]
            target = draw(st.sampled_from(earlier))
            if any(e["source"] == source["id"] and e["target"] == target["id"] for e in self.edges):
                continue
            if not any(e["target"] == target["id"] for e in self.edges):
                continue  # an entry of its body: nothing would lead in any more
            target["join"] = "any"
            self.edge(source, target, ("a", "b", "error"))


def rarely(draw: st.DrawFn, times: int) -> bool:
    """Once in so many times, and never in a smallest example."""
    return draw(st.integers(0, times)) == times // 2 + 1


@st.composite
def joins(draw: st.DrawFn, ins: int) -> Any:
    rule = draw(st.sampled_from(["all", "any", "first", "all", "first", "n_of_m"]))
    if rule == "any":
        return "any"
    join: dict[str, Any] = {"rule": rule, "cancel_rest": draw(st.sampled_from([False, True, True])) and rule != "all"}
    return join | {"n": draw(st.integers(1, ins))} if rule == "n_of_m" else join
