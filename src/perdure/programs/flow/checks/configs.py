"""Node types and their configurations, the outcomes that edges name, and settings that a node cannot obey."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from pydantic import BaseModel, ValidationError

from perdure.errors import PerdureError
from perdure.expressions.places import nearest
from perdure.model.problems import Problem, pointed
from perdure.programs.flow.checks.shape import problems_of, shown
from perdure.programs.flow.checks.sketch import NodeSketch, Sketch, text
from perdure.programs.flow.graph import RESERVED_OUTCOMES
from perdure.programs.flow.nodetypes import ANY_OUTCOME, NodeKind, NodeType

_FOR_HANDLERS = ("timeout", "queue", "at_most_once", "cache")


def types(sketch: Sketch) -> Iterator[Problem]:
    for node in sketch.nodes:
        name = text(node.raw.get("type"))
        if name is not None and node.type is None:
            meant = nearest(name, sketch.catalogue)
            hint = f"; did you mean {meant!r}?" if meant else ""
            known = f"one of {', '.join(sketch.catalogue)}"
            told = f"there is no node type {shown(name)}{hint}"
            yield Problem("NODE_TYPE_UNKNOWN", pointed(node.pointer, "type"), told, expected=known)
        elif node.type is not None and node.type.needs is not None:
            told = f"a node of type {node.type.name} needs {node.type.needs}, which this release does not have"
            remedy = "leave the node out until then"
            yield Problem("LIFECYCLE_UNAVAILABLE", pointed(node.pointer, "type"), told, remedy=remedy)
        elif node.type is not None and node.type.kind is NodeKind.INLINE:
            for field in _FOR_HANDLERS:
                if node.raw.get(field):
                    told = f"a node of type {node.type.name} has no handler; `{field}` has no effect"
                    yield Problem("NO_EFFECT", pointed(node.pointer, field), told, severity="warning")


def configuration(node: NodeSketch, *, prepare: bool) -> Iterator[Problem]:
    """One configuration, compiled as for execution if its texts are right, and what follows from it."""
    kind = node.type
    if kind is None or not isinstance(node.raw.get("config", {}), dict):
        return
    place = pointed(node.pointer, "config")
    try:
        config = kind.config.model_validate(node.config)
        if prepare:
            kind.prepare(config)
            if kind.loop is not None:
                kind.loop(config)
    except ValidationError as fault:
        yield from problems_of(fault, node.config, kind.config, prefix="CONFIG", pointer=place)
    except PerdureError as fault:
        yield Problem("CONFIG_VALUE", place + (fault.pointer or ""), fault.message, expected=fault.expected)
    except Exception as fault:  # a type that somebody else wrote
        told = f"the node type {kind.name} cannot take it: {type(fault).__name__}: {fault}"
        yield Problem("CONFIG_VALUE", place, told[:1000])
    else:
        yield from _outcomes(node, kind, config)
        for problem in kind.examine(node.config) if kind.examine is not None else ():
            yield msgspec.structs.replace(problem, pointer=place + problem.pointer)


def _outcomes(node: NodeSketch, kind: NodeType, config: BaseModel) -> Iterator[Problem]:
    named: list[tuple[str, Any]] = [
        (edge.pointer, outcome) for edge in node.outs if isinstance(outcome := edge.raw.get("outcome"), str)
    ]
    if not named:
        return
    own = kind.outcomes(config) if kind.outcomes is not None else ()
    known = [*own, *RESERVED_OUTCOMES]
    for place, outcome in named:
        if outcome not in known and ANY_OUTCOME not in own:
            meant = nearest(outcome, known)
            hint = f"; did you mean {meant!r}?" if meant else ""
            told = f"{node.id!r} never has the outcome {shown(outcome)}{hint}"
            yield Problem("OUTCOME_UNKNOWN", pointed(place, "outcome"), told, expected=f"one of {', '.join(known)}")
