"""What is told when a graph is saved: rows A02, C01, C02 in Yantra's words."""

from typing import Any

import pytest

from tests.dialects.yantra.graphs import edge, gathering, graph, node, output, problems, row, run, told


def without(document: dict[str, Any], id: str) -> dict[str, Any]:
    nodes = [each for each in document["nodes"] if each["id"] != id]
    edges = [each for each in document["edges"] if id not in (each["source"], each["target"])]
    return {**document, "nodes": nodes, "edges": edges}


PLAIN = row(node("json", {"data": 1}))


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (7, [("FIELD_TYPE", "")]),
        ({"kind": "yantra"}, [("FIELD_MISSING", "/nodes")]),
        ({"nodes": "x"}, [("FIELD_TYPE", "/nodes")]),
        ({"nodes": []}, [("FIELD_RANGE", "/nodes")]),
        (without(PLAIN, "start-1"), [("NO_START", "/nodes")]),
        (without(PLAIN, "end-1"), [("YANTRA_NO_END", "/nodes")]),
        (graph([*PLAIN["nodes"], node("start", id="s2")], PLAIN["edges"]), [("MANY_STARTS", "/nodes/3")]),
        (graph([*PLAIN["nodes"], 7], PLAIN["edges"]), [("FIELD_TYPE", "/nodes/3")]),
        (graph([*PLAIN["nodes"], {"type": "end"}], PLAIN["edges"]), [("FIELD_MISSING", "/nodes/3/id")]),
        (graph([*PLAIN["nodes"], {"id": "x"}], PLAIN["edges"]), [("FIELD_MISSING", "/nodes/3/type")]),
        (graph([*PLAIN["nodes"], {"id": 7, "type": "end"}], PLAIN["edges"]), [("FIELD_TYPE", "/nodes/3/id")]),
        (row({"id": "f", "type": "fax"}), [("NODE_TYPE_UNKNOWN", "/nodes/1/type")]),
        (row({"id": "f", "type": "script"}), [("NODE_TYPE_UNKNOWN", "/nodes/1/type")]),
        (graph([*PLAIN["nodes"], PLAIN["nodes"][1]], PLAIN["edges"]), [("NODE_DUPLICATE_ID", "/nodes/3/id")]),
        ({**PLAIN, "edges": "x"}, [("FIELD_TYPE", "/edges")]),
        ({**PLAIN, "edges": [*PLAIN["edges"], edge("json-1", "gone")]}, [("EDGE_DANGLING", "/edges/2/target")]),
        ({**PLAIN, "edges": [*PLAIN["edges"], {"source": "json-1"}]}, [("FIELD_MISSING", "/edges/2/target")]),
        ({**PLAIN, "edges": [*PLAIN["edges"], 7]}, [("FIELD_TYPE", "/edges/2")]),
        (row(node("json")), [("CONFIG_MISSING", "/nodes/1/data/config/data")]),
        (row({"id": "j", "type": "json", "config": {}}), [("CONFIG_MISSING", "/nodes/1/config/data")]),
        (
            row({"id": "j", "type": "json", "config": 7}),
            [("FIELD_TYPE", "/nodes/1/config"), ("CONFIG_MISSING", "/nodes/1/config/data")],
        ),
        (row(node("json", {"data": "{broken"})), [("CONFIG_VALUE", "/nodes/1/data/config/data")]),
        (row(node("json-array", {"jsonArray": "[]"})), [("CONFIG_VALUE", "/nodes/1/data/config")]),
        (row(node("conditional")), [("CONFIG_MISSING", "/nodes/1/data/config/condition")]),
        (row(node("conditional", {"condition": "a +"})), [("EXPRESSION_SYNTAX", "/nodes/1/data/config/condition")]),
        (
            row(node("conditional", {"conditions": [{"left": "a", "operator": "like", "right": "b"}]})),
            [("CONFIG_VALUE", "/nodes/1/data/config/conditions/0/operator")],
        ),
        (
            row(node("conditional", {"conditions": [{"left": "a ==", "operator": "eq", "right": "b"}]})),
            [("EXPRESSION_SYNTAX", "/nodes/1/data/config/conditions")],
        ),
        (
            {**PLAIN, "edges": [edge("start-1", "json-1"), edge("json-1", "end-1", condition="data =")]},
            [("EXPRESSION_SYNTAX", "/edges/1/condition")],
        ),
        (
            {**PLAIN, "edges": [edge("start-1", "json-1"), edge("json-1", "end-1", condition="data =~ '(?i)x'")]},
            [("EXPRESSION_SYNTAX", "/edges/1/condition")],
        ),
        (row(node("sleep", {"mode": "relative"})), [("CONFIG_MISSING", "/nodes/1/data/config/duration_value")]),
        (
            row(node("sleep", {"mode": "relative", "duration_value": -1})),
            [("CONFIG_VALUE", "/nodes/1/data/config/duration_value")],
        ),
        (
            row(node("sleep", {"mode": "relative", "duration_value": 1, "timezone": "Mars/Base"})),
            [("CONFIG_VALUE", "/nodes/1/data/config/timezone")],
        ),
        (row(node("sleep", {"mode": "absolute"})), [("CONFIG_MISSING", "/nodes/1/data/config/target_date")]),
        (row(node("http", {"method": "GET"})), [("CONFIG_MISSING", "/nodes/1/data/config/url")]),
        (row(node("email", {"subject": "x"})), [("CONFIG_MISSING", "/nodes/1/data/config")]),
        (row(node("loop", {"itemVariable": "data"})), [("CONFIG_VALUE", "/nodes/1/data/config/itemVariable")]),
        (row(node("loop", {"itemVariable": "my item"})), [("CONFIG_VALUE", "/nodes/1/data/config/itemVariable")]),
        (
            gathering([], [], {"accumulationMode": "sum"}),
            [("CONFIG_VALUE", "/nodes/2/data/config/accumulationMode")],
        ),
        (
            row(node("transform", {"operations": [{"type": "extract"}]})),
            [("CONFIG_MISSING", "/nodes/1/data/config/operations/0/config/jsonPath")],
        ),
    ],
)
def test_a02_a_mistake_is_told_at_its_place(document: Any, expected: list[tuple[str, str]]) -> None:
    found = told(document)
    codes = {("CONFIG_VALUE", "CONFIG_MISSING"): "CONFIG"}
    assert [place for _, place in found] == [place for _, place in expected], found
    for (code, _), (wanted, _) in zip(found, expected, strict=True):
        assert code == wanted or {code, wanted} <= set(*codes), found


def test_what_the_original_accepts_and_never_runs_is_a_warning() -> None:
    lonely = graph([*PLAIN["nodes"], node("email", id="lonely")], PLAIN["edges"])
    [warning] = problems(lonely)
    assert (warning.code, warning.pointer, warning.severity) == ("NODE_UNREACHABLE", "/nodes/3", "warning")
    assert output(lonely) == {"data": 1}


def test_an_edge_that_leads_back_is_not_followed_and_told() -> None:
    back = {**PLAIN, "edges": [*PLAIN["edges"], edge("json-1", "json-1"), edge("end-1", "start-1")]}
    assert [(each.code, each.pointer) for each in problems(back)] == [
        ("YANTRA_EDGE_UNUSED", "/edges/2"),
        ("YANTRA_EDGE_UNUSED", "/edges/3"),
    ]
    assert run(back).trace == ["start-1", "json-1", "end-1"]


def test_a08_a_fragment_as_the_documentation_shows_it_runs() -> None:
    fragment = {
        "nodes": [
            {
                "id": "node-1",
                "type": "json",
                "label": "Load Data",
                "position": {"x": 100, "y": 100},
                "config": {"data": {"users": [{"n": 1}]}},
            },
            {
                "id": "node-2",
                "type": "transform",
                "label": "Process",
                "position": {"x": 300, "y": 100},
                "config": {"operations": [{"type": "extract", "config": {"jsonPath": "users"}}]},
            },
        ],
        "edges": [{"id": "e1", "source": "node-1", "target": "node-2"}],
    }
    assert output(fragment) == {"data": [{"n": 1}]}


def test_ids_that_ours_cannot_have_are_read_all_the_same() -> None:
    odd = row(node("json", {"data": {"x": 1}}, "Load data!"), node("json", {"data": "{{Load data!.data.x}}"}, "zwölf"))
    assert problems(odd) == []
    assert run(odd).status == "COMPLETED"


def test_a_graph_under_definition_has_pointers_into_it() -> None:
    wrapped = {"name": "W", "definition": {"nodes": row(node("json"))["nodes"], "edges": []}}
    assert ("NO_START", "/definition/nodes") not in told(wrapped)
    wrapped["definition"]["nodes"] = [node("start"), {"id": "f", "type": "fax"}, node("end")]
    assert told(wrapped) == [("NODE_TYPE_UNKNOWN", "/definition/nodes/1/type")]


def test_loops_deeper_than_five_are_refused() -> None:
    loops = [node("loop", {}, f"loop-{number}") for number in range(6)]
    assert [code for code, _ in told(row(*loops, node("json", {"data": 1})))] == ["LOOP_TOO_DEEP"]


def test_a_large_graph_is_checked_in_reasonable_time() -> None:
    many = [node("json", {"data": number}, f"j{number}") for number in range(3_000)]
    assert told(row(*many)) == []


def test_more_loops_than_anybody_draws_are_refused_before_anything_is_made_of_them() -> None:
    assert told(row(*(node("loop", {}, f"loop-{number}") for number in range(5_000)))) == [("LIMIT_NODES", "/nodes")]
