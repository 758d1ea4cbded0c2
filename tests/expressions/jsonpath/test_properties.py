"""Queries made at random, each together with a plain Python function that finds the same; and the official cases.

The official cases (github.com/jsonpath-standard/jsonpath-compliance-test-suite, BSD-2-Clause) are not part of this
repository. To run them: PERDURE_JSONPATH_CTS=…/cts.json python -m pytest tests/expressions/jsonpath
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import ExpressionSyntax
from perdure.expressions.jsonpath import compile_jsonpath

KEYS = ["a", "b", "c", "0", "", "é", "it's", 'a"b', "\n", "\\", "x y", "\x1f"]
SCALARS: list[Any] = [None, True, False, 0, 1, 1.0, -1, 2.5, "", "a", "b", "1", "é"]
JSON = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)),
    max_leaves=15,
)

Step = tuple[Any, Any]  # a key or an index, and what is there
Select = Callable[[Any, Any], list[Step]]  # of the root and a value
Hold = Callable[[Any, Any], bool]
NOTHING = object()


def parts(value: Any) -> list[Step]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def by_name(key: str) -> tuple[str, Select]:
    return json.dumps(key), lambda root, value: [step for step in parts(value) if step[0] == key]


def by_index(at: int) -> tuple[str, Select]:
    def select(root: Any, value: Any) -> list[Step]:
        steps = parts(value) if isinstance(value, list) else []
        return [(place, each) for place, each in steps if place in (at, at + len(steps))]

    return str(at), select


def by_slice(start: int | None, end: int | None, step: int | None) -> tuple[str, Select]:
    """Written after the loops of the RFC, section 2.3.4.2.2."""

    def select(root: Any, value: Any) -> list[Step]:
        if not isinstance(value, list) or step == 0:
            return []
        by, size = 1 if step is None else step, len(value)
        low = (0 if by > 0 else size - 1) if start is None else start if start >= 0 else size + start
        high = (size if by > 0 else -1) if end is None else end if end >= 0 else size + end
        found = []
        if by > 0:
            at, stop = min(max(low, 0), size), min(max(high, 0), size)
            while at < stop:
                found.append((at, value[at]))
                at += by
        else:
            at, stop = min(max(low, -1), size - 1), min(max(high, -1), size - 1)
            while stop < at:
                found.append((at, value[at]))
                at += by
        return found

    words = ["" if bound is None else str(bound) for bound in (start, end, step)]
    return f"{words[0]}:{words[1]}:{words[2]}", select


def by_test(test: tuple[str, Hold]) -> tuple[str, Select]:
    return f"?{test[0]}", lambda root, value: [step for step in parts(value) if test[1](root, step[1])]


def below(value: Any, path: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], Any]]:
    found = [(path, value)]
    for key, each in parts(value):
        found += below(each, (*path, key))
    return found


Found = list[tuple[tuple[Any, ...], Any]]
Find = Callable[[Any, Any], Found]


def queries(selectors: st.SearchStrategy[tuple[str, Select]], root: str) -> st.SearchStrategy[tuple[str, Find]]:
    segment = st.tuples(st.booleans(), st.lists(selectors, min_size=1, max_size=3))

    def made(segments: list[tuple[bool, list[tuple[str, Select]]]]) -> tuple[str, Find]:
        words = [
            f"{'..' if everywhere else ''}[{','.join(each[0] for each in several)}]" for everywhere, several in segments
        ]

        def find(document: Any, start: Any) -> Found:
            nodes: Found = [((), start)]
            for everywhere, several in segments:
                if everywhere:
                    nodes = [node for path, value in nodes for node in below(value, path)]
                nodes = [
                    ((*path, key), each)
                    for path, value in nodes
                    for _, select in several
                    for key, each in select(document, value)
                ]
            return nodes

        return root + "".join(words), find

    return st.lists(segment, max_size=3).map(made)


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None or a is NOTHING or b is NOTHING:
        return a is b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    return bool(a == b)


def less(a: Any, b: Any) -> bool:
    numbers = all(type(each) in (int, float) for each in (a, b))
    return (numbers or (isinstance(a, str) and isinstance(b, str))) and a < b


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": equal,
    "!=": lambda a, b: not equal(a, b),
    "<": less,
    ">": lambda a, b: less(b, a),
    "<=": lambda a, b: less(a, b) or equal(a, b),
    ">=": lambda a, b: less(b, a) or equal(a, b),
}

PLAIN = st.one_of(
    st.sampled_from(KEYS[:6]).map(by_name),
    st.integers(-4, 4).map(by_index),
    st.tuples(*[st.one_of(st.none(), st.integers(-5, 5))] * 3).map(lambda bounds: by_slice(*bounds)),
    st.just(("*", lambda root, value: parts(value))),
)


def singular(steps: list[str | int]) -> tuple[str, Callable[[Any, Any], Any]]:
    def value(root: Any, current: Any) -> Any:
        for step in steps:
            found = [each for key, each in parts(current) if key == step and type(key) is type(step)]
            if not found:
                return NOTHING
            current = found[0]
        return current

    return "@" + "".join(f"[{json.dumps(step)}]" for step in steps), value


def length(query: tuple[str, Callable[[Any, Any], Any]]) -> tuple[str, Callable[[Any, Any], Any]]:
    def value(root: Any, current: Any) -> Any:
        found = query[1](root, current)
        return len(found) if isinstance(found, str | list | dict) else NOTHING

    return f"length({query[0]})", value


def count(query: tuple[str, Find]) -> tuple[str, Callable[[Any, Any], Any]]:
    return f"count({query[0]})", lambda root, current: len(query[1](root, current))


SINGULAR = st.lists(st.one_of(st.sampled_from(["a", "b"]), st.integers(0, 2)), max_size=2).map(singular)
OPERANDS = st.one_of(
    SINGULAR,
    st.sampled_from(SCALARS).map(lambda scalar: (json.dumps(scalar), lambda root, current: scalar)),
    SINGULAR.map(length),
    queries(PLAIN, "@").map(count),
)
TESTS: st.SearchStrategy[tuple[str, Hold]] = st.recursive(
    st.one_of(
        st.tuples(OPERANDS, st.sampled_from(sorted(COMPARISONS)), OPERANDS).map(
            lambda each: (
                f"{each[0][0]} {each[1]} {each[2][0]}",
                lambda root, value: COMPARISONS[each[1]](each[0][1](root, value), each[2][1](root, value)),
            )
        ),
        queries(PLAIN, "@").map(lambda query: (query[0], lambda root, value: bool(query[1](root, value)))),
        queries(PLAIN, "$").map(lambda query: (query[0], lambda root, value: bool(query[1](root, root)))),
    ),
    lambda inner: st.one_of(
        inner.map(lambda each: (f"!({each[0]})", lambda root, value: not each[1](root, value))),
        st.tuples(inner, inner).map(
            lambda each: (
                f"({each[0][0]}) && ({each[1][0]})",
                lambda root, value: each[0][1](root, value) and each[1][1](root, value),
            )
        ),
        st.tuples(inner, inner).map(
            lambda each: (
                f"({each[0][0]}) || ({each[1][0]})",
                lambda root, value: each[0][1](root, value) or each[1][1](root, value),
            )
        ),
    ),
    max_leaves=4,
)
QUERIES = queries(st.one_of(PLAIN, PLAIN, TESTS.map(by_test)), "$")


@given(QUERIES, JSON)
def test_a_plain_function_finds_the_same(query: tuple[str, Find], document: Any) -> None:
    source, find = query
    path = compile_jsonpath(source)
    expected = find(document, document)
    assert [id(each) for each in path.find(document)] == [id(each) for _, each in expected]
    nodes = path.nodes(document)
    assert [id(each) for _, each in nodes] == [id(each) for _, each in expected]
    for (place, value), (steps, _) in zip(nodes, expected, strict=True):
        again = compile_jsonpath(place)
        assert again.is_singular
        assert again.find(document)[0] is value
        assert again.nodes(document)[0][0] == place
        assert place.count("[") >= len(steps)
    assert path.first(document, NOTHING) is (expected[0][1] if expected else NOTHING)


@given(JSON)
def test_everything_is_below_the_root_once(document: Any) -> None:
    nodes = compile_jsonpath("$..*").nodes(document)
    assert len({place for place, _ in nodes}) == len(nodes) == len(below(document, ())) - 1


@given(st.text(), st.text())
def test_every_name_can_be_written_in_both_quotes(key: str, other: str) -> None:
    document = {other: 2, key: 1}
    double = json.dumps(key)
    single = "'" + json.dumps(key, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
    for quoted in (double, single.replace("\x7f", "\\u007f")):
        assert compile_jsonpath(f"$[{quoted}]").find(document) == [1]
    ((place, value),) = compile_jsonpath(f"$[{double}]").nodes(document)
    assert value == 1
    assert compile_jsonpath(place).nodes(document) == [(place, 1)]


# -- the official cases ------------------------------------------------------------------------------------------------


def official() -> list[Any]:
    file = os.environ.get("PERDURE_JSONPATH_CTS")
    if not file:
        return [pytest.param(None, marks=pytest.mark.skip(reason="PERDURE_JSONPATH_CTS does not name a cts.json"))]
    return [pytest.param(test, id=test["name"]) for test in json.loads(Path(file).read_text(encoding="utf-8"))["tests"]]


@pytest.mark.parametrize("test", official())
def test_the_official_cases(test: dict[str, Any]) -> None:
    if test.get("invalid_selector"):
        with pytest.raises(ExpressionSyntax):
            compile_jsonpath(test["selector"])
        return
    path = compile_jsonpath(test["selector"])
    assert path.find(test["document"]) in test.get("results", [test.get("result")])
    places = test.get("results_paths", [test["result_paths"]] if "result_paths" in test else None)
    assert places is None or [place for place, _ in path.nodes(test["document"])] in places
