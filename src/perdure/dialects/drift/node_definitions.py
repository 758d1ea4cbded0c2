"""Node definitions: what each type must have. They stand in a workflow (`nodeDefinition`) or are stored by themselves.

Unknown fields are ignored, as Drift does it, and told as warnings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from perdure.dialects.drift import details, words
from perdure.expressions.places import nearest
from perdure.model.problems import Problem, pointed

_Check = Callable[[dict[str, Any], str], Iterator[Problem]]


def looks_like_one(document: Any) -> bool:
    """Whether a document is meant to be a node definition of Drift: its types are written in capitals."""
    kind = document.get("type") if isinstance(document, dict) and "nodes" not in document else None
    return isinstance(kind, str) and (kind in words.FIELDS_BY_TYPE or kind == "UPDATE_INCIDENT")


def problems_of(definition: Any, pointer: str = "") -> Iterator[Problem]:
    """Of its own fields; whether states that it names exist is the workflow's business."""
    if not isinstance(definition, dict):
        yield Problem("FIELD_TYPE", pointer, "a node definition is an object", expected="an object")
        return
    yield from _text(definition, "id", pointer, required=True)
    if not definition.get("name"):
        told = "a node definition should have a name; its id is taken for it"
        yield Problem("FIELD_MISSING", pointed(pointer, "name"), told, severity="warning")
    else:
        yield from _text(definition, "name", pointer)
    parameters = definition.get("parameters")
    if parameters is not None and not (isinstance(parameters, list) and all(isinstance(x, str) for x in parameters)):
        yield Problem(
            "FIELD_TYPE", pointed(pointer, "parameters"), "the names of parameters", expected="a list of texts"
        )
    kind = definition.get("type")
    if kind is None:
        yield Problem("FIELD_MISSING", pointed(pointer, "type"), "a node definition needs a type", expected=_types())
    elif not isinstance(kind, str) or kind not in words.FIELDS_BY_TYPE:
        yield _unknown_type(kind, pointed(pointer, "type"))
    else:
        known = words.DEFINITION_FIELDS | words.FIELDS_BY_TYPE[kind]
        yield from unknown_fields(definition, known, pointer)
        yield from _CHECKS[kind](definition, pointer)


def unknown_fields(holder: dict[str, Any], known: Iterable[str], pointer: str) -> Iterator[Problem]:
    names = set(known) | {words.LINKED}
    for field in holder:
        if field not in names:
            meant = nearest(field, names)
            hint = f"; did you mean {meant!r}?" if meant else ""
            told = f"there is no field {field[:64]!r}; it is ignored{hint}"
            yield Problem("FIELD_UNKNOWN", pointed(pointer, field), told, severity="warning")


def _unknown_type(kind: Any, pointer: str) -> Problem:
    if kind == "UPDATE_INCIDENT":
        remedy = "call the incident service with an HTTP node"
        return Problem("NODE_TYPE_UNKNOWN", pointer, "UPDATE_INCIDENT is a name that nothing runs", remedy=remedy)
    meant = nearest(kind, words.FIELDS_BY_TYPE) if isinstance(kind, str) else None
    hint = f"; did you mean {meant!r}?" if meant else ""
    told = f"there is no node type {str(kind)[:64]!r} in Drift{hint}"
    return Problem("NODE_TYPE_UNKNOWN", pointer, told, expected=_types())


def _types() -> str:
    return f"one of {', '.join(words.FIELDS_BY_TYPE)}"


# -- fields ----------------------------------------------------------------------------------------


def _text(holder: dict[str, Any], field: str, pointer: str, *, required: bool = False) -> Iterator[Problem]:
    value = holder.get(field)
    if value is None or value == "":
        if required:
            yield Problem("FIELD_MISSING", pointed(pointer, field), f"`{field}` is required", expected="text")
    elif not isinstance(value, str):
        yield Problem("FIELD_TYPE", pointed(pointer, field), f"`{field}` is text", expected="text")


def _one_of(holder: dict[str, Any], field: str, allowed: Iterable[str], pointer: str) -> Iterator[Problem]:
    value = holder.get(field)
    if value is not None and value not in tuple(allowed):
        told = f"{str(value)[:64]!r} is not allowed here"
        yield Problem("FIELD_VALUE", pointed(pointer, field), told, expected=", ".join(allowed))


def _missing(pointer: str, field: str, told: str) -> Problem:
    return Problem("FIELD_MISSING", pointed(pointer, field), told)


def _object(holder: dict[str, Any], field: str, pointer: str) -> Iterator[Problem]:
    value = holder.get(field)
    if value is not None and not isinstance(value, dict):
        yield Problem("FIELD_TYPE", pointed(pointer, field), f"`{field}` is an object", expected="an object")


# -- types -----------------------------------------------------------------------------------------


def _http(definition: dict[str, Any], pointer: str) -> Iterator[Problem]:
    parts, place = definition.get("httpComponents"), pointed(pointer, "httpComponents")
    if parts is None:
        yield _missing(pointer, "httpComponents", "an HTTP node needs `httpComponents` with a `url`")
        return
    yield from _object(definition, "httpComponents", pointer)
    if not isinstance(parts, dict):
        return
    yield from unknown_fields(parts, words.HTTP_FIELDS, place)
    if parts.get("url") in (None, ""):
        yield _missing(place, "url", "an HTTP node needs a `url`")
    else:
        yield from details.problems_of(parts["url"], pointed(place, "url"))
    for field in ("headers", "queryParams", "body"):
        if parts.get(field) is not None:
            structured = field != "body"
            yield from details.problems_of(parts[field], pointed(place, field), structured=structured)
    yield from _one_of(parts, "method", words.METHODS, place)
    yield from _text(parts, "contentType", place)
    yield from _text(parts, "targetClientId", place)
    yield from _transformer(definition, pointer, required=False)


def _transformer(definition: dict[str, Any], pointer: str, *, required: bool) -> Iterator[Problem]:
    """`transformer`, or `transformerComponents.transformer`, or the seed's `script`."""
    yield from _object(definition, "transformerComponents", pointer)
    found = transformer_in(definition, pointer)
    if found is not None:
        yield from details.problems_of(found[0], found[1], script_only=True)
    elif isinstance(definition.get("script"), str) and definition["script"].strip():
        pass
    elif definition.get("script") is not None:
        yield Problem("FIELD_TYPE", pointed(pointer, "script"), "the text of a script is expected", expected="text")
    elif required:
        yield _missing(pointer, "transformer", "a script is needed: `transformer`, or `script`")


def transformer_in(definition: dict[str, Any], pointer: str) -> tuple[Any, str] | None:
    if definition.get("transformer") is not None:
        return definition["transformer"], pointed(pointer, "transformer")
    inside = definition.get("transformerComponents")
    if isinstance(inside, dict) and inside.get("transformer") is not None:
        return inside["transformer"], pointed(pointer, "transformerComponents", "transformer")
    return None


def _script(definition: dict[str, Any], pointer: str) -> Iterator[Problem]:
    yield from _transformer(definition, pointer, required=True)


def _branch(definition: dict[str, Any], pointer: str) -> Iterator[Problem]:
    yield from _text(definition, "defaultNode", pointer)
    choices, place = definition.get("choices"), pointed(pointer, "choices")
    if definition.get("script") is not None and choices is None:
        yield from _transformer(definition, pointer, required=True)
        return
    if choices is None or choices == []:
        yield _missing(pointer, "choices", "a BRANCH needs `choices`")
        return
    if not isinstance(choices, list):
        yield Problem("FIELD_TYPE", place, "`choices` is a list", expected="a list")
        return
    for number, choice in enumerate(choices):
        at = pointed(place, number)
        if not isinstance(choice, dict):
            yield Problem("FIELD_TYPE", at, "a choice is an object", expected="`rule` and `nextNode`")
            continue
        yield from _text(choice, "nextNode", at, required=True)
        rule = rule_in(choice, at)
        if rule is None:
            yield _missing(at, "rule", "a choice needs a `rule`")
        elif isinstance(rule[0], dict):
            yield from details.problems_of(rule[0], rule[1])
        elif not isinstance(rule[0], str | bool) or rule[0] == "":
            yield Problem("FIELD_TYPE", rule[1], "a rule is a script that is true or false", expected="a script")


def rule_in(choice: dict[str, Any], pointer: str) -> tuple[Any, str] | None:
    for field in ("rule", "condition", "script", "expression"):
        if choice.get(field) is not None:
            return choice[field], pointed(pointer, field)
    return None


def _instruction(definition: dict[str, Any], pointer: str) -> Iterator[Problem]:
    options = definition.get("inputOptions")
    if options is None and definition.get("instruction") in (None, ""):
        yield _missing(pointer, "inputOptions", "an INSTRUCTION needs `inputOptions`, or an `instruction`")
    elif options is not None and not isinstance(options, list):
        yield Problem("FIELD_TYPE", pointed(pointer, "inputOptions"), "the options are a list", expected="a list")
    elif options is not None:
        for number, option in enumerate(options):
            if not isinstance(option, dict):
                place = pointed(pointer, "inputOptions", number)
                yield Problem("FIELD_TYPE", place, "an option is an object", expected="an object")
    for field in ("disposition", "workflowStatus", "layoutId"):
        if definition.get(field) is not None:
            value, place = attribute_in(definition, field, pointer)
            yield from details.problems_of(value, place)


def attribute_in(definition: dict[str, Any], field: str, pointer: str) -> tuple[Any, str]:
    """`{"attribute": detail}`, or the detail itself, or plain text."""
    value, place = definition.get(field), pointed(pointer, field)
    if isinstance(value, dict) and "attribute" in value:
        return value["attribute"], pointed(place, "attribute")
    return value, place


def _processor(definition: dict[str, Any], pointer: str) -> Iterator[Problem]:
    yield from _text(definition, "instructionNodeRef", pointer)
    yield from _object(definition, "processorComponents", pointer)
    if definition.get("instructionNodeRef") is None:
        parts, place = definition.get("processorComponents"), pointed(pointer, "processorComponents")
        if parts is None:
            yield _missing(pointer, "processorComponents", "a PROCESSOR needs `processorComponents`")
        elif isinstance(parts, dict):
            if processor_in(parts) is None:
                yield _missing(place, "processor", "which registered processor is to run?")
            if parts.get("params") is not None:
                yield from details.problems_of(parts["params"], pointed(place, "params"), structured=True)
    yield from _transformer(definition, pointer, required=False)


def processor_in(parts: dict[str, Any]) -> str | None:
    for field in ("processor", "processorName", "name", "processorId", "type"):
        if isinstance(parts.get(field), str) and parts[field]:
            return str(parts[field])
    return None


def _success(definition: dict[str, Any], pointer: str) -> Iterator[Problem]:
    for field in ("comment", "message", "status", "executionMode"):
        yield from _text(definition, field, pointer)


def _failure(definition: dict[str, Any], pointer: str) -> Iterator[Problem]:
    if not any(definition.get(field) for field in ("error", "message", "errorCode")):
        yield _missing(pointer, "error", "a FAILURE needs `error`, or `message` and `errorCode`")
    for field in ("error", "message", "errorCode"):
        yield from _text(definition, field, pointer)


def _wait(definition: dict[str, Any], pointer: str) -> Iterator[Problem]:
    config, place = definition.get("config"), pointed(pointer, "config")
    if config is None:
        yield _missing(pointer, "config", "a WAIT needs `config` with a `waitType`")
        return
    if not isinstance(config, dict):
        yield Problem("FIELD_TYPE", place, "`config` is an object", expected="an object")
        return
    kind = config.get("waitType")
    if kind is None:
        yield _missing(place, "waitType", f"`waitType` is one of {', '.join(words.WAITS)}")
    yield from _one_of(config, "waitType", words.WAITS, place)
    if kind == words.SCHEDULER_WAIT:
        duration = config.get("duration")
        if duration is None:
            yield _missing(place, "duration", "how many seconds?")
        elif isinstance(duration, bool) or not isinstance(duration, int | float):
            yield Problem("FIELD_TYPE", pointed(place, "duration"), "seconds are a number", expected="a number")
        elif not 0 < duration <= LONGEST_WAIT:
            yield Problem("FIELD_RANGE", pointed(place, "duration"), "not that many seconds", expected="more than 0")
    elif kind == words.ABSOLUTE_WAIT:
        yield from _text(config, "timestamp", place, required=True)
        text = config.get("timestamp")
        if isinstance(text, str) and text and not _is_moment(text):
            told = "this is no moment in UTC"
            yield Problem("FIELD_VALUE", pointed(place, "timestamp"), told, expected="2026-12-24T18:00:00Z")
    elif kind == words.ON_EVENT:
        for field in ("eventName", "event"):
            yield from _text(config, field, place)


LONGEST_WAIT = 100 * 366 * 86_400


def _is_moment(text: str) -> bool:
    if "${" in text or "{{" in text:
        return True
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _child(definition: dict[str, Any], pointer: str) -> Iterator[Problem]:
    yield from _text(definition, "childWorkflowId", pointer, required=True)
    yield from _one_of(definition, "executionMode", (words.ASYNC, words.SYNC), pointer)
    version = definition.get("childWorkflowVersion")
    if version is not None and version_of(version) is None:
        yield bad_version(version, pointed(pointer, "childWorkflowVersion"))


def _delegate(definition: dict[str, Any], pointer: str) -> Iterator[Problem]:
    yield from ()


def version_of(value: Any) -> int | str | None:
    """A number, or one of the three words; None: neither."""
    if isinstance(value, str):
        text = value.strip()
        if text.upper() in ("LATEST", "ACTIVE", "SNAPSHOT"):
            return text.upper()
        digits = text[1:] if text[:1] in ("v", "V") else text
        value = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None
    return value if type(value) is int and 0 < value < 2**31 else None


def bad_version(value: Any, pointer: str) -> Problem:
    told = f"{str(value)[:64]!r} is no version"
    return Problem("FIELD_VALUE", pointer, told, expected="a number from 1, LATEST, ACTIVE or SNAPSHOT")


_CHECKS: dict[str, _Check] = {
    words.HTTP: _http,
    words.GROOVY: _script,
    words.BRANCH: _branch,
    words.INSTRUCTION: _instruction,
    words.PROCESSOR: _processor,
    words.SUCCESS: _success,
    words.FAILURE: _failure,
    words.WAIT: _wait,
    words.CHILD: _child,
    words.CONTEXT_OVERRIDE: _script,
    words.DELEGATE: _delegate,
}
