"""What is wrong with a workflow as a whole. Pointers lead into the document as it is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from perdure.dialects.drift import node_definitions, paths, words
from perdure.dialects.drift.sheet import Sheet, State, resource_version
from perdure.errors import ExpressionError
from perdure.expressions.places import nearest
from perdure.model.problems import Problem, pointed

MOST_STATES = 2_000


def fields(document: dict[str, Any]) -> Iterator[Problem]:
    yield from node_definitions.unknown_fields(document, words.WORKFLOW_FIELDS, "")
    for field in ("id", "startNode"):
        value = document.get(field)
        if value is None or value == "":
            yield Problem("FIELD_MISSING", f"/{field}", f"a workflow needs `{field}`", expected="text")
        elif not isinstance(value, str):
            yield Problem("FIELD_TYPE", f"/{field}", f"`{field}` is text", expected="text")
    states = document.get("states")
    if states is None or states == {}:
        yield Problem("FIELD_MISSING", "/states", "a workflow needs states", expected="an object of states by name")
    elif not isinstance(states, dict):
        yield Problem("FIELD_TYPE", "/states", "`states` is an object", expected="an object of states by name")
    elif len(states) > MOST_STATES:
        yield Problem("FIELD_RANGE", "/states", f"{len(states)} states", expected=f"at most {MOST_STATES}")
    after = document.get("postWorkflowCompletionNodes")
    if after is not None and not isinstance(after, list):
        yield Problem("FIELD_TYPE", "/postWorkflowCompletionNodes", "names of states", expected="a list of texts")
    for field in ("comment", "version", "defaultFailureNode"):
        value = document.get(field)
        if value is not None and not isinstance(value, str) and not (field == "version" and type(value) is int):
            yield Problem("FIELD_TYPE", f"/{field}", f"`{field}` is text", expected="text")


def states(document: dict[str, Any], sheet: Sheet) -> Iterator[Problem]:
    given = document.get("states")
    for key, raw in (given if isinstance(given, dict) else {}).items():
        if not isinstance(raw, dict):
            yield Problem("FIELD_TYPE", pointed("/states", key), "a state is an object", expected="an object")
    names: dict[str, State] = {}
    for state in sheet.states.values():
        yield from _state(state)
        said = state.raw.get("instanceName")
        if isinstance(said, str) and said and said != state.key:
            told = f"the state {state.key!r} calls itself {said!r}: its output is kept under that name"
            place = pointed(state.pointer, "instanceName")
            yield Problem("STATE_NAME_DIFFERS", place, told, severity="warning")
        earlier = names.setdefault(said if isinstance(said, str) and said else state.key, state)
        if earlier is not state:
            told = f"{earlier.key!r} has the same name; the output of one takes the place of the other's"
            yield Problem(
                "STATE_NAME_DIFFERS", pointed(state.pointer, "instanceName"), told, remedy="give each its own name"
            )


def _state(state: State) -> Iterator[Problem]:
    raw, place = state.raw, state.pointer
    yield from node_definitions.unknown_fields(raw, words.STATE_FIELDS, place)
    for field in ("instanceName", "nextNode", "contextOverrideKey", "resourceId"):
        if raw.get(field) is not None and not isinstance(raw[field], str):
            yield Problem("FIELD_TYPE", pointed(place, field), f"`{field}` is text", expected="text")
    if raw.get("end") is not None and not isinstance(raw["end"], bool):
        yield Problem("FIELD_TYPE", pointed(place, "end"), "`end` is true or false", expected="true or false")
    if raw.get("type", words.NODE) not in (words.NODE, words.SUBWORKFLOW, None):
        told = f"{str(raw['type'])[:64]!r} is no kind of state"
        yield Problem("FIELD_VALUE", pointed(place, "type"), told, expected=f"{words.NODE} or {words.SUBWORKFLOW}")
    if raw.get("resourceVersion") is not None and resource_version(state) is None:
        yield node_definitions.bad_version(raw["resourceVersion"], pointed(place, "resourceVersion"))
    yield from _parameters(state)
    if state.is_workflow:
        if not isinstance(raw.get("resourceId"), str) or not raw["resourceId"]:
            yield Problem("FIELD_MISSING", pointed(place, "resourceId"), "which workflow is it?", expected="an id")
    elif "nodeDefinition" in raw and raw["nodeDefinition"] is not None:
        yield from of_definition(state, node_definitions.problems_of(raw["nodeDefinition"], _inside(state)))
    elif not raw.get("resourceId"):
        told = "a state needs a node definition: its own (`nodeDefinition`) or a stored one (`resourceId`)"
        yield Problem("FIELD_MISSING", pointed(place, "resourceId"), told)


def _inside(state: State) -> str:
    return pointed(state.pointer, "nodeDefinition")


def of_definition(state: State, problems: Iterator[Problem]) -> Iterator[Problem]:
    """Those of a definition that came from the store point at the reference to it."""
    for problem in problems:
        if state.linked is None:
            yield problem
        elif problem.is_error:
            told = f"in {state.linked}{problem.pointer.removeprefix(_inside(state))}: {problem.message}"
            yield msgspec.structs.replace(problem, pointer=state.place, message=told)


def _parameters(state: State) -> Iterator[Problem]:
    given, place = state.raw.get("parameters"), pointed(state.pointer, "parameters")
    if given is None:
        return
    if not isinstance(given, dict):
        yield Problem("FIELD_TYPE", place, "parameters are an object", expected="an object of values and paths")
        return
    for name, value in given.items():
        if paths.is_path(value):
            try:
                paths.path(value)
            except ExpressionError as fault:
                told = f"this path cannot be read, and gives null: {fault.message}"
                yield Problem("FIELD_VALUE", pointed(place, name), told, severity="warning")


def references(document: dict[str, Any], sheet: Sheet) -> Iterator[Problem]:
    """Every name of a state leads to one."""
    places = [(f"/{field}", document.get(field)) for field in ("startNode", "defaultFailureNode")]
    after = document.get("postWorkflowCompletionNodes")
    places += [
        (pointed("/postWorkflowCompletionNodes", number), key)
        for number, key in enumerate(after if isinstance(after, list) else ())
    ]
    places += [(way.pointer, way.target) for state in sheet.states.values() for way in state.ways()]
    given = document.get("states")
    known = given if isinstance(given, dict) else {}
    for pointer, target in places:
        if target is None or target == "" or (isinstance(target, str) and target in known):
            continue
        meant = nearest(target, known) if isinstance(target, str) else None
        hint = f"; did you mean {meant!r}?" if meant else ""
        listed = ", ".join(list(known)[:20])
        yield Problem("STATE_UNKNOWN", pointer, f"there is no state {str(target)[:64]!r}{hint}", expected=listed)


def reach(sheet: Sheet) -> Iterator[Problem]:
    """Only of documents whose names lead somewhere: a state that is missing would make others look lost."""
    if sheet.start is None or sheet.is_doubtful:
        return
    for state in sheet.states.values():
        if state.key in sheet.reached or state.key in sheet.after:
            continue
        if sheet.is_on_demand(state):
            told = f"nothing leads to {state.key!r}: it runs only when somebody asks a live run for it"
            yield Problem("STATE_ON_DEMAND", state.pointer, told, severity="warning")
        else:
            told = f"no way leads to {state.key!r}"
            yield Problem("NODE_UNREACHABLE", state.pointer, told, remedy="lead a `nextNode` to it, or remove it")
    ending = sheet.leading_to_an_end()
    lost = [state for state in sheet.states.values() if state.key in sheet.reached and state.key not in ending]
    asked = any(state.asks_somebody for state in lost)
    for state in lost[:1]:
        told = f"no way leads from {state.key!r} to an end: the run would go round for ever"
        remedy = "give a state of the circle `end`, or a way out to one that has it"
        severity: Any = "warning" if asked else "error"
        yield Problem("NODE_NO_END", state.pointer, told, remedy=remedy, severity=severity)
    for number, key in enumerate(sheet.after):
        if sheet.states[key].type in (words.INSTRUCTION, words.CHILD) or sheet.states[key].is_workflow:
            told = f"{key!r} waits or starts a run, and cannot do so when the run has ended: it will fail"
            yield Problem(
                "BESIDE_IMPOSSIBLE", pointed("/postWorkflowCompletionNodes", number), told, severity="warning"
            )
