"""A query costs what it may and no more: every bomb ends quickly, with a limit and not with a crash."""

import time
from typing import Any

import pytest

from perdure.errors import ExpressionError, ExpressionLimit
from perdure.expressions import Limits
from perdure.expressions.jsonpath import compile_jsonpath

LONGEST = 1  # second of computing
ROWS: Any = {"rows": [{"id": number, "name": f"row {number}", "tags": ["a", "b"]} for number in range(20_000)]}


def nested(levels: int) -> Any:
    found: Any = []
    for _ in range(levels):
        found = [found]
    return found


def outcome(query: str, document: Any, method: str = "find") -> str | int:
    try:
        return len(getattr(compile_jsonpath(query), method)(document))
    except ExpressionError as fault:
        return fault.code


BOMBS = [
    "$..*..*..*",
    "$..*..*",
    "$..*..[0]..*",
    "$" + "..*" * 60,
    "$.rows[?count($..*) > 0]",
    "$.rows[?$.rows[?@.id == 1]]",
    "$.rows[?$..*]",
    "$..[?$..[?$..[?@.a]]]",
    "$.rows[?@ == $.rows[0] || @ == $.rows[1] || $.rows == $.rows]",
    "$.rows[" + ",".join(["*"] * 90) + "]",
    "$.rows[*][" + ",".join(["*"] * 300) + "]",
    "$..[" + ",".join(["::-1"] * 99) + "]",
    "$.rows[?" + " && ".join(["@.id != 99999"] * 60) + "]",
    "$.rows[?search(@.name, 'x*y*z*q')].." + "..".join(["*"] * 5),
    "$.rows[?match(@.name, 'a{999}')]..*",
    "$.rows[?match(@.name, @.name)]",
]


@pytest.mark.serial
@pytest.mark.parametrize("method", ["find", "nodes"])
@pytest.mark.parametrize("query", BOMBS, ids=lambda query: query[:40])
def test_a_bomb_meets_a_limit_within_a_second(query: str, method: str) -> None:
    start = time.thread_time()
    found = outcome(query, ROWS, method)
    assert time.thread_time() - start < LONGEST
    assert found == "EXPRESSION_LIMIT" or isinstance(found, int)


@pytest.mark.parametrize("query", ["$..*..*..*", "$" + "..*" * 60, "$.rows[?count($..*) > 0]", "$.rows[?$..*]"])
@pytest.mark.parametrize("method", ["find", "nodes"])
def test_a_bomb_does_not_get_through(query: str, method: str) -> None:
    with pytest.raises(ExpressionLimit) as caught:
        getattr(compile_jsonpath(query), method)({**ROWS, "deep": nested(300)})
    assert caught.value.line == 1
    assert caught.value.details["snippet"].startswith("$..*" if ".." in query[:3] else "$.rows")


def test_the_place_of_a_limit_is_the_segment_that_met_it() -> None:
    with pytest.raises(ExpressionLimit, match="too much work") as caught:
        compile_jsonpath("$.rows[?count($..*) > 0]").find(ROWS)
    assert caught.value.column == 16


def test_honest_work_fits_into_the_limits() -> None:
    for query, count in {
        "$..id": 20_000,
        "$.rows[*].tags[*]": 40_000,
        "$.rows[?@.id > 100 && @.name != 'row 7'].id": 19_899,
        "$.rows[?search(@.name, '99')]": 560,
        "$.rows[::-1].id": 20_000,
        "$..tags": 20_000,
        "$..[?@.id > 19990]": 9,
        "$.rows[?match(@.name, $.pattern)]": 4_000,
    }.items():
        assert outcome(query, ROWS | {"pattern": "row [0-9]*[27][0-9]"}) == count
    assert outcome("$..id", ROWS, "nodes") == 20_000


def test_how_many_values_are_found_is_limited() -> None:
    assert len(compile_jsonpath("$[*]").find([0] * 100_000)) == 100_000
    with pytest.raises(ExpressionLimit, match="finds 100,001 values, more than 100,000"):
        compile_jsonpath("$[*]").find([0] * 100_001)
    with pytest.raises(ExpressionLimit, match="finds 3 values, more than 2"):
        compile_jsonpath("$[*]", limits=Limits(found=2)).nodes([1, 2, 3])


def test_limits_are_settings() -> None:
    assert compile_jsonpath("$..*", limits=Limits(work=50)).find([1, 2, 3]) == [1, 2, 3]
    with pytest.raises(ExpressionLimit):
        compile_jsonpath("$..*", limits=Limits(work=50)).find([[]] * 80)
    meter = [0, 1_000]
    compile_jsonpath("$.rows[:10].id").find(ROWS, meter=meter)
    assert 900 < meter[1] < 1_000


@pytest.mark.parametrize(
    "query",
    [
        "$" + ".a" * 5_000,
        "$" + "[0]" * 1_001,
        "$[" + "0," * 1_001 + "0]",
        "$[?" + "(" * 65 + "@" + ")" * 65 + "]",
        "$[?" + "!(" * 65 + "@" + ")" * 65 + "]",
        "$" + "[?@" * 65 + "]" * 65,
        "$[?" + "length(value(" * 40 + "@" + "))" * 40 + " == 1]",
        "$[?" + "(" * 8_000,
        "$" + "[?@" * 2_700,
        "$[?@ == " + "1" * 2_000 + "]",
        "$[?match(@, 'a{1001}')]",
        "$['" + "a" * 9_000 + "']",
        "$[?" + "@ || " * 1_001 + "@]",
    ],
    ids=lambda query: query[:30],
)
def test_a_query_that_is_too_large_is_refused_when_it_is_compiled(query: str) -> None:
    with pytest.raises(ExpressionLimit) as caught:
        compile_jsonpath(query)
    assert caught.value.line == 1


def test_queries_nested_as_deeply_as_they_may_be_are_run() -> None:
    assert outcome("$" + "[?@" * 60 + "]" * 60, nested(61)) == 1
    assert outcome("$[?" + "(" * 60 + "@" + ")" * 60 + "]", [1]) == 1
    assert outcome("$" + "[0]" * 400, nested(500)) == 1


def test_the_depth_of_a_document_does_not_matter() -> None:
    deep = nested(20_000)
    try:
        assert outcome("$..*", deep) == 20_000
        assert outcome("$..[?@[0]]", deep) == 19_999
        assert outcome("$..*", deep, "nodes") == "EXPRESSION_LIMIT"
        assert outcome("$[?@ == $[0]]", deep) == "EXPRESSION_LIMIT"
        assert outcome("$[0][0][0]", deep, "nodes") == 1
    finally:
        while deep:  # taken apart by hand: freeing it in one go would recurse in C
            deep = deep.pop()


def test_the_same_query_costs_the_same_each_time() -> None:
    query = "$.rows[?search(@.name, '(1|2)+3') && @.tags == $.rows[0].tags].id"
    spent = []
    for _ in range(3):
        meter = [0, 10_000_000]
        compile_jsonpath(query).find({"rows": ROWS["rows"][:2_000]}, meter=meter)
        spent.append(meter[1])
    assert len(set(spent)) == 1


def test_running_deep_in_the_stack_is_a_limit_and_not_a_crash() -> None:
    def deeper(levels: int) -> Any:
        if levels:
            return deeper(levels - 1)
        return outcome("$" + "[?@" * 60 + "]" * 60, nested(61))

    assert {deeper(levels) for levels in (0, 300, 600, 800)} <= {1, "EXPRESSION_LIMIT"}


def test_the_same_source_is_compiled_once() -> None:
    assert compile_jsonpath("$.a") is compile_jsonpath("$.a")
    assert compile_jsonpath("$.a") is not compile_jsonpath("$.a", limits=Limits(found=5))
    assert repr(compile_jsonpath("$.a")) == "JsonPath('$.a')"
