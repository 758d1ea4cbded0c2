"""Rows 1 to 7 and 24 of the bad inputs: what is refused before anything looks at it as a flow."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InvalidInput, TooMuch
from perdure.model.reading import MAX_BYTES, read_document, read_or_raise
from perdure.model.values import MAX_DEPTH


def nested(depth: int) -> bytes:
    return b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)


@pytest.mark.parametrize(
    ("data", "code", "pointer"),
    [
        (b"[" * 100_000, "TOO_DEEP", "/0" * MAX_DEPTH),
        (b'{"a":' * 100_000, "TOO_DEEP", "/a" * MAX_DEPTH),
        (nested(MAX_DEPTH + 1), "TOO_DEEP", "/a" * MAX_DEPTH),
        (b'{"x,":["[",{},' + nested(MAX_DEPTH) + b"]}", "TOO_DEEP", "/x,/2" + "/a" * (MAX_DEPTH - 2)),
        (b" " * (MAX_BYTES + 1), "TOO_LARGE", ""),
        (b'{"id":"a","id":"b"}', "KEY_TWICE", "/id"),
        (b'{"nodes":[{"id":"a"},{"id":"b","config":{"x":1,"y":2,"x":1}}]}', "KEY_TWICE", "/nodes/1/config/x"),
        (b'{"a":[1,NaN]}', "NUMBER_INVALID", "/a/1"),
        (b'{"a":Infinity}', "NUMBER_INVALID", "/a"),
        (b'{"a":-Infinity}', "NUMBER_INVALID", "/a"),
        (b'{"a":1e400}', "NUMBER_RANGE", "/a"),
        (b'{"a":-1e400}', "NUMBER_RANGE", "/a"),
        (b'{"a":' + b"9" * 5000 + b"}", "NUMBER_RANGE", "/a"),
        (b'{"a":9223372036854775808}', "NUMBER_RANGE", "/a"),
        (b'{"a/b":"\\ud800"}', "TEXT_SURROGATE", "/a~1b"),
        (b'{"\\udfff":1}', "TEXT_SURROGATE", ""),
        (b'{"a":"x\\u0000y"}', "TEXT_NUL", "/a"),
        (b'{"a\\u0000":1}', "TEXT_NUL", ""),
        (b'{"a":"\xed\xa0\x80"}', "NOT_UTF8", ""),
        (b"\xff\xfe{\x00}\x00", "NOT_UTF8", ""),
        (b"", "NOT_JSON", ""),
        (b'{"a":1,}', "NOT_JSON", ""),
        (b'{"a":1} x', "NOT_JSON", ""),
        (b"kind: flow\nnodes: []\n", "NOT_JSON", ""),
        (b"!!python/object:os.system {}", "NOT_JSON", ""),
        (b"[]", "NOT_OBJECT", ""),
        (b'"text"', "NOT_OBJECT", ""),
        (b"null", "NOT_OBJECT", ""),
    ],
)
def test_refused(data: bytes, code: str, pointer: str) -> None:
    found, problems = read_document(data)
    assert found is None
    assert [(each.code, each.pointer) for each in problems] == [(code, pointer)]
    with pytest.raises(TooMuch if code == "TOO_LARGE" else InvalidInput):
        read_or_raise(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"{}", {}),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (nested(MAX_DEPTH), json.loads(nested(MAX_DEPTH))),
        (b'{"a":"' + b"[" * 1000 + b'"}', {"a": "[" * 1000}),
        (b'{"a":"\\"[[[[' + b"{" * 100 + b'"}', {"a": '"[[[[' + "{" * 100}),
        (b'{"a":9223372036854775807,"b":-9223372036854775808}', {"a": 2**63 - 1, "b": -(2**63)}),
        (b'{"a":"\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (
            b'{"__proto__":1,"constructor":2,"__class__":{"x":3}}',
            {"__proto__": 1, "constructor": 2, "__class__": {"x": 3}},
        ),
    ],
)
def test_taken(data: bytes, expected: Any) -> None:
    assert read_document(data) == (expected, [])


def test_minus_zero_is_zero() -> None:
    assert str(read_or_raise(b'{"a":-0.0,"b":-0}')) == "{'a': 0.0, 'b': 0}"


def test_everything_that_is_wrong_is_named_at_once() -> None:
    _, problems = read_document(b'{"a":NaN,"b":["\\ud800",{"c":1,"c":2}],"b2":1e999,"a":1e999,"z":"\\u0000"}')
    assert [(each.code, each.pointer) for each in problems] == [
        ("KEY_TWICE", "/a"),
        ("NUMBER_RANGE", "/a"),
        ("TEXT_SURROGATE", "/b/0"),
        ("KEY_TWICE", "/b/1/c"),
        ("NUMBER_RANGE", "/b2"),
        ("TEXT_NUL", "/z"),
    ]


def test_unreadable_json_has_a_place() -> None:
    _, [problem] = read_document(b'{\n  "a": tru\n}')
    assert (problem.line, problem.column) == (2, 8)


@given(st.binary(max_size=200))
def test_bytes_never_raise(data: bytes) -> None:
    found, problems = read_document(data)
    assert (found is None) == bool(problems)


@given(st.text(alphabet='{}[]",:\\u0123456789dbfeE+-.NaIn ', max_size=200))
def test_what_looks_like_json_never_raises(text: str) -> None:
    found, problems = read_document(text.encode())
    assert (found is None) == bool(problems)
