"""extract with JSONPath (RFC 9535): one value or many, and mistakes told at save with their place."""

from typing import Any

import pytest

from perdure.nodes.catalogue import CATALOGUE
from perdure.programs.flow.validate import validate_flow
from tests.nodes.flows import failure, given, node, output, row

SHOP = {
    "orders": [
        {"id": 1, "total": 5, "lines": [{"sku": "a"}, {"sku": "b"}]},
        {"id": 2, "total": 500, "lines": [{"sku": "c"}]},
        {"id": 3, "total": 700, "lines": []},
    ],
    "ünïcode": {"名": "字"},
    "none": None,
    "empty": [],
}


def extracted(path: str, value: Any = None, **config: Any) -> Any:
    operation = {"type": "extract", "config": {"jsonPath": path, **config}}
    return output(given(SHOP if value is None else value), node("transform", {"operations": [operation]}))["data"]


@pytest.mark.parametrize(
    ("path", "config", "expected"),
    [
        ("$.orders[0].id", {}, 1),
        ("$.orders[-1].id", {}, 3),
        ("$['orders'][1]['total']", {}, 500),
        ("$.none", {}, None),
        ("$.empty", {}, []),
        ("$.ünïcode['名']", {}, "字"),
        ("$.orders[?@.total > 100].id", {}, [2, 3]),
        ("$.orders[?@.total > 100].id", {"take": "first"}, 2),
        ("$.orders[?@.total > 1000].id", {}, []),
        ("$.orders[?@.total > 1000].id", {"take": "first", "default": 0}, 0),
        ("$..sku", {}, ["a", "b", "c"]),
        ("$..sku", {"outputKey": "all"}, {"all": ["a", "b", "c"]}),
        ("$.orders[1:].id", {}, [2, 3]),
        ("$.orders[*].lines[0].sku", {}, ["a", "c"]),
        ("$.orders[?match(@.lines[0].sku, '[a-b]')].id", {}, [1]),
        ("$.orders[?length(@.lines) == 0].id", {"take": "first"}, 3),
        ("$.orders[0].id", {"take": "all"}, [1]),
        ("$.nothing", {"take": "all"}, []),
        ("$.nothing", {"default": "none"}, "none"),
        ("$", {}, SHOP),
        ("$.orders.0.id", {}, 1),  # no JSONPath, and what people write
        ("orders.0.id", {"take": "all"}, [1]),
    ],
)
def test_what_a_query_gives(path: str, config: dict[str, Any], expected: Any) -> None:
    assert extracted(path, **config) == expected


def test_a_query_is_asked_of_the_data_of_the_input_too() -> None:
    assert extracted("$.orders[0].id", {"data": SHOP, "status": 200}) == 1
    assert extracted("$.status", {"data": SHOP, "status": 200}) == 200


def test_a_single_value_that_is_not_there_fails() -> None:
    operation = {"type": "extract", "config": {"jsonPath": "$.nothing.here"}}
    wrong = failure(given(SHOP), node("transform", {"operations": [operation]}))
    assert wrong.code == "TRANSFORM_INVALID"
    assert "finds nothing" in wrong.message


def test_a_query_that_costs_too_much_ends_within_the_limits_of_a_node() -> None:
    operation = {"type": "extract", "config": {"jsonPath": "$..*..*..*..*"}}
    deep: Any = 1
    for _ in range(40):
        deep = {"a": deep, "b": deep if not isinstance(deep, dict) else 2, "c": [3, 4, 5]}
    wrong = failure(given([deep] * 40), node("transform", {"operations": [operation]}))
    assert wrong.code == "EXPRESSION_LIMIT"


@pytest.mark.parametrize(
    ("path", "column"), [("$.a[", 5), ("$.a[?(@.b", 10), ("$.a b", 5), ("$.a[?foo(@)]", 6), ("$.a[0", 6), ("$a", 2)]
)
def test_a_mistake_is_told_at_save_with_its_place(path: str, column: int) -> None:
    document = row(node("transform", {"operations": [{"type": "extract", "config": {"jsonPath": path}}]}))
    found, problems = validate_flow(document, CATALOGUE)
    assert found is None
    place = "/nodes/1/config/operations/0/config/jsonPath"
    assert [(each.code, each.pointer, each.line) for each in problems] == [("EXPRESSION_SYNTAX", place, 1)]
    assert problems[0].column == column
