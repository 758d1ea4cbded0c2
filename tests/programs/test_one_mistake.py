"""One mistake, one message: what follows from a mistake is not told as another one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from perdure.model.problems import Problem
from perdure.nodes.catalogue import CATALOGUE
from perdure.programs.flow.validate import validate_flow

Doc = dict[str, Any]
Path = tuple[str | int, ...]

DOCUMENT: Doc = {
    "id": "d",
    "name": "n",
    "nodes": [
        {"id": "start", "type": "start"},
        {
            "id": "a",
            "type": "python",
            "config": {"step": "work", "arguments": {"x": "${input.x}"}},
            "retry": {"attempts": 3, "initial": "1s"},
            "timeout": "5s",
            "compensate": "undo",
            "cancels": ["w"],
        },
        {"id": "c", "type": "conditional", "config": {"condition": "${nodes.a.output > 1}"}},
        {"id": "l", "type": "loop", "config": {"items": [1, 2], "item": "it"}},
        {"id": "body", "type": "python", "config": {"step": "work", "arguments": {"v": "${it}"}}, "parent": "l"},
        {"id": "body2", "type": "set", "config": {"vars": {"y": "${nodes.body.output}"}}, "parent": "l"},
        {"id": "w", "type": "wait-for-signal", "config": {"name": "go", "timeout": "1h"}, "milestone": {"after": "a"}},
        {"id": "s", "type": "sleep", "config": {"duration": "5s"}},
        {"id": "end", "type": "end", "config": {"output": "${nodes.l.output}"}},
        {"id": "undo", "type": "python", "config": {"step": "undo"}},
        {"id": "fail", "type": "python", "config": {"step": "tell"}},
        {"id": "after", "type": "publish", "config": {"type": "done"}},
        {"id": "end2", "type": "end"},
    ],
    "edges": [
        {"id": "e1", "source": "start", "target": "a"},
        {"source": "a", "target": "c", "when": "data.x > 1"},
        {"source": "c", "target": "l", "outcome": "true"},
        {"source": "c", "target": "w", "outcome": "false"},
        {"source": "l", "target": "end"},
        {"source": "w", "target": "s"},
        {"source": "w", "target": "end2", "outcome": "timeout"},
        {"source": "s", "target": "end"},
        {"source": "body", "target": "body2"},
        {"source": "fail", "target": "end2"},
    ],
    "settings": {"on_failure": "fail", "after": ["after"], "max_parallel": 4, "limits": {"depth": 3}},
    "schedule": "0 0 * * *",
    "timezone": "Europe/Berlin",
    "input_schema": {"type": "object"},
}


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        yield from places(part, (*path, step))


def changed(path: Path, value: Any) -> Doc:
    document = copy.deepcopy(DOCUMENT)
    at: Any = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return document


def problems_of(document: Any) -> list[Problem]:
    return validate_flow(document, CATALOGUE)[1]


def test_the_document_of_these_tests_is_right() -> None:
    assert problems_of(DOCUMENT) == []


@pytest.mark.parametrize("value", [None, 7, "", "no such / thing", [], {}, True], ids=repr)
@pytest.mark.parametrize("path", list(places(DOCUMENT)), ids=lambda path: "/".join(map(str, path)))
def test_a_value_that_is_out_of_place_is_told_once_and_where_it_stands(path: Path, value: Any) -> None:
    found = problems_of(changed(path, value))
    pointer = "".join(f"/{step}" for step in path)
    told = [problem for problem in found if problem.pointer.startswith(pointer)]
    elsewhere = [problem for problem in found if not problem.pointer.startswith(pointer)]
    if told:
        assert elsewhere == [], [str(problem) for problem in found]
        fields = {problem.pointer for problem in told}
        assert len(told) == len(fields), "one mistake of one field is told twice"
        assert len(fields) == 1 or value == {}, "an empty object may lack several fields"


@pytest.mark.parametrize("end", ["source", "target"])
@pytest.mark.parametrize("number", range(len(DOCUMENT["edges"])))
def test_an_edge_that_leads_nowhere_is_one_mistake(number: int, end: str) -> None:
    (found,) = problems_of(changed(("edges", number, end), "zzz"))
    assert (found.code, found.pointer) == ("EDGE_DANGLING", f"/edges/{number}/{end}")


@pytest.mark.parametrize(("path", "code"), [
    (("nodes", 1, "compensate"), "COMPENSATE_UNKNOWN"),
    (("nodes", 1, "cancels", 0), "CANCELS_UNKNOWN"),
    (("nodes", 6, "milestone", "after"), "MILESTONE_UNKNOWN"),
    (("nodes", 4, "parent"), "PARENT_UNKNOWN"),
    (("nodes", 5, "parent"), "PARENT_UNKNOWN"),
    (("settings", "on_failure"), "ON_FAILURE_UNKNOWN"),
    (("settings", "after", 0), "AFTER_UNKNOWN"),
])  # fmt: skip
def test_a_name_that_nobody_has_is_one_mistake(path: Path, code: str) -> None:
    found = [problem for problem in problems_of(changed(path, "zzz")) if problem.is_error]
    assert [(problem.code, problem.pointer) for problem in found] == [(code, "".join(f"/{step}" for step in path))]


@pytest.mark.parametrize("number", range(len(DOCUMENT["nodes"])))
def test_a_node_type_that_there_is_not_is_one_mistake(number: int) -> None:
    (found,) = problems_of(changed(("nodes", number, "type"), "zzz"))
    assert (found.code, found.pointer) == ("NODE_TYPE_UNKNOWN", f"/nodes/{number}/type")


def test_a_misspelt_start_is_a_misspelt_start_and_not_a_missing_one() -> None:
    (found,) = problems_of({"nodes": [{"id": "a", "type": "strat"}]})
    assert (found.code, found.pointer) == ("NODE_TYPE_UNKNOWN", "/nodes/0/type")
    codes = {problem.code for problem in problems_of({"nodes": [{"id": "a", "type": "jsno"}]})}
    assert codes == {"NODE_TYPE_UNKNOWN", "NO_START"}


def test_of_an_island_only_the_shore_is_told() -> None:
    nodes = [
        {"id": "start", "type": "start"},
        *({"id": name, "type": "json", "config": {"data": 1}} for name in "abcd"),
    ]
    edges = [{"source": a, "target": b} for a, b in ("ab", "bc", "cd")]
    (found,) = problems_of({"nodes": nodes, "edges": edges})
    assert (found.code, found.pointer) == ("NODE_UNREACHABLE", "/nodes/1")


def test_a_circle_that_nothing_leads_to_is_told_once() -> None:
    nodes = [
        {"id": "start", "type": "start"},
        {"id": "a", "type": "json", "config": {"data": 1}, "join": "any"},
        {"id": "b", "type": "json", "config": {"data": 1}},
    ]
    (found,) = problems_of({"nodes": nodes, "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}]})
    assert (found.code, found.pointer) == ("NODE_UNREACHABLE", "/nodes/1")


def test_of_a_way_that_ends_nowhere_only_its_end_is_told() -> None:
    nodes = [
        {"id": "start", "type": "start"},
        *({"id": name, "type": "json", "config": {"data": 1}} for name in "abc"),
        {"id": "end", "type": "end"},
    ]
    edges = [{"source": a, "target": b} for a, b in (("start", "end"), ("start", "a"), ("a", "b"), ("b", "c"))]
    (found,) = problems_of({"nodes": nodes, "edges": edges})
    assert (found.code, found.pointer, found.severity) == ("NODE_NO_END", "/nodes/3", "warning")


@pytest.mark.parametrize(
    ("join", "place"), [(7, ""), ([], ""), ("some", ""), ({"rule": []}, "/rule"), ({"rule": "some"}, "/rule")]
)
def test_a_join_that_cannot_be_read_may_be_the_one_that_its_cycle_needs(join: Any, place: str) -> None:
    nodes = [
        {"id": "start", "type": "start"},
        {"id": "a", "type": "json", "config": {"data": 1}, "join": join},
        {"id": "b", "type": "json", "config": {"data": 1}},
    ]
    edges = [{"source": source, "target": target} for source, target in (("start", "a"), ("a", "b"), ("b", "a"))]
    (found,) = problems_of({"nodes": nodes, "edges": edges})
    assert found.pointer == f"/nodes/1/join{place}"
    nodes[1]["join"] = {"n": 1}
    assert [problem.code for problem in problems_of({"nodes": nodes, "edges": edges})] == ["CYCLE_WITHOUT_ANY"]


def test_two_mistakes_are_two_messages_although_one_of_them_might_explain_the_other() -> None:
    document = changed(("nodes", 1, "id"), None)
    document["edges"][5]["target"] = "zzz"
    codes = [(problem.code, problem.pointer) for problem in problems_of(document)]
    assert ("FIELD_TYPE", "/nodes/1/id") in codes
    assert ("EDGE_DANGLING", "/edges/5/target") in codes


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "expected text, not null"),
        (True, "true is not text"),
        (7, "7 is not text"),
        ({}, "an object is not text"),
        ("", "'' cannot be an id"),
    ],
)
def test_an_id_that_is_none_is_told_in_the_words_of_the_document(value: Any, message: str) -> None:
    (found,) = problems_of(changed(("nodes", 1, "id"), value))
    assert found.message == message
    assert str(found).count("expected") == 1


def test_a_pattern_is_told_as_a_sentence() -> None:
    (found,) = problems_of(changed(("nodes", 3, "config", "item"), "no such / thing"))
    assert found.message == "'no such / thing' is not text like '^[A-Za-z_][A-Za-z0-9_]*$'"
