"""What is sent while a task is open must be a branch that ends by itself.

Reminders come as often as they come, and the answer comes once. A join that waits for both would be passed once for
every reminder, from the second on without an answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import and_, or_

from perdure.model.policies import JoinRule
from perdure.model.problems import Problem, pointed
from perdure.model.waits import ESCALATION, REMINDER
from perdure.programs.flow.checks.sketch import EdgeSketch, NodeSketch, Sketch
from perdure.programs.flow.components import strong_components

_COUNTING = (JoinRule.ALL, JoinRule.N_OF_M)


def side_branches(sketch: Sketch) -> Iterator[Problem]:
    """One problem for each join at which such a branch meets others."""
    origins = list(_origins(sketch))
    if not origins:
        return
    bits = {edge.index: 1 << number for number, together in enumerate(origins) for edge in together}
    behind = _behind(sketch, bits)
    for node in sketch.nodes:
        if len(node.ins) < 2 or not _counts(node):
            continue
        sent = [bits.get(edge.index, 0) | behind[edge.source.id] for edge in node.ins if edge.source is not None]
        uneven = reduce(or_, sent, 0) & ~reduce(and_, sent)
        if uneven:
            edge = origins[(uneven & -uneven).bit_length() - 1][0]
            assert edge.source is not None
            kind = edge.raw["outcome"]
            yield Problem(
                "JOIN_OF_SIDE_BRANCH",
                pointed(node.pointer, "join") if "join" in node.raw else node.pointer,
                f"{node.id!r} waits for the {kind} of {edge.source.id!r} and for others as well: it would be executed "
                f"once for every {kind}",
                expected="a join `any` or `first`, or only edges that are taken together",
                remedy=f"let what follows the {kind} end by itself, or give {node.id!r} the join `any` or `first`",
            )


def _counts(node: NodeSketch) -> bool:
    rule = node.join.get("rule", JoinRule.ALL)
    return isinstance(rule, str) and rule in _COUNTING


def _origins(sketch: Sketch) -> Iterator[list[EdgeSketch]]:
    """Edges that are taken together while a task is open. One with a condition may be taken without the others."""
    for node in sketch.nodes:
        for kind in (REMINDER, ESCALATION) if node.type is not None and node.type.asks else ():
            found = [edge for edge in node.outs if edge.raw.get("outcome") == kind]
            together = [edge for edge in found if edge.raw.get("when") is None]
            if together:
                yield together
            yield from ([edge] for edge in found if edge.raw.get("when") is not None)


def _behind(sketch: Sketch, bits: dict[int, int]) -> dict[str, int]:
    """For each node the bits of the edges that lead to it, at once for all: there may be thousands of each."""
    place = {id: number for number, id in enumerate(sketch.by_id)}
    whole = [edge for edge in sketch.edges if edge.source is not None and edge.target is not None]
    ends = [(place[edge.source.id], place[edge.target.id]) for edge in whole if edge.source and edge.target]
    successors: list[list[int]] = [[] for _ in place]
    for source, target in ends:
        successors[source].append(target)
    parts = strong_components(len(place), successors)
    found = [0] * len(place)
    # By component, whose numbers fall along edges: what comes in is complete before it is handed on.
    order = sorted(range(len(whole)), key=lambda at: _turn(*(parts[end] for end in ends[at])))
    for at in order:
        source, target = ends[at]
        found[parts[target]] |= bits.get(whole[at].index, 0) | found[parts[source]]
    return {id: found[parts[number]] for id, number in place.items()}


def _turn(source: int, target: int) -> tuple[int, bool]:
    """Components from the beginning to the end; in each, what goes round before what leaves it."""
    return -source, source != target
