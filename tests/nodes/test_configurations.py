"""Which configurations each type takes, and which it refuses and where. All of them are checked when they are saved."""

import json
from typing import Any

import pytest

from perdure.model.schemas import Schema
from perdure.nodes.catalogue import CATALOGUE
from perdure.programs.flow.validate import validate_flow

GOOD: dict[str, list[dict[str, Any]]] = {
    "start": [{}],
    "end": [{}, {"output": None}, {"output": "${data.x}"}, {"terminate": True}],
    "json": [{"data": None}, {"data": 0}, {"data": {"a": [1, "${data.x}"]}}, {"data": "{{data.x}}"},
             {"data": '{"a": 1}'},
             {"data": '"text"'}, {"data": '{"a": "${data.x == \\"y\\"}"}'}],
    "json-array": [{"items": [{"a": 1}, {"a": 2}]}, {"jsonArray": '[{"a": 1}]'}, {"items": "${data.list}"},
                   {"items": [1, 2], "schema": {"type": "integer"}}, {"items": [1, "a"], "validateSchema": False},
                   {"items": [], "allow_empty": True}, {"items": [{"a": 1}, {"b": "${data}"}]}],
    "transform": [{}, {"operations": []}, {"source": "${vars.x}"},
                  {"operations": [{"type": "map", "config": {"mappings": {"a.b": "c"}}}]},
                  {"operations": [{"type": "map", "config": {"mappings": [{"from": "a", "to": "b",
                                                                              "removeSource": True}],
                                                             "includeUnmapped": True}}]},
                  {"operations": [{"type": "extract", "config": {"jsonPath": "$.items.0.name", "outputKey": "x"}}]},
                  {"operations": [{"type": "extract", "config": {"jsonPath": "a", "default": None}}]},
                  {"operations": [{"type": "parse", "config": {"inputKey": "a", "outputKey": "b"}}]},
                  {"operations": [{"type": "stringify", "config": {"inputKey": "a"}}]},
                  {"operations": [{"type": "concat", "config": {"inputs": "a,b", "separator": " ", "outputKey": "c"}}]},
                  {"operations": [{"type": "concat", "config": {"inputs": ["a", "b"]}}]}],
    "json_to_csv": [{}, {"data": "${data.rows}", "delimiter": ";", "includeHeaders": False, "outputFormat": "array"},
                    {"arrayPath": "input.rows", "columns": [{"key": "a", "header": "A"}, {"key": "b"}]},
                    {"data": [{"a": 1}], "columns": ["a"], "line_break": "crlf", "escape_formulas": True},
                    {"data": '[{"a": 1}]', "outputFormat": "blob", "delimiter": "tab"}],
    "conditional": [{"condition": "data.x > 1"}, {"condition": "${data.x}"}, {"condition": "true", "output": "input"},
                    {"conditions": [{"left": "data.a", "operator": "gte", "right": "18"}], "logicalOperator": "OR"},
                    {"conditions": [{"left": "data.a", "operator": "exists"},
                                    {"left": "data.b", "right": "${vars.c}"}]}],
    "switch": [{"cases": [{"when": "data.a > 1", "outcome": "x"}, {"when": "true", "outcome": "y"}]},
               {"value": "data.a", "cases": [{"equals": 1, "outcome": "x"}, {"equals": None, "outcome": "y"},
                                             {"equals": ["a", "${vars.b}"], "outcome": "x"}], "default": "z"},
               {"route": "data.where"}, {"route": "${data.where}", "routes": ["a", "b"], "default": "a"}],
    "merge": [{}, {"mode": "append", "inputs": ["start"]}, {"mode": "position"}, {"mode": "object"},
              {"mode": "key", "key": "id", "join": "outer"}, {"mode": "fields", "prefer": "first"}, {"mode": "first"},
              {"mode": "key", "key": ["a", "b.c"], "right_key": ["x", "y"], "inputs": ["start", "start"]},
              {"mode": "choose", "inputs": ["start"]}],
    "map": [{}, {"items": "data.users", "concurrency": 50}, {"range": {"stop": 3}, "on_item_failure": "skip"}],
    "wait-for-event": [{"event": "paid"}, {"type": "paid", "key": "{{data.order}}", "timeout": "2d"},
                       {"event": "${vars.x}", "key": "${data.id}", "filter": "event.amount > vars.least"}],
    "delay": [{}, {"milliseconds": 0}, {"duration": 250}, {"milliseconds": "2s"}, {"milliseconds": "${data.ms}"},
              {"milliseconds": 0.5}],
    "sleep": [{"duration": "2d"}, {"duration": 0}, {"duration": "${data.x}"}, {"until": "2025-12-25T10:00"},
              {"until": "2025-12-25", "timezone": "America/New_York"}, {"until": "{{data.x}}", "timezone": "${vars.z}"},
              {"mode": "relative", "duration_value": 7, "duration_unit": "days", "timezone": "UTC"},
              {"mode": "absolute", "target_date": "2025-12-25T10:00:00Z"},
              {"duration_value": 50 * 52, "duration_unit": "weeks"},
              {"mode": "relative", "duration_value": 1.5, "duration_unit": "hours", "target_date": "2020-01-01"}],
    "loop": [{}, {"items": "data.users"}, {"items": [1, "${data.x}"]}, {"arrayPath": "input.data.items"},
             {"arrayPath": ""},
             {"range": {"stop": 3}}, {"range": {"start": "${data.a}", "stop": -5, "step": -1}},
             {"itemVariable": "row", "indexVariable": "i"}, {"concurrency": 1000, "on_item_failure": "null"},
             {"errorHandling": "skip", "accumulate": "none"}, {"need": 2}, {"need": "len(data) / 2"},
             {"enough": "count > 1"},
             {"add_signal": "more", "close_signal": "done"}, {"items": {"$chunks": []}}, {"max_iterations": 5}],
    "loop-accumulator": [{}, {"accumulatorVariable": "sums", "accumulationMode": "array"},
                         {"accumulationMode": "last"}],
    "group": [{}],
    "set": [{"vars": {"a": 1}}, {"values": {"a.b.0": "${data.x}"}, "merge": "deep"}, {"variables": {"a": None}}],
    "merge-data": [{}, {"data": "${data}"}, {"into": "a.b", "mode": "deep"}],
    "python": [{"step": "x"}, {"step": "x", "arguments": {"a": "${data}"}}, {"step": "x", "arguments": None},
               {"step": "x", "outcomes": ["a", "b"]}],
    "script": [{"script": "1"}, {"source": "return _global.order.id", "language": "python"},
               {"script": "def a = 1; a + _global.n", "scriptType": "GROOVY"},
               {"script": "data", "scriptType": "Python"},
               {"script": "'a' if input.n > 1 else 'b'", "outcomes": ["a", "b"], "timeout": "2s", "memory": 128},
               {"script": "result = [x for x in vars.list]", "variable": "total", "timeout": 5}],
    "publish": [{"type": "t"}, {"type": "{{data.t}}", "payload": None, "key": "k"}],
    "fail": [{}, {"code": "X", "message": "because {{data.why}}", "details": {"a": "${data.x}"}}, {"terminate": True}],
    "instruction": [
        {"inputOptions": [{"id": "a", "description": "Order #${input.id} of {{customer.name}}"}]},
        {"inputOptions": [], "layoutId": "plain", "disposition": {"script": "_global.x"}, "wait": False},
        {"options": [{"id": "a", "tags": {"values": ["ui.dropdown"]}, "possibleDynamicValues": "x.y", "parentId": None,
                      "possibleValues": [{"value": 1, "displayValue": "one", "metaData": {}}], "colour": "red",
                      "possibleDependentValues": {"x": {"tags": {"values": ["ui.free_text"]}}},
                      "instructions": [{"templateId": "t", "templateVariables": {"a": "{{vars.x}}"}}]}],
         "deadline": "2d", "reminder": {"after": "1h", "every": "1d", "count": 3}, "escalation": {"after": "${vars.x}"},
         "workflowStatus": "${vars.status}", "assignees": ["ada", "${vars.who}"], "candidates": "accounting"}],
    "approval": [{"title": "Refund?"},
                 {"title": "Refund {{data.x}}?", "message": "${vars.why}", "comment": "on_rejection", "deadline": 60,
                  "options": [{"value": "yes", "label": "Yes", "outcome": "approved"}, {"value": "no"}],
                  "reminder": {"every": "1d"}, "escalation": {"after": "3d"}, "assignees": "ada"}],
    "wait-for-signal": [{"name": "s"}, {"signal": "s"}, {"name": "s-{{data.x}}", "timeout": "2d", "mode": "transient"}],
    "sub-flow": [{"definition": "f"}, {"definition": "f", "version": 2, "input": None, "wait": False,
                                       "on_parent_close": "abandon"}],
    "continue-as-new": [{}, {"input": {"page": "${input.page + 1}"}}],
}  # fmt: skip

BAD: list[tuple[str, Any, str, str]] = [
    ("start", {"triggerType": "manual"}, "/triggerType", "CONFIG_UNKNOWN"),
    ("end", {"terminate": "yes"}, "/terminate", "CONFIG_TYPE"),
    ("end", {"output": "${1 +}"}, "/output", "EXPRESSION_SYNTAX"),
    ("json", {}, "/data", "CONFIG_MISSING"),
    ("json", {"data": "{not json"}, "/data", "CONFIG_VALUE"),
    ("json", {"data": "Hello {{input.name}}"}, "/data", "CONFIG_VALUE"),
    ("json", {"data": {"a": "${"}}, "/data/a", "EXPRESSION_SYNTAX"),
    ("json-array", {}, "/items", "CONFIG_MISSING"),
    ("json-array", {"items": []}, "", "CONFIG_VALUE"),
    ("json-array", {"items": {"a": 1}}, "", "CONFIG_VALUE"),
    ("json-array", {"items": [{"a": 1}, {"b": 1}]}, "", "CONFIG_VALUE"),
    ("json-array", {"items": [1, 2]}, "", "CONFIG_VALUE"),
    ("json-array", {"items": [1, "x"], "schema": {"type": "integer"}}, "", "CONFIG_VALUE"),
    ("json-array", {"items": "${data}", "schema": {"type": "thing"}}, "", "CONFIG_VALUE"),
    ("json-array", {"items": "[1,"}, "/items", "CONFIG_VALUE"),
    ("transform", {"operations": [{"type": "zip", "config": {}}]}, "/operations/0/type", "CONFIG_VALUE"),
    ("transform", {"operations": [{"config": {}}]}, "/operations/0/type", "CONFIG_MISSING"),
    ("transform", {"operations": [{"type": "map", "config": {}}]}, "/operations/0/config/mappings", "CONFIG_MISSING"),
    ("transform", {"operations": [{"type": "map", "config": {"mappings": {"a[": "b"}}}]},
     "/operations/0/config/mappings/a[", "CONFIG_VALUE"),
    ("transform", {"operations": [{"type": "map", "config": {"mappings": [{"from": "a"}]}}]},
     "/operations/0/config/mappings/0/to", "CONFIG_MISSING"),
    ("transform", {"operations": [{"type": "extract", "config": {"jsonPath": "a[?(@.b)]"}}]},
     "/operations/0/config/jsonPath", "EXPRESSION_SYNTAX"),
    ("transform", {"operations": [{"type": "extract", "config": {"jsonPath": "$.a[?(@.b)", "take": "one"}}]},
     "/operations/0/config/take", "CONFIG_VALUE"),
    ("transform", {"operations": [{"type": "concat", "config": {"inputs": "a", "x": 1}}]}, "/operations/0/config/x",
     "CONFIG_UNKNOWN"),
    ("json_to_csv", {"delimiter": ",,"}, "/delimiter", "CONFIG_VALUE"),
    ("json_to_csv", {"delimiter": '"'}, "/delimiter", "CONFIG_VALUE"),
    ("json_to_csv", {"arrayPath": "a..b"}, "/arrayPath", "CONFIG_VALUE"),
    ("json_to_csv", {"outputFormat": "xml"}, "/outputFormat", "CONFIG_VALUE"),
    ("json_to_csv", {"columns": [{"header": "A"}]}, "/columns/0/key", "CONFIG_MISSING"),
    ("json_to_csv", {"data": "${data.}"}, "/data", "EXPRESSION_SYNTAX"),
    ("conditional", {}, "", "CONFIG_VALUE"),
    ("conditional", {"condition": "true", "conditions": [{"left": "1"}]}, "", "CONFIG_VALUE"),
    ("conditional", {"condition": ""}, "/condition", "CONFIG_RANGE"),
    ("conditional", {"condition": 5}, "/condition", "CONFIG_TYPE"),
    ("conditional", {"condition": "data.x >"}, "/condition", "EXPRESSION_SYNTAX"),
    ("conditional", {"conditions": [{"left": "a", "operator": "like"}]}, "/conditions/0/operator", "CONFIG_VALUE"),
    ("conditional", {"conditions": [{"left": "data.", "right": "${"}]}, "/conditions/0/left", "EXPRESSION_SYNTAX"),
    ("conditional", {"conditions": [{"left": "data.", "right": "${"}]}, "/conditions/0/right", "EXPRESSION_SYNTAX"),
    ("conditional", {"condition": "true", "logicalOperator": "XOR"}, "/logicalOperator", "CONFIG_VALUE"),
    ("switch", {}, "", "CONFIG_VALUE"),
    ("switch", {"cases": [{"when": "true", "outcome": "x"}], "route": "data.x"}, "", "CONFIG_VALUE"),
    ("switch", {"cases": [{"outcome": "x"}]}, "", "CONFIG_VALUE"),
    ("switch", {"value": "data.a", "cases": [{"when": "true", "outcome": "x"}]}, "", "CONFIG_VALUE"),
    ("switch", {"cases": [{"when": "data. >", "outcome": "x"}]}, "/cases/0/when", "EXPRESSION_SYNTAX"),
    ("switch", {"cases": [{"when": "true"}]}, "/cases/0/outcome", "CONFIG_MISSING"),
    ("switch", {"route": "dta.x"}, "/route", "NAME_UNKNOWN"),
    ("merge", {"mode": "zip"}, "/mode", "CONFIG_VALUE"),
    ("merge", {"mode": "key"}, "", "CONFIG_VALUE"),
    ("merge", {"mode": "append", "key": "a"}, "", "CONFIG_VALUE"),
    ("merge", {"mode": "key", "key": "a..b"}, "/key", "CONFIG_VALUE"),
    ("merge", {"mode": "key", "key": "a", "inputs": ["start"]}, "", "CONFIG_VALUE"),
    ("merge", {"inputs": ["strat"]}, "/inputs/0", "NODE_REFERENCE_UNKNOWN"),
    ("map", {"concurrency": 0}, "/concurrency", "CONFIG_RANGE"),
    ("map", {"items": 5}, "", "CONFIG_VALUE"),
    ("wait-for-event", {}, "/event", "CONFIG_MISSING"),
    ("wait-for-event", {"event": ""}, "/event", "CONFIG_RANGE"),
    ("wait-for-event", {"event": "a", "filter": "event."}, "/filter", "EXPRESSION_SYNTAX"),
    ("wait-for-event", {"event": "a", "filter": "evnt.x"}, "/filter", "NAME_UNKNOWN"),
    ("wait-for-event", {"event": "a", "key": "${event.x}"}, "/key", "NAME_UNKNOWN"),
    ("delay", {"milliseconds": -1}, "/milliseconds", "CONFIG_VALUE"),
    ("delay", {"duration": "soon"}, "/duration", "CONFIG_VALUE"),
    ("delay", {"duration": 1e18}, "/duration", "CONFIG_VALUE"),
    ("delay", {"duration": True}, "/duration", "CONFIG_VALUE"),
    ("delay", {"duration": 5, "milliseconds": 5}, "/duration", "CONFIG_UNKNOWN"),
    ("sleep", {}, "", "CONFIG_VALUE"),
    ("sleep", {"duration": "1d", "until": "2026-01-01"}, "", "CONFIG_VALUE"),
    ("sleep", {"mode": "absolute", "duration": "1d"}, "", "CONFIG_VALUE"),
    ("sleep", {"duration": "1000000000d"}, "/duration", "CONFIG_VALUE"),
    ("sleep", {"duration_value": -1}, "/duration_value", "CONFIG_VALUE"),
    ("sleep", {"duration_value": "7"}, "/duration_value", "CONFIG_VALUE"),
    ("sleep", {"duration_value": 10**9, "duration_unit": "days"}, "", "CONFIG_VALUE"),
    ("sleep", {"duration_value": 1, "duration_unit": "months"}, "/duration_unit", "CONFIG_VALUE"),
    ("sleep", {"until": "next week"}, "/until", "CONFIG_VALUE"),
    ("sleep", {"target_date": "2026-02-30"}, "/target_date", "CONFIG_VALUE"),
    ("sleep", {"until": "2026-01-01", "timezone": "Mars/Base"}, "/timezone", "CONFIG_VALUE"),
    ("sleep", {"duration": "1d", "timezone": "../../etc/passwd"}, "/timezone", "CONFIG_VALUE"),
    ("loop", {"items": 5}, "", "CONFIG_VALUE"),
    ("loop", {"items": {"a": 1}}, "", "CONFIG_VALUE"),
    ("loop", {"items": "data.x +"}, "/items", "EXPRESSION_SYNTAX"),
    ("loop", {"items": [1], "range": {"stop": 1}}, "", "CONFIG_VALUE"),
    ("loop", {"range": {}}, "/range/stop", "CONFIG_MISSING"),
    ("loop", {"range": {"stop": 1.5}}, "/range/stop", "CONFIG_VALUE"),
    ("loop", {"item": "data"}, "/item", "CONFIG_VALUE"),
    ("loop", {"itemVariable": "my item"}, "/itemVariable", "CONFIG_VALUE"),
    ("loop", {"item": "index"}, "", "CONFIG_VALUE"),
    ("loop", {"concurrency": 1001}, "/concurrency", "CONFIG_RANGE"),
    ("loop", {"need": 0}, "/need", "CONFIG_VALUE"),
    ("loop", {"need": "data."}, "/need", "EXPRESSION_SYNTAX"),
    ("loop", {"on_item_failure": "ignore"}, "/on_item_failure", "CONFIG_VALUE"),
    ("loop", {"add_signal": "a", "close_signal": "a"}, "", "CONFIG_VALUE"),
    ("loop", {"add_signal": "a", "range": {"stop": 2}}, "", "CONFIG_VALUE"),
    ("loop", {"arrayPath": "a..b"}, "/arrayPath", "CONFIG_VALUE"),
    ("loop-accumulator", {"accumulator": "item"}, "", "CONFIG_VALUE"),
    ("group", {"items": []}, "/items", "CONFIG_UNKNOWN"),
    ("set", {}, "/vars", "CONFIG_MISSING"),
    ("set", {"vars": {}}, "/vars", "CONFIG_RANGE"),
    ("set", {"vars": {"a..b": 1}}, "/vars", "CONFIG_VALUE"),
    ("set", {"vars": {"0": 1}}, "/vars", "CONFIG_VALUE"),
    ("set", {"vars": {"a": "${1 +}", "b": "${zzz}"}}, "/vars/b", "NAME_UNKNOWN"),
    ("merge-data", {"mode": "replace"}, "/mode", "CONFIG_VALUE"),
    ("python", {}, "/step", "CONFIG_MISSING"),
    ("python", {"step": ""}, "/step", "CONFIG_RANGE"),
    ("python", {"step": "x", "arguments": {"a": "${b}"}}, "/arguments/a", "NAME_UNKNOWN"),
    ("python", {"step": "x", "arguments": [1]}, "/arguments", "CONFIG_VALUE"),
    ("script", {}, "/script", "CONFIG_MISSING"),
    ("script", {"script": ""}, "/script", "SCRIPT_SYNTAX"),
    ("script", {"script": "1 +"}, "/script", "SCRIPT_SYNTAX"),
    ("script", {"script": "# nothing"}, "/script", "SCRIPT_SYNTAX"),
    ("script", {"source": "import os"}, "/source", "SCRIPT_SYNTAX"),
    ("script", {"script": "del data.x"}, "/script", "SCRIPT_SYNTAX"),
    ("script", {"script": "order.id"}, "/script", "SCRIPT_NAME"),
    ("script", {"script": "open('x')"}, "/script", "SCRIPT_NAME"),
    ("script", {"script": "nodes.nowhere.output"}, "/script", "NODE_REFERENCE_UNKNOWN"),
    ("script", {"script": "class A {}", "language": "groovy"}, "/script", "GROOVY_UNSUPPORTED"),
    ("script", {"script": "_response.x", "language": "groovy"}, "/script", "SCRIPT_NAME"),
    ("script", {"script": "1", "language": "perl"}, "/language", "CONFIG_VALUE"),
    ("script", {"script": {"ref": "missing"}}, "/script", "CONFIG_VALUE"),
    ("script", {"script": "1", "timeout": "soon"}, "/timeout", "CONFIG_VALUE"),
    ("script", {"script": "1", "memory": 0}, "/memory", "CONFIG_RANGE"),
    ("script", {"script": "1", "variable": "input"}, "/variable", "CONFIG_VALUE"),
    ("publish", {}, "/type", "CONFIG_MISSING"),
    ("publish", {"type": ""}, "/type", "CONFIG_RANGE"),
    ("fail", {"code": 5}, "/code", "CONFIG_TYPE"),
    ("fail", {"message": "{{#a}}"}, "/message", "EXPRESSION_SYNTAX"),
    ("instruction", {}, "/inputOptions", "CONFIG_MISSING"),
    ("instruction", {"inputOptions": "all"}, "/inputOptions", "CONFIG_TYPE"),
    ("instruction", {"inputOptions": [{"description": "x"}]}, "/inputOptions/0/id", "CONFIG_MISSING"),
    ("instruction", {"inputOptions": [{"id": "a", "description": "${1 +}"}]}, "/inputOptions/0/description",
     "EXPRESSION_SYNTAX"),
    ("instruction", {"inputOptions": [], "disposition": {"script": "1 +"}}, "/disposition/script", "SCRIPT_SYNTAX"),
    ("instruction", {"inputOptions": [], "reminder": {}}, "/reminder", "CONFIG_VALUE"),
    ("instruction", {"inputOptions": [], "deadline": "soon"}, "/deadline", "CONFIG_VALUE"),
    ("approval", {}, "/title", "CONFIG_MISSING"),
    ("approval", {"title": "x", "options": []}, "/options", "CONFIG_RANGE"),
    ("approval", {"title": "x", "options": [{"value": "a"}, {"value": "a"}]}, "", "CONFIG_VALUE"),
    ("approval", {"title": "x", "comment": "never"}, "/comment", "CONFIG_VALUE"),
    ("approval", {"title": "x", "escalation": {}}, "/escalation/after", "CONFIG_MISSING"),
    ("approval", {"title": "{{nobody.knows}}"}, "/title", "NAME_UNKNOWN"),
    ("wait-for-signal", {}, "/name", "CONFIG_MISSING"),
    ("wait-for-signal", {"name": "a", "timeout": "never"}, "/timeout", "CONFIG_VALUE"),
    ("wait-for-signal", {"name": "a", "mode": "x"}, "/mode", "CONFIG_VALUE"),
    ("sub-flow", {}, "/definition", "CONFIG_MISSING"),
    ("sub-flow", {"definition": "f", "version": 0}, "/version", "CONFIG_RANGE"),
    ("sub-flow", {"definition": "f", "version": "LATEST"}, "/version", "CONFIG_TYPE"),
    ("sub-flow", {"definition": "f", "on_parent_close": "kill"}, "/on_parent_close", "CONFIG_VALUE"),
    ("continue-as-new", {"inputs": 1}, "/inputs", "CONFIG_UNKNOWN"),
]  # fmt: skip


def document(type: str, config: Any) -> dict[str, Any]:
    nodes = [{"id": "n", "type": type, "config": config}]
    if type != "start":
        nodes.insert(0, {"id": "start", "type": "start", "config": {}})
    return {"nodes": nodes, "edges": [{"source": "start", "target": "n"}] if type != "start" else []}


@pytest.mark.parametrize(("type", "config"), [(type, config) for type, configs in GOOD.items() for config in configs])
def test_taken(type: str, config: dict[str, Any]) -> None:
    found, problems = validate_flow(document(type, config), CATALOGUE)
    assert [each for each in problems if each.is_error] == []
    assert found is not None


def test_every_type_has_good_and_bad_ones() -> None:
    assert GOOD.keys() == CATALOGUE.keys() == {type for type, _, _, _ in BAD}


@pytest.mark.parametrize(("type", "config", "pointer", "code"), BAD)
def test_refused(type: str, config: Any, pointer: str, code: str) -> None:
    at = 0 if type == "start" else 1
    found, problems = validate_flow(document(type, config), CATALOGUE)
    assert found is None
    assert (code, f"/nodes/{at}/config{pointer}") in [(each.code, each.pointer) for each in problems], problems


@pytest.mark.parametrize("type", CATALOGUE)
def test_the_schema_is_one_and_speaks_to_people(type: str) -> None:
    kind = CATALOGUE[type]
    schema = kind.config.model_json_schema()
    Schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    assert kind.title
    assert kind.description.endswith((".", "`"))
    for field, details in schema.get("properties", {}).items():
        assert details.get("title"), field
    for config in GOOD[type]:
        spelt = {key for key in config if key in schema["properties"]} if config else set()
        if spelt == config.keys() and "$" not in json.dumps(config) and "{{" not in json.dumps(config):
            assert Schema(schema).first_misfit(config) is None, config


@pytest.mark.parametrize("type", CATALOGUE)
def test_the_examples_of_the_fields_are_valid(type: str) -> None:
    kind = CATALOGUE[type]
    for name, field in kind.config.model_fields.items():
        for example in field.examples or ():
            key = field.validation_alias.choices[0] if hasattr(field.validation_alias, "choices") else name
            config = {**REQUIRED.get(f"{type}.{key}", REQUIRED.get(type, {})), key: example}
            _, problems = validate_flow(document(type, config), CATALOGUE)
            unknown = ("NODE_REFERENCE_UNKNOWN",)
            assert [each for each in problems if each.is_error and each.code not in unknown] == [], config


REQUIRED: dict[str, dict[str, Any]] = {
    "json-array": {"items": [{"name": "x"}]},
    "python": {"step": "x"},
    "publish": {"type": "t"},
    "switch": {"cases": [{"when": "true", "outcome": "x"}]},
    "wait-for-event": {"event": "e"},
    "script": {"script": "1"},
    "sub-flow": {"definition": "f"},
    "wait-for-signal": {"name": "s"},
    "instruction": {"inputOptions": []},
    "approval": {"title": "?"},
    "conditional": {"condition": "true"},
    "conditional.conditions": {},
    "merge": {"mode": "key", "key": "id"},
    "merge.mode": {"key": "id"},
    "sleep": {"duration": "1s"},
    "sleep.until": {},
    "sleep.duration_value": {},
    "sleep.target_date": {},
    "switch.value": {"cases": [{"equals": 1, "outcome": "x"}]},
    "switch.route": {},
    "switch.routes": {"route": "data.x"},
}
"""What must stand beside an example of a field: for any field of the type, or for this one."""
