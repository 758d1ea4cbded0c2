"""Branching, joins and rows of conditions: row C03 in Yantra's words."""

from typing import Any

import pytest

from tests.dialects.yantra.graphs import edge, graph, node, output, problems, run


def branching(conditional: Any, yes: dict[str, Any], no: dict[str, Any]) -> dict[str, Any]:
    nodes = [
        node("start"),
        node("conditional", conditional, "if"),
        node("json", {"data": ["yes"]}, "yes"),
        node("json", {"data": ["no"]}, "no"),
        node("end"),
    ]
    edges = [
        edge("start-1", "if"),
        edge("if", "yes", **yes),
        edge("if", "no", **no),
        edge("yes", "end-1"),
        edge("no", "end-1"),
    ]
    return graph(nodes, edges)


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ({"sourceHandle": "true"}, {"sourceHandle": "false"}),
        ({"label": "true"}, {"label": "false"}),
        ({"label": " True "}, {"label": "FALSE"}),
        ({"label": "yes"}, {"label": "No"}),
        ({"condition": "data.data == true"}, {"condition": "data.data == false"}),
        ({"condition": "data.data === true"}, {"condition": "!data.data"}),
        ({"condition": "result"}, {"condition": "result != true"}),
        (
            {"condition": "data.data == true", "label": "false", "sourceHandle": "false"},
            {"sourceHandle": "false", "label": "true"},
        ),
        ({"condition": "age >= 18"}, {"condition": "data.input.age < 18"}),
        ({"condition": "if.data == true"}, {"condition": "input.age < 18"}),
    ],
)
@pytest.mark.parametrize("age", [17, 18])
def test_c03_only_the_chosen_branch_runs_and_the_end_runs_once(yes: Any, no: Any, age: int) -> None:
    if "if." in str(yes):
        yes = {"condition": "data.data == true"}  # `if` is a word of the language
    found = run(branching({"condition": "age >= 18"}, yes, no), {"age": age})
    assert found.status == "COMPLETED"
    assert found.trace == ["start-1", "if", "yes" if age == 18 else "no", "end-1"]


def test_a_label_that_is_no_answer_is_warned_of() -> None:
    (found,) = problems(branching({"condition": "true"}, {"label": "maybe"}, {"label": "no"}))
    assert (found.code, found.pointer, found.severity) == ("NO_EFFECT", "/edges/1/label", "warning")
    assert "'maybe' is no answer" in found.message
    assert problems(branching({"condition": "true"}, {"label": "maybe", "sourceHandle": "true"}, {"label": "no"})) == []


def test_edges_without_a_condition_are_always_followed() -> None:
    found = run(branching({"condition": "false"}, {}, {"sourceHandle": "false"}))
    assert found.trace == ["start-1", "if", "yes", "no", "end-1"]
    assert found.output == {"yes": {"data": ["yes"]}, "no": {"data": ["no"]}}


@pytest.mark.parametrize(
    "condition", ["data.missing > 3", "data.data", "1 / 0 == 1", "'text'", "nil", "data.data < 'a'"]
)
def test_a_condition_on_an_edge_that_fails_or_is_no_answer_is_not_met(condition: str) -> None:
    nodes = [node("start"), node("json", {"data": 1}), node("json", {"data": 2}, "two"), node("end")]
    edges = [
        edge("start-1", "json-1"),
        edge("json-1", "two", condition=condition),
        edge("json-1", "end-1"),
        edge("two", "end-1"),
    ]
    found = run(graph(nodes, edges))
    assert found.status == "COMPLETED"
    assert found.trace == ["start-1", "json-1", "end-1"]


def test_any_node_may_have_conditions_on_its_edges() -> None:
    nodes = [node("start"), node("json", {"data": {"n": 5}}), node("json", {"data": 2}, "two"), node("end")]
    for condition in ("data.data.n == 5", "data.n == 5", "n == 5", "json-1.data.n == 5"):
        edges = [edge("start-1", "json-1"), edge("json-1", "two", condition=condition), edge("two", "end-1")]
        assert run(graph(nodes, edges)).trace == ["start-1", "json-1", "two", "end-1"]


def test_branches_that_meet_wait_for_one_another() -> None:
    nodes = [
        node("start"),
        node("sleep", {"mode": "relative", "duration_value": 5}),
        node("json", {"data": 1}, "fast"),
        node("json", {"data": "{{fast.data}}{{sleep-1.mode}}"}, "both"),
        node("end"),
    ]
    edges = [
        edge("start-1", "sleep-1"),
        edge("start-1", "fast"),
        edge("sleep-1", "both"),
        edge("fast", "both"),
        edge("both", "end-1"),
    ]
    assert output(graph(nodes, edges)) == {"data": "1relative"}


def rows(conditions: list[dict[str, Any]], input: Any, joint: str | None = None) -> bool:
    config: dict[str, Any] = {"conditions": conditions}
    if joint is not None:
        config["logicalOperator"] = joint
    found = output(
        graph(
            [node("start"), node("conditional", config), node("end")],
            [edge("start-1", "conditional-1"), edge("conditional-1", "end-1")],
        ),
        input,
    )
    return bool(found["data"])


GIVEN = {
    "id": 4,
    "age": 30,
    "name": "Ada",
    "tags": ["a", "b"],
    "ok": True,
    "none": None,
    "empty": "",
    "limit": {"age": 21},
    "host": "example.com",
    "version": "1.2.3",
    "zip": "007",
    "quoted": "x y",
}


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        ("age", "eq", "30", True),
        ("age", "neq", "30", False),
        ("age", "gt", "18", True),
        ("age", "lt", "18", False),
        ("age", "gte", "30", True),
        ("age", "lte", "29", False),
        ("age", "gt", 18, True),
        ("ok", "eq", "true", True),
        ("ok", "eq", "false", False),
        ("ok", "neq", "false", True),
        ("name", "eq", "Ada", True),
        ("name", "eq", "'Ada'", True),
        ("name", "eq", '"Ada"', True),
        ("name", "neq", "Bob", True),
        ("id % 2", "eq", "0", True),
        ("age", "gt", "limit.age", True),
        ("age", "gt", "data.limit.age", True),
        ("age", "gt", "input.limit.age", True),
        ("host", "eq", "example.com", True),
        ("version", "eq", "1.2.3", True),
        ("quoted", "eq", "x y", True),
        ("missing", "eq", "x", False),
        ("missing", "neq", "x", True),
        ("tags", "contains", "a", True),
        ("tags", "contains", "z", False),
        ("name", "contains", "da", True),
        ("name", "contains", "", True),
        ("empty", "contains", "", False),
        ("tags", "contains", None, True),
        ("missing", "contains", "x", False),
        ("none", "contains", "", False),
        ("limit", "contains", "age", True),
        ("zip", "contains", "07", True),
        ("name", "exists", "", True),
        ("missing", "exists", "", False),
        ("none", "exists", None, False),
        ("data.limit.age", "exists", "", True),
        ("input.name", "eq", "Ada", True),
        ("missing.deep", "eq", "nil", True),
        ("age", "eq", "{{age}}", True),
    ],
)
def test_rows_of_conditions(left: str, operator: str, right: Any, expected: bool) -> None:
    assert rows([{"left": left, "operator": operator, "right": right}], GIVEN) is expected


def test_rows_are_joined_by_and_unless_or_is_said() -> None:
    both = [{"left": "age", "operator": "eq", "right": "30"}, {"left": "name", "operator": "eq", "right": "Bob"}]
    assert not rows(both, GIVEN)
    assert not rows(both, GIVEN, "AND")
    assert rows(both, GIVEN, "OR")


def test_what_a_conditional_gives() -> None:
    config = {"conditions": [{"left": "age", "operator": "gte", "right": "18"}, {"left": "name", "operator": "exists"}]}
    document = graph(
        [node("start"), node("conditional", config), node("end")],
        [edge("start-1", "conditional-1"), edge("conditional-1", "end-1")],
    )
    assert output(document, {"age": 20, "name": "A"}) == {
        "data": True,
        "result": True,
        "condition": "age gte 18 AND name exists",
        "input": {"age": 20, "name": "A"},
    }
