"""Which documents are Yantra's, and under which id they are stored."""

from typing import Any

import pytest

from perdure.dialects.known import dialect_of
from perdure.dialects.yantra import Yantra
from tests.dialects.yantra.graphs import edge, node, row

START, END = {"id": "s", "type": "start"}, {"id": "e", "type": "end"}
PLACE = {"position": {"x": 0, "y": 0}}


def drawn(*nodes: Any, edges: Any = (), **rest: Any) -> dict[str, Any]:
    return {"nodes": [{**each, **PLACE} for each in nodes], "edges": list(edges), **rest}


CONDITIONAL = {"id": "c", "type": "conditional", "config": {"condition": "data.x"}}


@pytest.mark.parametrize(
    "document",
    [
        row(node("json", {"data": 1})),
        {"kind": "yantra", "nodes": []},
        drawn(START, END, name="Drawn"),
        drawn(START, END, edges=[edge("s", "e")]),
        {"nodes": [START, END], "edges": [edge("s", "e", sourceHandle=None)]},
        {"nodes": [START, END], "edges": [edge("s", "e", condition="data.x")]},
        {"nodes": [START, END], "edges": [edge("s", "e", type="default")]},
        {"nodes": [START, CONDITIONAL, END], "edges": [edge("c", "e", label="True")]},
        {"nodes": [{**START, "config": {"triggerType": "cron"}}, END]},
        {"name": "Loops", "nodes": [START, {"id": "l", "type": "loop", "config": {"itemVariable": "x"}}, END]},
        {"id": "x", "nodes": [START, END], "created_at": "2025-01-01T00:00:00Z", "is_active": True},
        {"id": "x", "nodes": [START, END], "edges": [edge("s", "e")], "currentVersion": 3},
        {"name": "Wrapped", "definition": {"nodes": [START, END]}},
        {"nodes": [{"id": "x", "type": "no-such-type", "data": {}}]},
    ],
)
def test_these_are_yantras(document: dict[str, Any]) -> None:
    assert dialect_of(document).kind == "yantra"


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "flow", **row(node("json", {"data": 1}))},
        {"nodes": [START, END], "edges": [edge("s", "e")]},
        {"id": "ours", "nodes": [START, END], "edges": [edge("s", "e")]},
        drawn(START, END, id="ours"),
        drawn(START, END, settings={}),
        drawn(START, {"id": "x", "type": "script"}),
        drawn(START, {"id": "l", "type": "loop", "config": {"items": [1]}}, {"id": "b", "type": "json", "parent": "l"}),
        drawn(START, {"id": "l", "type": "loop", "config": {"items": [1]}}),
        drawn(START, END, edges=[edge("s", "e", outcome="error")]),
        {"nodes": [START, CONDITIONAL, END], "edges": [edge("c", "e", label="true", outcome="true")]},
        {"nodes": []},
        {},
        {"users": [1]},
    ],
)
def test_these_are_ours(document: dict[str, Any]) -> None:
    assert dialect_of(document).kind == "flow"


@pytest.mark.parametrize(
    ("document", "id"),
    [
        ({"name": "Daily Report (Example)"}, "daily-report-example"),
        ({"name": "Sleep Node - Relative"}, "sleep-node-relative"),
        ({"name": "x", "id": "given"}, "given"),
        ({"name": "x", "id": "not an id"}, "x"),
        ({"name": "  "}, None),
        ({}, None),
        ({"name": 7}, None),
    ],
)
def test_the_id_is_made_of_the_name(document: dict[str, Any], id: str | None) -> None:
    assert Yantra().id_of(document) == id


def test_a_name_without_a_latin_letter_has_an_id_too() -> None:
    one, other = Yantra().id_of({"name": "Отчёт"}), Yantra().id_of({"name": "报告"})
    assert one is not None
    assert one.startswith("yantra-")
    assert one != other
