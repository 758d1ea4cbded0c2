"""What names mean in conditions and in {{ }}: rows D05–D08, D11–D13 in Yantra's words."""

from typing import Any

import pytest

from tests.dialects.yantra.graphs import edge, gathering, graph, node, output, outputs, row, run

GIVEN = {"data": {"datetime": "D", "n": 2, "user": {"tags": ["x", "y"]}}, "extra": 7, "n": 1}


def shown(text: Any, input: Any = None, before: Any = None) -> Any:
    """What a text becomes in a json node behind one that gives `before`."""
    first = [node("json", {"data": before}, "json-0")] if before is not None else []
    return output(row(*first, node("json", {"data": {"is": text}})), input)["data"]["is"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{input.datetime}}", "D"),
        ("{{input.data.datetime}}", "D"),
        ("{{data.datetime}}", "D"),
        ("{{datetime}}", "D"),
        ("{{ datetime }}", "D"),
        ("{{user.tags.1}}", "y"),
        ("{{user.tags[1]}}", "y"),
        ("{{data.user.tags.0}}!", "x!"),
        ("{{extra}}", 7),
        ("{{input.extra}}", 7),
        ("n={{n}}", "n=2"),
        ("{{input.n}}", 1),
        ("{{missing}}", "{{missing}}"),
        ("{{input.no.such}} {{extra}}", "{{input.no.such}} 7"),
        ("{{#user}}x{{/user}}", "{{#user}}x{{/user}}"),
        ("${extra}", "${extra}"),
        ("$${extra}", "$${extra}"),
        ("${{extra}}", "$7"),
        ("{{{extra}}}", "{7}"),
        ("a {{ b", "a {{ b"),
        ("{{}}", "{{}}"),
        ("{{a b}} {{extra}}", "{{a b}} 7"),
        ("{{>x}} {{=x y=}} {{extra}}", "{{>x}} {{=x y=}} 7"),
        ("{ {{extra}} }", "{ 7 }"),
        ("}}{{extra}}{{", "}}7{{"),
        ("{{user.tags}}", ["x", "y"]),
        ("t: {{user.tags}}", 't: ["x","y"]'),
    ],
)
def test_d06_a_placeholder_reads_the_input_and_its_data(text: str, expected: Any) -> None:
    assert shown(text, GIVEN) == expected


def test_outputs_of_nodes_are_read_by_their_ids() -> None:
    found = row(
        node("json", {"data": {"a": 1}}, "load-data"),
        node("json", {"data": 5}, "two"),
        node("json", {"data": {"x": "{{load-data.data.a}}", "y": "{{two.data}}", "z": "{{load-data.a}}"}}, "three"),
    )
    assert output(found) == {"data": {"x": 1, "y": 5, "z": 1}}


def test_the_workflow_says_when_it_began_and_why() -> None:
    text = "{{workflow.startTime}} {{workflow.triggerType}} {{workflow.id}} {{workflow.executionId}}"
    assert shown(text) == "2026-01-01T00:00:00Z api flow run"


def test_what_the_run_was_started_with_is_read_from_everywhere() -> None:
    assert shown("{{customer}}", {"customer": "Ada"}, {"other": 1}) == "Ada"


def test_d12_a_node_with_two_edges_gets_a_map_by_node_id() -> None:
    nodes = [
        node("start"),
        node("json", {"data": 1}, "a"),
        node("json", {"data": 2}, "b"),
        node("transform"),
        node("end"),
    ]
    edges = [
        edge("start-1", "a"),
        edge("start-1", "b"),
        edge("a", "transform-1"),
        edge("b", "transform-1"),
        edge("transform-1", "end-1"),
    ]
    assert output(graph(nodes, edges)) == {"data": {"a": {"data": 1}, "b": {"data": 2}}}


def test_d13_an_inner_loop_sees_the_variables_of_the_outer_and_they_are_restored_after_it() -> None:
    orders = [{"no": 1, "lines": ["a", "b"]}, {"no": 2, "lines": ["c"]}]
    body = [
        node("loop-accumulator", {"arrayPath": "order.lines", "itemVariable": "line", "indexVariable": "j"}, "inner"),
        node("json", {"data": "{{order.no}}{{line}} {{i}}.{{j}}"}, "text"),
        node("json", {"data": {"no": "{{order.no}}", "texts": "{{accumulated}}", "line": "{{line}}"}}, "after"),
    ]
    edges = [
        edge("loop", "inner", sourceHandle="loop-output"),
        edge("inner", "text", sourceHandle="loop-output"),
        edge("text", "inner", targetHandle="accumulator-input"),
        edge("inner", "after", sourceHandle="output"),
        edge("after", "loop", targetHandle="accumulator-input"),
    ]
    config = {"itemVariable": "order", "indexVariable": "i", "accumulatorVariable": "all"}
    assert output(gathering(body, edges, config, given=orders))["all"] == [
        {"no": 1, "texts": ["1a 0.0", "1b 0.1"], "line": "{{line}}"},
        {"no": 2, "texts": ["2c 1.0"], "line": "{{line}}"},
    ]


def test_paths_of_a_transform_may_begin_with_a_variable_of_a_loop_or_with_a_node() -> None:
    mappings = [
        {"from": "item.id", "to": "id"},
        {"from": "json-1.data.0.name", "to": "first"},
        {"from": "index", "to": "at"},
    ]
    body = [
        node("json", {"data": {"other": 1}}, "between"),
        node("transform", {"operations": [{"type": "map", "config": {"mappings": mappings}}]}),
    ]
    edges = [
        edge("loop", "between", sourceHandle="loop-output"),
        edge("between", "transform-1"),
        edge("transform-1", "loop", targetHandle="accumulator-input"),
    ]
    found = output(gathering(body, edges))["accumulated"]
    assert found == [{"id": at + 1, "first": "a", "at": at} for at in range(3)]


def test_the_results_so_far_are_read_under_their_name_and_as_accumulated() -> None:
    body = [node("json", {"data": "{{seen}} {{accumulated}}"})]
    body[0]["id"] = "text"
    edges = [edge("loop", "text", sourceHandle="loop-output"), edge("text", "loop", targetHandle="accumulator-input")]
    found = output(gathering(body, edges, {"accumulatorVariable": "seen"}, given=[1, 2]))
    assert found["seen"] == ["[] []", '["[] []"] ["[] []"]']
    assert found["accumulated"] == found["seen"] == found["data"]


def test_a_transform_reads_the_results_so_far_in_the_input_of_an_iteration() -> None:
    body = [node("transform", {"operations": [{"type": "map", "config": {"mappings": {"seen": "before"}}}]})]
    edges = [
        edge("loop", "transform-1", sourceHandle="loop-output"),
        edge("transform-1", "loop", targetHandle="accumulator-input"),
    ]
    found = output(gathering(body, edges, {"accumulatorVariable": "seen"}, given=[1, 2]))
    assert found["seen"] == [{"before": []}, {"before": [{"before": []}]}]


def asked(condition: str, input: Any = None, *more: Any) -> bool:
    found = output(row(*more, node("conditional", {"condition": condition})), input)
    assert found["condition"] == condition
    return bool(found["result"])


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("data.n == 2", True),
        ("n == 2", True),
        ("input.n == 1", True),
        ("input.data.n == 2", True),
        ("extra > 6", True),
        ("missing == nil", True),
        ("data.missing.deeper == nil", True),
        ("'x' in user.tags", True),
        ("n % 2 == 0", True),
        ('datetime === "D"', True),
        ("datetime !== 'E'", True),
        ("contains(datetime, 'D')", True),
        ("datetime + n == 'D2'", True),
        ("datetime =~ '^[A-D]$'", True),
        ("datetime !~ 'x'", True),
        ("extra > 1 ? true : false", True),
        ("(missing ?? 3) == 3", True),
        ("!(n == 2)", False),
        ('n == "2"', False),
        ("datetime == `D`", True),
        ("{{data.n}} == 2", True),
        ("2 ** 3 == 8", True),
    ],
)
def test_d05_conditions_follow_gval_and_read_the_same_names(condition: str, expected: bool) -> None:
    assert asked(condition, GIVEN) is expected


def test_a_condition_reads_a_node_whose_id_has_a_hyphen() -> None:
    load = node("json", {"data": {"n": 3}}, "load-1")
    assert asked("load-1.data.n == 3 && 'load-1.data' != ''", None, load)
    assert asked("5 - 1 == 4", None, load)


def test_a_condition_that_is_neither_true_nor_false_fails_a_conditional() -> None:
    found = run(row(node("conditional", {"condition": "data.n"})), GIVEN)
    assert found.failure is not None
    assert found.failure.code == "CONDITION_NOT_BOOLEAN"


def test_conditions_one_after_the_other_look_through_the_first() -> None:
    nodes = [
        node("conditional", {"condition": "n == 2"}, "c1"),
        node("conditional", {"condition": "datetime == 'D'"}, "c2"),
    ]
    found = run(row(*nodes), GIVEN)
    assert [each["result"] for each in outputs(found, "c2")] == [True]
