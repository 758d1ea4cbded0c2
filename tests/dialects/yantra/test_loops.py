"""Loops, plain and with accumulator: rows C10 and C11 in Yantra's words."""

from typing import Any

import pytest

from tests.dialects.yantra.graphs import edge, gathering, graph, node, output, problems, row, run

USERS = [{"name": "Ada", "age": 36}, {"name": "Tim", "age": 12}, {"name": "Eve", "age": 41}]


def test_c10_every_descendant_of_a_plain_loop_is_its_body_and_an_end_ends_the_iteration() -> None:
    nodes = [
        node("start"),
        node("json", {"data": USERS}),
        node("loop", {"itemVariable": "row", "indexVariable": "i"}),
        node("conditional", {"condition": "row.age >= 18"}),
        node("json", {"data": "{{i}} {{row.name}}"}, "yes"),
        node("json", {"data": 0}, "no"),
        node("end"),
    ]
    edges = [
        edge("start-1", "json-1"),
        edge("json-1", "loop-1"),
        edge("loop-1", "conditional-1"),
        edge("conditional-1", "yes", label="true"),
        edge("conditional-1", "no", label="false"),
        edge("yes", "end-1"),
        edge("no", "end-1"),
    ]
    found = run(graph(nodes, edges))
    assert found.status == "COMPLETED"
    one = ["conditional-1", "yes", "end-1"]
    assert found.trace == ["start-1", "json-1", "loop-1", *one, "conditional-1", "no", "end-1", *one]
    pairs = [{"i": at, "row": user} for at, user in enumerate(USERS)]
    assert found.output == {"iteration_count": 3, "data": pairs, "results": pairs, "items": USERS}


def test_c10_without_items_the_body_never_runs() -> None:
    found = run(row(node("json", {"data": []}), node("loop"), node("json", {"data": 1}, "body")))
    assert found.status == "COMPLETED"
    assert found.trace == ["start-1", "json-1", "loop-1"]
    assert found.output == {"iteration_count": 0, "data": [], "results": [], "items": []}


@pytest.mark.parametrize(
    ("path", "input"),
    [
        ("", [1, 2]),
        ("", {"data": [1, 2]}),
        ("", {"items": [1, 2]}),
        ("xs", {"xs": [1, 2]}),
        ("input.xs", {"xs": [1, 2]}),
        ("data.xs", {"data": {"xs": [1, 2]}}),
        ("xs", {"data": {"xs": [1, 2]}}),
        ("a.0.b", {"a": [{"b": [1, 2]}]}),
        ("a[0].b", {"a": [{"b": [1, 2]}]}),
        ("my list", {"my list": [1, 2]}),
    ],
)
def test_where_the_items_are(path: str, input: Any) -> None:
    assert output(row(node("loop", {"arrayPath": path}), node("json", {"data": 1})), input)["items"] == [1, 2]


def test_an_item_that_fails_is_left_out_by_a_plain_loop() -> None:
    found = run(row(node("loop"), node("conditional", {"condition": "item > 1"})), ["x", 2])
    assert found.status == "COMPLETED"
    assert found.output["iteration_count"] == 2
    assert found.output["failed"] == 1


def test_more_items_than_allowed_fail_the_loop() -> None:
    for config, count in (({}, 1001), ({"max_iterations": 2}, 3), ({"max_iterations": 50_000}, 10_001)):
        found = run(row(node("loop", config), node("json", {"data": 1})), list(range(count)), check="none")
        assert found.failure is not None
        assert found.failure.code == "LIMIT_ITERATIONS"


def test_a_pause_between_iterations() -> None:
    from perdure.testing.pure import PureRunner

    runner = PureRunner(row(node("loop", {"iterationDelay": 1500}), node("json", {"data": 1})), restart=True)
    before = runner.now
    assert runner.run([1, 2, 3]).status == "COMPLETED"
    assert runner.now - before == 3_000_000


def test_plain_loops_may_be_nested_and_share_one_end() -> None:
    nodes = [
        node("start"),
        node("loop", {"itemVariable": "a"}, "outer"),
        node("loop", {"arrayPath": "a", "itemVariable": "b"}, "inner"),
        node("json", {"data": "{{a}}{{b}}"}),
        node("end"),
    ]
    edges = [
        edge("start-1", "outer"),
        edge("outer", "inner"),
        edge("inner", "json-1"),
        edge("json-1", "end-1"),
        edge("outer", "end-1"),
        edge("start-1", "end-1"),
    ]
    document = graph(nodes, edges)
    assert problems(document) == []
    found = run(document, [[1, 2], [3]])
    assert found.status == "COMPLETED"
    assert found.trace.count("json-1") == 3
    assert found.trace.count("end-1") == 1


NAME = node(
    "transform",
    {"operations": [{"type": "map", "config": {"mappings": [{"from": "item.name", "to": "name"}]}}]},
    "pick",
)
INTO, BACK = edge("loop", "pick", sourceHandle="loop-output"), edge("pick", "loop", targetHandle="accumulator-input")


def test_c11_results_are_gathered_in_order_under_three_names() -> None:
    names = [{"name": each} for each in "abc"]
    assert output(gathering([NAME], [INTO, BACK])) == {"iteration_count": 3, "accumulated": names, "data": names}
    assert output(gathering([NAME], [INTO, BACK], {"accumulatorVariable": "list"})) == {
        "iteration_count": 3,
        "list": names,
        "accumulated": names,
        "data": names,
    }


def test_the_last_result_only() -> None:
    assert output(gathering([NAME], [INTO, BACK], {"accumulationMode": "last"}))["accumulated"] == {"name": "c"}


def test_results_are_not_unwrapped_if_that_is_said() -> None:
    assert output(gathering([NAME], [INTO, BACK], {"unwrapData": False}))["accumulated"][0] == {"data": {"name": "a"}}


def test_edges_need_not_say_their_handles_where_it_is_clear() -> None:
    plain = [edge("loop", "pick"), edge("pick", "loop")]
    assert output(gathering([NAME], plain))["accumulated"] == [{"name": each} for each in "abc"]


def test_without_an_edge_back_the_last_node_of_the_body_is_gathered() -> None:
    assert output(gathering([NAME], [INTO]))["accumulated"] == [{"name": each} for each in "abc"]


def test_without_a_body_nothing_is_gathered() -> None:
    assert output(gathering([], [])) == {"iteration_count": 3, "accumulated": [], "data": []}


def test_an_edge_from_the_loop_to_itself_gathers_the_iterations_themselves() -> None:
    itself = edge("loop", "loop", sourceHandle="loop-output", targetHandle="accumulator-input")
    assert output(gathering([], [itself], given=[7]))["accumulated"] == [{"index": 0, "item": 7}]


ODD = node("conditional", {"conditions": [{"left": "item.id % 2", "operator": "eq", "right": "1"}]}, "odd")


@pytest.mark.parametrize(
    "more",
    [
        [],
        [edge("odd", "end-1", sourceHandle="false")],
        [edge("odd", "drop", sourceHandle="false")],
        [edge("odd", "drop", sourceHandle="false"), edge("drop", "end-1")],
    ],
)
def test_a_conditional_in_the_body_drops_items(more: list[dict[str, Any]]) -> None:
    drop = [node("json", {"data": "dropped"}, "drop")] if "drop" in str(more) else []
    drop = [{**each, "data": {"config": {"data": '"dropped"'}}} for each in drop]
    edges = [edge("loop", "odd", sourceHandle="loop-output"), edge("odd", "pick", sourceHandle="true"), BACK, *more]
    found = run(gathering([ODD, NAME, *drop], edges))
    assert found.status == "COMPLETED", found.failure
    assert found.output["iteration_count"] == 3
    assert found.trace.count("end-1") == 1


def test_an_answer_of_no_at_a_dead_end_is_not_gathered() -> None:
    assert output(gathering([ODD], [edge("loop", "odd", sourceHandle="loop-output")]))["accumulated"] == [True, True]


def test_null_is_not_gathered() -> None:
    body = [node("json", {"data": "{{item}}"}, "pick")]
    assert output(gathering(body, [INTO, BACK], given=[1, None, 2]))["accumulated"] == [1, 2]


@pytest.mark.parametrize(("how", "status"), [(None, "COMPLETED"), ("skip", "COMPLETED"), ("fail", "FAILED")])
def test_what_an_item_that_fails_does_is_said(how: str | None, status: str) -> None:
    body = [node("conditional", {"condition": "item > 1"}, "ask"), node("json", {"data": "{{item}}"}, "pick")]
    edges = [edge("loop", "ask", sourceHandle="loop-output"), edge("ask", "pick"), BACK]
    found = run(gathering(body, edges, {"errorHandling": how} if how else {}, given=[1, "x", 3]))
    assert found.status == status
    if how != "fail":
        assert found.output["accumulated"] == [1, 3]
        assert found.output["failed"] == 1


def test_loops_with_accumulator_may_be_nested() -> None:
    orders = [{"no": "A", "lines": [{"n": 1}, {"n": 2}]}, {"no": "B", "lines": [{"n": 3}]}]
    body = [
        node(
            "transform",
            {"operations": [{"type": "map", "config": {"mappings": {"item.lines": "lines"}, "includeUnmapped": True}}]},
            "order",
        ),
        node("loop-accumulator", {"arrayPath": "data.lines"}, "inner"),
        node(
            "transform",
            {"operations": [{"type": "map", "config": {"mappings": [{"from": "item.n", "to": "n"}]}}]},
            "line",
        ),
        node(
            "transform",
            {"operations": [{"type": "map", "config": {"mappings": [{"from": "accumulated", "to": "lines"}]}}]},
            "combine",
        ),
    ]
    edges = [
        edge("loop", "order", sourceHandle="loop-output"),
        edge("order", "inner", targetHandle="input"),
        edge("inner", "line", sourceHandle="loop-output"),
        edge("line", "inner", targetHandle="accumulator-input"),
        edge("inner", "combine", sourceHandle="output"),
        edge("combine", "loop", targetHandle="accumulator-input"),
    ]
    document = gathering(body, edges, given=orders)
    assert problems(document) == []
    assert output(document)["accumulated"] == [{"lines": [{"n": 1}, {"n": 2}]}, {"lines": [{"n": 3}]}]


def test_a_plain_loop_in_the_body_gives_its_own_output() -> None:
    body = [node("loop", {"arrayPath": "item"}, "inner"), node("json", {"data": "{{item}}"}, "pick")]
    edges = [edge("loop", "inner", sourceHandle="loop-output"), edge("inner", "pick"), BACK]
    found = output(gathering(body, edges, given=[[1], [2, 3]]))
    assert [[each["item"] for each in one] for one in found["accumulated"]] == [[1], [2, 3]]


def test_more_results_than_fit_beside_others_stay_readable() -> None:
    body = [node("json", {"data": "{{item}}"}, "pick")]
    many = ["x" * 1_000 for _ in range(400)]
    assert output(gathering(body, [INTO, BACK], given=many), check="none")["accumulated"] == many


def test_an_edge_past_a_loop_into_its_body_is_told_and_not_followed() -> None:
    nodes = [node("start"), node("loop"), node("json", {"data": 1}), node("json", {"data": 2}, "outside"), node("end")]
    edges = [
        edge("start-1", "loop-1"),
        edge("loop-1", "json-1"),
        edge("json-1", "end-1"),
        edge("start-1", "outside"),
        edge("outside", "json-1"),
    ]
    document = graph(nodes, edges)
    assert [(each.code, each.pointer) for each in problems(document)] == [("YANTRA_EDGE_UNUSED", "/edges/4")]
    assert run(document, [1, 2]).trace.count("json-1") == 2
