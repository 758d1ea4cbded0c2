"""The documents of Drift's own authors, which stand beside this repository, do what their README says.

They are not in this repository. They are looked for beside it, or where PERDURE_SHARED says."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from perdure.assembly import Perdure
from perdure.cli.checking import validate_files
from perdure.dialects.drift.context import context_of
from perdure.errors import RunEnded
from perdure.model.canonical import canonical
from perdure.model.statuses import Status
from tests.dialects.drift.documents import good, state, workflow
from tests.dialects.drift.servers import Incidents, incidents
from tests.fixtures.stage import Stage, come_to, on_stage

SHARED = Path(os.environ.get("PERDURE_SHARED") or Path(__file__).resolve().parents[4] / "shared")
FOLDER = SHARED / "examples" / "drift"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the examples are not beside this repository")

NODES = sorted(file.name for file in FOLDER.glob("node.*.json")) if FOLDER.is_dir() else []
THREAD = {"tenant": "cs", "clientId": "web"}


def read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


async def sample(app: Perdure, server: Incidents) -> dict[str, Any]:
    document: dict[str, Any] = read("workflow.sample_status_workflow.json")
    await app.lookups.import_properties("default", f"version=1\nglobal.ims.vip={server.host}\n")
    await app.deploy(document)
    return document


def starting(incident: str) -> dict[str, Any]:
    return {
        "incidentId": incident,
        "params": {"incidentId": incident, "workflowId": "sample_status_workflow", "version": "LATEST"},
    }


@on_stage
async def test_the_sample_workflow_shows_the_status_waits_and_completes(stage: Stage) -> None:
    async with incidents() as server, stage.app() as app:
        document = await sample(app, server)
        told = await app.drift.start("default", starting("IN-98765"))
        assert (told["workflowStatus"], told["disposition"]) == ("WAITING", "STATUS_DISPLAYED")
        shown = told["view"]["inputOptions"][0]["instructions"][0]
        assert shown["templateVariables"] == {"status_name": "Solved"}
        asked = server.asked[0]
        assert (asked.method, asked.path) == ("GET", "/incidents/IN-98765")
        assert asked.headers["X_IMS_TENANT"] == "cs"
        assert asked.headers["X_PERF_TEST"] == "false"
        id = told["workflowId"]
        done = await app.drift.resume("default", id, {"viewResponse": {"selectedOptions": {}}})
        assert done["workflowStatus"] == "COMPLETED"
        run = app.run(await app.drift.find("default", id))
        assert await run.result() == {"comment": "Success"}
        exported = (await app.definitions.version("default", document["id"])).document
        assert canonical(exported) == canonical(document)
        expected = read("context.sample_runtime.json")["context"]
        context = (await app.drift.context("default", id))["context"]
        assert {"incidentId", "workflowId", "threadContext", "params"} <= context.keys()
        found = {key: context["get_incident_status"][key] for key in expected["get_incident_status"]}
        assert found == expected["get_incident_status"]
        assert context["show_status:viewResponse"] == {"selectedOptions": {}}


@pytest.mark.parametrize("how", ["not found", "script"])
@on_stage
async def test_the_sample_workflow_fails_with_its_failure_nodes_error(stage: Stage, how: str) -> None:
    async with incidents() as server, stage.app() as app:
        server.status = 404 if how == "not found" else 200
        server.answer = [1] if how == "script" else {}
        await sample(app, server)
        told = await app.drift.start("default", starting("IN-1"))
        assert told["workflowStatus"] == "FAILED"
        assert told["errorMessage"] == "Workflow completed by running default_failure"
        run = app.run(await app.drift.find("default", told["workflowId"]))
        with pytest.raises(RunEnded):
            await run.result()
        assert (await app.drift.state("default", told["workflowId"]))["currentNodeRef"] == "default_failure"


@pytest.mark.parametrize("name", NODES)
@on_stage
async def test_every_node_is_stored_versioned_and_used(stage: Stage, name: str) -> None:
    node = read(name)
    async with stage.app() as app:
        await app.parts.create("default", "node", node["id"], copy.deepcopy(node))
        first = await app.parts.publish("default", "node", node["id"])
        assert (first.version, first.document) == (1, node)
        changed = await app.parts.update("default", "node", node["id"], {"comment": "another"})
        assert changed.document == {**node, "comment": "another"}
        assert (await app.parts.publish("default", "node", node["id"])).version == 2
        ends = {
            key: state(good("SUCCESS")) for key in ("initiate_return", "show_policy_exception", "show_not_returnable")
        }
        using = {"type": "NODE", "resourceId": node["id"], "resourceVersion": "LATEST", "end": True}
        if node["type"] == "BRANCH":
            del using["end"]
        document = workflow({"it": using, **(ends if node["type"] == "BRANCH" else {})})
        await app.deploy(workflow({"a": state(good("SUCCESS"))}, id="refund_child_workflow"))
        version = await app.deploy(document)
        assert (await app.definitions.version("default", "wf", version.version)).document == document
        run = await app.start(
            "wf", {"params": {}, "oms_order_details": {"isReturnable": True}, "prev_node": {"status": 7}}
        )
        if node["type"] == "WAIT":
            assert await come_to(run, Status.SLEEPING) is Status.SLEEPING
            stage.clock.put_forward(15)
        if node["type"] == "HTTP":
            with pytest.raises(RunEnded):
                await run.result()  # nobody is at that address
            return
        await run.result()
        kernel, found = await app.runs.state("default", run.id)
        output = context_of(kernel.program, found).get("it")
        match node["type"]:
            case "BRANCH":
                assert output == {"nextNode": "show_not_returnable"}
            case "GROOVY":
                assert output["processed"] is True
                assert output["timestamp"]
            case "INSTRUCTION":
                variables = output["view"]["inputOptions"][0]["instructions"][0]["templateVariables"]
                assert variables == {"status": 7}
            case "CHILD":
                child = (await app.list_runs(definition="refund_child_workflow"))[0]
                assert await app.run(child.id).result() == {"comment": "done"}


@on_stage
async def test_the_properties_are_imported(stage: Stage) -> None:
    async with stage.app() as app:
        await app.lookups.import_properties("default", (FOLDER / "lookup.properties").read_text())
        assert (await app.lookups.get("default")).values["payments.host"] == "127.0.0.1"
        await app.selection.import_properties("default", (FOLDER / "workflow.properties").read_text())
        chosen = await app.selection.select("default", "289", {}, {"customerId": "C-1"})
        assert (chosen.definition, chosen.version, chosen.arm) == ("sample_status_workflow", 2, None)


@on_stage
async def test_the_issue_of_the_properties_starts_the_document_that_calls_itself_version_2(stage: Stage) -> None:
    async with incidents() as server, stage.app() as app:
        await sample(app, server)
        await app.selection.import_properties("default", (FOLDER / "workflow.properties").read_text())
        told = await app.drift.start("default", {**starting("IN-98765"), "params": {"incidentId": "IN-98765"},
                                                 "issueDetail": {"issueId": "289"}})  # fmt: skip
        assert told["workflowStatus"] == "WAITING"


@on_stage
async def test_the_bodies_of_starts_and_resumes_have_these_shapes(stage: Stage) -> None:
    response = read("api.start_response_waiting.json")
    request = read("api.start_request.json")
    ask = good("INSTRUCTION", inputOptions=response["view"]["inputOptions"], layoutId=response["view"]["layoutId"])
    document = workflow({"ask": state(ask, "done"), "done": state(good("SUCCESS"))}, id="refund")
    async with stage.app() as app:
        await app.deploy(document)
        await app.selection.save("default", {"rules": {"6332": {"workflow": "refund"}}})
        named = {"incidentId": response["incidentId"], "workflowId": response["workflowId"]}
        assert await app.drift.start("default", {**request, **named}) == response
        done = await app.drift.resume("default", response["workflowId"], read("api.resume_request.json"))
        assert done == {**named, "workflowStatus": "COMPLETED"}


def test_every_document_is_found_valid_by_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    files = [*sorted(FOLDER.glob("workflow.*.json")), *(FOLDER / name for name in NODES)]
    assert validate_files(files, as_json=False) == 0, capsys.readouterr().out
