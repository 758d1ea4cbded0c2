"""start, end, json, json-array, transform: rows C01, C02, C06, C07, C08 of the features."""

from typing import Any

import pytest

from perdure.testing.pure import BEGIN, PureRunner
from tests.nodes.flows import failure, given, node, output, row, run


def test_start_hands_on_the_input_of_the_run() -> None:
    assert run(input={"a": [1, None]}).outputs == {"start": {"a": [1, None]}}


def test_the_end_has_the_result() -> None:
    assert output(node("end", id="end"), input=7) == 7
    assert output(node("end", {"output": {"n": "${input.n + 1}"}}, id="end"), input={"n": 1}) == {"n": 2}
    assert output(node("end", {"output": None}, id="end"), input=7) is None


def test_an_end_may_end_everything() -> None:
    document = row(node("end", {"terminate": True, "output": "over"}, id="end"))
    document["nodes"].append(node("sleep", {"duration": "1d"}, id="long"))
    document["edges"].insert(0, {"source": "start", "target": "long"})
    runner = PureRunner(document)
    result = runner.run()
    assert (result.status, result.output) == ("COMPLETED", "over")
    assert runner.now == BEGIN


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"n": "${data.n}", "t": "n is ${data.n}", "l": ["{{data.n}}", 1]}, {"n": 3, "t": "n is 3", "l": [3, 1]}),
        ("${data.o}", {"deep": [True, None]}),
        ("{{data.f}}", 1.5),
        ('{"a": "${data.n}", "b": [1, 2.5]}', {"a": 3, "b": [1, 2.5]}),
        ('{"a": "${data.t == \\"x\\"}"}', {"a": True}),
        ("[]", []),
        ('"text"', "text"),
        (None, None),
        (False, False),
        ({"$${n}": "$${data.n}"}, {"$${n}": "${data.n}"}),
    ],
)
def test_json_keeps_types(data: Any, expected: Any) -> None:
    before = {"n": 3, "f": 1.5, "t": "x", "o": {"deep": [True, None]}}
    assert output(node("json", {"data": data}), input=before) == {"data": expected}


def test_a_value_that_is_not_there_is_a_failure_or_stays_as_text() -> None:
    missing = node("json", {"data": {"a": "${data.nothing.here}", "b": "x {{data.n}}"}})
    wrong = failure(missing, input={"n": 1})
    assert (wrong.code, wrong.node) == ("VALUE_MISSING", "n")
    assert "nothing" in wrong.message
    lenient = output(missing, input={"n": 1}, settings={"missing": "lenient"})
    assert lenient == {"data": {"a": "${data.nothing.here}", "b": "x 1"}}


def test_text_from_outside_is_never_read_as_a_template() -> None:
    evil = "${1 + 1} {{data}}"
    assert output(node("json", {"data": {"a": "{{data.x}}", "b": "${data.x}"}}), input={"x": evil}) == {
        "data": {"a": evil, "b": evil}
    }


def test_a_list_with_its_shape() -> None:
    items = [{"name": "Ada", "age": 36, "tags": []}, {"name": "Bob", "age": 17, "tags": None}]
    assert output(node("json-array", {"items": items})) == {
        "data": items,
        "array": items,
        "count": 2,
        "schema": {"name": "string", "age": "number", "tags": "array"},
    }


SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "integer"}}},
}


@pytest.mark.parametrize(
    ("config", "items", "index", "path"),
    [
        ({}, [{"a": 1}, {"a": 2}, {"b": 3}], 2, "/2/a"),
        ({}, [{"a": 1}, {"a": 2, "b": 3}], 1, "/1/b"),
        ({}, [{"a": 1}, 5], 1, "/1"),
        ({"schema": SCHEMA}, [{"name": "x"}, {"name": 5}], 1, "/1/name"),
        ({"schema": SCHEMA}, [{"name": "x"}, {}], 1, "/1"),
        ({"schema": SCHEMA}, [{"name": "x", "tags": [1, 2, "three"]}], 0, "/0/tags/2"),
        ({"schema": {"type": "integer"}}, [1, 2, "x"], 2, "/2"),
    ],
)
def test_one_bad_item_is_named_by_index_and_path(config: Any, items: Any, index: int, path: str) -> None:
    wrong = failure(given(items), node("json-array", {"items": "${data}", **config}))
    assert wrong.code == "ARRAY_INVALID"
    assert wrong.details == {"index": index, "path": path}
    assert f"item {index} at {path}" in wrong.message


@pytest.mark.parametrize("items", [[], None, {"a": 1}, "text", 5])
def test_what_is_no_list_or_empty(items: Any) -> None:
    assert failure(given(items), node("json-array", {"items": "${data}"})).code == "ARRAY_INVALID"


def test_an_empty_list_may_be_allowed() -> None:
    found = output(given([]), node("json-array", {"items": "${data}", "allow_empty": True}))
    assert found == {"data": [], "array": [], "count": 0, "schema": {}}


def op(type: str, **config: Any) -> dict[str, Any]:
    return {"type": type, "config": config}


def moved(source: str, target: str) -> dict[str, Any]:
    return {"from": source, "to": target, "removeSource": True}


PERSON = {"first": "Ada", "last": "Lovelace", "born": {"year": 1815, "places": ["London", "Ockham"]}, "none": None}


@pytest.mark.parametrize(
    ("operations", "value", "expected"),
    [
        # nothing to do
        ([], PERSON, PERSON),
        ([], None, None),
        # map
        ([op("map", mappings={"first": "name"})], PERSON, {"name": "Ada"}),
        ([op("map", mappings=[{"from": "born.places.0", "to": "at.place"}])], PERSON, {"at": {"place": "London"}}),
        ([op("map", mappings={"nothing": "x", "none": "y"})], PERSON, {"y": None}),
        ([op("map", mappings={"input.first": "a"})], PERSON, {"a": "Ada"}),
        ([op("map", mappings={})], PERSON, {}),
        (
            [op("map", mappings={"first": "name"}, includeUnmapped=True)],
            {"first": 1, "x": 2},
            {"first": 1, "x": 2, "name": 1},
        ),
        (
            [op("map", mappings=[moved("first", "name")], includeUnmapped=True)],
            {"first": 1, "x": 2},
            {"x": 2, "name": 1},
        ),
        (
            [op("map", mappings=[moved("a", "b"), moved("b", "a")], includeUnmapped=True)],
            {"a": 1, "b": 2},
            {"a": 2, "b": 1},
        ),
        ([op("map", mappings={"a": "b"})], {"data": {"a": 1}, "status": 200}, {"b": 1}),
        ([op("map", mappings={"status": "s"})], {"data": {"a": 1}, "status": 200}, {"s": 200}),
        ([op("map", mappings={"input.id": "id"})], {"data": True, "input": {"id": 5}}, {"id": 5}),
        ([op("map", mappings={"é": "ü", "名": "n"})], {"é": "ß", "名": "字"}, {"ü": "ß", "n": "字"}),
        ([op("map", mappings={"a": "b"})], [{"a": 1}, {"a": 2}, {}], [{"b": 1}, {"b": 2}, {}]),
        ([op("map", mappings={"a": "b"})], [], []),
        ([op("map", mappings={"a": "b"})], {"data": []}, []),
        # extract
        ([op("extract", jsonPath="born.year")], PERSON, 1815),
        ([op("extract", jsonPath="$.born.places.1")], PERSON, "Ockham"),
        ([op("extract", jsonPath="born.places[-1]", outputKey="last")], PERSON, {"last": "Ockham"}),
        ([op("extract", jsonPath="none")], PERSON, None),
        ([op("extract", jsonPath="a.b", default=0)], PERSON, 0),
        ([op("extract", jsonPath="a.b", default=None)], PERSON, None),
        ([op("extract", jsonPath="")], PERSON, PERSON),
        ([op("extract", jsonPath="0.a")], [{"a": "ü"}], "ü"),
        ([op("extract", jsonPath="a")], {"data": {"a": 5}}, 5),
        # parse
        (
            [op("parse", inputKey="j", outputKey="o")],
            {"j": '{"a": [1, "é"]}', "k": 1},
            {"j": '{"a": [1, "é"]}', "k": 1, "o": {"a": [1, "é"]}},
        ),
        ([op("parse", inputKey="j")], {"j": "[]"}, {"j": []}),
        ([op("parse", inputKey="a.j")], {"a": {"j": "null"}}, {"a": {"j": None}}),
        ([op("parse", inputKey="")], '{"a": 1}', {"a": 1}),
        # stringify
        (
            [op("stringify", inputKey="o", outputKey="j")],
            {"o": {"a": [1, "é", None]}},
            {"o": {"a": [1, "é", None]}, "j": '{"a":[1,"é",null]}'},
        ),
        ([op("stringify", inputKey="o")], {"o": []}, {"o": "[]"}),
        ([op("stringify", inputKey="")], [1, 2], "[1,2]"),
        # concat
        (
            [op("concat", inputs="first, last", separator=" ", outputKey="name")],
            {"first": "Ada", "last": "L"},
            {"first": "Ada", "last": "L", "name": "Ada L"},
        ),
        (
            [op("concat", inputs=["a", "nothing", "n", "b.0"], separator="-")],
            {"a": 1, "n": None, "b": [True]},
            {"a": 1, "n": None, "b": [True], "result": "1-true"},
        ),
        ([op("concat", inputs="l")], {"l": []}, {"l": [], "result": "[]"}),
        # one after the other
        (
            [op("extract", jsonPath="born"), op("map", mappings={"year": "y"}), op("stringify", inputKey="y")],
            PERSON,
            {"y": "1815"},
        ),
    ],
)  # fmt: skip
def test_transformations(operations: Any, value: Any, expected: Any) -> None:
    assert output(given(value), node("transform", {"operations": operations})) == {"data": expected}


@pytest.mark.parametrize(
    ("operation", "value"),
    [
        (op("map", mappings={"a": "b"}), "text"),
        (op("map", mappings={"a": "b"}), None),
        (op("map", mappings={"a": "b"}), [1]),
        (op("extract", jsonPath="a.b"), {"a": 1}),
        (op("extract", jsonPath="a.5"), {"a": [1]}),
        (op("parse", inputKey="a"), {"a": "{"}),
        (op("parse", inputKey="a"), {"a": 5}),
        (op("parse", inputKey="a"), {}),
        (op("stringify", inputKey="a"), {}),
        (op("concat", inputs="a"), "text"),
        (op("concat", inputs="a"), [1]),
    ],
)
def test_data_that_does_not_suit(operation: Any, value: Any) -> None:
    wrong = failure(given(value), node("transform", {"operations": [op("map", mappings={"a": "a"}), operation][-1:]}))
    assert (wrong.code, wrong.details) == ("TRANSFORM_INVALID", {"operation": 0})
    assert operation["type"] in wrong.message


def test_a_transformation_of_something_else() -> None:
    config = {"source": "${input.x}", "operations": [op("extract", jsonPath="0")]}
    assert output(given("ignored"), node("transform", config), input={"x": [5]}) == {"data": 5}


def test_the_value_that_is_transformed_is_not_changed() -> None:
    operations = [op("map", mappings={"a.b": "x"}, includeUnmapped=True), op("parse", inputKey="j")]
    result = run(given({"a": {"b": 1}, "j": "{}"}), node("transform", {"operations": operations}))
    assert result.outputs["given"] == {"a": {"b": 1}, "j": "{}"}
