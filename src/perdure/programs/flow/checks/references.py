"""Nodes that are named elsewhere than in edges: they exist, and can do there what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perdure.model.problems import Problem, pointed
from perdure.programs.flow.checks.sketch import NodeSketch, Sketch, mapping, sequence, text
from perdure.programs.flow.checks.structure import unknown


def of_nodes(sketch: Sketch) -> Iterator[Problem]:
    for node in sketch.nodes:
        raw = node.raw
        if "compensate" in raw:
            yield from _compensation(sketch, node, pointed(node.pointer, "compensate"), text(raw["compensate"]))
        for number, id in enumerate(sequence(raw.get("cancels"))):
            yield from _cancelled(sketch, node, pointed(node.pointer, "cancels", number), id)
        if isinstance(raw.get("milestone"), dict):
            yield from _milestone(sketch, node, pointed(node.pointer, "milestone"), mapping(raw["milestone"]))
        if isinstance(raw.get("mutex"), str):
            yield from _mutex(sketch, node, pointed(node.pointer, "mutex"))
        if raw.get("on_demand") is True:
            yield from _on_demand(node, pointed(node.pointer, "on_demand"))


def _compensation(sketch: Sketch, node: NodeSketch, place: str, id: str | None) -> Iterator[Problem]:
    if id is None:
        return
    other = sketch.by_id.get(id)
    if other is None:
        if not sketch.excuses(id):
            yield Problem("COMPENSATE_UNKNOWN", place, unknown(id, sketch))
    elif other is node:
        yield Problem("COMPENSATE_SELF", place, f"{id!r} cannot undo itself")
    else:
        yield from _able(other, place)
        yield from _visible(sketch, node, other, place)


def _cancelled(sketch: Sketch, node: NodeSketch, place: str, id: Any) -> Iterator[Problem]:
    if not isinstance(id, str):
        return
    other = sketch.by_id.get(id)
    if other is None:
        if not sketch.excuses(id):
            yield Problem("CANCELS_UNKNOWN", place, unknown(id, sketch))
    else:
        yield from _visible(sketch, node, other, place)


def _milestone(sketch: Sketch, node: NodeSketch, place: str, milestone: dict[str, Any]) -> Iterator[Problem]:
    after, before = (sketch.find(milestone.get(word)) for word in ("after", "before"))
    for word, other in (("after", after), ("before", before)):
        id = text(milestone.get(word))
        if id is not None and other is None:
            if sketch.excuses(id):
                continue
            yield Problem("MILESTONE_UNKNOWN", pointed(place, word), unknown(id, sketch))
        elif other is node:
            yield Problem("MILESTONE_SELF", pointed(place, word), f"{node.id!r} cannot wait for itself")
        elif other is not None:
            yield from _visible(sketch, node, other, pointed(place, word))
    if after is not None and before is not None and after.parent != before.parent and not after.is_homeless:
        told = f"{after.id!r} and {before.id!r} belong to different bodies"
        yield Problem("SCOPE_CROSSED", pointed(place, "before"), told, expected="both in the same body")


def _mutex(sketch: Sketch, node: NodeSketch, place: str) -> Iterator[Problem]:
    """The loop or group keeps its mutex until its body has ended: a node of the body would wait for it for ever."""
    for id in sketch.around(node):
        above = sketch.find(id)
        if above is not None and above.raw.get("mutex") == node.raw["mutex"]:
            told = f"{above.id!r}, of whose body {node.id!r} is a part, has this mutex while its body runs"
            yield Problem("MUTEX_NESTED", place, told, expected="another mutex, or none")


def _on_demand(node: NodeSketch, place: str) -> Iterator[Problem]:
    if node.ins:
        told = f"an edge leads to {node.id!r}, so it does not run only when somebody asks for it"
        yield Problem("ON_DEMAND_LED_TO", place, told, remedy="remove the edge, or `on_demand`")
    yield from _at_the_root(node, place)
    yield from _able(node, place)


def of_settings(sketch: Sketch) -> Iterator[Problem]:
    id = text(sketch.settings.get("on_failure"))
    if id is not None:
        place = "/settings/on_failure"
        if sketch.on_failure is None:
            if not sketch.excuses(id):
                yield Problem("ON_FAILURE_UNKNOWN", place, unknown(id, sketch))
        else:
            yield from _at_the_root(sketch.on_failure, place)
            if sketch.on_failure.type is not None and sketch.on_failure.type.is_start:
                yield Problem("ON_FAILURE_START", place, f"{id!r} begins the flow; it cannot follow a failure")
    for number, id in enumerate(sequence(sketch.settings.get("after"))):
        if isinstance(id, str):
            place, node = pointed("/settings/after", number), sketch.by_id.get(id)
            if node is None:
                if not sketch.excuses(id):
                    yield Problem("AFTER_UNKNOWN", place, unknown(id, sketch))
            else:
                yield from _at_the_root(node, place)
                yield from _able(node, place)


def _able(node: NodeSketch, place: str) -> Iterator[Problem]:
    if node.type is not None and (not node.type.beside or node.type.is_start):
        told = f"a node of type {node.type.name} cannot run beside the graph"
        remedy = "use a step, or a node that computes, publishes or sleeps"
        yield Problem("BESIDE_IMPOSSIBLE", place, told, remedy=remedy)


def _visible(sketch: Sketch, node: NodeSketch, other: NodeSketch, place: str) -> Iterator[Problem]:
    if node.is_homeless or other.is_homeless:
        return
    if other.parent is not None and other.parent not in sketch.around(node):
        told = f"{other.id!r} belongs to the body of {other.parent!r}, which {node.id!r} is no part of"
        yield Problem("SCOPE_CROSSED", place, told, expected="a node of the same body, or of one around it")


def _at_the_root(node: NodeSketch, place: str) -> Iterator[Problem]:
    if node.parent is not None and not node.is_homeless:
        told = f"{node.id!r} belongs to the body of {node.parent!r}"
        yield Problem("SCOPE_CROSSED", place, told, expected="a node outside of all loops")
