"""conditional and fail: rows C03, E12, D14."""

from typing import Any

import pytest

from perdure.testing.pure import PureRunner
from tests.nodes.flows import failure, node, output, run


def branching(config: dict[str, Any]) -> dict[str, Any]:
    return {
        "nodes": [
            {"id": "start", "type": "start"},
            node("conditional", config, id="ask"),
            node("json", {"data": "${nodes.ask.output.result}"}, id="yes"),
            node("json", {"data": 1}, id="then"),
            node("json", {"data": 2}, id="no"),
            {"id": "end", "type": "end"},
        ],
        "edges": [
            {"source": "start", "target": "ask"},
            {"source": "ask", "target": "yes", "outcome": "true"},
            {"source": "yes", "target": "then"},
            {"source": "ask", "target": "no", "outcome": "false"},
            {"source": "then", "target": "end"},
            {"source": "no", "target": "end"},
        ],
    }


@pytest.mark.parametrize(
    ("age", "ran", "skipped"),
    [(18, ["start", "ask", "yes", "then", "end"], ["no"]), (17, ["start", "ask", "no", "end"], ["yes", "then"])],
)
def test_only_the_chosen_way_is_taken(age: int, ran: list[str], skipped: list[str]) -> None:
    result = PureRunner(branching({"condition": "data.age >= 18"})).run({"age": age})
    assert (result.trace, result.skipped) == (ran, skipped)


def test_the_output_says_what_was_asked_and_what_came_of_it() -> None:
    assert output(node("conditional", {"condition": "data.n > 1"}), input={"n": 2}) == {
        "data": True,
        "result": True,
        "condition": "data.n > 1",
        "input": {"n": 2},
    }
    assert output(node("conditional", {"condition": "false", "output": "input"}), input={"n": 2}) == {"n": 2}


def test_conditionals_in_a_row_do_not_wrap_their_input_again_and_again() -> None:
    ask = {"condition": "true"}
    found = output(*(node("conditional", ask, id=f"n{i}") for i in range(100)), input={"n": 2})
    assert found["input"] == {"n": 2}


@pytest.mark.parametrize("condition", ["data.n", "1", "'yes'", "null", "data"])
def test_an_answer_is_true_or_false(condition: str) -> None:
    assert failure(node("conditional", {"condition": condition}), input={"n": 2}).code == "CONDITION_NOT_BOOLEAN"


def test_a_question_that_cannot_be_answered() -> None:
    assert failure(node("conditional", {"condition": "data.m > 1"}), input={"n": 2}).code == "VALUE_MISSING"
    assert failure(node("conditional", {"condition": "data.n > 'a'"}), input={"n": 2}).code == "EXPRESSION_FAILED"


DATA = {"n": 5, "t": "abc", "l": [1, 2], "b": True, "z": None, "e": "", "num": "12"}


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        ("data.n", "eq", 5, True),
        ("data.n", "eq", "5", True),
        ("data.n", "eq", "5.0", True),
        ("data.n % 2", "eq", "1", True),
        ("data.n", "neq", "5", False),
        ("data.n", "eq", "five", False),
        ("data.t", "eq", "abc", True),
        ("data.num", "eq", "12", True),
        ("data.num", "eq", 12, False),
        ("data.b", "eq", "true", True),
        ("data.b", "eq", "False", False),
        ("data.z", "eq", None, True),
        ("data.n", "gt", "4", True),
        ("data.n", "gte", 5, True),
        ("data.n", "lt", 5, False),
        ("data.n", "lte", "5", True),
        ("data.t", "lt", "b", True),
        ("data.t", "contains", "bc", True),
        ("data.t", "contains", "x", False),
        ("data.l", "contains", 2, True),
        ("data.l", "contains", "${data.l[0]}", True),
        ("data.t", "contains", "", True),
        ("data.e", "contains", "", False),
        ("data.n", "exists", None, True),
        ("data.z", "exists", None, False),
        ("data.nothing", "exists", None, False),
        ("data.nothing.deeper", "exists", "ignored", False),
        ("${data.n}", "eq", "${data.n}", True),
    ],
)
def test_rows(left: str, operator: str, right: Any, expected: bool) -> None:
    row = {"left": left, "operator": operator, "right": right}
    assert output(node("conditional", {"conditions": [row]}), input=DATA)["result"] is expected


@pytest.mark.parametrize(("joint", "expected"), [("AND", False), ("OR", True)])
def test_rows_are_joined(joint: str, expected: bool) -> None:
    rows = [{"left": "data.n", "right": 5}, {"left": "data.t", "right": "x"}]
    found = output(node("conditional", {"conditions": rows, "logicalOperator": joint}), input=DATA)
    assert found["result"] is expected
    assert found["condition"] == f"data.n eq 5 {joint} data.t eq x"


def test_a_row_that_cannot_be_compared() -> None:
    rows = [{"left": "data.n", "operator": "gt", "right": "many"}]
    assert failure(node("conditional", {"conditions": rows}), input=DATA).code == "EXPRESSION_FAILED"


def test_failing_on_purpose() -> None:
    config = {"code": "REJECTED", "message": "order {{input.id}}", "details": {"id": "${input.id}"}}
    wrong = failure(node("fail", config), input={"id": 7})
    assert (wrong.code, wrong.message, wrong.details) == ("REJECTED", "order 7", {"id": 7})
    assert not wrong.retryable
    assert failure(node("fail")).code == "FAILED"


def test_an_error_edge_takes_care_of_it() -> None:
    document = {
        "nodes": [
            {"id": "start", "type": "start"},
            node("fail", {"code": "X", "message": "no"}, id="oops"),
            node("json", {"data": "${data.error.code}"}, id="mend"),
        ],
        "edges": [{"source": "start", "target": "oops"}, {"source": "oops", "target": "mend", "outcome": "error"}],
    }
    result = PureRunner(document).run()
    assert (result.status, result.output) == ("COMPLETED", {"data": "X"})


def test_a_node_skipped_by_its_own_condition_hands_on_null() -> None:
    result = run(
        node("json", {"data": 1}, condition="input.go"),
        node("json", {"data": "${data == null}"}, id="m"),
        input={"go": False},
    )
    assert result.skipped == ["n"]
    assert result.output == {"data": True}
