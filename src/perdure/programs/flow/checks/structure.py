"""The graph: ids, edges, starts and ends, bodies of loops, cycles, what cannot be reached."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from perdure.expressions.places import nearest
from perdure.model.policies import DEFAULT_LIMITS
from perdure.model.problems import Problem, pointed
from perdure.programs.flow.checks.shape import shown
from perdure.programs.flow.checks.sketch import EdgeSketch, NodeSketch, Sketch, text
from perdure.programs.flow.components import reachable, strong_components

DEEPEST = DEFAULT_LIMITS.depth
MOST_SHOWN = 12


def unknown(id: str, sketch: Sketch) -> str:
    meant = sketch.hint(id)
    return f"there is no node {shown(id)}" + (f"; did you mean {meant!r}?" if meant else "")


def route(ids: list[str]) -> str:
    """A way through nodes, short enough for a sentence."""
    return " → ".join(ids if len(ids) <= MOST_SHOWN else [*ids[: MOST_SHOWN - 2], "…", ids[-1]])


# -- ids -------------------------------------------------------------------------------------------


def duplicate_ids(sketch: Sketch) -> Iterator[Problem]:
    first: dict[str, NodeSketch] = {}
    for node in sketch.nodes:
        other = first.setdefault(_folded(node.id), node)
        if other is not node:
            how = "" if other.id == node.id else f"; {shown(other.id)} differs only in case or accents"
            told = f"{shown(node.id)} is a duplicate of {other.pointer}{how}"
            yield Problem("NODE_DUPLICATE_ID", pointed(node.pointer, "id"), told, expected="an id of its own")
    known: dict[str, EdgeSketch] = {}
    for edge in sketch.edges:
        id = text(edge.raw.get("id"))
        if id is not None and known.setdefault(_folded(id), edge) is not edge:
            told = f"{shown(id)} is a duplicate of {known[_folded(id)].pointer}"
            yield Problem("EDGE_DUPLICATE_ID", pointed(edge.pointer, "id"), told, expected="an id of its own")


def _folded(id: str) -> str:
    return id.casefold() if id.isascii() else unicodedata.normalize("NFC", id).casefold()


# -- edges -----------------------------------------------------------------------------------------


def edges(sketch: Sketch) -> Iterator[Problem]:
    for edge in sketch.edges:
        for end, found in (("source", edge.source), ("target", edge.target)):
            id = text(edge.raw.get(end))
            if id is not None and found is None and not sketch.excuses(id):
                yield Problem("EDGE_DANGLING", pointed(edge.pointer, end), unknown(id, sketch))
        if edge.source is not None:
            yield from _edge_from(edge, edge.source, sketch)
        if edge.source is not None and edge.target is not None:
            yield from _edge_between(edge, edge.source, edge.target)


def _edge_from(edge: EdgeSketch, source: NodeSketch, sketch: Sketch) -> Iterator[Problem]:
    place = pointed(edge.pointer, "source")
    if source.type is not None and source.type.is_end:
        yield Problem("EDGE_FROM_END", place, f"nothing follows after {source.id!r}, which is an end")
    elif source.id in sketch.beside:
        told = f"{source.id!r} stands beside the graph; no edge of it is ever taken"
        yield Problem("EDGE_FROM_BESIDE", place, told)


def _edge_between(edge: EdgeSketch, source: NodeSketch, target: NodeSketch) -> Iterator[Problem]:
    if source is target and not source.is_any:
        told = f"the edge leads from {source.id!r} to itself"
        hint = "give the node the join `any` if it is to repeat itself"
        yield Problem("EDGE_SELF", edge.pointer, told, remedy=hint)
    if source.parent != target.parent and not source.is_homeless and not target.is_homeless:
        told = f"{source.id!r} and {target.id!r} belong to different bodies"
        remedy: str | None = None
        if target.parent == source.id:
            remedy = "the nodes of a body begin by themselves; remove the edge"
        elif source.parent == target.id:
            remedy = "an iteration ends by itself; remove the edge"
        yield Problem("SCOPE_CROSSED", edge.pointer, told, expected="both in the same body", remedy=remedy)


# -- starts and ends -------------------------------------------------------------------------------


def starts(sketch: Sketch) -> Iterator[Problem]:
    for parent, nodes in sketch.bodies().items():
        found = [node for node in nodes if node.type is not None and node.type.is_start]
        if parent is None and not found and not _may_begin(sketch):
            names = [name for name, type in sketch.catalogue.items() if type.is_start]
            yield Problem(
                "NO_START", "/nodes", "no node begins the flow", expected=f"a node of type {' or '.join(names)}"
            )
        for node in found[1:]:
            told = f"{node.id!r} begins the flow as well as {found[0].id!r}"
            yield Problem("MANY_STARTS", node.pointer, told, expected="exactly one start")


def _may_begin(sketch: Sketch) -> bool:
    """Whether one of the nodes that cannot be made out may be the start: then that is the mistake."""
    if sketch.unread:
        return True
    for node in sketch.nodes:
        if node.type is None:
            name = text(node.raw.get("type"))
            meant = nearest(name, sketch.catalogue) if name is not None else None
            if meant is None or sketch.catalogue[meant].is_start:
                return True
    return False


def joins(sketch: Sketch) -> Iterator[Problem]:
    for node in sketch.nodes:
        join = node.join
        n, threads = join.get("n"), join.get("threads")
        is_sure = not (node.misses or sketch.has_lost_edges)
        if join.get("rule") == "n_of_m" and isinstance(n, int) and n > len(node.ins) and is_sure:
            told = f"{n} edges must be taken, and {len(node.ins)} lead here"
            yield Problem("JOIN_RANGE", pointed(node.pointer, "join", "n"), told, expected=f"at most {len(node.ins)}")
        if isinstance(threads, int) and threads > 1 and not node.is_any:
            told = "only an `any` join collects threads"
            yield Problem("JOIN_RANGE", pointed(node.pointer, "join", "threads"), told, expected="the rule `any`")


# -- bodies ----------------------------------------------------------------------------------------


def parents(sketch: Sketch) -> Iterator[Problem]:
    too_deep: set[str] = set()
    for node in sketch.nodes:
        if node.parent is None:
            continue
        place = pointed(node.pointer, "parent")
        above = sketch.by_id.get(node.parent)
        if above is None:
            if node.parent and not sketch.excuses(node.parent):
                yield Problem("PARENT_UNKNOWN", place, unknown(node.parent, sketch))
            continue
        if above.type is not None and above.type.loop is None:
            told = f"{above.id!r} is a {above.type.name}; only a loop or a group has a body"
            yield Problem("PARENT_NOT_LOOP", place, told)
        way = [id for id in sketch.around(node) if id is not None]
        if len(way) == DEEPEST + 1 and above.id not in too_deep:
            too_deep.add(above.id)
            told = f"loops are nested {len(way)} deep: {route(way[::-1])}"
            yield Problem("LOOP_TOO_DEEP", above.pointer, told, expected=f"at most {DEEPEST}")
    yield from _circles_of_parents(sketch)


def _circles_of_parents(sketch: Sketch) -> Iterator[Problem]:
    """Each node has one parent at most, so following parents from every node, never twice, finds every circle."""
    settled: set[str] = set()
    for node in sketch.nodes:
        way: dict[str, NodeSketch] = {}
        at: NodeSketch | None = sketch.by_id[node.id]
        while at is not None and at.id not in settled and at.id not in way:
            way[at.id] = at
            at = sketch.find(at.parent)
        settled |= way.keys()
        if at is not None and at.id in way:
            ids = list(way)
            circle = [*ids[ids.index(at.id) :], at.id]
            yield Problem("PARENT_CYCLE", pointed(at.pointer, "parent"), f"it contains itself: {route(circle)}")


def empty_loops(sketch: Sketch) -> Iterator[Problem]:
    if sketch.unread or any(node.is_homeless for node in sketch.nodes):
        return  # these may be the body
    inhabited = {node.parent for node in sketch.nodes}
    for node in sketch.nodes:
        if node.type is not None and node.type.loop is not None and node.id not in inhabited:
            told = f"{node.id!r} has no body: no node names it as its parent"
            yield Problem("LOOP_EMPTY", node.pointer, told, severity="warning")


# -- cycles ----------------------------------------------------------------------------------------


def cycles(sketch: Sketch) -> Iterator[Problem]:
    """Every cycle must pass through an `any` join; one example of each knot that does not."""
    strict = [node for node in sketch.nodes if sketch.by_id[node.id] is node and not node.is_any]
    place = {node.id: number for number, node in enumerate(strict)}
    successors = [
        [
            place[edge.target.id]
            for edge in node.outs
            if edge.target is not None and edge.target is not node and edge.target.id in place
        ]
        for node in strict
    ]
    numbers = strong_components(len(strict), successors)
    members: dict[int, list[int]] = {}
    for at, number in enumerate(numbers):
        members.setdefault(number, []).append(at)
    for knot in members.values():
        if len(knot) > 1:
            way = [strict[at] for at in _cycle_through(min(knot), set(knot), successors)]
            told = f"a cycle without an `any` join: {route([node.id for node in [*way, way[0]]])}"
            remedy = "give the node where the cycle is entered the join `any`"
            yield Problem("CYCLE_WITHOUT_ANY", way[0].pointer, told, remedy=remedy)


def _cycle_through(start: int, knot: set[int], successors: list[list[int]]) -> list[int]:
    """The shortest way from a node of a strongly connected part back to itself."""
    came_from: dict[int, int] = {}
    todo = [start]
    for at in todo:
        for following in successors[at]:
            if following == start:
                way = [at]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if following in knot and following not in came_from:
                came_from[following] = at
                todo.append(following)
    raise AssertionError("a strongly connected part has a way back")


# -- reachability ----------------------------------------------------------------------------------


def reach(sketch: Sketch) -> Iterator[Problem]:
    """Edges that cannot be followed are given the benefit of the doubt: what they lead to counts as reached, and each
    may lead to one island that is not."""
    if sketch.has_lost_edges:
        return
    doubtful = sketch.beside_is_doubtful
    unreachable: list[NodeSketch] = []
    endless: list[NodeSketch] = []
    for nodes in sketch.bodies().values():
        place = {node.id: number for number, node in enumerate(nodes)}
        successors = [_within(place, (edge.target for edge in node.outs)) for node in nodes]
        begun = [node for node in nodes if node.type is not None and node.type.is_start]
        entries = begun or [node for node in nodes if not node.ins]
        if not begun and (sketch.unread or any(node.type is None for node in nodes)):
            entries = [node for node in nodes if not node.ins or node.type is None]
        unsure = {node.id for node in nodes if node.is_odd or (doubtful and not node.ins)}
        entries = [*entries, *(node for node in nodes if node.misses or node.id in unsure)]
        if sketch.on_failure in nodes:
            entries = [*entries, sketch.on_failure]
        reached = reachable([place[node.id] for node in entries], successors)
        islands = [at for at in range(len(nodes)) if at not in reached]
        unreachable += [nodes[at] for at in _shores(islands, successors)]
        if not islands:  # otherwise it is an edge between the two that is missing
            endless += _dead_ends(nodes, place, unsure)
    for node in unreachable[sketch.lost_targets :]:
        yield Problem("NODE_UNREACHABLE", node.pointer, f"no way leads to {node.id!r}")
    for node in endless[sketch.lost_sources :]:
        told = f"no way leads from {node.id!r} to an end"
        yield Problem("NODE_NO_END", node.pointer, told, severity="warning")


def _dead_ends(nodes: list[NodeSketch], place: dict[str, int], unsure: set[str]) -> list[NodeSketch]:
    ends = [
        place[node.id]
        for node in nodes
        if node.type is None or node.type.is_end or node.type.ends_run or node.loses or node.id in unsure
    ]
    if not any(node.type is not None and node.type.is_end for node in nodes):
        return []  # a flow without ends completes when nothing is left to do
    predecessors = [_within(place, (edge.source for edge in node.ins)) for node in nodes]
    leading = reachable(ends, predecessors)
    return [nodes[at] for at in _shores([at for at in range(len(nodes)) if at not in leading], predecessors)]


def _shores(island: list[int], successors: list[list[int]]) -> list[int]:
    """Of these nodes as few as lead to all the others: those that nothing of the island leads to, and one of each
    circle that is left."""
    left = set(island)
    inner = {following for at in island for following in successors[at] if following in left}
    found = []
    for at in [*(at for at in island if at not in inner), *(at for at in island if at in inner)]:
        if at in left:
            found.append(at)
            left.discard(at)
            todo = [at]
            while todo:
                further = [following for following in successors[todo.pop()] if following in left]
                left.difference_update(further)
                todo += further
    return sorted(found)


def _within(place: dict[str, int], nodes: Iterable[NodeSketch | None]) -> list[int]:
    return [place[node.id] for node in nodes if node is not None and node.id in place]
