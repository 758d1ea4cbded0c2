"""The token game: how what ends leads to what begins. Everything is worked out anew from all tokens that ever came.

Law: DESIGN §4, rules 1 to 3. An edge carries live and dead tokens. The k-th tokens of the edges into a node are round k
of its join. Where nothing can arrive any more, missing tokens count as dead.
"""

from __future__ import annotations

from typing import Any

from tests.programs.reference.graph import Graph
from tests.programs.reference.records import Act, Entry, Scope

Json = Any


class TokenGame:
    def __init__(self, document: dict[str, Any]) -> None:
        self.graph = Graph(document)
        self.live: list[Act] = []
        self.ready: list[Entry] = []
        self.given_up: list[Scope] = []
        """Iterations that have failed and are drained or undone."""
        self.leaving: list[Act] = []
        """Loops that are given up, in this order."""

    # -- sending ----------------------------------------------------------------------------------

    def open(self, scope: Scope, loop: str | None, value: Json) -> None:
        for id in self.graph.entries(loop):
            self.queue(Entry(id, scope, True, value))
        self.settle(scope)

    def queue(self, entry: Entry) -> None:
        """A join that withdraws others goes before them."""
        place = len(self.ready)
        if entry.live and self.graph.join(entry.node)[2]:
            place = next((at for at, other in enumerate(self.ready) if other.node != entry.node), place)
        self.ready.insert(place, entry)

    def send(self, scope: Scope, edge: dict[str, Any], live: bool, value: Json = None) -> None:
        if live or not self.graph.leaves_a_cycle(edge):
            self.arrive(scope, edge, live, value)

    def arrive(self, scope: Scope, edge: dict[str, Any], live: bool, value: Json = None) -> None:
        scope.tokens.setdefault(edge["number"], []).append((live, value))
        node = edge["target"]
        if self.graph.join(node)[0] == "any":
            scope.merges.setdefault(node, set()).add(live)
            if live:
                self.queue(Entry(node, scope, True, value))
        else:
            self.look(scope, node)

    def look(self, scope: Scope, node: str) -> None:
        """Fires the rounds that are decided."""
        rule, n, _ = self.graph.join(node)
        edges = self.graph.ins(node)
        fired = scope.fired.setdefault(node, set())
        for number in range(self.rounds(scope, node)):
            here = self.round(scope, node, number)
            lives = sum(live for _, live, _ in here)
            if number in fired:
                continue
            if rule == "all":
                is_decided, is_live = len(here) == len(edges), lives > 0
            else:
                is_decided, is_live = lives >= n or len(here) - lives > len(edges) - n, lives >= n
            if is_decided:
                self.fire(scope, node, number, is_live)

    def rounds(self, scope: Scope, node: str) -> int:
        return max((len(scope.tokens.get(edge["number"], [])) for edge in self.graph.ins(node)), default=0)

    def round(self, scope: Scope, node: str, number: int) -> list[tuple[str, bool, Json]]:
        """Source, liveness and value of the tokens of one round."""
        arrived = [(edge["source"], scope.tokens.get(edge["number"], [])) for edge in self.graph.ins(node)]
        return [(source, *tokens[number]) for source, tokens in arrived if len(tokens) > number]

    def fire(self, scope: Scope, node: str, number: int, live: bool) -> None:
        scope.fired[node].add(number)
        values = [(source, value) for source, alive, value in self.round(scope, node, number) if alive]
        value = values[0][1] if len(values) == 1 else dict(values)
        self.queue(Entry(node, scope, live, value if live else None))

    # -- where nothing can arrive any more --------------------------------------------------------

    def is_busy(self, scope: Scope, part: frozenset[str]) -> bool:
        acts = [act.node for act in self.live if act.scope is scope and not act.withdrawn and not act.is_beside]
        waiting = [entry.node for entry in self.ready if entry.scope is scope]
        return any(node in part for node in acts + waiting)

    def can_get_tokens(self, scope: Scope, part: frozenset[str]) -> bool:
        graph = self.graph
        sources = {edge["source"] for node in part for edge in graph.ins(node)} - part
        if graph.settings.get("on_failure") in part:  # as long as anything else could still fail
            sources |= set(graph.body(None)) - graph.behind_failure
        return any(graph.parts[source] not in scope.closed for source in sources)

    def settle(self, scope: Scope) -> None:
        """Closes every part of the flow that has come to rest; what is half arrived there goes on as it is."""
        loop = scope.loop.node if scope.loop is not None else None
        parts = [self.graph.parts[node] for node in self.graph.body(loop)]
        while True:
            resting = (part for part in parts if part not in scope.closed and not self.is_busy(scope, part))
            part = next((part for part in resting if not self.can_get_tokens(scope, part)), None)
            if part is None:
                return
            if not self.finish_a_join(scope, part):
                scope.closed.add(part)
                self.end_exits(scope, part)

    def finish_a_join(self, scope: Scope, part: frozenset[str]) -> bool:
        for node in (id for id in self.graph.nodes if id in part):
            rule, n, _ = self.graph.join(node)
            if rule == "any":
                if scope.merges.get(node) == {False} and not self.graph.is_cyclic(node):
                    scope.merges[node] = set()
                    self.ready.append(Entry(node, scope, False))
                    return True
                continue
            for number in range(self.rounds(scope, node)):
                for edge in self.graph.ins(node):  # what is missing is dead, and what comes later is for later rounds
                    tokens = scope.tokens.setdefault(edge["number"], [])
                    tokens += [(False, None)] * (number + 1 - len(tokens))
                if number not in scope.fired.setdefault(node, set()):
                    lives = sum(live for _, live, _ in self.round(scope, node, number))
                    self.fire(scope, node, number, lives >= n)
                    return True
        return False

    def end_exits(self, scope: Scope, part: frozenset[str]) -> None:
        """Edges that leave a cycle and were never taken die with it."""
        for edge in [edge for node in self.graph.nodes if node in part for edge in self.graph.outs(node)]:
            if self.graph.leaves_a_cycle(edge) and edge["number"] not in scope.tokens:
                self.arrive(scope, edge, False)

    def is_quiet(self, scope: Scope) -> bool:
        acts = any(act.scope is scope and not act.is_beside for act in self.live)
        return not acts and not any(entry.scope is scope for entry in self.ready)

    # -- scopes -----------------------------------------------------------------------------------

    def is_given_up(self, scope: Scope) -> bool:
        return any(
            each in self.given_up or (each.loop is not None and each.loop.loop is not None and each.loop.loop.ending)
            for each in scope.chain()
        )

    def inside(self, scope: Scope) -> list[Act]:
        return [act for act in self.live if scope in act.scope.chain() and not act.is_beside]
