"""Checking a document together with the stored parts that it uses.

Mistakes are found in the linked document and told about the one that the user wrote: where a part is to blame, at the
reference to it, and by name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from perdure.dialects.dialect import Dialect
from perdure.engine.linking import missing
from perdure.engine.offloop import off_loop
from perdure.errors import DocumentInvalid
from perdure.model.problems import Problem, told, ways_to
from perdure.model.references import LOOKUPS, Reference
from perdure.model.values import Json
from perdure.ports.definitions import Definitions, Linked
from perdure.programs.flow.nodetypes import Catalogue

_DEEPEST = 8
_NOWHERE = object()


async def problems_with_parts(
    definitions: Definitions, namespace: str, dialect: Dialect, document: Any, catalogue: Catalogue
) -> list[Problem]:
    """Every mistake at once, those that parts bring along too. Reads the store only if the document refers to it."""
    wanted = _parts(dialect, document)
    if not wanted:
        return told(await off_loop(document, dialect.validate, document, catalogue))
    linked, used, absent = document, list[Reference](), list[Problem]()
    for _ in range(_DEEPEST):
        contents = await asyncio.gather(*(_content(definitions, namespace, each) for each in wanted))
        parts = {each: content for each, content in zip(wanted, contents, strict=True) if content is not _NOWHERE}
        for reference in wanted:
            if reference not in parts:
                absent.append(_unknown(namespace, reference, document))
        used += parts
        linked = dialect.link(linked, parts)
        wanted = [each for each in _parts(dialect, linked) if each not in parts] if parts else []
        if not wanted or absent:
            break
    else:
        circle = "it uses parts that use one another in a circle, or too deep"
        place = _nearest_place(document, wanted[0].pointer)
        return [Problem("PART_DEPTH", place, circle, expected=f"at most {_DEEPEST}")]
    found = await off_loop(linked, dialect.validate, linked, catalogue)
    if absent:  # what is missing where it should have been is no mistake of its own
        homes = {_home(problem.pointer) for problem in absent}
        found = [each for each in found if homes.isdisjoint(ways_to(each.pointer))]
    used_at = {_home(each.pointer): each for each in sorted(used, key=lambda each: len(each.pointer))}
    return told([*absent, *(_told(each, document, linked, used_at) for each in found)])


def problems_alone(dialect: Dialect, document: Any, catalogue: Catalogue) -> list[Problem]:
    """Without a store: what depends on parts is left open."""
    found = dialect.validate(document, catalogue)
    wanted = _parts(dialect, document)
    if not wanted:
        return told(found)
    homes = {_home(reference.pointer) for reference in wanted}
    found = [each for each in found if homes.isdisjoint(ways_to(each.pointer))]
    open_ones = [
        Problem(
            "PART_NOT_CHECKED", each.pointer, f"{each} is stored apart, and is not looked at here", severity="warning"
        )
        for each in wanted
    ]
    return told([*found, *open_ones])


def check_linked(problems: Sequence[Problem], linked: Linked) -> None:
    """A part may have changed since the document was saved, so that they do not go together any more."""
    errors = [problem for problem in problems if problem.is_error]
    if errors:
        pins = ", ".join(f"{name} = {number}" for name, number in (linked.pins or {}).items())
        raise DocumentInvalid(
            f"the definition {linked.id!r} cannot be run with the parts that it uses now ({pins})",
            [problem.as_dict() for problem in errors],
            remedy="mend the part and publish it again, or name the version that fits",
        )


def _parts(dialect: Dialect, document: Any) -> list[Reference]:
    return [each for each in dialect.references(document) if each.kind != LOOKUPS]


async def _content(definitions: Definitions, namespace: str, reference: Reference) -> Json:
    """Like `linking.Links`, but a draft is only looked at."""
    match reference.version:
        case "SNAPSHOT":
            draft = await definitions.draft(namespace, reference.stored)
            return _NOWHERE if draft is None else draft.document
        case "ACTIVE":
            active = await definitions.active(namespace, reference.stored)
            return _NOWHERE if active is None else active.version.document
        case version:
            number = None if version == "LATEST" else version
            found = await definitions.version(namespace, reference.stored, number)
            return _NOWHERE if found is None else found.document


def _unknown(namespace: str, reference: Reference, document: Any) -> Problem:
    fault = missing(namespace, reference)
    return Problem("PART_UNKNOWN", _nearest_place(document, reference.pointer), fault.message, remedy=fault.remedy)


def _told(problem: Problem, document: Any, linked: Any, used_at: Mapping[str, Reference]) -> Problem:
    part = next((used_at[place] for place in ways_to(problem.pointer) if place in used_at), None)
    if part is None:
        return problem
    written = _value_at(document, problem.pointer)
    if written is not _NOWHERE and written == _value_at(linked, problem.pointer):
        return problem
    place = _nearest_place(document, part.pointer)
    return msgspec.structs.replace(problem, pointer=place, message=f"{problem.message} (in {part})")


def _home(reference: str) -> str:
    """The object that is made from the part to which this refers."""
    return reference.rpartition("/")[0]


def _value_at(document: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and key in document:
            document = document[key]
        elif isinstance(document, list) and key.isdecimal() and int(key) < len(document):
            document = document[int(key)]
        else:
            return _NOWHERE
    return document


def _nearest_place(document: Any, pointer: str) -> str:
    """The pointer, as far as it leads in this document."""
    while pointer and _value_at(document, pointer) is _NOWHERE:
        pointer = pointer.rpartition("/")[0]
    return pointer
