"""Validation at save: every mistake of a document at once, each with a code and a JSON pointer.

Checks on the graph and on expressions also look at documents whose fields have mistakes, as far as they can be made
out. What passes here compiles (`graph.compile_flow`); warnings do not stand in the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from pydantic import ValidationError

from perdure.errors import DocumentInvalid, InvalidInput
from perdure.model.documents import FlowDocument
from perdure.model.problems import MOST, Problem, in_order
from perdure.model.values import check_json
from perdure.programs.flow.checks import configs, options, references, shape, structure, writing
from perdure.programs.flow.checks.side_branches import side_branches
from perdure.programs.flow.checks.sketch import Sketch
from perdure.programs.flow.names import Names
from perdure.programs.flow.nodetypes import Catalogue

_OF_ITS_OWN = "_DUPLICATE_ID"
"""Two ids that are the same are a mistake whatever they look like."""


def validate_flow(
    document: Any, catalogue: Catalogue, names: Names | None = None
) -> tuple[FlowDocument | None, list[Problem]]:
    """The flow, if the document is one, and all that is wrong or doubtful about it. Never raises."""
    early = _unfit(document)
    if early:
        return None, early
    flow, misshapen = _shape(document)
    sketch = Sketch(document, catalogue, names)
    problems = [
        *misshapen,
        *chain(
            structure.duplicate_ids(sketch),
            structure.edges(sketch),
            structure.starts(sketch),
            structure.joins(sketch),
            side_branches(sketch),
            structure.parents(sketch),
            structure.empty_loops(sketch),
            structure.cycles(sketch),
            structure.reach(sketch),
            references.of_nodes(sketch),
            references.of_settings(sketch),
            configs.types(sketch),
            writing.of_edges(sketch),
            options.prose(sketch),
            options.schedule(document),
            options.limits(sketch),
            options.retries(sketch),
            options.input_schema(document),
        ),
    ]
    problems = [*misshapen, *_elsewhere(problems[len(misshapen) :], misshapen)]
    errors = sum(problem.is_error for problem in problems)
    for node in sketch.nodes:  # one after the other: what was compiled to be checked is still at hand for the second
        if errors > MOST:
            break  # the rest would not be told
        written = list(writing.of_node(sketch, node))
        configured = list(configs.configuration(node, prepare=not _has_errors(written)))
        found = [*configured, *_elsewhere(written, configured)]
        errors += sum(problem.is_error for problem in found)
        problems += found
    return (None if _has_errors(problems) else flow), in_order(problems)


def _elsewhere(problems: Iterable[Problem], told: list[Problem]) -> Iterator[Problem]:
    """Without those that are about a field of which it is told already that it cannot be what it is."""
    places = {problem.pointer for problem in told}
    for problem in problems:
        if problem.pointer not in places or problem.code.endswith(_OF_ITS_OWN):
            yield problem


def check_or_raise(document: Any, catalogue: Catalogue) -> FlowDocument:
    """The flow. Raises DocumentInvalid with all problems, warnings included."""
    flow, problems = validate_flow(document, catalogue)
    if flow is None:
        errors = [problem for problem in problems if problem.is_error]
        many = f"{len(errors)} mistakes" if len(errors) > 1 else "a mistake"
        told = f"the document has {many}"
        raise DocumentInvalid(told, [problem.as_dict() for problem in problems], pointer=errors[0].pointer or None)
    return flow


def _unfit(document: Any) -> list[Problem]:
    """What keeps the other checks from looking at it at all."""
    if not isinstance(document, dict):
        return [Problem("FIELD_TYPE", "", "the document is no object", expected="an object")]
    try:
        check_json(document)
    except InvalidInput as fault:
        return [Problem("VALUE_INVALID", fault.pointer or "", fault.message, expected=fault.expected)]
    return list(options.sizes(document))


def _shape(document: dict[str, Any]) -> tuple[FlowDocument | None, list[Problem]]:
    try:
        return FlowDocument.model_validate(document, strict=True), []
    except ValidationError as fault:
        return None, list(shape.problems_of(fault, document, FlowDocument))


def _has_errors(problems: list[Problem]) -> bool:
    return any(problem.is_error for problem in problems)
