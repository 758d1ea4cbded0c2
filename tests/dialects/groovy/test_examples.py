"""The scripts of real documents. They are not ours to publish, so they are read from beside the repository."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure.dialects.groovy import translate
from tests.dialects.groovy.running import run_in_python

SHARED = Path(os.environ.get("PERDURE_SHARED", Path(__file__).parents[4] / "shared"))
EXAMPLES = SHARED / "examples" / "drift"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason=f"there is no {EXAMPLES.name} beside the repository")


def scripts(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Every script of a document, with where it stands."""
    if isinstance(value, dict):
        if value.get("type") == "SCRIPT":
            yield pointer, value["value"]["data"]
        for key, item in value.items():
            yield from scripts(item, f"{pointer}/{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from scripts(item, f"{pointer}/{number}")


def documents() -> dict[str, Any]:
    return {path.name: json.loads(path.read_text()) for path in sorted(EXAMPLES.glob("*.json"))}


FOUND = {f"{name}{pointer}": script for name, document in documents().items() for pointer, script in scripts(document)}


def given(**more: Any) -> dict[str, Any]:
    """What a run has at hand, in the shape of the example of a context."""
    context = documents()["context.sample_runtime.json"]["context"]
    return {
        "_global": {**context, "nodeParameters": {"incidentId": "IN-98765"}, **more},
        "_enum_store": {"ims": {"vip": "127.0.0.1:8080"}},
        "_response": {"statusResponse": {"id": 219, "status": "Solved", "statusType": "RESOLVED"}},
    }


def result(place: str, bindings: dict[str, Any] | None = None) -> Any:
    (script,) = [script for name, script in FOUND.items() if name.startswith(place)]
    return run_in_python(translate(script), bindings or given())


def test_there_are_some() -> None:
    assert len(FOUND) >= 12


@pytest.mark.parametrize("place", FOUND)
def test_every_script_is_translated(place: str) -> None:
    assert translate(FOUND[place]).python


def test_an_address_is_put_together() -> None:
    assert (
        result("node.http.get_incident_status.json/httpComponents/url") == "http://api.example.com/incidents/IN-98765"
    )
    assert result(
        "workflow.sample_status_workflow.json/states/get_incident_status/nodeDefinition/httpComponents/url"
    ) == ("http://127.0.0.1:8080/incidents/IN-98765")


def test_headers_are_a_map() -> None:
    headers = result(
        "workflow.sample_status_workflow.json/states/get_incident_status/nodeDefinition/httpComponents/headers"
    )
    assert headers["X_PERF_TEST"] == "false"
    assert headers["Content-Type"] == "application/json"
    assert len(headers) == 5


def test_an_answer_is_taken_apart() -> None:
    transformer = "workflow.sample_status_workflow.json/states/get_incident_status/nodeDefinition/transformerComponents"
    assert result(transformer) == {
        "statusResponse": {"id": 219, "status": "Solved", "statusType": "RESOLVED"},
        "statusId": 219,
        "statusName": "Solved",
        "statusType": "RESOLVED",
    }
    nothing = {**given(), "_response": None}
    assert result(transformer, nothing) == {
        "statusResponse": {},
        "statusId": None,
        "statusName": None,
        "statusType": None,
    }


def test_a_screen_shows_the_status() -> None:
    screen = "workflow.sample_status_workflow.json/states/prepare_instruction_data"
    (option,) = result(screen)
    assert option["instructions"][0]["templateVariables"] == {"status_name": "Solved"}
    (unknown,) = result(screen, given(get_incident_status=None))
    assert unknown["instructions"][0]["templateVariables"] == {"status_name": "Unknown"}


def test_the_time_is_the_runs() -> None:
    assert result("node.groovy.prepare_data.json") == {"processed": True, "timestamp": "Tue Nov 21 10:00:00 UTC 2023"}


@pytest.mark.parametrize(("expired", "chosen"), [(False, [True, False]), (True, [False, True]), (None, [False, False])])
def test_the_rules_of_a_branch_exclude_each_other(expired: bool | None, chosen: list[bool]) -> None:
    bindings = given(oms_order_details={"isReturnable": True, "returnWindowExpired": expired})
    rules = [f"node.branch.check_return_eligibility.json/choices/{number}" for number in (0, 1)]
    assert [result(rule, bindings) for rule in rules] == chosen
