"""Graph questions, answered once per published version: strongly connected components, order, what a join makes
superfluous.

Nodes are numbers, edges are pairs of numbers; nothing here knows what a flow is. All functions are linear in nodes
and edges.
"""

from __future__ import annotations

from collections.abc import Sequence


def strong_components(size: int, successors: Sequence[Sequence[int]]) -> list[int]:
    """The component number of each node (Tarjan, without recursion). Numbers fall along edges: sinks come first."""
    index: list[int] = [-1] * size
    low = [0] * size
    component = [-1] * size
    stack: list[int] = []
    counter = found = 0
    for root in range(size):
        if index[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            node, place = work.pop()
            if place == 0:
                index[node] = low[node] = counter
                counter += 1
                stack.append(node)
            nexts = successors[node]
            while place < len(nexts):
                other = nexts[place]
                place += 1
                if index[other] < 0:
                    work.append((node, place))
                    work.append((other, 0))
                    break
                if component[other] < 0:
                    low[node] = min(low[node], index[other])
            else:
                if low[node] == index[node]:
                    while True:
                        member = stack.pop()
                        component[member] = found
                        if member == node:
                            break
                    found += 1
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
    return component


def reachable(starts: Sequence[int], successors: Sequence[Sequence[int]]) -> set[int]:
    seen = set(starts)
    todo = list(starts)
    while todo:
        for other in successors[todo.pop()]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def only_through(
    gate: int, successors: Sequence[Sequence[int]], predecessors: Sequence[Sequence[int]], size: int
) -> set[int]:
    """Nodes that can reach `gate` and from which every path to an end passes through it."""
    before = reachable([gate], predecessors) - {gate}
    ends = [node for node in range(size) if not successors[node] and node != gate]
    # Nodes that reach an end without passing the gate: walk back from the ends, never through the gate.
    escaping = set(ends)
    todo = list(ends)
    while todo:
        for other in predecessors[todo.pop()]:
            if other != gate and other not in escaping:
                escaping.add(other)
                todo.append(other)
    return before - escaping


def layers(size: int, edges: Sequence[tuple[int, int]], order: Sequence[int]) -> list[list[int]]:
    """Kahn's layers of an acyclic graph, each sorted by `order`; nodes on cycles are left out."""
    waiting = [0] * size
    successors: list[list[int]] = [[] for _ in range(size)]
    for source, target in edges:
        waiting[target] += 1
        successors[source].append(target)
    layer = sorted((node for node in range(size) if not waiting[node]), key=lambda node: order[node])
    found = []
    while layer:
        found.append(layer)
        following = []
        for node in layer:
            for other in successors[node]:
                waiting[other] -= 1
                if not waiting[other]:
                    following.append(other)
        layer = sorted(following, key=lambda node: order[node])
    return found


def find_cycle(size: int, successors: Sequence[Sequence[int]], allowed: set[int]) -> list[int] | None:
    """A cycle that uses only `allowed` nodes, as a path whose last node leads back to its first; None if there is
    none."""
    state = [0] * size
    for root in sorted(allowed):
        if state[root]:
            continue
        path: list[int] = []
        work = [(root, 0)]
        while work:
            node, place = work.pop()
            if place == 0:
                state[node] = 1
                path.append(node)
            nexts = successors[node]
            for at in range(place, len(nexts)):
                other = nexts[at]
                if other not in allowed:
                    continue
                if state[other] == 1:
                    return path[path.index(other) :]
                if state[other] == 0:
                    work.append((node, at + 1))
                    work.append((other, 0))
                    break
            else:
                state[node] = 2
                path.pop()
    return None
