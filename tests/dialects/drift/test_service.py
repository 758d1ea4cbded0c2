"""What a Drift client asks: start by issue, resume, state, terminate, a node on demand; and which version it gets."""

from __future__ import annotations

import re
from typing import Any

import pytest

from perdure.errors import InvalidInput, KeyReused, NotFound, TooSlow
from perdure.service.selection import bucket, read_rules, rules_in
from tests.dialects.drift.documents import Doc, good, script, state, workflow
from tests.dialects.drift.servers import incidents
from tests.fixtures.stage import Stage, on_stage
from tests.rows.worlds import World, on_every_store

HEADERS = {"X_TENANT_ID": "cs", "X-Client-Id": "web"}
ASK = good(
    "INSTRUCTION",
    inputOptions=[
        {
            "id": "method",
            "description": "Select",
            "tags": {"values": ["ui.dropdown", "ui.required"]},
            "possibleValues": [{"displayValue": "Wallet", "value": "WALLET"}],
        }
    ],
    layoutId={"attribute": {"type": "STATIC", "value": {"type": "STRING", "data": "screen"}}},
    disposition="ASKED",
)
REFUND = workflow(
    {
        "ask": state(ASK, "done"),
        "done": state(good("SUCCESS", comment="{{method}} for {{customer.customerId}} of {{threadContext.tenant}}")),
        "aside": state(good("BRANCH", choices=[{"rule": True, "nextNode": "done"}]), nextNode=None),
    },
    id="refund",
)
REQUEST: Doc = {
    "incidentId": "IN-1",
    "issueDetail": {"issueId": "6332", "issueName": "Refund"},
    "customer": {"customerId": "C-1"},
    "orderDetails": [{"orderId": "OD-1"}],
    "params": {"channel": "WEB"},
}
RULES = {"rules": {"6332": {"workflow": "refund"}}}


@on_every_store
async def test_a_workflow_is_started_by_its_issue_answered_and_completed(world: World) -> None:
    async with world.app() as app:
        await app.deploy(REFUND)
        await app.selection.save("default", RULES)
        told = await app.drift.start("default", REQUEST, HEADERS)
        assert re.fullmatch(r"WF-\d{20}", told["workflowId"])
        assert (told["incidentId"], told["workflowStatus"], told["disposition"]) == ("IN-1", "WAITING", "ASKED")
        assert told["view"]["layoutId"] == "screen"
        assert told["view"]["inputOptions"][0]["possibleValues"] == [{"displayValue": "Wallet", "value": "WALLET"}]
        found = await app.drift.state("default", told["workflowId"])
        assert (found["status"], found["currentNodeRef"]) == ("WAITING", "ask")
        assert found["issueDetail"] == REQUEST["issueDetail"]
        with pytest.raises(InvalidInput):
            await app.drift.resume(
                "default", told["workflowId"], {"viewResponse": {"selectedOptions": {"method": "X"}}}
            )
        answer = {"viewResponse": {"selectedOptions": {"method": "WALLET"}}}
        done = await app.drift.resume("default", told["workflowId"], answer)
        assert done == {"incidentId": "IN-1", "workflowId": told["workflowId"], "workflowStatus": "COMPLETED"}
        context = (await app.drift.context("default", told["workflowId"]))["context"]
        assert context["ask:viewResponse"] == {"selectedOptions": {"method": "WALLET"}}
        assert context["done"] == {"comment": "WALLET for C-1 of cs"}
        assert context["threadContext"] == {
            "tenant": "cs", "clientId": "web", "client": "web", "userName": "web", "perfFlag": "false",
        }  # fmt: skip


@on_every_store
async def test_an_id_of_the_clients_own_names_one_run(world: World) -> None:
    request = {**REQUEST, "workflowId": "WF-mine"}
    async with world.app() as app:
        await app.deploy(REFUND)
        await app.selection.save("default", RULES)
        first = await app.drift.start("default", request, HEADERS)
        assert first["workflowId"] == "WF-mine"
        assert await app.drift.start("default", request, HEADERS) == first
        assert len(await app.list_runs(definition="refund")) == 1
        with pytest.raises(KeyReused) as caught:
            await app.drift.start("default", {**request, "incidentId": "IN-2"}, HEADERS)
        told = caught.value.as_dict()
        assert (told["workflowId"], told["pointer"]) == ("WF-mine", "/workflowId")
        assert "WF-mine" in told["message"]
        assert "workflowId" in told["remedy"]
        await app.drift.terminate("default", "WF-mine", "enough")
        assert (await app.drift.state("default", "WF-mine"))["status"] == "TERMINATED"


@on_every_store
async def test_the_same_request_is_the_same_run_whatever_rules_say_meanwhile(world: World) -> None:
    request = {**REQUEST, "workflowId": "WF-mine"}
    split = {"experiment": "new", "percent": 0, "control": 1, "treatment": "LATEST"}
    issue = next(iter(RULES["rules"]))
    async with world.app() as app:
        await app.deploy(REFUND)
        await app.selection.save("default", {"rules": {issue: {"workflow": "refund", "split": split}}})
        first = await app.drift.start("default", request, HEADERS)
        await app.selection.save(
            "default", {"rules": {issue: {"workflow": "refund", "split": {**split, "percent": 100}}}}
        )
        assert await app.drift.start("default", request, HEADERS) == first
        assert await app.drift.start("default", request, {**HEADERS, "X_PERF_TEST": "true"}) == first
        assert len(await app.list_runs(definition="refund")) == 1
        with pytest.raises(KeyReused):
            await app.drift.start("default", request, {**HEADERS, "X_TENANT_ID": "another"})


_RULE = {"workflow": "refund"}
WRONG_RULES = [
    (5, ""),
    ({"rules": []}, "/rules"),
    ({"rules": {"": _RULE}}, "/rules/"),
    ({"rules": {"a/b": 5}}, "/rules/a~1b"),
    ({"rules": {"1": {"workflow": ""}}}, "/rules/1/workflow"),
    ({"rules": {"1": {"workflow": "../../x"}}}, "/rules/1/workflow"),
    ({"rules": {"1": {**_RULE, "version": [1]}}}, "/rules/1/version"),
    ({"rules": {"1": {**_RULE, "split": {"experiment": ""}}}}, "/rules/1/split/experiment"),
    ({"rules": {"1": {**_RULE, "split": {"experiment": "e", "percent": "x"}}}}, "/rules/1/split/percent"),
    ({"provider": {"endpoint": "file:///etc/passwd"}}, "/provider/endpoint"),
    ({"provider": {"endpoint": 5}}, "/provider/endpoint"),
]


@pytest.mark.parametrize(("rules", "pointer"), WRONG_RULES)
def test_what_is_wrong_with_rules_is_told_at_its_place(rules: Any, pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_rules(rules)
    assert refused.value.pointer == pointer


@on_every_store
async def test_an_id_that_there_happens_to_be_is_not_given_twice(world: World) -> None:
    class Loaded:
        """Dice that show the same number twice."""

        def __init__(self) -> None:
            self.thrown = [7, 7, 7, 8]

        def randrange(self, sides: int) -> int:
            return self.thrown.pop(0)

    async with world.app() as app:
        await app.deploy(REFUND)
        await app.selection.save("default", RULES)
        app.drift._chance = Loaded()  # type: ignore[assignment]
        begin = world.clock.now() // 1000
        told = [await app.drift.start("default", REQUEST, HEADERS, wait=None) for _ in range(2)]
        if world.clock.now() // 1000 == begin:
            assert told[0]["workflowId"] != told[1]["workflowId"]
        assert len(await app.list_runs(definition="refund")) == 2


@on_every_store
async def test_what_a_start_lacks_is_told(world: World) -> None:
    async with world.app() as app:
        with pytest.raises(NotFound):
            await app.drift.start("default", REQUEST, HEADERS)
        for wrong in ({}, [], {"issueDetail": {}}, {"issueDetail": {"issueId": 5}}, {**REQUEST, "params": []}):
            with pytest.raises(InvalidInput):
                await app.drift.start("default", wrong, HEADERS)
        for headers in ({}, {"X_TENANT_ID": "cs"}):
            with pytest.raises(InvalidInput):
                await app.drift.start("default", REQUEST, headers)
        with pytest.raises(NotFound):
            await app.drift.state("default", "WF-nobody")


@on_every_store
async def test_statuses_have_drifts_names(world: World) -> None:
    waiting = workflow({"a": state(good("WAIT"), "b"), "b": state(good("SUCCESS", executionMode="ASYNC"))}, id="slow")
    failing = workflow({"a": state(good("FAILURE", error="sold out"))}, id="failing")
    async with world.app() as app:
        for document in (waiting, failing):
            await app.deploy(document)
        chosen = {"params": {"workflowId": "slow", "version": "1"}, "workflowId": "WF-1"}
        with pytest.raises(TooSlow):
            await app.drift.start("default", chosen, HEADERS, wait=1.0)
        assert (await app.drift.state("default", "WF-1"))["status"] == "SCHEDULER_WAITING"
        assert (await app.drift.state("default", "WF-1"))["currentNodeRef"] == "a"
        await app.run(await app.drift.find("default", "WF-1")).result()
        assert (await app.drift.state("default", "WF-1"))["status"] == "ASYNC_COMPLETE"
        told = await app.drift.start("default", {"params": {"workflowId": "failing", "version": "LATEST"}}, HEADERS)
        assert (told["workflowStatus"], told["errorMessage"]) == ("FAILED", "sold out")


@on_stage
async def test_a_node_on_demand_is_executed_and_changes_only_the_context(stage: Stage) -> None:
    document = workflow(
        {
            "a": state(good("WAIT", config={"waitType": "ON_EVENT"}), "b"),
            "b": state(good("SUCCESS", comment="${_global.aside.sum}")),
            "aside": state(good("GROOVY", transformer=script("return [sum: _global.aside.x + 1]")), "b"),
        }
    )
    async with stage.app() as app:
        await app.deploy(document)
        begun = {"params": {"workflowId": "wf", "version": 1}, "workflowId": "WF-1"}
        assert (await app.drift.start("default", begun))["workflowStatus"] == "WAITING"
        told = await app.drift.execute_node("default", "WF-1", {"node": "aside", "parameters": {"x": 1}})
        assert told == {"workflowId": "WF-1", "node": "aside", "status": "SUCCESS", "response": {"sum": 2}}
        assert (await app.drift.state("default", "WF-1"))["status"] == "WAITING"
        done = await app.drift.resume("default", "WF-1", {"viewResponse": {}})
        assert done["workflowStatus"] == "COMPLETED"
        context = (await app.drift.context("default", "WF-1"))["context"]
        assert context["b"] == {"comment": 2}


# -- selection ---------------------------------------------------------------------------------------

PROPERTIES = """
workflow.289.key=wf
workflow.289.version=1
workflow.289.ab.enabled=true
workflow.289.ab.experimentName=images
workflow.289.ab.pivotType=customerId
workflow.289.ab.variable=Validate
workflow.289.ab.control.version=1
workflow.289.ab.treatment.version=LATEST
workflow.a.b.key=other
"""


def versions() -> list[Doc]:
    return [workflow({"a": state(good("SUCCESS", comment=text))}) for text in ("old", "new")]


def test_r09_properties_are_read_as_rules() -> None:
    rules = rules_in(PROPERTIES)
    assert rules["289"].workflow == "wf"
    assert rules["289"].version == 1
    split = rules["289"].split
    assert split is not None
    assert (split.experiment, split.pivot, split.control, split.treatment) == ("images", "customerId", 1, "LATEST")
    assert (split.percent, split.enabled) == (None, True)
    assert rules["a.b"].workflow == "other"
    for wrong in ("workflow.1.version=2", "workflow.1.key=a\nworkflow.1.version=x", "workflow.1.colour=red"):
        with pytest.raises(InvalidInput):
            rules_in(wrong)


def test_r09_pivots_are_spread_evenly_and_stay_where_they_are() -> None:
    treated = [pivot for pivot in range(20_000) if bucket("images", f"C-{pivot}") < 1_000]
    assert 1_850 < len(treated) < 2_150
    assert [bucket("images", "C-1"), bucket("images", "C-1")] == [bucket("images", "C-1")] * 2
    both = [pivot for pivot in treated if bucket("other", f"C-{pivot}") < 1_000]
    assert 130 < len(both) < 280, "another experiment divides them anew"


@on_every_store
async def test_r09_a_share_of_the_starts_gets_the_treatment_and_the_run_says_so(world: World) -> None:
    async with world.app() as app:
        for document in versions():
            await app.deploy(document)
        await app.selection.import_properties("default", f"{PROPERTIES}workflow.289.ab.treatment.percent=30\n")
        arms: dict[str, str] = {}
        for number in range(60):
            request: Any = {"issueDetail": {"issueId": "289"}, "customer": {"customerId": f"C-{number}"}}
            told = await app.drift.start("default", request, HEADERS)
            view = await app.run(await app.drift.find("default", told["workflowId"])).view()
            arms[f"C-{number}"] = view.attributes["arm"]
            assert view.attributes["experiment"] == "images"
            assert view.version == (2 if view.attributes["arm"] == "treatment" else 1)
        assert 8 <= list(arms.values()).count("treatment") <= 28
        chosen = await app.selection.select("default", "289", {}, {"customerId": "C-7"})
        assert chosen.arm == arms["C-7"], "sticky"
        without = await app.selection.select("default", "289", {})
        assert (without.version, without.arm) == (1, None)
        named = await app.selection.select("default", "289", {"workflowId": "else", "version": "3"})
        assert (named.definition, named.version, named.arm) == ("else", 3, None)


@on_every_store
async def test_a_version_is_one_of_ours_or_what_a_document_calls_itself(world: World) -> None:
    def called(own: Any, text: str) -> Doc:
        return workflow({"a": state(good("SUCCESS", comment=text))}, version=own)

    async def started(version: Any) -> int:
        request: Any = {"params": {"workflowId": "wf", "version": version}}
        told = await app.drift.start("default", request, HEADERS)
        return (await app.run(await app.drift.find("default", told["workflowId"])).view()).version

    async with world.app() as app:
        await app.deploy(called("7", "seven"))
        await app.selection.import_properties("default", "workflow.289.key=wf\nworkflow.289.version=7\n")
        told = await app.drift.start("default", {"issueDetail": {"issueId": "289"}}, HEADERS)
        assert told["workflowStatus"] == "COMPLETED"
        await app.deploy(called(7, "seven, mended"))
        await app.deploy(called("8", "seven, mended"))
        assert [await started(version) for version in ("1", 2, "7", "v8", "LATEST")] == [1, 2, 2, 3, 3]
        with pytest.raises(NotFound) as caught:
            await started("9")
        assert (caught.value.expected, caught.value.remedy is not None) == ("1 to 3, LATEST or ACTIVE", True)
        with pytest.raises(NotFound):
            await app.drift.start("default", {"params": {"workflowId": "nobody", "version": 4}}, HEADERS)


@on_stage
async def test_r09_a_provider_outside_decides_and_where_it_fails_the_control_arm_is_taken(stage: Stage) -> None:
    async with incidents() as server, stage.app(secrets={"AB_KEY": "s3cret"}) as app:
        for document in versions():
            await app.deploy(document)
        await app.selection.import_properties("default", PROPERTIES)
        customer = {"customerId": "C-1"}
        assert (await app.selection.select("default", "289", {}, customer)).arm == "control"
        rules = await app.selection.rules("default")
        provider = {
            "endpoint": f"http://{server.host}/ab", "clientId": "drift", "tenantId": "cs",
            "clientSecretKey": "AB_KEY", "isABEnabled": True,
        }  # fmt: skip
        saved: Any = {"rules": {"289": {"workflow": "wf", "version": 1, "split": {"experiment": "images"}}}}
        assert rules.rules["289"].split is not None
        await app.selection.save("default", {**saved, "provider": provider})
        server.answer = {"treatment": True}
        assert (await app.selection.select("default", "289", {}, customer)).arm == "treatment"
        asked = server.asked[-1]
        assert asked.headers["Authorization"] == "Bearer s3cret"
        assert '"pivot":"C-1"' in server.bodies[-1]
        for answer, status in ({"treatment": False}, 200), ("nonsense", 200), ({"treatment": True}, 500):
            server.answer, server.status = answer, status
            assert (await app.selection.select("default", "289", {}, customer)).arm == "control"
        off = {**provider, "isABEnabled": False}
        server.answer, server.status = {"treatment": True}, 200
        await app.selection.save("default", {**saved, "provider": off})
        assert (await app.selection.select("default", "289", {}, customer)).arm == "control"


@on_every_store
async def test_rules_with_mistakes_are_not_saved(world: World) -> None:
    async with world.app() as app:
        for wrong in (
            {"rules": {"1": {"workflow": "wf", "version": "x"}}},
            {"rules": {"1": {"workflow": "wf", "split": {"experiment": "e", "percent": 101}}}},
            {"rules": {"1": {}}},
            {"rule": {}},
            [],
        ):
            with pytest.raises(InvalidInput):
                await app.selection.save("default", wrong)
        assert (await app.selection.rules("default")).rules == {}


@on_every_store
async def test_what_is_said_to_a_view_of_texts_changes_nothing_of_the_context(world: World) -> None:
    note = {"id": "t", "description": "sorry", "tags": {"values": ["ui.static_text"]}}
    told = "{{calc.price}} {{params.channel}} {{customer.customerId}}"
    document = workflow(
        {
            "calc": state(good("GROOVY", transformer=script("return [price: 5]")), "info"),
            "info": state(good("INSTRUCTION", inputOptions=[note]), "done"),
            "done": state(good("SUCCESS", comment=told)),
        },
        id="refund",
    )
    forged = {"calc": {"price": 0}, "params": {"channel": "FORGED"}, "customer": {"customerId": "C-2"}}
    async with world.app() as app:
        await app.deploy(document)
        await app.selection.save("default", RULES)
        id = (await app.drift.start("default", REQUEST, HEADERS))["workflowId"]
        await app.drift.resume("default", id, {"viewResponse": {"selectedOptions": forged}})
        context = (await app.drift.context("default", id))["context"]
        assert (context["calc"], context["params"]) == ({"price": 5}, REQUEST["params"])
        assert context["customer"] == REQUEST["customer"]
        assert context["info:viewResponse"] == {"selectedOptions": forged}
