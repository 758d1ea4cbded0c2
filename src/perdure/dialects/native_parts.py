"""Stored parts in Perdure's own flow documents.

A node is made from a stored node definition by `use`; what stands beside it overrides the definition's fields, and
`config` key by key. A script is taken from the store by `"script": {"ref": "name"}` wherever a configuration may hold
one.

    {"id": "pay", "use": {"ref": "charge", "version": 2}, "config": {"amount": "${input.total}"}}
    {"id": "greet", "type": "script", "config": {"script": {"ref": "greeting"}}}
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from pydantic import Field, ValidationError

from perdure.expressions.places import nearest
from perdure.model.documents import Part, RetryDoc
from perdure.model.problems import Problem, pointed
from perdure.model.references import ALL_LOOKUPS, NODE, SCRIPT, Parts, Reference, reference_in
from perdure.model.times import Duration
from perdure.programs.flow.checks.shape import problems_of, shown
from perdure.programs.flow.fields import texts
from perdure.programs.flow.nodetypes import Catalogue, NodeType

LOOKUP_NAME = "_enum_store"
_SCRIPT_KEYS = ("script", "source")
_LANGUAGE_KEYS = ("language", "scriptType", "script_type")
_FOR_READERS = ("id", "name", "comment", "version")


class NodePart(Part):
    """A stored node definition: what a node has besides its place in a graph."""

    id: str | None = Field(None, description="The id under which it is stored.")
    name: str | None = Field(None, max_length=256, description="A title. Changes nothing.")
    comment: str | None = Field(None, description="For readers. Changes nothing.")
    type: str = Field(min_length=1, max_length=64, description="One of the node types.")
    config: dict[str, Any] = Field(default_factory=dict, description="What the node type asks for, or a part of it.")
    retry: RetryDoc | None = Field(None, description="How failures that may pass are tried again.")
    timeout: Duration | None = Field(None, description="How long one attempt may take.")
    at_most_once: bool = Field(False, description="Never repeated when its outcome is unknown.")
    missing: Literal["strict", "lenient"] | None = Field(None, description="What templates do without a value.")


class ScriptPart(Part):
    """A stored script."""

    id: str | None = Field(None, description="The id under which it is stored.")
    name: str | None = Field(None, max_length=256, description="A title. Changes nothing.")
    comment: str | None = Field(None, description="For readers. Changes nothing.")
    script: str = Field(min_length=1, description="The source.")
    language: Literal["python", "groovy"] = Field("python", description="What it is written in.")


_MODELS: dict[str, type[Part]] = {NODE: NodePart, SCRIPT: ScriptPart}


def references(document: Any) -> list[Reference]:
    found: list[Reference] = []
    for index, node in _nodes(document):
        place = pointed("/nodes", index)
        if (used := reference_in(node.get("use"), NODE, pointed(place, "use"))) is not None:
            found.append(used)
        for pointer, value in objects_in(node.get("config"), pointed(place, "config")):
            scripts = (reference_in(value.get(key), SCRIPT, pointed(pointer, key)) for key in _SCRIPT_KEYS)
            found += [script for script in scripts if script is not None]
    if reads_lookups(document):
        found.append(ALL_LOOKUPS)
    return found


def link(document: Any, parts: Parts) -> Any:
    wanted = [reference for reference in references(document) if reference in parts]
    if not wanted:
        return document
    linked = copy.deepcopy(document)
    for reference in wanted:
        part = parts[reference]
        if reference.kind == SCRIPT:
            place, _, key = reference.pointer.rpartition("/")
            holder = at_pointer(linked, place)
            for name in _LANGUAGE_KEYS:
                holder.pop(name, None)
            holder[key] = part.get("script")
            holder["language"] = part.get("language", "python")
        elif reference.kind == NODE:
            index = int(reference.pointer.split("/")[2])
            linked["nodes"][index] = _made_from(part, linked["nodes"][index])
    return linked


def _made_from(part: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    given = {key: value for key, value in node.items() if key != "use"}
    fixed = {key: copy.deepcopy(value) for key, value in part.items() if key not in _FOR_READERS}
    made = {**fixed, **given}
    if isinstance(part.get("config"), dict) and isinstance(given.get("config", {}), dict):
        made["config"] = {**fixed["config"], **given.get("config", {})}
    return made


def part_problems(kind: str, document: Any, catalogue: Catalogue) -> list[Problem]:
    """A node definition may leave out what every node that uses it gives itself; so its configuration is checked with
    the documents that use it. Only a field that is given can be wrong by itself."""
    model = _MODELS[kind]
    try:
        model.model_validate(document, strict=True)
    except ValidationError as fault:
        return list(problems_of(fault, document, model))
    if kind == NODE and document["type"] not in catalogue:
        meant = nearest(document["type"], catalogue)
        hint = f"; did you mean {meant!r}?" if meant else ""
        told = f"there is no node type {shown(document['type'])}{hint}"
        return [Problem("NODE_TYPE_UNKNOWN", "/type", told, expected=f"one of {', '.join(catalogue)}")]
    if kind == NODE:
        return list(_config_problems(document.get("config", {}), catalogue[document["type"]]))
    if SCRIPT in catalogue:
        given = {"script": document["script"], "language": document.get("language", "python")}
        found = texts(catalogue[SCRIPT].config, given)
        return [
            msgspec.structs.replace(problem, pointer=text.pointer + problem.pointer)
            for text in found
            if text.script is not None
            for problem in text.script.problems
        ]
    return []


def _config_problems(config: dict[str, Any], type: NodeType) -> Iterator[Problem]:
    """Of fields that are there. What they take from stored scripts is looked at when it is there, too."""
    taken = {
        key
        for key in config
        for _, value in objects_in({key: config[key]})
        if any(reference_in(value.get(each), SCRIPT, "") is not None for each in _SCRIPT_KEYS)
    }
    fields = {f"/config{pointed('', key)}/" for key in config if key not in taken}
    try:
        type.config.model_validate(config)
    except ValidationError as fault:
        for problem in problems_of(fault, config, type.config, prefix="CONFIG", pointer="/config"):
            if "/".join([*problem.pointer.split("/")[:3], ""]) in fields:
                yield problem
    except Exception:  # a type that somebody else wrote; with a document that uses the part it is told
        return


# -- looking through documents, of whatever dialect ------------------------------------------------


def objects_in(value: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object in a value, with its place, however deep."""
    waiting = [(pointer, value)]
    while waiting:
        place, each = waiting.pop()
        if isinstance(each, dict):
            yield place, each
            waiting += [(pointed(place, key), inner) for key, inner in each.items() if isinstance(inner, dict | list)]
        elif isinstance(each, list):
            waiting += [(pointed(place, n), inner) for n, inner in enumerate(each) if isinstance(inner, dict | list)]


def reads_lookups(document: Any) -> bool:
    """Whether any text in it may read look-ups. If it only mentions them, the run pins them for nothing."""
    waiting = [document]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            if LOOKUP_NAME in each:
                return True
        elif isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return False


def at_pointer(document: Any, pointer: str) -> Any:
    """The value at a place that is there."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def _nodes(document: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    nodes = document.get("nodes") if isinstance(document, dict) else None
    for index, node in enumerate(nodes if isinstance(nodes, list) else []):
        if isinstance(node, dict):
            yield index, node
