"""Every example of docs/reference/drift.md is used for what the page says it is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from perdure.dialects.drift import Drift, words
from perdure.nodes.catalogue import CATALOGUE
from tests.dialects.drift.documents import good, state, workflow
from tests.fixtures.stage import Stage, on_stage

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "drift.md").read_text()
SHOWN: dict[str, Any] = {
    name: json.loads(text) for name, text in re.findall(r"<!-- (\w+) -->\n```json\n(.*?)```", PAGE, re.DOTALL)
}


def test_every_block_has_a_name_and_every_type_and_field_is_told() -> None:
    assert len(SHOWN) == PAGE.count("```json")
    assert set(re.findall(r"^\| ([A-Z_]+) \|", PAGE, re.MULTILINE)) == set(words.FIELDS_BY_TYPE)
    fields = words.WORKFLOW_FIELDS | words.STATE_FIELDS | words.HTTP_FIELDS
    for names in words.FIELDS_BY_TYPE.values():
        fields |= names
    assert not [name for name in fields if f"`{name}" not in PAGE and f".{name}`" not in PAGE]


def test_the_workflow_has_no_mistake() -> None:
    assert not Drift().validate(SHOWN["workflow"], CATALOGUE)


@on_stage
async def test_the_bodies_are_taken(stage: Stage) -> None:
    check = workflow({"a": state(good("INSTRUCTION"), "b"), "b": state(good("SUCCESS"))}, id="return-check")
    check["states"]["aside"] = state(good("GROOVY", script="return [x: _global.aside.x]"), "b")
    del check["states"]["aside"]["nodeDefinition"]["transformer"]
    async with stage.app() as app:
        for document in (check, SHOWN["workflow"]):
            await app.deploy(document)
        await app.selection.save("default", SHOWN["rules"])
        told = await app.drift.start("default", SHOWN["start"], wait=20.0)
        assert (told["workflowId"], told["workflowStatus"]) == ("WF-1", "WAITING")
        asked = await app.drift.execute_node("default", "CH-WF-1", SHOWN["node"])
        assert (asked["status"], asked["response"]) == ("SUCCESS", {"x": 1})
        done = await app.drift.resume("default", "WF-1", SHOWN["resume"], wait=20.0)
        assert done["workflowStatus"] == "COMPLETED"
        assert (await app.drift.context("default", "WF-1"))["context"]["done"] == {"comment": 21}
