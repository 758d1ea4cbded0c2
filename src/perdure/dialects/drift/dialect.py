"""The dialect: Drift's documents checked, linked, translated and compiled."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from perdure.dialects.drift import checks, node_definitions, words
from perdure.dialects.drift.context import START, Names, attributes
from perdure.dialects.drift.sheet import Sheet, State, resource_version
from perdure.dialects.drift.translation import Translated
from perdure.dialects.native_parts import reads_lookups
from perdure.errors import InvalidInput
from perdure.model.documents import FlowDocument
from perdure.model.problems import Problem, in_order, pointed, ways_to
from perdure.model.references import ALL_LOOKUPS, NODE, SCRIPT, Parts, Reference
from perdure.model.values import Json, check_json
from perdure.programs.flow.graph import Graph, compile_flow
from perdure.programs.flow.nodetypes import Catalogue
from perdure.programs.flow.validate import validate_flow

_STORED = ("FILE", "REF", "REFERENCE", "STORED")
"""What `scriptType` says when `script` is the id of a stored script."""

_NOT_HERE = ("NAME_UNKNOWN", "NODE_REFERENCE_UNKNOWN")
"""Told of templates whose names we do not know; here any may be a member of the context."""


class Drift:
    kind = "drift"

    def recognises(self, document: dict[str, Any]) -> bool:
        return "nodes" not in document and ("startNode" in document or isinstance(document.get("states"), dict))

    def id_of(self, document: dict[str, Any]) -> str | None:
        return document.get("id")

    def validate(self, document: Any, catalogue: Catalogue) -> list[Problem]:
        early = _unfit(document)
        if early:
            return early
        sheet = Sheet(document)
        problems = [*checks.fields(document), *checks.states(document, sheet), *checks.references(document, sheet)]
        if not any(problem.is_error for problem in problems):
            problems += checks.reach(sheet)
        problems += _of_flow(sheet, catalogue, problems)
        return in_order(problems)

    def compile(self, document: Any, catalogue: Catalogue) -> Graph:
        sheet = Sheet(document)
        translated = Translated(sheet)
        graph = compile_flow(FlowDocument.model_validate(translated.document()), catalogue)
        graph.by_id[translated.start].stored_as = START
        for key, id in translated.ids.items():
            graph.by_id[id].stored_as = sheet.states[key].name
        parameters = {translated.ids[key]: state.parameters for key, state in sheet.states.items() if state.parameters}
        names = {translated.ids[key]: state.raw.get("instanceName") or key for key, state in sheet.states.items()}
        graph.naming = Names(translated.keys, names, parameters)
        graph.attributes = attributes
        graph.catch_everywhere()
        return graph

    def semantic(self, document: Json) -> Json:
        """Comments, names and descriptions are for people; the `comment` of a SUCCESS is what it says. By the `version`
        of the workflow itself starts can choose it."""
        if not isinstance(document, dict):
            return document
        kept = _without(document, words.FOR_PEOPLE - {"version"})
        states = document.get("states")
        if isinstance(states, dict):
            kept["states"] = {key: _state(raw) if isinstance(raw, dict) else raw for key, raw in states.items()}
        return kept

    def references(self, document: Any) -> Sequence[Reference]:
        if not isinstance(document, dict):
            return []
        found = [reference for state in Sheet(document).states.values() for reference in _references(state)]
        if reads_lookups(document):
            found.append(ALL_LOOKUPS)
        return found

    def link(self, document: Any, parts: Parts) -> Any:
        wanted = [reference for reference in self.references(document) if reference in parts]
        if not wanted:
            return document
        linked = copy.deepcopy(document)
        for state in Sheet(linked).states.values():
            for reference in _references(state):
                if reference not in parts:
                    continue
                part = copy.deepcopy(parts[reference])
                if reference.kind == NODE:
                    state.raw["nodeDefinition"] = part
                    state.raw[words.LINKED] = str(reference)
                elif state.definition is not None and isinstance(part, dict):
                    state.definition["script"] = part.get("script")
                    state.definition["scriptType"] = part.get("language", "python")
        return linked

    def part_problems(self, kind: str, document: Any, catalogue: Catalogue) -> list[Problem] | None:
        if kind != NODE or not node_definitions.looks_like_one(document):
            return None
        return definition_problems(document, catalogue)


def definition_problems(definition: Any, catalogue: Catalogue) -> list[Problem]:
    """All that is wrong with a node definition by itself, its scripts included."""
    early = _unfit(definition)
    if early:
        return early
    problems = list(node_definitions.problems_of(definition))
    state = {"nodeDefinition": definition, "end": True}
    ways = State("", {"nodeDefinition": definition}).ways()
    states = {way.target: {"type": words.SUBWORKFLOW} for way in ways if isinstance(way.target, str)} | {"": state}
    home = pointed("/states", "", "nodeDefinition")
    problems += [
        msgspec.structs.replace(problem, pointer=problem.pointer.removeprefix(home))
        for problem in _of_flow(Sheet({"states": states}), catalogue, problems, home)
    ]
    return in_order(problems)


def _unfit(document: Any) -> list[Problem]:
    if not isinstance(document, dict):
        return [Problem("FIELD_TYPE", "", "the document is no object", expected="an object")]
    try:
        check_json(document)
    except InvalidInput as fault:
        return [Problem("VALUE_INVALID", fault.pointer or "", fault.message, expected=fault.expected)]
    return []


def _of_flow(sheet: Sheet, catalogue: Catalogue, told: list[Problem], below: str = "") -> Iterator[Problem]:
    """What the node types say about the configurations that the states become: scripts, templates, values."""
    translated = Translated(sheet)
    document = translated.document()
    places = {problem.pointer for problem in told if problem.is_error}
    around = {place for each in places for place in ways_to(each)}
    for problem in validate_flow({"nodes": document["nodes"], "settings": {"missing": "lenient"}}, catalogue)[1]:
        steps = problem.pointer.split("/")
        if len(steps) < 4 or steps[3] != "config" or problem.code in _NOT_HERE:
            continue
        origin = translated.origin(problem.pointer)
        if origin is None or not origin.startswith(below):
            continue
        if origin in around or not places.isdisjoint(ways_to(origin)):
            continue  # told of this place, of one inside it or of one around it
        state = sheet.states[translated.keys[document["nodes"][int(steps[2])]["id"]]]
        message = problem.message if state.linked is None else f"in {state.linked}: {problem.message}"
        yield msgspec.structs.replace(problem, pointer=origin, message=message)


def _references(state: State) -> Iterator[Reference]:
    """A definition that stands inside wins over a reference."""
    resource = state.raw.get("resourceId")
    version: Any = resource_version(state)
    if state.raw.get("nodeDefinition") is None and not state.is_workflow:
        if isinstance(resource, str) and resource and version is not None:
            yield Reference(NODE, resource, version, pointed(state.pointer, "resourceId"))
    elif state.definition is not None and isinstance(state.definition.get("script"), str):
        kind = state.definition.get("scriptType")
        if isinstance(kind, str) and kind.upper() in _STORED:
            yield Reference(SCRIPT, state.definition["script"], "LATEST", state.inside("script"))


def _state(raw: dict[str, Any]) -> dict[str, Any]:
    kept = _without(raw, words.FOR_PEOPLE)
    definition = raw.get("nodeDefinition")
    if isinstance(definition, dict):
        meant = words.FOR_PEOPLE - ({"comment"} if definition.get("type") == words.SUCCESS else set())
        kept["nodeDefinition"] = _without(definition, meant)
    return kept


def _without(holder: dict[str, Any], fields: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in holder.items() if key not in fields}
