"""Validation at save: a document per code, one with a dozen mistakes, and all that must be fine."""

import copy
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from perdure.errors import DocumentInvalid
from perdure.nodes.catalogue import CATALOGUE
from perdure.programs.flow.graph import compile_flow
from perdure.programs.flow.validate import check_or_raise, validate_flow

Doc = dict[str, Any]


def flow(*nodes: Doc, edges: list[Doc] | None = None, **rest: Any) -> Doc:
    """start → the given nodes in a row (without those in bodies) → end; or with the given edges."""
    all_nodes = [{"id": "start", "type": "start"}, *nodes, {"id": "end", "type": "end"}]
    if edges is None:
        row = [each["id"] for each in all_nodes if "parent" not in each and "id" in each]
        edges = [edge(a, b) for a, b in pairwise(row)]
    return {"nodes": all_nodes, "edges": edges, **rest}


def edge(source: str, target: str, **rest: Any) -> Doc:
    return {"source": source, "target": target, **rest}


def step(id: str, **rest: Any) -> Doc:
    return {"id": id, "type": "python", "config": {"step": "work"}, **rest}


def loop(id: str, **rest: Any) -> Doc:
    return {"id": id, "type": "loop", "config": {"items": [1, 2]}, **rest}


def node(type: str, config: Any = None, **rest: Any) -> Doc:
    return {"id": "n", "type": type, "config": config or {}, **rest}


def nested(depth: int) -> Doc:
    loops = [loop("l0"), *(loop(f"l{i}", parent=f"l{i - 1}") for i in range(1, depth))]
    return flow(*loops, step("inner", parent=f"l{depth - 1}"))


def reminded(*more: Doc, kind: str = "reminder", answer: str = "pay", **pay: Any) -> Doc:
    """`pay` follows `remind`, which is taken while the task is open, and what else is given."""
    ask = node("approval", {"title": "May I?", kind: {"after": "1d"}}) | {"id": "ask"}
    edges = [edge("start", "ask"), edge("ask", "remind", outcome=kind), edge("remind", "pay")]
    return flow(ask, step("remind"), step("pay", **pay), edges=[*edges, edge("ask", answer, outcome="approved"), *more])


TWO = [edge("start", "a"), edge("start", "b"), edge("a", "end"), edge("b", "end")]

WRONG: list[tuple[str, str, Doc]] = [
    # -- fields
    ("FIELD_TYPE", "/nodes", {"nodes": 5}),
    ("FIELD_TYPE", "/nodes/1", {"nodes": [{"id": "start", "type": "start"}, 7]}),
    ("FIELD_TYPE", "/nodes/1/at_most_once", flow(step("a", at_most_once="yes"))),
    ("FIELD_TYPE", "/nodes/1/retry/attempts", flow(step("a", retry={"attempts": "3"}))),
    ("FIELD_TYPE", "/nodes/1/retry/attempts", flow(step("a", retry={"attempts": True}))),
    ("FIELD_TYPE", "/edges/0/tokens", flow(edges=[edge("start", "end", tokens=1.5)])),
    ("FIELD_MISSING", "/nodes", {"edges": []}),
    ("FIELD_MISSING", "/nodes/1/type", flow({"id": "a"})),
    ("FIELD_MISSING", "/nodes/1/id", flow({"type": "json"}, edges=[edge("start", "end")])),
    ("FIELD_MISSING", "/edges/0/target", flow(edges=[{"source": "start"}])),
    ("FIELD_UNKNOWN", "/nodes/1/retires", flow(step("a", retires=3))),
    ("FIELD_UNKNOWN", "/__class__", {**flow(), "__class__": 1}),
    ("FIELD_UNKNOWN", "/settings/max_paralel", flow(settings={"max_paralel": 1})),
    ("FIELD_RANGE", "/nodes/1/retry/attempts", flow(step("a", retry={"attempts": -1}))),
    ("FIELD_RANGE", "/nodes/1/retry/attempts", flow(step("a", retry={"attempts": 10**6}))),
    ("FIELD_RANGE", "/nodes/1/retry/multiplier", flow(step("a", retry={"multiplier": 0}))),
    ("FIELD_RANGE", "/nodes/1/retry/maximum", flow(step("a", retry={"initial": "1m", "maximum": "1s"}))),
    ("FIELD_RANGE", "/nodes/1/queue", flow(step("a", queue="q" * 129))),
    ("FIELD_RANGE", "/settings/max_parallel", flow(settings={"max_parallel": 0})),
    ("FIELD_RANGE", "/settings/limits/depth", flow(settings={"limits": {"depth": 0}})),
    ("FIELD_VALUE", "/kind", flow(kind="lifecycle")),
    ("FIELD_VALUE", "/nodes/1/join/rule", flow(step("a", join={"rule": "some"}))),
    ("FIELD_VALUE", "/nodes/1/join", flow(step("a", join="some"))),
    ("FIELD_VALUE", "/nodes/1/timeout", flow(step("a", timeout="soon"))),
    ("FIELD_VALUE", "/nodes/1/timeout", flow(step("a", timeout=-1))),
    ("FIELD_VALUE", "/nodes/1/timeout", flow(step("a", timeout=1e18))),
    ("FIELD_VALUE", "/nodes/1/timeout", flow(step("a", timeout=[]))),
    ("VALUE_INVALID", "/nodes/1/config/x", flow(node("json", {"x": float("nan")}))),
    ("VALUE_INVALID", "/nodes/1/config/x", flow(node("json", {"x": "\0"}))),
    # -- ids
    ("ID_INVALID", "/nodes/1/id", flow(step(""), edges=[edge("start", "end")])),
    ("ID_INVALID", "/nodes/1/id", flow(step("../../etc/passwd"), edges=[edge("start", "end")])),
    ("ID_INVALID", "/nodes/1/id", flow(step("a/b"), edges=[edge("start", "end")])),
    ("ID_INVALID", "/nodes/1/id", flow(step("."), edges=[edge("start", "end")])),
    ("ID_INVALID", "/nodes/1/id", flow(step("'; DROP TABLE instance;--"), edges=[edge("start", "end")])),
    ("ID_INVALID", "/nodes/1/id", flow(step("a\u202eb"), edges=[edge("start", "end")])),
    ("ID_INVALID", "/nodes/1/id", flow(step("a\u200bb"), edges=[edge("start", "end")])),
    ("ID_INVALID", "/nodes/1/id", flow(step("\N{GRINNING FACE}"), edges=[edge("start", "end")])),
    ("ID_INVALID", "/nodes/1/id", flow(step("аpple"), edges=[edge("start", "end")])),
    ("ID_INVALID", "/nodes/1/id", flow(step("a\n"), edges=[edge("start", "end")])),
    ("ID_INVALID", "/nodes/1/id", flow(step("x" * 10_000), edges=[edge("start", "end")])),
    ("NODE_DUPLICATE_ID", "/nodes/2/id", flow(step("a"), step("a"), edges=[edge("start", "a"), edge("a", "end")])),
    ("NODE_DUPLICATE_ID", "/nodes/2/id", flow(step("abc"), step("ABC"))),
    ("NODE_DUPLICATE_ID", "/nodes/2/id", flow(step("\u00e9"), step("e\u0301"), edges=[edge("start", "end")])),
    ("EDGE_DUPLICATE_ID", "/edges/1/id", flow(step("a"), edges=[edge("start", "a", id="e"), edge("a", "end", id="e")])),
    # -- types and configurations
    ("NODE_TYPE_UNKNOWN", "/nodes/1/type", flow({"id": "a", "type": "jsn"})),
    ("NODE_TYPE_UNKNOWN", "/nodes/1/type", flow({"id": "a", "type": "__class__"})),
    ("NODE_TYPE_UNKNOWN", "/nodes/1/type", flow({"id": "a", "type": "JSON"})),
    ("CONFIG_MISSING", "/nodes/1/config/step", flow(node("python"))),
    ("CONFIG_UNKNOWN", "/nodes/1/config/stp", flow(node("python", {"step": "a", "stp": 1}))),
    ("CONFIG_TYPE", "/nodes/1/config/step", flow(node("python", {"step": 5}))),
    ("CONFIG_RANGE", "/nodes/1/config/concurrency", flow(node("loop", {"items": [], "concurrency": 0}))),
    ("CONFIG_RANGE", "/nodes/1/config/concurrency", flow(node("loop", {"items": [], "concurrency": 10**6}))),
    ("CONFIG_VALUE", "/nodes/1/config/mode", flow(node("wait-for-signal", {"name": "s", "mode": "maybe"}))),
    ("CONFIG_VALUE", "/nodes/1/config", flow(node("sleep"))),
    ("CONFIG_VALUE", "/nodes/1/config/operations/0/type", flow(node("transform", {"operations": [{"type": "zip"}]}))),
    ("OUTCOME_UNKNOWN", "/edges/1/outcome",
     flow(node("conditional", {"condition": "true"}), edges=[edge("start", "n"), edge("n", "end", outcome="yes")])),
    ("OUTCOME_UNKNOWN", "/edges/0/outcome", flow(edges=[edge("start", "end", outcome="true")])),
    # -- the graph
    ("NO_START", "/nodes", {"nodes": [{"id": "end", "type": "end"}]}),
    ("NO_START", "/nodes", {"nodes": []}),
    ("MANY_STARTS", "/nodes/1", flow({"id": "s", "type": "start"}, edges=[edge("start", "end"), edge("s", "end")])),
    ("EDGE_DANGLING", "/edges/1/target", flow(edges=[edge("start", "end"), edge("start", "nowhere")])),
    ("EDGE_DANGLING", "/edges/1/source", flow(edges=[edge("start", "end"), edge("nowhere", "end")])),
    ("EDGE_FROM_END", "/edges/2/source",
     flow(step("a"), edges=[edge("start", "a"), edge("a", "end"), edge("end", "a")])),
    ("EDGE_FROM_BESIDE", "/edges/2/source",
     flow(step("a", compensate="b"), step("b"), edges=[edge("start", "a"), edge("a", "end"), edge("b", "end")])),
    ("EDGE_SELF", "/edges/2", flow(step("a"), edges=[edge("start", "a"), edge("a", "end"), edge("a", "a")])),
    ("NODE_UNREACHABLE", "/nodes/1", flow(step("a"), edges=[edge("start", "end")])),
    ("NODE_UNREACHABLE", "/nodes/2",
     flow(loop("l"), step("a", parent="l", join="any"), step("b", parent="l"),
          edges=[edge("start", "l"), edge("l", "end"), edge("a", "b"), edge("b", "a")])),
    ("CYCLE_WITHOUT_ANY", "/nodes/1",
     flow(step("a"), step("b"), edges=[edge("start", "a"), edge("a", "b"), edge("b", "a"), edge("b", "end")])),
    ("JOIN_OF_SIDE_BRANCH", "/nodes/3", reminded()),
    ("JOIN_OF_SIDE_BRANCH", "/nodes/3", reminded(kind="escalation")),
    ("JOIN_OF_SIDE_BRANCH", "/nodes/3/join", reminded(join={"rule": "n_of_m", "n": 2})),
    ("JOIN_OF_SIDE_BRANCH", "/nodes/3", reminded(edge("start", "pay"), answer="end")),
    ("JOIN_OF_SIDE_BRANCH", "/nodes/3", reminded(edge("ask", "pay", outcome="reminder", when="data.number > 1"),
                                                 answer="end")),
    ("JOIN_RANGE", "/nodes/1/join/n", flow(step("a", join={"rule": "n_of_m", "n": 2}))),
    ("JOIN_RANGE", "/nodes/1/join/threads", flow(step("a", join={"rule": "all", "threads": 2}))),
    # -- bodies
    ("PARENT_UNKNOWN", "/nodes/1/parent", flow(step("a", parent="nowhere"))),
    ("PARENT_NOT_LOOP", "/nodes/2/parent", flow(step("a"), step("b", parent="a"))),
    ("PARENT_CYCLE", "/nodes/1/parent", flow(loop("a", parent="b"), loop("b", parent="a"))),
    ("PARENT_CYCLE", "/nodes/1/parent", flow(loop("a", parent="a"))),
    ("LOOP_TOO_DEEP", "/nodes/6", nested(6)),
    ("LOOP_EMPTY", "/nodes/1", flow(loop("l"))),
    ("SCOPE_CROSSED", "/edges/2",
     flow(loop("l"), step("b", parent="l"), edges=[edge("start", "l"), edge("l", "end"), edge("l", "b")])),
    ("SCOPE_CROSSED", "/nodes/1/cancels/0", flow(step("a", cancels=["b"]), loop("l"), step("b", parent="l"))),
    ("SCOPE_CROSSED", "/nodes/1/compensate", flow(step("a", compensate="b"), loop("l"), step("b", parent="l"))),
    ("SCOPE_CROSSED", "/nodes/1/milestone/after",
     flow(step("a", milestone={"after": "b"}), loop("l"), step("b", parent="l"))),
    ("SCOPE_CROSSED", "/settings/on_failure", flow(loop("l"), step("b", parent="l"), settings={"on_failure": "b"})),
    ("SCOPE_CROSSED", "/settings/after/0", flow(loop("l"), step("b", parent="l"), settings={"after": ["b"]})),
    # -- references
    ("COMPENSATE_UNKNOWN", "/nodes/1/compensate", flow(step("a", compensate="undo"))),
    ("COMPENSATE_SELF", "/nodes/1/compensate", flow(step("a", compensate="a"))),
    ("BESIDE_IMPOSSIBLE", "/nodes/1/compensate",
     flow(step("a", compensate="n"), node("wait-for-signal", {"name": "s"}),
          edges=[edge("start", "a"), edge("a", "end")])),
    ("ON_DEMAND_LED_TO", "/nodes/1/on_demand", flow(step("a", on_demand=True))),
    ("CANCELS_UNKNOWN", "/nodes/1/cancels/0", flow(step("a", cancels=["b"]))),
    ("MUTEX_NESTED", "/nodes/2/mutex", flow(loop("l", mutex="m"), step("b", parent="l", mutex="m"))),
    ("SCOPE_CROSSED", "/nodes/3/milestone/before",
     flow(loop("l"), step("a"), step("b", parent="l", milestone={"after": "a", "before": "c"}), step("c", parent="l"))),
    ("MILESTONE_UNKNOWN", "/nodes/1/milestone/after", flow(step("a", milestone={"after": "b"}))),
    ("MILESTONE_SELF", "/nodes/1/milestone/after", flow(step("a", milestone={"after": "a"}))),
    ("ON_FAILURE_UNKNOWN", "/settings/on_failure", flow(settings={"on_failure": "oops"})),
    ("ON_FAILURE_START", "/settings/on_failure", flow(settings={"on_failure": "start"})),
    ("AFTER_UNKNOWN", "/settings/after/0", flow(settings={"after": ["clean"]})),
    # -- expressions
    ("EXPRESSION_SYNTAX", "/nodes/1/condition", flow(step("a", condition="data.x >"))),
    ("EXPRESSION_SYNTAX", "/edges/0/when", flow(edges=[edge("start", "end", when="1 +* 2")])),
    ("EXPRESSION_SYNTAX", "/nodes/1/config/condition", flow(node("conditional", {"condition": "a b"}))),
    ("EXPRESSION_SYNTAX", "/nodes/1/config/data/a/0", flow(node("json", {"data": {"a": ["${1 +}"]}}))),
    ("EXPRESSION_SYNTAX", "/nodes/1/config/data", flow(node("json", {"data": "${[}"}))),
    ("EXPRESSION_SYNTAX", "/nodes/1/config/conditions/0/left",
     flow(node("conditional", {"conditions": [{"left": "(", "right": 1}]}))),
    ("EXPRESSION_SYNTAX", "/nodes/1/config/condition", flow(node("conditional", {"condition": "x = 1"}))),
    ("EXPRESSION_LIMIT", "/nodes/1/config/condition",
     flow(node("conditional", {"condition": "(" * 1000 + "1" + ")" * 1000}))),
    ("NAME_UNKNOWN", "/nodes/1/condition", flow(step("a", condition="imput.x"))),
    ("NAME_UNKNOWN", "/nodes/1/config/data", flow(node("json", {"data": "${item}"}))),
    ("NAME_UNKNOWN", "/nodes/1/config/data", flow(node("json", {"data": "{{person.name}}"}))),
    ("NODE_REFERENCE_UNKNOWN", "/nodes/1/condition", flow(step("a", condition="nodes.b.output"))),
    ("NODE_REFERENCE_HIDDEN", "/nodes/3/condition",
     flow(loop("l"), step("b", parent="l"), step("c", condition="nodes.b.output"))),
    ("SCRIPT_NAME", "/nodes/1/config/transformer/script",
     flow(node("http", {"url": "http://a.example", "transformer": {"script": "nowhere.x"}}))),
    ("SCRIPT_NAME", "/nodes/1/config/body/script",
     flow(node("http", {"url": "http://a.example", "body": {"script": "nowhere.x"}}))),
    ("SCRIPT_NAME", "/nodes/1/config/body/script",
     flow(node("http", {"url": "http://a.example", "body": {"script": "response.x", "language": "groovy"}}))),
    ("CONFIG_VALUE", "/nodes/1/config/period", flow(node("rate-limit", {"key": "k", "rate": 1, "period": "0s"}))),
    ("FIELD_VALUE", "/nodes/1/cache/ttl", flow(step("a", cache={"ttl": "0s"}))),
    ("SCRIPT_NAME", "/nodes/1/config/script", flow(node("script", {"script": "return imput.x"}))),
    ("LIFECYCLE_UNAVAILABLE", "/nodes/1/type",
     flow(node("lifecycle-trigger", {"definition": "order", "instance": "7", "trigger": "pay"}))),
    # -- the document
    ("BAD_CRON", "/schedule", flow(schedule="0 0 30 2 *")),
    ("BAD_CRON", "/schedule", flow(schedule="*/0 * * * *")),
    ("BAD_CRON", "/schedule", flow(schedule="60 * * * *")),
    ("BAD_CRON", "/schedule", flow(schedule="* * * *")),
    ("BAD_CRON", "/schedule", flow(schedule="@reboot")),
    ("BAD_CRON", "/schedule", flow(schedule="0 0 * * mon#6")),
    ("BAD_CRON", "/schedule", flow(schedule="")),
    ("BAD_CRON", "/schedule", flow(schedule="0 0 0 * * *")),
    ("BAD_CRON", "/schedule", flow(schedule="R * * * *")),
    ("BAD_CRON", "/schedule", flow(schedule="H * * * *")),
    ("BAD_TIMEZONE", "/timezone", flow(timezone="Mars/Base")),
    ("BAD_TIMEZONE", "/timezone", flow(timezone="../../etc/passwd")),
    ("BAD_TIMEZONE", "/timezone", flow(timezone="America")),
    ("BAD_SCHEMA", "/input_schema", flow(input_schema={"type": "thing"})),
    ("SCHEMA_TOO_COSTLY", "/input_schema", flow(input_schema={"items": {"$ref": "#"}, "contains": {"$ref": "#"}})),
    ("BAD_SCHEMA", "/input_schema", flow(input_schema={"$ref": "http://169.254.169.254/"})),
    ("LIMIT_UNKNOWN", "/settings/limits/dept", flow(settings={"limits": {"dept": 3}})),
    ("LIMIT_TEXT", "/nodes/1/label", flow(step("a", label="x" * 1_000_000))),
    ("LIMIT_NODES", "/nodes", {"nodes": [{"id": f"n{i}", "type": "json"} for i in range(10_001)]}),
    ("LIMIT_EDGES", "/edges", {"nodes": [], "edges": [edge("a", "b")] * 20_001}),
    ("NODE_NO_END", "/nodes/1", flow(step("a"), edges=[edge("start", "a"), edge("start", "end")])),
    ("NO_EFFECT", "/nodes/1/timeout", flow(node("json", {"data": 1}, timeout="5s"))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "pointer", "document"), WRONG, ids=[f"{code}-{i}" for i, (code, _, _) in enumerate(WRONG)]
)
def test_each_mistake_has_its_code_and_place(code: str, pointer: str, document: Doc) -> None:
    untouched = copy.deepcopy(document) if code != "VALUE_INVALID" else document
    found, problems = validate_flow(document, CATALOGUE)
    assert (code, pointer) in [(each.code, each.pointer) for each in problems], problems
    assert (found is None) == any(each.is_error for each in problems)
    assert document == untouched or code == "VALUE_INVALID"


def test_every_code_in_the_source_has_a_document() -> None:
    sources = Path(validate_flow.__code__.co_filename).parent
    text = "".join(path.read_text() for path in [*sources.glob("checks/*.py"), sources / "validate.py"])
    codes = set(re.findall(r'Problem\(\s*"([A-Z_]+)"', text)) | {"LIMIT_NODES", "LIMIT_EDGES", "EXPRESSION_SYNTAX"}
    assert codes - {code for code, _, _ in WRONG} == set()


RIGHT: list[Doc] = [
    flow(),
    {"nodes": [{"id": "s", "type": "start"}]},
    flow(step("a", condition="${input.x > 3}"), step("b", retry={"attempts": 5, "jitter": 0.5}, timeout=1.5)),
    flow(step("a"), step("b"), edges=[*TWO, edge("a", "b", outcome="error")]),
    flow(step("a", join="any"), edges=[edge("start", "a"), edge("a", "a", when="data.again"), edge("a", "end")]),
    flow(
        step("a", join={"rule": "any"}),
        step("b"),
        edges=[edge("start", "a"), edge("a", "b"), edge("b", "a"), edge("b", "end")],
    ),
    nested(5),
    flow(loop("l"), step("b", parent="l", condition="item > index")),
    flow(
        {
            "id": "l",
            "type": "loop-accumulator",
            "config": {"arrayPath": "", "itemVariable": "row", "accumulator": "sums"},
        },
        node("json", {"data": "${row + index + len(sums)}"}, parent="l"),
    ),
    flow(loop("l"), step("a", parent="l"), step("b", parent="l", condition="nodes.a.output")),
    flow(step("a", compensate="undo"), step("undo"), edges=[edge("start", "a"), edge("a", "end")]),
    flow(step("oops"), settings={"on_failure": "oops"}, edges=[edge("start", "end")]),
    flow(step("clean"), settings={"after": ["clean"], "limits": {"depth": 3}}, edges=[edge("start", "end")]),
    flow(step("a", cancels=["b"]), step("b", milestone={"after": "a", "before": "end"}), edges=TWO),
    flow(schedule="0 9 * * 1-5", timezone="America/New_York", input_schema={"type": "object"}),
    flow(schedule="0 0 29 2 *"),
    flow(node("json", {"data": {"a": "{{#vars.list}}{{name}}{{/vars.list}}", "b": "$${not.one}"}})),
    flow(node("json", {"data": '{"a": "${vars.x}", "b": "${vars.y == \\"z\\"}"}'})),
    flow(node("json", {"data": "${no such thing}"}), settings={"missing": "lenient"}),
    flow(
        step("a", config={"step": "x", "outcomes": ["yes"]}),
        edges=[edge("start", "a"), edge("a", "end", outcome="yes")],
    ),
    flow(step("a"), edges=[edge("start", "a"), edge("a", "end", outcome="whatever it says")]),
    flow(node("loop", {"range": {"stop": 3}, "enough": "count > 1 and result and total > 2"}), step("a", parent="n")),
    {**flow(step("a-b"), step("c", condition='nodes["a-b"].output')), "name": "\u202e \N{GRINNING FACE}"},
]


@pytest.mark.parametrize("document", RIGHT)
def test_what_is_right_compiles(document: Doc) -> None:
    found, problems = validate_flow(document, CATALOGUE)
    assert [each for each in problems if each.is_error] == []
    assert found is not None
    compile_flow(found, CATALOGUE)


DOZEN: Doc = {
    "schedule": "0 0 30 2 *",
    "timezone": "Mars/Base",
    "nodes": [
        {"id": "a", "type": "json", "config": {"data": "${1 +}"}},
        {"id": "a", "type": "jsno"},
        {"id": "c", "type": "python", "config": {}},
        {"id": "d", "type": "python", "config": {"step": "x"}, "compensate": "undo", "retires": 1},
        {"id": "e", "type": "python", "config": {"step": "x"}, "parent": "c"},
        {"id": "f", "type": "python", "config": {"step": "x"}, "condition": "nodes.zzz.output"},
    ],
    "edges": [{"source": "c", "target": "nowhere"}, {"source": "c", "target": "d"}, {"source": "d", "target": "c"}],
    "settings": {"on_failure": "oops"},
}


def test_a_dozen_mistakes_are_told_in_one_answer() -> None:
    with pytest.raises(DocumentInvalid) as caught:
        check_or_raise(DOZEN, CATALOGUE)
    found = {(each["code"], each["pointer"]) for each in caught.value.problems}
    assert found >= {
        ("BAD_CRON", "/schedule"),
        ("BAD_TIMEZONE", "/timezone"),
        ("EXPRESSION_SYNTAX", "/nodes/0/config/data"),
        ("NODE_DUPLICATE_ID", "/nodes/1/id"),
        ("NODE_TYPE_UNKNOWN", "/nodes/1/type"),
        ("CONFIG_MISSING", "/nodes/2/config/step"),
        ("COMPENSATE_UNKNOWN", "/nodes/3/compensate"),
        ("FIELD_UNKNOWN", "/nodes/3/retires"),
        ("PARENT_NOT_LOOP", "/nodes/4/parent"),
        ("NODE_REFERENCE_UNKNOWN", "/nodes/5/condition"),
        ("EDGE_DANGLING", "/edges/0/target"),
        ("CYCLE_WITHOUT_ANY", "/nodes/2"),
        ("NO_START", "/nodes"),
        ("ON_FAILURE_UNKNOWN", "/settings/on_failure"),
    }
    assert caught.value.status == 422
    assert "mistakes" in caught.value.message


def only(document: Doc, code: str) -> Any:
    [found] = [each for each in validate_flow(document, CATALOGUE)[1] if each.code == code]
    return found


def test_messages_help() -> None:
    typo = only(flow(step("charge"), edges=[edge("start", "chrage"), edge("charge", "end")]), "EDGE_DANGLING")
    assert "did you mean 'charge'?" in typo.message
    assert "did you mean 'json'?" in only(flow(node("jsn")), "NODE_TYPE_UNKNOWN").message
    assert "start, end" in only(flow(node("jsn")), "NODE_TYPE_UNKNOWN").expected
    assert "did you mean 'retry'?" in only(flow(step("a", rety={})), "FIELD_UNKNOWN").message
    assert only(flow(step("a"), step("A")), "NODE_DUPLICATE_ID").message.startswith("'A' is a duplicate of /nodes/1")
    assert "did you mean 'input'?" in only(flow(step("a", condition="imput.x")), "NAME_UNKNOWN").message
    hyphen = only(flow(step("a-b"), step("c", condition="nodes.a-b.output")), "NODE_REFERENCE_UNKNOWN")
    assert 'nodes["a-b"]' in hyphen.remedy
    never = only(flow(schedule="0 0 30 2 *"), "BAD_CRON")
    assert "never fires" in never.message
    cycle = only(
        flow(step("a"), step("b"), edges=[edge("start", "a"), edge("a", "b"), edge("b", "a"), edge("b", "end")]),
        "CYCLE_WITHOUT_ANY",
    )
    assert "a → b → a" in cycle.message


@pytest.mark.parametrize(
    ("document", "line", "column"),
    [
        (flow(step("a", condition="data.x >")), 1, 9),
        (flow(step("a", condition="${data.x >}")), 1, 11),
        (flow(step("a", condition="  ${ data.x > }  ")), 1, 15),
        (flow(step("a", condition="data.x\n  > ?")), 2, 5),
        (flow(node("json", {"data": {"t": "Dear ${input.name +}, …"}})), 1, 20),
        (flow(node("json", {"data": {"t": "one\ntwo ${(}"}})), 2, 8),
    ],
)
def test_a_bad_expression_has_line_and_column(document: Doc, line: int, column: int) -> None:
    fault = only(document, "EXPRESSION_SYNTAX")
    assert (fault.line, fault.column) == (line, column)


def test_two_bad_placeholders_are_two_problems() -> None:
    _, problems = validate_flow(flow(node("json", {"data": {"a": "${1 +}", "b": "${2 +}", "c": "${zzz}"}})), CATALOGUE)
    assert [each.pointer for each in problems] == [f"/nodes/1/config/data/{key}" for key in "abc"]


def test_lenient_documents_are_warned_only() -> None:
    document = flow(node("json", {"data": {"a": "${1 +}", "b": "${zzz}"}}), settings={"missing": "lenient"})
    found, problems = validate_flow(document, CATALOGUE)
    assert found is not None
    assert [(each.code, each.severity) for each in problems] == [
        ("EXPRESSION_SYNTAX", "warning"),
        ("NAME_UNKNOWN", "warning"),
    ]


def mail(body: str, **rest: Any) -> Doc:
    return flow(node("email", {"to": "a@b.example", "subject": "x", "body": body}), **rest)


def test_a_go_template_with_placeholders_of_ours_is_told_how_it_is_written() -> None:
    body = "Hello,\nDear ${input.name}, {{range .lines}}{{.n}} {{end}}"
    fault = only(mail(body), "EXPRESSION_SYNTAX")
    assert (fault.pointer, fault.severity, fault.line, fault.column) == ("/nodes/1/config/body", "error", 2, 6)
    assert "{{.input.name}}" in str(fault.remedy)
    assert only(mail(body, settings={"missing": "lenient"}), "EXPRESSION_SYNTAX").severity == "warning"
    fine = mail('{{/* ${x} */}}{{printf "${x}"}} costs $5 {{range .lines}}{{.n}} {{end}}')
    assert validate_flow(fine, CATALOGUE)[1] == []


@pytest.mark.parametrize("language", ["python", "groovy"])
def test_a_script_in_a_call_is_told_with_line_and_column(language: str) -> None:
    def call(script: str) -> list[Any]:
        transformer = {"script": script, "language": language}
        return validate_flow(flow(node("http", {"url": "http://a.example", "transformer": transformer})), CATALOGUE)[1]

    assert call("response.status_code") == []
    assert call("_response") == []
    (fault, *_) = call("x = 1\ny = ((")
    assert (fault.pointer, fault.line) == ("/nodes/1/config/transformer/script", 2)
    assert fault.column


def test_a_name_without_a_dot_in_a_go_template_is_warned_of() -> None:
    fault = only(mail("{{if .x}}y{{end}} {{vars.q}}"), "EXPRESSION_SYNTAX")
    assert (fault.severity, fault.column, fault.remedy) == ("warning", 19, "write {{.vars.q}}")


def test_names_in_a_section_may_be_those_of_its_item() -> None:
    def told(text: str) -> list[tuple[str, str]]:
        return [(each.code, each.severity) for each in validate_flow(flow(node("json", {"data": text})), CATALOGUE)[1]]

    assert told("{{#input.lines}}{{n}};{{#m}}{{o}}{{/m}}{{/input.lines}}{{^input.lines}}none{{/input.lines}}") == []
    assert told("{{#input.lines}}{{n}};{{/input.lines}} {{zzz}}") == [("NAME_UNKNOWN", "warning")]
    assert told("{{#zzz}}{{n}}{{/zzz}}") == [("NAME_UNKNOWN", "warning")]


def test_problems_come_in_the_order_of_the_document() -> None:
    _, problems = validate_flow(flow(*(node("jsn", id=f"n{i}") for i in range(12))), CATALOGUE)
    assert [each.pointer for each in problems] == [f"/nodes/{i}/type" for i in range(1, 13)]


def test_a_type_that_breaks_is_told_and_not_raised() -> None:
    def broken(config: Any) -> Any:
        raise RuntimeError("no")

    kind = msgspec.structs.replace(CATALOGUE["json"], name="broken", prepare=broken)
    _, [problem] = validate_flow(flow(node("broken", {"data": 1})), {**CATALOGUE, "broken": kind})
    assert (problem.code, problem.pointer) == ("CONFIG_VALUE", "/nodes/1/config")


@pytest.mark.serial
def test_ten_thousand_nodes_are_checked_in_a_second_or_two() -> None:
    many = [node("json", {"data": {"n": i, "m": f"${{data.data.n + {i % 50}}}"}}, id=f"n{i}") for i in range(9_998)]
    document = flow(*many)
    validate_flow(flow(*many[:60]), CATALOGUE)
    best = 9.0
    for _ in range(3):
        before = time.process_time()
        found, problems = validate_flow(document, CATALOGUE)
        best = min(best, time.process_time() - before)
    assert found is not None
    assert problems == []
    assert best < 2.0  # half of it on a quiet machine


def chain(count: int, **of: Any) -> list[Doc]:
    return [
        {"id": f"n{i}", **{key: value(i) if callable(value) else value for key, value in of.items()}}
        for i in range(count)
    ]


START = {"id": "start", "type": "start"}
HOSTILE: dict[str, Doc] = {
    "every edge dangles": {
        "nodes": [START, *chain(9_999, type="group")],
        "edges": [edge(f"x{i}", f"y{i}") for i in range(20_000)],
    },
    "ten thousand deep": {"nodes": [START, *chain(9_999, type="loop", parent=lambda i: f"n{i - 1}")]},
    "a circle of parents": {"nodes": [START, *chain(9_999, type="loop", parent=lambda i: f"n{(i - 1) % 9_999}")]},
    "one long cycle": {
        "nodes": [START, *chain(9_999, type="group")],
        "edges": [edge(f"n{i}", f"n{(i + 1) % 9_999}") for i in range(9_999)],
    },
    "every node reads another that is not there": {
        "nodes": [START, *chain(9_999, type="group", condition=lambda i: f"nodes.a{i % 1000}.output")]
    },
    "one id": {"nodes": [{"id": "a", "type": "start"}] * 10_000, "edges": [edge("a", "a")] * 20_000},
    "a hundred thousand placeholders": flow(node("json", {"data": [f"${{data.x{i}}}" for i in range(100_000)]})),
    "all to all": {
        "nodes": [START, *chain(141, type="group")],
        "edges": [edge(f"n{i}", f"n{j}") for i in range(141) for j in range(141)],
    },
}


@pytest.mark.serial
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_are_answered_soon_and_in_few_words(name: str) -> None:
    before = time.process_time()
    found, problems = validate_flow(HOSTILE[name], CATALOGUE)
    assert time.process_time() - before < 5
    assert found is None
    assert max(len(each.message) for each in problems) < 2_000
