"""Schemas that could take for ever are refused when they are saved; ordinary ones are not."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perdure.errors import InvalidInput
from perdure.model.schema_cost import why_costly
from perdure.model.schemas import Schema

ROOT = {"$ref": "#"}


def _doubling(word: str, levels: int, key: str | None = None) -> dict[str, Any]:
    """Each definition refers to the next one twice."""

    def level(number: int) -> dict[str, Any]:
        both = {word: [{"$ref": f"#/$defs/d{number + 1}"}] * 2}
        return both if key is None else {"properties": {key: both}}

    found = {f"d{number}": level(number) for number in range(levels)}
    return {"$defs": found | {f"d{levels}": {"type": "object"}}, "$ref": "#/$defs/d0"}


BAD = {
    "itself": ROOT,
    "itself in a branch": {"allOf": [ROOT]},
    "in a circle": {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "anyOf doubling": _doubling("anyOf", 20),
    "allOf doubling": _doubling("allOf", 20),
    "oneOf doubling": _doubling("oneOf", 30),
    "doubling on the way down": _doubling("anyOf", 20, "a"),
    "two ways back": {"properties": {"a": {"anyOf": [ROOT, ROOT]}}},
    "two branches, one property": {"anyOf": [{"properties": {"a": ROOT}}, {"properties": {"a": ROOT}}]},
    "a name and a pattern": {"properties": {"a": ROOT}, "patternProperties": {"^a": ROOT}},
    "items twice": {"items": ROOT, "contains": ROOT},
    "if and then": {"if": {"properties": {"a": ROOT}}, "then": {"properties": {"a": ROOT}}},
    "by anchor": {"$anchor": "me", "items": {"oneOf": [{"$ref": "#me"}, {"$ref": "#me"}]}},
}
GOOD: dict[str, Any] = {
    "empty": {},
    "flat": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
    "tree": {"type": "object", "properties": {"left": ROOT, "right": ROOT, "value": {"type": "number"}}},
    "list of itself": {"type": "array", "items": ROOT},
    "map of itself": {"properties": {"name": {"type": "string"}}, "additionalProperties": ROOT},
    "or nothing": {"properties": {"next": {"anyOf": [{"type": "null"}, ROOT]}}},
    "kinds": {"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "array", "items": ROOT}]},
    "a few levels of branches": _doubling("anyOf", 8),
    "like JSON Schema": {
        "allOf": [{"$ref": "#/$defs/core"}, {"$ref": "#/$defs/applicator"}],
        "$defs": {
            "core": {"properties": {"$defs": {"additionalProperties": ROOT}, "$ref": {"type": "string"}}},
            "applicator": {
                "properties": {
                    "properties": {"additionalProperties": ROOT},
                    "items": ROOT,
                    "not": ROOT,
                    "allOf": {"type": "array", "items": ROOT},
                    "anyOf": {"type": "array", "items": ROOT},
                }
            },
        },
    },
    "a small language": {
        "$defs": {
            "statement": {
                "properties": {
                    "body": {"type": "array", "items": {"$ref": "#/$defs/statement"}},
                    "value": {"$ref": "#/$defs/expression"},
                }
            },
            "expression": {"anyOf": [{"type": "number"}, {"type": "array", "items": {"$ref": "#/$defs/expression"}}]},
        },
        "$ref": "#/$defs/statement",
    },
}


@pytest.mark.parametrize("name", BAD)
def test_a_schema_that_could_explode_is_refused(name: str) -> None:
    costly = why_costly(BAD[name])
    assert costly is not None
    assert costly.remedy


@pytest.mark.parametrize("name", GOOD)
def test_an_ordinary_schema_is_accepted(name: str) -> None:
    assert why_costly(GOOD[name]) is None
    Schema(GOOD[name])


def test_the_place_is_named() -> None:
    twice = {"items": {"$ref": "#/$defs/t"}, "contains": {"$ref": "#/$defs/t"}}
    costly = why_costly({"properties": {"x": {"$ref": "#/$defs/t"}}, "$defs": {"t": twice}})
    assert costly is not None
    assert costly.pointer == "/$defs/t"


def test_a_long_chain_of_references_is_read() -> None:
    chain = {f"d{number}": {"items": {"$ref": f"#/$defs/d{number + 1}"}} for number in range(5_000)}
    assert why_costly({"$defs": chain | {"d5000": {}}, "$ref": "#/$defs/d0"}) is None


_REFS = st.sampled_from([{"$ref": f"#/$defs/{name}"} for name in "abc"])
_SCHEMAS = st.recursive(
    _REFS | st.sampled_from([{}, {"type": "string"}, {"type": "object"}]),
    lambda inner: (
        st.builds(lambda word, parts: {word: parts}, st.sampled_from(["anyOf", "allOf", "oneOf"]),
                  st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda parts: {"properties": parts}, st.dictionaries(st.sampled_from("xy"), inner, max_size=2))
        | st.builds(lambda word, part: {word: part}, st.sampled_from(["items", "not", "additionalProperties"]), inner)
    ),
    max_leaves=6,
)  # fmt: skip
_VALUES = st.recursive(
    st.none() | st.just("a"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=12,
)


@given(_SCHEMAS, st.fixed_dictionaries({"a": _SCHEMAS, "b": _SCHEMAS, "c": _SCHEMAS}), _VALUES)
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_accepted_is_checked_quickly(start: Any, defs: Any, value: Any) -> None:
    whole = {**start, "$defs": defs}
    if why_costly(whole) is not None:
        return
    try:
        schema = Schema(whole)
    except InvalidInput:
        return
    deep = value
    for _ in range(20):
        deep = {"x": deep, "y": [deep] if deep is value else "end"}
    for each in (value, deep):
        begun = time.thread_time()
        schema.first_misfit(each)
        assert time.thread_time() - begun < 0.05
