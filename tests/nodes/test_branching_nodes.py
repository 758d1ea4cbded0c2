"""switch (S02), merge, map, wait-for-event: which way, what comes together, what runs at once, what is waited for."""

from typing import Any

import pytest

from perdure.model.event_signals import event_signal
from perdure.testing.pure import PureRunner, lasting
from tests.nodes.flows import Doc, failure, node, output, row, run


def ways(config: Doc, *outcomes: str, error: bool = False) -> Doc:
    """start, a switch, and behind each outcome a node that says its name."""
    nodes = [node("switch", config, "s"), *(node("json", {"data": f'"{name}"'}, f"to-{name}") for name in outcomes)]
    edges = [{"source": "start", "target": "s"}]
    edges += [{"source": "s", "target": f"to-{name}", "outcome": name} for name in outcomes]
    if error:
        nodes.append(node("json", {"data": "${data.error.code}"}, "wrong"))
        edges.append({"source": "s", "target": "wrong", "outcome": "error"})
    return {"nodes": [{"id": "start", "type": "start"}, *nodes], "edges": edges}


def gone(document: Doc, input: Any) -> Any:
    result = PureRunner(document, restart=True).run(input)
    assert result.status == "COMPLETED", result.failure
    return result.output["data"]


SIZES = {
    "cases": [
        {"when": "input.n > 100", "outcome": "large"},
        {"when": "input.n > 10", "outcome": "medium"},
    ],
    "default": "small",
}


@pytest.mark.parametrize(("number", "way"), [(500, "large"), (50, "medium"), (5, "small")])
def test_the_first_case_that_holds_decides(number: int, way: str) -> None:
    assert gone(ways(SIZES, "large", "medium", "small"), {"n": number}) == way


@pytest.mark.parametrize(
    ("value", "way"), [("DE", "near"), ("AT", "near"), ("US", "far"), (None, "none"), (1, "one"), (True, "rest")]
)
def test_cases_by_equality(value: Any, way: str) -> None:
    cases = [
        {"equals": ["DE", "AT"], "outcome": "near"},
        {"equals": "${vars.x ?? 'US'}", "outcome": "far"},
        {"equals": None, "outcome": "none"},
        {"equals": 1, "outcome": "one"},
    ]
    config = {"value": "input.v", "cases": cases, "default": "rest"}
    assert gone(ways(config, "near", "far", "none", "one", "rest"), {"v": value}) == way


def test_the_ways_not_taken_are_skipped() -> None:
    result = PureRunner(ways(SIZES, "large", "medium", "small"), restart=True).run({"n": 50})
    skipped = [event.node for event in result.events if type(event).__name__ == "NodeSkipped"]
    assert sorted(skipped) == ["to-large", "to-small"]


@pytest.mark.parametrize("routes", [[], ["a", "b"]])
def test_s02_an_expression_gives_the_name_of_the_edge(routes: list[str]) -> None:
    config = {"route": "input.to", "routes": routes}
    assert gone(ways(config, "a", "b"), {"to": "b"}) == "b"


@pytest.mark.parametrize("to", ["c", None, 5, ["a"], ""])
def test_s02_a_name_that_no_edge_has_takes_the_error_path(to: Any) -> None:
    assert gone(ways({"route": "input.to"}, "a", "b", error=True), {"to": to}) == "SWITCH_NO_ROUTE"


def test_s02_without_an_error_path_the_run_fails_and_says_why() -> None:
    result = PureRunner(ways({"route": "input.to"}, "a")).run({"to": "elsewhere"})
    assert result.failure is not None
    assert (result.failure.code, result.failure.node) == ("SWITCH_NO_ROUTE", "s")
    assert "elsewhere" in result.failure.message


def test_a_default_takes_what_no_route_knows() -> None:
    config = {"route": "input.to", "default": "b"}
    assert gone(ways(config, "a", "b"), {"to": "c"}) == "b"


def test_a_switch_without_default_fails_where_no_case_holds() -> None:
    cases = [{"when": "input.n > 100", "outcome": "large"}]
    assert gone(ways({"cases": cases}, "large", error=True), {"n": 1}) == "SWITCH_NO_ROUTE"


def test_a_case_that_is_no_truth_value_is_told() -> None:
    assert gone(ways({"cases": [{"when": "input.n", "outcome": "x"}]}, "x", error=True), {"n": 5}) == (
        "CONDITION_NOT_BOOLEAN"
    )


# -- merge -------------------------------------------------------------------------------------------------------------

ORDERS = [{"id": 1, "sum": 5}, {"id": 2, "sum": 6}, {"id": 4, "sum": 7}]
NAMES = [{"id": 2, "name": "b"}, {"id": 1, "name": "a"}, {"id": 3, "name": "c"}, {"id": 1, "name": "a2"}]


def merged(config: Doc, left: Any = ORDERS, right: Any = NAMES, *, skip: str | None = None, **rest: Any) -> Any:
    nodes = [
        {"id": "start", "type": "start"},
        node("json", {"data": "${input.left}"}, "left"),
        node("json", {"data": "${input.right}"}, "right"),
        node("merge", config, "m", **rest),
    ]
    edges: list[Doc] = [{"source": "start", "target": id} for id in ("left", "right")]
    for edge in edges:
        if edge["target"] == skip:
            edge["when"] = "false"
    edges += [{"source": id, "target": "m"} for id in ("left", "right")]
    result = PureRunner({"nodes": nodes, "edges": edges}, restart=True).run({"left": left, "right": right})
    assert result.status == "COMPLETED", result.failure
    return result.output


BOTH = [{"id": 1, "sum": 5, "name": "a"}, {"id": 1, "sum": 5, "name": "a2"}, {"id": 2, "sum": 6, "name": "b"}]
ONLY_LEFT, ONLY_RIGHT = [{"id": 4, "sum": 7}], [{"id": 3, "name": "c"}]


@pytest.mark.parametrize(
    ("join", "expected"),
    [
        ("inner", BOTH),
        ("left", BOTH + ONLY_LEFT),
        ("right", BOTH + ONLY_RIGHT),
        ("outer", BOTH + ONLY_LEFT + ONLY_RIGHT),
        ("unmatched", ONLY_LEFT + ONLY_RIGHT),
    ],
)
def test_items_of_two_branches_are_joined_by_key(join: str, expected: Any) -> None:
    assert merged({"mode": "key", "key": "id", "join": join}) == {"data": expected, "count": len(expected)}


def test_keys_are_told_apart_by_their_type_and_null_has_no_partner() -> None:
    left = [
        {"k": 1, "l": 1},
        {"k": True, "l": 2},
        {"k": "1", "l": 3},
        {"k": None, "l": 4},
        {"l": 5},
        {"k": [1], "l": 6},
    ]
    right = [{"k": 1.0, "r": 1}, {"k": "1", "r": 3}, {"k": None, "r": 4}, {"k": [1], "r": 6}]
    pairs = [(item["l"], item["r"]) for item in merged({"mode": "key", "key": "k"}, left, right)["data"]]
    assert pairs == [(1, 1), (3, 3), (6, 6)]


def test_keys_of_several_fields_and_other_names() -> None:
    left, right = [{"a": {"b": 1}, "c": 2, "l": 1}], [{"x": 1, "y": 2, "r": 1}, {"x": 1, "y": 3, "r": 2}]
    config = {"mode": "key", "key": ["a.b", "c"], "right_key": ["x", "y"]}
    assert merged(config, left, right)["data"] == [{"a": {"b": 1}, "c": 2, "l": 1, "x": 1, "y": 2, "r": 1}]


def test_the_same_field_in_both() -> None:
    last = merged({"mode": "position"}, [{"a": 1, "b": 1}], [{"a": 2}])["data"]
    first = merged({"mode": "position", "prefer": "first"}, [{"a": 1, "b": 1}], [{"a": 2}])["data"]
    assert (last, first) == ([{"a": 2, "b": 1}], [{"a": 1, "b": 1}])


def test_other_modes() -> None:
    assert merged({"mode": "append"}, [1], [2, 3]) == {"data": [1, 2, 3], "count": 3}
    assert merged({"mode": "append", "inputs": ["right", "left"]}, [1], [2, 3])["data"] == [2, 3, 1]
    assert merged({"mode": "position"}, [{"a": 1}, {"a": 2}], [{"b": 1}])["data"] == [{"a": 1, "b": 1}, {"a": 2}]
    assert merged({"mode": "object"}, 1, 2)["data"] == {"left": {"data": 1}, "right": {"data": 2}}
    assert merged({"mode": "fields"}, 1, 2) == {"data": {"data": 2}, "count": 2}
    assert merged({"mode": "choose", "inputs": ["right", "left"]}, 1, 2) == {"data": 2}
    assert merged({"mode": "append"}, [], []) == {"data": [], "count": 0}
    assert merged({"mode": "append"}, {"a": 1}, "x") == {"data": [{"a": 1}, {"data": "x"}], "count": 2}


def test_a_branch_that_was_skipped_has_no_items() -> None:
    assert merged({"mode": "append"}, [1], [2], skip="left")["data"] == [2]
    assert merged({"mode": "choose", "inputs": ["left", "right"]}, 1, 2, skip="left") == {"data": 2}
    assert merged({"mode": "key", "key": "id", "join": "left"}, skip="right")["data"] == ORDERS
    assert merged({"mode": "object"}, 1, 2, skip="left")["data"] == {"right": {"data": 2}}


def test_the_fastest_branch() -> None:
    nodes = [
        {"id": "start", "type": "start"},
        node("delay", {"milliseconds": 500}, "slow"),
        node("json", {"data": '"quick"'}, "quick"),
        node("merge", {"mode": "first"}, "m", join="first"),
    ]
    edges = [{"source": "start", "target": "slow"}, {"source": "start", "target": "quick"}]
    edges += [{"source": id, "target": "m"} for id in ("slow", "quick")]
    result = PureRunner({"nodes": nodes, "edges": edges}, restart=True).run()
    assert result.output == {"data": "quick"}


def test_items_that_have_no_fields_cannot_be_joined() -> None:
    for config in ({"mode": "key", "key": "id"}, {"mode": "position"}):
        document = row(node("json", {"data": [1, 2]}, "a"), node("merge", {**config, "inputs": ["a", "a"]}, "m"))
        result = PureRunner(document).run()
        assert result.failure is not None
        assert result.failure.code == "MERGE_INVALID"


def test_a_join_that_multiplies_is_stopped_by_its_cost() -> None:
    many = [{"id": 1, "n": n} for n in range(3_000)]
    document = row(
        node("set", {"vars": {"many": "${input}"}}, "s"),
        node("json", {"data": "${input}"}, "a"),
        node("merge", {"mode": "key", "key": "id", "inputs": ["a", "a"]}, "m"),
    )
    result = PureRunner(document).run(many)
    assert result.failure is not None
    assert result.failure.code == "EXPRESSION_LIMIT"


# -- map ---------------------------------------------------------------------------------------------------------------


def test_a_map_runs_ten_at_once_and_keeps_the_order() -> None:
    most, now = 0, 0

    def work(ctx: Any, n: int) -> int:
        return n * n

    runner = PureRunner(
        row(
            node("map", {"items": "input"}, "m"),
            {"id": "w", "type": "python", "parent": "m", "config": {"step": "work", "arguments": {"n": "${item}"}}},
        ),
        steps={"work": lasting(5, work)},
    )
    result = runner.run(list(range(25)))
    assert result.output["results"] == [n * n for n in range(25)]
    for event in result.events:
        kind = type(event).__name__
        if kind == "ActivationScheduled" and event.node == "w":
            now += 1
        elif kind == "ActivationCompleted":
            now -= 1
        most = max(most, now)
    assert most == 10


@pytest.mark.parametrize(("policy", "results"), [("skip", [1, 3]), ("null", [1, None, 3])])
def test_an_item_that_fails_in_a_map(policy: str, results: list[Any]) -> None:
    body = node("fail", {}, "f", parent="m", condition="item == 2")
    pick = node("json", {"data": "${item}"}, "j", parent="m")
    found = output(node("map", {"items": [1, 2, 3], "on_item_failure": policy}, "m"), body, pick)
    assert [each and each["data"] for each in found["results"]] == results


def test_a_map_fails_with_its_item_unless_it_is_told_otherwise() -> None:
    body = node("fail", {"code": "BAD"}, "f", parent="m", condition="item == 2")
    assert failure(node("map", {"items": [1, 2, 3]}, "m"), body).code == "BAD"


# -- wait-for-event ----------------------------------------------------------------------------------------------------


def waited(config: Doc, *events: tuple[float, str, str | None, Any], input: Any = None) -> Any:
    signals = [(at, event_signal(type, key), payload) for at, type, key, payload in events]
    return run(node("wait-for-event", config), input=input, signals=signals)


def test_an_event_of_the_type_and_key_is_taken() -> None:
    config = {"event": "paid", "key": "{{input.order}}"}
    result = waited(
        config, (1, "paid", "8", "other order"), (2, "sent", "7", "other type"), (3, "paid", None, "no key"),
        (4, "paid", "7", {"amount": 5}), input={"order": 7},
    )  # fmt: skip
    assert result.output == {"amount": 5}


def test_the_filter_passes_over_what_is_not_meant() -> None:
    config = {"event": "paid", "filter": "event.amount >= input.least"}
    events = [(1, "paid", None, {"amount": 5}), (2, "paid", None, "text"), (3, "paid", None, {"amount": 50})]
    result = waited(config, *events, input={"least": 10})
    assert result.output == {"amount": 50}


def test_what_one_node_passes_over_another_may_take_even_if_it_came_before() -> None:
    first = node("wait-for-event", {"event": "e", "filter": "event.n == 1"}, "first")
    second = node("wait-for-event", {"event": "e", "filter": "event.n == 2"}, "second")
    name = event_signal("e")
    result = run(first, second, signals=[(1, name, {"n": 2}), (2, name, {"n": 3}), (3, name, {"n": 1})])
    assert result.output == {"n": 2}


def test_two_that_wait_for_the_same_get_each_its_own() -> None:
    nodes = [{"id": "start", "type": "start"}]
    nodes += [node("wait-for-event", {"event": "e", "filter": f"event.n == {n}"}, f"w{n}") for n in (1, 2)]
    nodes.append(node("merge", {"mode": "object"}, "m"))
    edges = [{"source": "start", "target": f"w{n}"} for n in (1, 2)] + [
        {"source": f"w{n}", "target": "m"} for n in (1, 2)
    ]
    runner = PureRunner({"nodes": nodes, "edges": edges}, restart=True)
    result = runner.run(signals=[(1, event_signal("e"), {"n": 2}), (2, event_signal("e"), {"n": 1})])
    assert result.output["data"] == {"w1": {"n": 1}, "w2": {"n": 2}}


def test_nobody_comes_in_time() -> None:
    result = waited({"event": "paid", "filter": "event.ok", "timeout": "1h"}, (1, "paid", None, {"ok": False}))
    assert result.failure is not None
    assert result.failure.code == "SIGNAL_TIMEOUT"


@pytest.mark.parametrize(
    ("config", "input"), [({"event": "${input.x}"}, {"x": [5]}), ({"event": "e", "key": "${input.x}"}, {"x": None})]
)
def test_a_computed_name_that_is_none(config: Doc, input: Any) -> None:
    assert failure(node("wait-for-event", config), input=input).code == "EVENT_INVALID"


def test_names_of_events_are_never_mistaken_for_one_another() -> None:
    pairs = [("a", None), ("a", "b"), ("a:=b", None), ("a:", "b"), ("a", ":b"), ("a:", "=b"), ("a::", "b")]
    pairs += [("x" * 300, "y"), ("x" * 300, "z")]
    names = [event_signal(*pair) for pair in pairs]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 200 for name in names)
