"""Component details: the shape in which Drift writes every value that may be computed.

    {"type": "SCRIPT", "value": {"type": "STRING", "data": "return _global.order.id"}}
    {"type": "STATIC", "value": {"type": "MAP", "data": "{\\"a\\": 1}"}}

A plain value is read as a STATIC one. Static texts are templates: `${_global.x}` and `{{x}}` in them are resolved.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from perdure.model.problems import Problem, pointed

SCRIPT, STATIC = "SCRIPT", "STATIC"
VALUE_TYPES = ("STRING", "MAP", "JSON", "BOOLEAN", "LIST", "NUMBER", "INTEGER", "OBJECT")
_STRUCTURED = ("MAP", "JSON", "LIST", "OBJECT")
LANGUAGES = ("groovy", "python")
_TRUTHS = {"true": True, "false": False}


class Detail(msgspec.Struct, frozen=True):
    """One value: a script that gives it, or itself."""

    pointer: str
    """Where the text or the value stands."""
    script: str | None = None
    language: str = "groovy"
    value: Any = None

    @property
    def is_script(self) -> bool:
        return self.script is not None

    def written(self) -> Any:
        """As a configuration of ours has it."""
        return {"script": self.script, "language": self.language} if self.script is not None else self.value


def is_detail(value: Any) -> bool:
    return isinstance(value, dict) and "value" in value and value.get("type") in (None, SCRIPT, STATIC)


def detail(value: Any, pointer: str, *, structured: bool = False) -> Detail:
    """What a component detail means; of a wrong one, as much as can be made out. With `structured` text that is JSON
    is read as such."""
    if not is_detail(value):
        return Detail(pointer, value=_parsed(value) if structured else value)
    inner, place = value["value"], pointed(pointer, "value")
    data, kind = inner, "STRING"
    if isinstance(inner, dict) and ("data" in inner or "type" in inner):
        data, kind, place = inner.get("data"), inner.get("type", "STRING"), pointed(place, "data")
    else:
        inner = {}
    if value.get("type") == SCRIPT:
        return Detail(place, script=data if isinstance(data, str) else "", language=language_of(inner, value))
    if kind == "BOOLEAN" and isinstance(data, str):
        return Detail(place, value=_TRUTHS.get(data.strip().lower(), data))
    return Detail(place, value=_parsed(data) if structured or kind in _STRUCTURED else data)


def language_of(*holders: dict[str, Any]) -> str:
    """`language`, or the seed's `scriptType`; Groovy where nothing is said."""
    for holder in holders:
        for field in ("language", "scriptType"):
            said = holder.get(field)
            if isinstance(said, str) and said.lower() in LANGUAGES:
                return said.lower()
    return "groovy"


def problems_of(value: Any, pointer: str, *, script_only: bool = False, structured: bool = False) -> Iterator[Problem]:
    """What is wrong with the shape of a component detail. Its script is checked where it is used."""
    if not is_detail(value):
        if isinstance(value, dict) and ({"type", "value"} & value.keys() == {"type", "value"} or script_only):
            kinds = f"{SCRIPT} or {STATIC}"
            yield Problem("FIELD_VALUE", pointed(pointer, "type"), "no such kind of value", expected=kinds)
        elif script_only:
            yield Problem("FIELD_TYPE", pointer, "a script is expected here", expected=_SCRIPT_SHAPE)
        elif structured:
            yield from _unparsed(value, pointer)
        return
    inner, place = value["value"], pointed(pointer, "value")
    data = inner
    if isinstance(inner, dict) and ("data" in inner or "type" in inner):
        if inner.get("type", "STRING") not in VALUE_TYPES:
            told = f"{inner['type']!r}"[:64] + " is no type of a value"
            yield Problem("FIELD_VALUE", pointed(place, "type"), told, expected=", ".join(VALUE_TYPES[:4]))
        place = pointed(place, "data")
        if "data" not in inner:
            yield Problem("FIELD_MISSING", place, "the value itself is missing", expected=_SCRIPT_SHAPE)
            return
        data = inner["data"]
        structured = structured or inner.get("type") in _STRUCTURED
    if value.get("type") == SCRIPT:
        if not isinstance(data, str) or not data.strip():
            yield Problem("FIELD_TYPE", place, "the text of a script is expected", expected="Groovy or Python")
    elif script_only:
        yield Problem("FIELD_VALUE", pointed(pointer, "type"), "this must be a script", expected=SCRIPT)
    elif structured:
        yield from _unparsed(data, place)


_SCRIPT_SHAPE = '{"type": "SCRIPT", "value": {"type": "STRING", "data": "return …"}}'


def _parsed(value: Any) -> Any:
    """Text that is JSON is what it says; what is no JSON, a template for instance, stays text."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _unparsed(value: Any, pointer: str) -> Iterator[Problem]:
    if isinstance(value, str) and value.strip() and isinstance(_parsed(value), str) and not _has_placeholder(value):
        told = "text here is read as JSON, and this is not JSON"
        yield Problem("FIELD_VALUE", pointer, told, expected="JSON", severity="warning")


def _has_placeholder(text: str) -> bool:
    return "${" in text or "{{" in text
