"""Flows that nobody would draw: every feature of the language, thrown together by chance."""

from __future__ import annotations

import random
from typing import Any

Node = dict[str, Any]

JOINS: list[Any] = [
    "all", "all", "all", "any", "first", {"rule": "first", "cancel_rest": True}, {"rule": "first", "blocking": True},
    {"rule": "any", "threads": 2}, {"rule": "any", "cancel_rest": True}, {"rule": "n_of_m"},
    {"rule": "n_of_m", "cancel_rest": True}, {"rule": "n_of_m", "blocking": True},
]  # fmt: skip


def random_flow(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    return _Artist(chance, chance.choice((4, 8, 14))).flow()


class _Artist:
    def __init__(self, chance: random.Random, size: int) -> None:
        self.chance = chance
        self.size = size
        self.nodes: list[Node] = []
        self.edges: list[dict[str, Any]] = []

    def flow(self) -> dict[str, Any]:
        self.nodes.append({"id": "start", "type": "start"})
        ids = self.body(None, self.size, 0)
        for id in ids:
            if not any(edge["target"] == id for edge in self.edges) or self.maybe(0.1):
                self.edges.append({"source": "start", "target": id})
        settings: dict[str, Any] = {}
        if self.maybe(0.2):
            settings["max_parallel"] = self.chance.randint(1, 3)
        if self.maybe(0.15):
            settings["on_failure"] = "rescue"
            self.nodes.append({"id": "rescue", "type": "python", "config": {"step": "rescue"}})
            self.edges += [{"source": "rescue", "target": self.chance.choice(ids)}] if self.maybe(0.5) else []
        cyclic = any(self.place(edge["source"]) >= self.place(edge["target"]) for edge in self.edges)
        if self.maybe(0.15) and not cyclic:
            settings["barrier"] = "layer"
        self.mend()
        return {"nodes": self.nodes, "edges": self.edges, "settings": settings}

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def place(self, id: str) -> int:
        return next(number for number, node in enumerate(self.nodes) if node["id"] == id)

    def body(self, parent: str | None, size: int, depth: int) -> list[str]:
        ids: list[str] = []
        for _ in range(size):
            ids.append(self.node(parent, depth, ids))
        for number, id in enumerate(ids[1:], start=1):
            for other in self.chance.sample(ids[:number], min(number, self.chance.choice((0, 1, 1, 1, 2, 3)))):
                self.edge(other, id)
        if self.maybe(0.3) and len(ids) > 2:
            self.cycle(ids)
        return ids

    def node(self, parent: str | None, depth: int, beside: list[str]) -> str:
        id = f"n{len(self.nodes)}"
        node: Node = {"id": id, "type": "python", "config": {"step": id}}
        if parent is not None:
            node["parent"] = parent
        self.nodes.append(node)
        kinds = ["step"] * 10 + ["question", "question", "signal", "sleep"]
        kinds += ["end", "fail"] if self.maybe(0.5) else []
        kinds += ["loop", "loop", "group"] if depth < 2 else []
        getattr(self, f"_{self.chance.choice(kinds)}")(node, depth)
        self.options(node, beside)
        return id

    # -- types ------------------------------------------------------------------------------------

    def _step(self, node: Node, depth: int) -> None: ...

    def _question(self, node: Node, depth: int) -> None:
        node |= {"type": "conditional", "config": {"condition": self.chance.choice(("true", "false"))}}

    def _signal(self, node: Node, depth: int) -> None:
        name, mode = self.chance.choice("xy"), self.chance.choice(("persistent", "transient"))
        node |= {"type": "wait-for-signal", "config": {"name": name, "mode": mode, "timeout": "9s"}}

    def _sleep(self, node: Node, depth: int) -> None:
        node |= {"type": "sleep", "config": {"duration": f"{self.chance.randint(0, 4)}s"}}

    def _end(self, node: Node, depth: int) -> None:
        node |= {"type": "end", "config": {"terminate": self.maybe(0.3)}}

    def _fail(self, node: Node, depth: int) -> None:
        node |= {"type": "fail", "config": {}}

    def _group(self, node: Node, depth: int) -> None:
        node |= {"type": "group", "config": {}}
        self.body(node["id"], self.chance.randint(1, 3), depth + 1)

    def _loop(self, node: Node, depth: int) -> None:
        count = self.chance.randint(0, 4)
        config: dict[str, Any] = {"items": list(range(count)), "concurrency": self.chance.randint(1, 4)}
        config["on_item_failure"] = self.chance.choice(("fail", "skip", "null"))
        config["cancel_rest"] = self.maybe(0.5)
        if self.maybe(0.4):
            config["need"] = self.chance.randint(1, 3)
        elif self.maybe(0.3):
            config["enough"] = "count + failed >= 2"
        if self.maybe(0.2):
            config |= {"add_signal": "x", "close_signal": "y"}
        node |= {"type": "loop", "config": config}
        self.body(node["id"], self.chance.randint(1, 3), depth + 1)

    # -- options ----------------------------------------------------------------------------------

    def options(self, node: Node, beside: list[str]) -> None:
        if self.maybe(0.6):
            node["join"] = self.chance.choice(JOINS)
        if self.maybe(0.15):
            node["mutex"] = self.chance.choice("mn")
        if self.maybe(0.15):
            node["race"] = self.chance.choice("rs")
        if self.maybe(0.1):
            node["condition"] = self.chance.choice(("true", "false"))
        if beside and self.maybe(0.12):
            node["cancels"] = self.chance.sample(beside, self.chance.randint(1, min(3, len(beside))))
        if len(beside) > 1 and self.maybe(0.12):
            after, before = self.chance.sample(beside, 2)
            node["milestone"] = {"after": after, "before": before} if self.maybe(0.5) else {"after": after}

    def edge(self, source: str, target: str) -> None:
        by_id = {node["id"]: node for node in self.nodes}
        outcomes: list[str | None] = [None, None]
        if by_id[source]["type"] == "conditional":
            outcomes = ["true", "false", None]
        elif by_id[source]["type"] == "wait-for-signal":
            outcomes = ["signal", "timeout", None]
        elif by_id[source]["type"] in ("fail", "loop", "group"):
            outcomes = [None, None, "error"]
        edge: dict[str, Any] = {"source": source, "target": target}
        outcome = self.chance.choice(outcomes)
        if outcome is not None:
            edge["outcome"] = outcome
        if self.maybe(0.08):
            edge["tokens"] = 2
        self.edges.append(edge)

    def cycle(self, ids: list[str]) -> None:
        """A step that goes back to an earlier node a few times."""
        first, last = sorted(self.chance.sample(range(len(ids)), 2))
        by_id = {node["id"]: node for node in self.nodes}
        turn = by_id[ids[last]]
        if turn["type"] != "python":
            return
        by_id[ids[first]]["join"] = "any"
        turn["config"]["outcomes"] = ["again", "on"]
        for edge in self.edges:
            if edge["source"] == turn["id"]:
                edge["outcome"] = "on"
        self.edges.append({"source": turn["id"], "target": ids[first], "outcome": "again"})

    def mend(self) -> None:
        """What validation would refuse: edges out of ends, joins of more edges than there are, nested mutexes."""
        by_id = {node["id"]: node for node in self.nodes}
        self.edges = [edge for edge in self.edges if by_id[edge["source"]]["type"] != "end"]
        for node in self.nodes:
            ins = sum(edge["target"] == node["id"] for edge in self.edges)
            if isinstance(node.get("join"), dict) and node["join"]["rule"] == "n_of_m":
                node["join"] = {**node["join"], "n": self.chance.randint(1, max(ins, 1))} if ins else "all"
            above = by_id.get(node.get("parent", ""))
            while above is not None:
                if above.get("mutex") == node.get("mutex"):
                    node.pop("mutex", None)
                above = by_id.get(above.get("parent", ""))
