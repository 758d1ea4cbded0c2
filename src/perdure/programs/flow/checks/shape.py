"""Fields: missing, unknown, of the wrong type or out of range. What pydantic finds, in our codes and pointers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from perdure.expressions.places import nearest
from perdure.model.problems import Problem, pointed
from perdure.programs.flow.fields import keys_of, models_in

MISSING, UNKNOWN, TYPE, RANGE, VALUE = "MISSING", "UNKNOWN", "TYPE", "RANGE", "VALUE"

_RANGES = ("greater_than", "less_than", "too_long", "too_short", "multiple_of", "finite_number")
_VALUES = ("literal_error", "enum", "value_error", "assertion_error", "union_tag", "string_pattern_mismatch")
_OBJECTS = ("model_type", "dict_type", "model_attributes_type")
_ID_PATTERN = "A-Za-z0-9._-"


_PHRASES = (
    ("a valid ", "a "), ("a integer", "an integer"), ("a string", "text"), ("String should have ", "text with "),
    ("String should match pattern ", "text like "),
    ("List should have ", "a list with "), ("Dictionary should have ", "an object with "), (", not 0", ""),
)  # fmt: skip


class _Found(NamedTuple):
    pointer: str
    branch: tuple[str, str] | None
    """Pointer and name of the alternative of a union that this is about."""
    error: ErrorDetails


def problems_of(
    fault: ValidationError, raw: Any, model: type[BaseModel], *, prefix: str = "FIELD", pointer: str = ""
) -> Iterator[Problem]:
    """Every error of a validation, as problems with codes that begin with `prefix`."""
    found = [_place(error, raw) for error in fault.errors(include_url=False)]
    for each in _of_the_meant_alternatives(found):
        yield _problem(each, model, prefix, pointer)


def _place(error: ErrorDetails, raw: Any) -> _Found:
    """Follows the error's location through the document; names of alternatives in it are no part of the document."""
    at, pointer, branch = raw, "", None
    location = error["loc"]
    for number, step in enumerate(location):
        if (isinstance(at, dict) and step in at) or (isinstance(at, list) and step in range(len(at))):
            at, pointer = at[step], pointed(pointer, step)  # type: ignore[index]
        elif error["type"] == "missing" and number == len(location) - 1:
            pointer = pointed(pointer, step)
        elif branch is None:
            branch = (pointer, str(step))
    if error["type"].startswith("union_tag"):
        context = error.get("ctx", {})
        pointer = pointed(pointer, str(context.get("discriminator", "")).strip("'"))
        kind = "missing" if error["type"] == "union_tag_not_found" else error["type"]
        error = {**error, "input": context.get("tag"), "type": kind}
    return _Found(pointer, branch, error)


def _of_the_meant_alternatives(found: Sequence[_Found]) -> Iterator[_Found]:
    """Of a union only the errors of the alternative that was probably meant: the one that fits as a whole."""
    unfit: dict[str, set[str]] = {}
    branches: dict[str, set[str]] = {}
    for each in found:
        if each.branch is not None:
            place, name = each.branch
            branches.setdefault(place, set()).add(name)
            if each.pointer == place:
                unfit.setdefault(place, set()).add(name)
    told: set[str] = set()
    for each in found:
        if each.branch is None:
            yield each
            continue
        place, name = each.branch
        if unfit.get(place, set()) != branches[place]:
            if name not in unfit.get(place, set()):
                yield each
        elif place not in told:
            told.add(place)
            yield _joined([other for other in found if other.branch is not None and other.branch[0] == place])


def _joined(alternatives: list[_Found]) -> _Found:
    """None of the alternatives fits: one error that names them all."""
    wanted = dict.fromkeys(_wanted(each.error) for each in alternatives)
    first = alternatives[0]
    error: ErrorDetails = {**first.error, "type": "value_error", "msg": f"Input should be {' or '.join(wanted)}"}
    return _Found(first.pointer, None, error)


def _problem(found: _Found, model: type[BaseModel], prefix: str, start: str) -> Problem:
    error, pointer = found.error, start + found.pointer
    kind = error["type"]
    name = found.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    if kind == "missing":
        return Problem(f"{prefix}_{MISSING}", pointer, f"{name!r} is missing")
    if kind == "extra_forbidden":
        known = _keys(model, error["loc"][:-1])
        meant = nearest(name, known)
        hint = f"; did you mean {meant!r}?" if meant else ""
        listed = f"one of {', '.join(sorted(known))}" if known else None
        return Problem(f"{prefix}_{UNKNOWN}", pointer, f"there is no field {shown(name)}{hint}", expected=listed)
    if kind == "string_pattern_mismatch" and _ID_PATTERN in str(error.get("ctx", {}).get("pattern", "")):
        wanted = "letters, digits, dot, underscore and hyphen, the first a letter or digit, at most 128 in all"
        return Problem("ID_INVALID", pointer, f"{shown(error['input'])} cannot be an id", expected=wanted)
    code = f"{prefix}_{_code(kind)}"
    if kind in ("value_error", "assertion_error") and not error["msg"].startswith("Input should be"):
        return Problem(code, pointer, error["msg"].partition(", ")[2] or error["msg"])
    wanted = _wanted(error)
    told = f"expected {wanted}, not null" if error["input"] is None else f"{shown(error['input'])} is not {wanted}"
    return Problem(code, pointer, told, expected=wanted)


def _code(kind: str) -> str:
    if any(word in kind for word in _RANGES):
        return RANGE
    return VALUE if kind.startswith(_VALUES) else TYPE


def _wanted(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind in _OBJECTS:
        return "an object"
    if kind == "list_type":
        return "a list"
    if kind.startswith("union_tag"):
        return str(context.get("expected_tags", "")).replace(", ", " or ")
    message = error["msg"].removeprefix("Input should be ")
    for found, said in _PHRASES:
        message = message.replace(found, said)
    return message


def shown(value: Any) -> str:
    """A value, short enough for a sentence."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    text = repr(value[:64] if isinstance(value, str) else value)
    return text if len(text) <= 70 else f"{text[:64]}…"


def _keys(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """The fields that the object at this place can have."""
    models: tuple[type[BaseModel], ...] = (model,)
    for step in location:
        inner: list[type[BaseModel]] = []
        for each in models:
            fields: Mapping[str, Any] = each.model_fields
            for name, field in fields.items():
                if step in keys_of(name, field):
                    inner += models_in(field.annotation)
        if inner:
            models = tuple(inner)
        elif isinstance(step, str):
            models = tuple(each for each in models if each.__name__ == step or _has_tag(each, step)) or models
    return [keys_of(name, field)[0] for each in models[:1] for name, field in each.model_fields.items()]


def _has_tag(model: type[BaseModel], tag: str) -> bool:
    return any(tag in getattr(field.annotation, "__args__", ()) for field in model.model_fields.values())
