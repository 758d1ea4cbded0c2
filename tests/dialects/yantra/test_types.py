"""Each of the fourteen node types with the configuration that Yantra gives it: rows C04, C05, I01–I05 in its words."""

from typing import Any

import pytest

from perdure.testing.pure import PureRunner
from tests.dialects.yantra.graphs import edge, graph, node, output, outputs, problems, row, run, told


def test_start_gives_what_the_run_was_started_with() -> None:
    assert output(row(), {"a": 1}) == {"a": 1}


@pytest.mark.parametrize(
    ("config", "seconds"),
    [({}, 1.0), ({"duration": 250}, 0.25), ({"duration": "500"}, 0.5), ({"duration": "{{ms}}"}, 2.0)],
)
def test_c04_delay_counts_milliseconds_and_hands_on_its_input(config: Any, seconds: float) -> None:
    runner = PureRunner(row(node("delay", config)), restart=True)
    before = runner.now
    found = runner.run({"data": {"x": 1}, "ms": 2000})
    assert (runner.now - before) / 1_000_000 == seconds
    assert found.output == {"x": 1, "data": {"x": 1}, "ms": 2000, "delayed_ms": seconds * 1000}


@pytest.mark.parametrize(
    ("unit", "seconds"), [("seconds", 1), ("minutes", 60), ("hours", 3600), ("days", 86_400), ("weeks", 604_800)]
)
def test_i01_sleep_for_every_unit(unit: str, seconds: int) -> None:
    runner = PureRunner(
        row(node("sleep", {"mode": "relative", "duration_value": 3, "duration_unit": unit})), restart=True
    )
    before = runner.now
    run = runner.start({"data": {"x": 1}})
    assert run.status == "SLEEPING"
    runner.go()
    assert (runner.now - before) / 1_000_000 == 3 * seconds
    assert run.output["x"] == 1
    assert run.output["sleep_duration_ms"] == 3000 * seconds


@pytest.mark.parametrize(
    ("date", "zone", "until"),
    [
        ("2026-12-25T10:00", "America/New_York", "2026-12-25T15:00:00Z"),
        ("2026-12-25T10:00:00Z", "", "2026-12-25T10:00:00Z"),
        ("2026-12-25T10:00:00.5+01:00", "Europe/Berlin", "2026-12-25T09:00:00.500000Z"),
        ("2026-12-25 10:00", "UTC", "2026-12-25T10:00:00Z"),
        ("2026-12-25", "Europe/Berlin", "2026-12-24T23:00:00Z"),
        ("2026-03-29T02:30:00", "Europe/Berlin", "2026-03-29T01:30:00Z"),
        ("2026-10-25T02:30:00", "Europe/Berlin", "2026-10-25T00:30:00Z"),
    ],
)
def test_i02_i03_sleep_until_a_date_of_a_zone(date: str, zone: str, until: str) -> None:
    config = {"mode": "absolute", "target_date": date, "timezone": zone}
    assert output(row(node("sleep", config)))["sleep_scheduled_until"] == until


def test_i04_a_date_in_the_past_is_skipped() -> None:
    found = run(row(node("sleep", {"mode": "absolute", "target_date": "2020-01-01T00:00:00Z"})), {"x": 1})
    assert found.output == {
        "x": 1,
        "data": True,
        "slept_until": "2020-01-01T00:00:00Z",
        "sleep_skipped": True,
        "reason": "the target date is not in the future",
        "mode": "absolute",
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"a": [1]}, {"a": [1]}),
        ('{"a": "{{n}}"}', {"a": 5}),
        ("[1, 2]", [1, 2]),
        ('"text"', "text"),
        ("{{n}}", 5),
        (None, None),
        (0, 0),
        ({"t": "${n}"}, {"t": "${n}"}),
    ],
)
def test_json(data: Any, expected: Any) -> None:
    assert output(row(node("json", {"data": data})), {"n": 5}) == {"data": expected}


def test_json_array() -> None:
    assert output(row(node("json-array", {"jsonArray": '[{"a": 1}, {"a": 2}]'}))) == {
        "data": [{"a": 1}, {"a": 2}],
        "array": [{"a": 1}, {"a": 2}],
        "count": 2,
        "schema": {"a": "number"},
    }
    assert told(row(node("json-array", {"jsonArray": '[{"a": 1}, {"b": 2}]'}))) != []
    assert output(row(node("json-array", {"jsonArray": '[{"a": 1}, {"b": 2}]', "validateSchema": False})))["count"] == 2


def transformed(*operations: Any, input: Any) -> Any:
    return output(row(node("transform", {"operations": list(operations)})), input)["data"]


USER = {"data": {"user": {"first": "Ada", "last": "L"}, "xs": [{"n": 1}], "text": '{"a": 1}', "odd key": 2}, "top": 3}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"type": "map", "config": {"mappings": {"user.first": "name", "missing": "x"}}}, {"name": "Ada"}),
        (
            {"type": "map", "config": {"mappings": [{"from": "xs.0.n", "to": "n"}, {"from": "xs[0].n", "to": "m"}]}},
            {"n": 1, "m": 1},
        ),
        (
            {"type": "map", "config": {"mappings": [{"from": "top", "to": "t"}, {"from": "odd key", "to": "o"}]}},
            {"t": 3, "o": 2},
        ),
        ({"type": "map", "config": {"mappings": [{"from": "input.data.user.last", "to": "l"}]}}, {"l": "L"}),
        ({"type": "extract", "config": {"jsonPath": "user.first"}}, "Ada"),
        ({"type": "extract", "config": {"jsonPath": "data.xs.0", "outputKey": "x"}}, {"x": {"n": 1}}),
        ({"type": "extract", "config": {"jsonPath": "$.data.xs[0].n"}}, 1),
        (
            {"type": "concat", "config": {"inputs": "user.first, user.last", "separator": " ", "outputKey": "full"}},
            {**USER["data"], "full": "Ada L"},
        ),
        (
            {"type": "parse", "config": {"inputKey": "text", "outputKey": "parsed"}},
            {**USER["data"], "parsed": {"a": 1}},
        ),
        ({"type": "stringify", "config": {"inputKey": "xs", "outputKey": "s"}}, {**USER["data"], "s": '[{"n":1}]'}),
    ],
)
def test_transform(operation: Any, expected: Any) -> None:
    assert transformed(operation, input=USER) == expected


def test_transform_keeps_what_it_is_told_to_keep() -> None:
    mapping = {
        "type": "map",
        "config": {"mappings": [{"from": "a", "to": "b", "removeSource": True}], "includeUnmapped": True},
    }
    assert transformed(mapping, input={"data": {"a": 1, "c": 2}}) == {"b": 1, "c": 2}


def test_operations_are_done_in_order_and_none_gives_the_input() -> None:
    first = {"type": "map", "config": {"mappings": {"a": "b"}}}
    assert transformed(first, {"type": "extract", "config": {"jsonPath": "b"}}, input={"a": 7}) == 7
    assert transformed(input={"a": 7}) == {"a": 7}


def test_an_unknown_operation_and_an_empty_row_do_nothing_and_are_told() -> None:
    operations = [
        {"type": "sort"},
        {"type": "map", "config": {"mappings": [{"from": "", "to": ""}, {"from": "a", "to": "b"}]}},
    ]
    document = row(node("transform", {"operations": operations}))
    assert [(each.severity, each.pointer) for each in problems(document)] == [
        ("warning", "/nodes/1/data/config/operations/0/type"),
        ("warning", "/nodes/1/data/config/operations/1/config/mappings"),
    ]
    assert output(document, {"a": 1}) == {"data": {"b": 1}}


def test_json_to_csv() -> None:
    rows = [{"a": 1, "b": "x,y"}, {"a": 2}]
    found = output(row(node("json", {"data": rows}), node("json_to_csv")))
    assert (found["csv"], found["row_count"], found["headers"]) == ('a,b\n1,"x,y"\n2,\n', 2, ["a", "b"])
    form = {
        "arrayPath": "rows",
        "delimiter": ";",
        "includeHeaders": False,
        "columns": [{"key": "b", "header": "B"}, {"key": ""}],
        "outputFormat": "string",
    }
    assert output(row(node("json", {"data": {"rows": rows}}), node("json_to_csv", form)))["csv"] == 'x,y\n""\n'


def handed(kind: str, config: Any, input: Any = None) -> dict[str, Any]:
    """What the handler of a node gets."""
    seen: list[Any] = []

    def handler(ctx: Any) -> Any:
        seen.append(ctx)
        return {"data": True}

    found = run(row(node(kind, config)), input, handlers={kind: handler})
    assert found.status == "COMPLETED", found.failure
    assert len(seen) == 1
    return dict(seen[0].config)


def test_http_fills_in_url_headers_and_bodies_of_both_kinds() -> None:
    config = {
        "url": " https://api.example/u/{{input.id}}?q={{q}}&m={{missing}} ",
        "method": "POST",
        "headers": {"X-Id": "{{id}}", "X-Dollar": "${id}"},
        "body": {"name": "{{data.name}}", "n": 1},
        "timeout": 5000,
        "maxRetries": 2,
        "unknown": True,
    }
    given = handed("http", config, {"id": 7, "q": "a b", "data": {"name": "Ada"}})
    assert given["url"] == "https://api.example/u/7?q=a%20b&m={{missing}}"
    assert given["headers"] == {"X-Id": 7, "X-Dollar": "${id}"}
    assert given["body"] == {"name": "Ada", "n": 1}


def test_email_takes_texts_of_either_kind() -> None:
    config = {
        "to": "{{mail}}",
        "subject": "For {{data.name}} ${x}",
        "body": "{{range $i, $x := .xs}}{{add $i 1}}={{$x}};{{end}}{{if .data.vip}}VIP{{else}}no{{end}}",
        "cc": "",
        "bcc": "",
        "isHtml": False,
        "provider": "resend",
        "maxRetries": 3,
        "attachments": [],
        "contentType": "text/plain",
    }
    given = handed("email", config, {"mail": "ada@example.com", "xs": ["a", "b"], "data": {"name": "Ada", "vip": True}})
    assert [list(each) for each in given["to"]] == [["", "ada@example.com"]]
    assert given["subject"] == "For Ada ${x}"
    assert given["text"] == "1=a;2=b;VIP"


def test_slack_takes_message_for_text() -> None:
    config = {
        "webhookUrl": "https://hooks.slack.com/services/A/B/C",
        "channel": "#x",
        "message": "Hello {{name}} & co",
        "apiKey": "",
    }
    given = handed("slack", config, {"name": "Ada"})
    assert "Hello Ada" in str(given)


def test_i05_a_sleep_in_a_loop_holds_nothing() -> None:
    nodes = [
        node("start"),
        node("loop-accumulator", {"arrayPath": ""}, "l"),
        node("sleep", {"mode": "relative", "duration_value": 1, "duration_unit": "days"}),
        node("end"),
    ]
    edges = [
        edge("start-1", "l"),
        edge("l", "sleep-1", sourceHandle="loop-output"),
        edge("sleep-1", "l", targetHandle="accumulator-input"),
        edge("l", "end-1", sourceHandle="output"),
    ]
    runner = PureRunner(graph(nodes, edges), restart=True)
    run = runner.start([1, 2])
    assert run.status == "SLEEPING"
    assert runner.calls == []
    runner.go()
    assert run.status == "COMPLETED"
    assert len(outputs(run, "l.accumulator-input")) == 2
