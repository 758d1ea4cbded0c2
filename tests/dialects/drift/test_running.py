"""Drift workflows run: one token from state to state, with the context that its scripts read."""

from __future__ import annotations

from typing import Any

import pytest

from perdure import Perdure
from perdure.authoring.activities import ActivityRequest, ActivityResponse, activity
from perdure.errors import RunEnded
from perdure.model import events as e
from perdure.model.commands import Answer
from perdure.model.statuses import Status
from perdure.model.times import iso
from perdure.service.handles import Run
from tests.dialects.drift.documents import SUCCESS, Doc, good, script, state, static, workflow
from tests.dialects.drift.servers import incidents
from tests.fixtures.moments import until
from tests.fixtures.stage import Stage, come_to, on_stage
from tests.rows.worlds import World, on_every_store


def groovy(text: str) -> Doc:
    return good("GROOVY", transformer=script(text))


async def begun(app: Perdure, document: Doc, input: Any = None, **start: Any) -> Run:
    version = await app.deploy(document)
    return app.run(await app.runs.start("default", version.id, input, version=version.version, **start))


async def ended(app: Perdure, document: Doc, input: Any = None, **start: Any) -> Any:
    return await (await begun(app, document, input, **start)).result()


async def failure(run: Run) -> dict[str, Any]:
    with pytest.raises(RunEnded):
        await run.result()
    found = (await run.view()).failure
    assert found is not None
    return found


async def nodes(run: Run) -> list[str]:
    """Those that were begun, in order, without the start."""
    rows = await run.history()
    return [row.event.node for row in rows if isinstance(row.event, e.ActivationScheduled | e.NodeEvaluated)][1:]


# -- context -----------------------------------------------------------------------------------------


@on_stage
async def test_d01_outputs_are_read_by_the_name_of_their_state(stage: Stage) -> None:
    document = workflow(
        {
            "node002": state(groovy("return [refundAmount: 1500.00, refundMethod: 'BANK']"), "say"),
            "say": state(good("SUCCESS", comment="${_global.node002.refundAmount} by {{node002.refundMethod}}")),
        }
    )
    async with stage.app() as app:
        assert await ended(app, document) == {"comment": "1500.0 by BANK"}


@on_stage
async def test_parameters_are_paths_into_the_context_or_constants(stage: Stage) -> None:
    document = workflow(
        {
            "a": state(groovy("return [list: [[n: 1], [n: 2]], 'odd:key': 7]"), "b"),
            "b": state(
                groovy("return _global.nodeParameters"),
                parameters={
                    "started": "$.params.x",
                    "deep": "$.a.list[1].n",
                    "several": "$.a.list[*].n",
                    "colon": "$.a.odd:key",
                    "missing": "$.nothing.here",
                    "broken": "$.a[",
                    "constant": "plain",
                    "number": 5,
                    "customer": "$.customer.customerId",
                },
            ),
        }
    )
    async with stage.app() as app:
        request = {"params": {"x": 3}, "customer": {"customerId": "C-1"}}
        assert await ended(app, document, request) == {
            "started": 3,
            "deep": 2,
            "several": [1, 2],
            "colon": 7,
            "missing": None,
            "broken": None,
            "constant": "plain",
            "number": 5,
            "customer": "C-1",
        }


@on_stage
async def test_parameters_are_worked_out_anew_for_every_node(stage: Stage) -> None:
    document = workflow(
        {
            "a": state(groovy("return _global.nodeParameters.x"), "b", parameters={"x": "one"}),
            "b": state(groovy("return [a: _global.a, own: _global.nodeParameters]")),
        }
    )
    async with stage.app() as app:
        assert await ended(app, document) == {"a": "one", "own": {}}


@on_stage
async def test_an_output_is_kept_under_the_override_key_and_the_last_one_counts(stage: Stage) -> None:
    override = good(
        "CONTEXT_OVERRIDE", transformerComponents={"transformer": script("return (_global.total ?: 0) + 1")}
    )
    again = good("BRANCH", choices=[{"rule": script("return _global.total < 5"), "nextNode": "b"}], defaultNode="end")
    document = workflow(
        {
            "a": state(override, "b", contextOverrideKey="total"),
            "b": state(override, "ask", contextOverrideKey="total"),
            "ask": state(again, nextNode=None),
            "end": state(good("SUCCESS", comment="${_global.total} ${_global.a ?? 'none'}")),
        }
    )
    async with stage.app() as app:
        assert await ended(app, document) == {"comment": "5 none"}


@on_stage
async def test_d03_d04_metadata_and_thread_are_readable(stage: Stage) -> None:
    document = workflow(
        {
            "a": state(good("DELEGATE"), "b"),
            "b": state(groovy("return [_metadata.executedNodes, _metadata.currentNode, _thread.tenant]")),
        }
    )
    async with stage.app() as app:
        found = await ended(app, document, {}, thread={"tenant": "cs"})
        assert found == [["a"], "b", "cs"]


@on_stage
async def test_d08_d09_texts_that_cannot_be_resolved_stay_as_they_are(stage: Stage) -> None:
    text = "{{who}} ${order.id} ${1 +} {{missing}} $5"
    document = workflow({"a": state(good("SUCCESS", comment=text))})
    async with stage.app() as app:
        found = await ended(app, document, {"who": "Ada", "params": {}})
        assert found == {"comment": "Ada ${order.id} ${1 +} {{missing}} $5"}


@on_stage
async def test_an_input_without_params_is_the_params(stage: Stage) -> None:
    document = workflow({"a": state(groovy("return _global.params.x + _global.x"))})
    async with stage.app() as app:
        assert await ended(app, document, {"x": 2}) == 4


@on_stage
async def test_states_may_have_any_name(stage: Stage) -> None:
    document = workflow(
        {
            "Büro 1/2": state(groovy("return 1"), "start"),
            "start": state(groovy("return _global['Büro 1/2'] + 1"), "START"),
            "START": state(groovy("return _global.start + 1"), "data"),
            "data": state(good("SUCCESS", comment="{{START}}")),
        }
    )
    async with stage.app() as app:
        assert await ended(app, document) == {"comment": 3}


# -- failures ----------------------------------------------------------------------------------------


@on_stage
async def test_e03_a_failure_leads_to_the_failure_node_which_is_told_of_it(stage: Stage) -> None:
    document = workflow(
        {
            "a": state(groovy("return 1 / 0"), "b"),
            "b": state(SUCCESS),
            "failed": state(good("FAILURE", error="{{error.node}}: {{error.code}}", errorCode="NOPE")),
        },
        defaultFailureNode="failed",
    )
    async with stage.app() as app:
        run = await begun(app, document)
        found = await failure(run)
        assert (found["code"], found["message"], found["node"]) == ("NOPE", "a: SCRIPT_RUNTIME", "failed")
        assert await nodes(run) == ["a", "failed"]
        assert [view.id for view in await app.list_runs(attributes={"errorCode": "NOPE"})] == [run.id]


@on_stage
async def test_e03_without_a_failure_node_the_run_fails(stage: Stage) -> None:
    async with stage.app() as app:
        found = await failure(await begun(app, workflow({"a": state(groovy("return 1 / 0"))})))
        assert (found["code"], found["node"]) == ("SCRIPT_RUNTIME", "a")


@on_stage
async def test_e02_a_failure_node_that_fails_itself_ends_the_run_after_ten(stage: Stage) -> None:
    document = workflow(
        {"a": state(groovy("return 1 / 0")), "failed": state(groovy("return 1 / 0"))}, defaultFailureNode="failed"
    )
    async with stage.app() as app:
        run = await begun(app, document)
        found = await failure(run)
        assert found["code"] == "TOO_MANY_ERRORS"
        assert (found["details"]["first"]["node"], found["details"]["last"]["node"]) == ("a", "failed")
        assert len(await nodes(run)) == 11


@on_stage
async def test_a_failure_node_with_a_text_of_its_own_keeps_what_led_to_it(stage: Stage) -> None:
    document = workflow(
        {"a": state(groovy("return 1 / 0")), "failed": state(good("FAILURE", error="sorry"))},
        defaultFailureNode="failed",
    )
    async with stage.app() as app:
        found = await failure(await begun(app, document))
        assert found["message"] == "sorry"
        cause = found["details"]["cause"]
        assert (cause["code"], cause["node"]) == ("SCRIPT_RUNTIME", "a")
        assert cause["message"]
        request: Any = {"params": {"workflowId": "wf", "version": "LATEST"}}
        assert (await app.drift.start("default", request))["errorMessage"] == "sorry"


@pytest.mark.parametrize("params", [None, {"sku": "{{params.s}}!", "many": 2}])
@on_stage
async def test_a_processor_gets_the_parameters_of_its_state_by_name(stage: Stage, params: Any) -> None:
    async def check_stock(ctx: Any, sku: str, many: int = 1) -> Any:
        return {"got": f"{sku} {many}"}

    node = good("PROCESSOR", processorComponents={"processor": "check_stock", "params": params})
    document = workflow(
        {
            "a": state(node, "b", parameters={"sku": "$.params.s"}),
            "b": state(good("SUCCESS", comment="${_global.a.got}")),
        }
    )
    async with stage.app(check_stock) as app:
        found = await ended(app, document, {"params": {"s": "S-1"}})
        assert found == {"comment": "S-1 1" if params is None else "S-1! 2"}


@on_stage
async def test_e02_a_success_in_between_begins_the_count_anew(stage: Stage) -> None:
    """The failure node leads back into the workflow: fifteen failures, none of them in a row."""
    more = good("BRANCH", choices=[{"rule": script("return _global.count < 15"), "nextNode": "a"}], defaultNode="done")
    document = workflow(
        {
            "a": state(groovy("return 1 / 0")),
            "failed": state(groovy("return (_global.count ?: 0) + 1"), "more", contextOverrideKey="count"),
            "more": state(more, nextNode=None),
            "done": state(good("SUCCESS", comment="${_global.count}")),
        },
        defaultFailureNode="failed",
    )
    async with stage.app() as app:
        assert await ended(app, document) == {"comment": 15}


@on_every_store
async def test_a_failure_state_ends_the_run_whatever_the_failure_node_is(world: World) -> None:
    document = workflow(
        {"a": state(good("FAILURE", error=None, message="sold out", errorCode="NO_STOCK")), "b": state(SUCCESS)},
        defaultFailureNode="b",
    )
    async with world.app() as app:
        found = await failure(await begun(app, document))
        assert (found["code"], found["message"]) == ("NO_STOCK", "sold out")


@pytest.mark.parametrize("how", ["completed", "failed", "cancelled"])
@on_stage
async def test_e04_completion_nodes_run_in_any_case_and_change_nothing(stage: Stage, how: str) -> None:
    first = {
        "completed": groovy("return 'fine'"),
        "failed": groovy("return 1 / 0"),
        "cancelled": good("WAIT", config={"waitType": "ON_EVENT"}),
    }[how]
    document = workflow(
        {"a": state(first), "wrong": state(groovy("return 1 / 0")), "tidy": state(groovy("return 'tidied'"))},
        postWorkflowCompletionNodes=["wrong", "tidy"],
    )
    async with stage.app() as app:
        run = await begun(app, document)
        if how == "cancelled":
            await come_to(run, Status.WAITING)
            await run.cancel("enough")

        async def is_over() -> bool:
            return (await run.status()).is_final

        await until(is_over)
        assert (await run.status()).value == how.upper()
        assert await nodes(run) == ["a", "wrong", "tidy"]


# -- ends --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({"comment": "Success"}, {"comment": "Success"}),
        ({"comment": None, "message": "paid", "status": "REFUNDED"}, {"message": "paid", "status": "REFUNDED"}),
        ({"comment": "x", "executionMode": "ASYNC"}, {"comment": "x", "status": "ASYNC_COMPLETE"}),
        ({"comment": "x", "executionMode": "SYNC"}, {"comment": "x"}),
    ],
)
def test_b17_a_success_completes_the_run_with_its_message_and_status(fields: Doc, output: Doc) -> None:
    @on_every_store
    async def check(world: World) -> None:
        async with world.app() as app:
            assert await ended(app, workflow({"a": state(good("SUCCESS", **fields))})) == output

    for kind in ("memory", "sqlite"):
        check(kind=kind)


# -- waits -------------------------------------------------------------------------------------------


@on_every_store
async def test_waits_pass_without_a_worker(world: World) -> None:
    async with world.app() as app:
        end = iso(world.clock.now() // 1_000_000 * 1_000_000 + 3600_000_000)
        absolute = good("WAIT", config={"waitType": "ABSOLUTE_WAIT", "timestamp": end})
        document = workflow({"a": state(good("WAIT"), "b"), "b": state(absolute, "c"), "c": state(SUCCESS)})
        run = await begun(app, document)
        assert await run.result() == {"comment": "done"}
        assert str((await run.view()).closed_at)[:19] == end[:19]


@on_every_store
async def test_a_moment_that_has_passed_is_not_waited_for(world: World) -> None:
    past = good("WAIT", config={"waitType": "ABSOLUTE_WAIT", "timestamp": "2001-01-01T00:00:00Z"})
    async with world.app() as app:
        begin = world.clock.now()
        await ended(app, workflow({"a": state(past, "b"), "b": state(SUCCESS)}))
        assert world.clock.now() - begin < 1_000_000


@on_every_store
async def test_b06_in_perf_mode_scheduler_waits_are_not_waited_out(world: World) -> None:
    document = workflow({"a": state(good("WAIT", config={"waitType": "SCHEDULER_WAIT", "duration": 3600}), "b"),
                         "b": state(SUCCESS)})  # fmt: skip
    async with world.app() as app:
        begin = world.clock.now()
        await ended(app, document, {}, thread={"perfFlag": "true"})
        assert world.clock.now() - begin < 60_000_000
        await ended(app, document, {}, thread={"perfFlag": "false"})
        assert world.clock.now() - begin > 3600_000_000


@on_every_store
async def test_an_event_is_waited_for(world: World) -> None:
    document = workflow(
        {
            "paid": state(good("WAIT", config={"waitType": "ON_EVENT"}), "b"),
            "b": state(good("SUCCESS", comment="${_global.paid.amount}")),
        }
    )
    async with world.app() as app:
        run = await begun(app, document)
        await run.signal("paid", {"amount": 7})
        assert await run.result() == {"comment": 7}


# -- children ----------------------------------------------------------------------------------------

CHILD = workflow(
    {"a": state(good("SUCCESS", comment="{{workflowId}} {{incidentId}} ${params.workflowId} ${params.extra ?? '-'}"))},
    id="child",
)


@on_every_store
async def test_a_child_that_is_not_waited_for_inherits_and_lives_on(world: World) -> None:
    launch = good("CHILD", childWorkflowId="child", childWorkflowVersion="LATEST")
    document = workflow({"a": state(launch, "b"), "b": state(SUCCESS)})
    async with world.app() as app:
        await app.deploy(CHILD)
        run = await begun(app, document, {"workflowId": "WF-1", "incidentId": "IN-1", "params": {}})
        assert await run.result() == {"comment": "done"}
        child = (await app.list_runs(attributes={"workflowId": "CH-WF-1"}))[0]
        assert child.parent == run.id
        assert await app.run(child.id).result() == {"comment": "CH-WF-1 IN-1 child -"}


@pytest.mark.parametrize("kind", ["CHILD", "SUBWORKFLOW"])
def test_a_child_that_is_waited_for_gives_its_output(kind: str) -> None:
    @on_every_store
    async def check(world: World) -> None:
        fields: Doc = {"parameters": {"extra": "$.params.x"}}
        calling = state(good("CHILD", childWorkflowId="child", executionMode="SYNC"), "b", **fields)
        if kind == "SUBWORKFLOW":
            calling = {"type": "SUBWORKFLOW", "resourceId": "child", "resourceVersion": "1", "nextNode": "b", **fields}
        document = workflow({"a": calling, "b": state(good("SUCCESS", comment="${_global.a.comment}"))})
        async with world.app() as app:
            await app.deploy(CHILD)
            found = await ended(app, document, {"workflowId": "WF-1", "incidentId": "IN-1", "params": {"x": "more"}})
            assert found == {"comment": "CH-WF-1 IN-1 child more"}

    for store in ("memory", "sqlite"):
        check(kind=store)


# -- HTTP --------------------------------------------------------------------------------------------


def calling(**parts: Any) -> Doc:
    url = script("return 'http://' + _enum_store.ims.vip + '/incidents/' + _global.nodeParameters.id")
    return good("HTTP", httpComponents={"url": url, "method": "GET", "contentType": "application/json", **parts})


@on_stage
async def test_http_with_scripts_and_constants_in_every_field(stage: Stage) -> None:
    node = calling(
        method="POST",
        headers=static('{"X-One": "1", "X-Two": "${_global.params.id}"}', "MAP"),
        queryParams=script("return [page: 2, tag: ['a', 'b']]"),
        body=script("return [id: _global.params.id, items: [1, 2]]"),
    )
    node["transformerComponents"] = {"transformer": script("return [name: _response.statusResponse.status]")}
    document = workflow(
        {
            "a": state(node, "b", parameters={"id": "$.params.id"}),
            "b": state(groovy("return [out: _global.a.name, raw: _global['a:httpResponse'].statusCode]")),
        }
    )
    async with incidents() as server, stage.app() as app:
        await app.lookups.put("default", {"ims.vip": server.host})
        found = await ended(app, document, {"params": {"id": "IN-7"}})
        assert found == {"out": "Solved", "raw": 200}
        asked = server.asked[0]
        assert (asked.method, asked.path_qs) == ("POST", "/incidents/IN-7?page=2&tag=a&tag=b")
        assert (asked.headers["X-One"], asked.headers["X-Two"]) == ("1", "IN-7")
        assert asked.headers["Content-Type"] == "application/json"
        assert server.bodies == ['{"id":"IN-7","items":[1,2]}']


@on_stage
async def test_b06_perf_headers_are_sent_in_perf_mode_only(stage: Stage) -> None:
    document = workflow({"a": state(calling(), parameters={"id": "x"})})
    async with incidents() as server, stage.app() as app:
        await app.lookups.put("default", {"ims.vip": server.host})
        await ended(app, document, {}, thread={"perfFlag": "true"})
        await ended(app, document, {}, thread={"perfFlag": "false"})
        marks = [(each.headers.get("X_PERF_TEST"), each.headers.get("X-PERF-TEST")) for each in server.asked]
        assert marks == [("true", "true"), (None, None)]


# -- people, and nodes on demand -----------------------------------------------------------------------


@on_stage
async def test_b15_an_instruction_shows_resolved_texts_and_its_answer_is_in_the_context(stage: Stage) -> None:
    ask = good(
        "INSTRUCTION",
        inputOptions=[{"id": "why", "description": "Order #${orderId}", "tags": {"values": ["ui.free_text"]}}],
        layoutId={"attribute": static("reasons")},
        disposition={"attribute": script("return 'ASKED'")},
    )
    document = workflow(
        {
            "ask": state(ask, "b"),
            "b": state(groovy("return _global['ask:viewResponse'].selectedOptions.why + _global.why")),
        }
    )
    async with stage.app() as app:
        run = await begun(app, document, {"orderId": "123", "params": {}})
        assert await come_to(run, Status.WAITING) is Status.WAITING
        _, found = await app.runs.state("default", run.id)
        task = next(iter(found.activations.values())).task
        assert task is not None
        assert task.view["inputOptions"][0]["description"] == "Order #123"
        assert task.view["layoutId"] == "reasons"
        assert task.details == {"disposition": "ASKED"}
        await app.engine.send("default", run.id, Answer({"selectedOptions": {"why": "late"}}))
        assert await run.result() == "latelate"


@on_every_store
async def test_the_seeds_instruction_is_a_text_and_at_the_end_nobody_is_waited_for(world: World) -> None:
    node = good("INSTRUCTION", inputOptions=None, instruction="Refund of ${params.amount}")
    async with world.app() as app:
        found = await ended(app, workflow({"a": state(node)}), {"params": {"amount": 5}})
        assert found["view"]["inputOptions"][0]["description"] == "Refund of 5"


@on_stage
async def test_a_disconnected_state_is_there_to_be_asked_for(stage: Stage) -> None:
    document = workflow(
        {
            "a": state(good("WAIT", config={"waitType": "ON_EVENT"}), "b"),
            "b": state(good("SUCCESS", comment="${_global.aside.sum}")),
            "aside": state(groovy("return [sum: _global.aside.x + 1]"), "b"),
        }
    )
    async with stage.app() as app:
        run = await begun(app, document)
        await come_to(run, Status.WAITING)
        kernel, _ = await app.runs.state("default", run.id)
        assert [node.id for node in kernel.program.graph.on_demand] == ["aside"]  # type: ignore[attr-defined]


# -- scripts -----------------------------------------------------------------------------------------


@on_stage
async def test_python_scripts_run_too(stage: Stage) -> None:
    document = workflow(
        {
            "a": state(good("GROOVY", transformer=None, script="return [1, 2]", scriptType="python"), "b"),
            "b": state(good("GROOVY", transformer=script("sum(_global['a']) * 2", language="python"))),
        }
    )
    async with stage.app() as app:
        assert await ended(app, document) == 6


@on_stage
async def test_a_script_that_is_stored_by_itself_is_used_by_its_name(stage: Stage) -> None:
    document = workflow({"a": state(good("GROOVY", transformer=None, script="double", scriptType="FILE"))})
    async with stage.app() as app:
        stored = {"script": "return _global.params.x * 2", "language": "groovy"}
        await app.parts.deploy("default", "script", "double", stored)
        assert await ended(app, document, {"params": {"x": 4}}) == 8


@pytest.mark.parametrize(("selected", "valid"), [({"why": "late", "who": "me"}, True), ({"why": "late"}, False)])
@on_stage
async def test_b16_a_processor_tells_whether_every_widget_was_answered(
    stage: Stage, selected: Doc, valid: bool
) -> None:
    options = [{"id": id, "tags": {"values": ["ui.free_text"]}} for id in ("why", "who")]
    document = workflow(
        {
            "ask": state(good("INSTRUCTION", id="asking", inputOptions=options), "check"),
            "check": state(good("PROCESSOR", processorComponents=None, instructionNodeRef="asking"), "b"),
            "b": state(good("SUCCESS", comment="${_global.check.isValidResponse}")),
        }
    )
    async with stage.app() as app:
        run = await begun(app, document)
        await come_to(run, Status.WAITING)
        await run.answer(selected)
        assert await run.result() == {"comment": valid}


@on_stage
async def test_b16_e17_a_registered_processor_may_name_the_next_state(stage: Stage) -> None:
    @activity
    async def judge(request: ActivityRequest) -> ActivityResponse:
        return ActivityResponse(node_response=request.params, next_node="other" if request.context["jump"] else None)

    node = good("PROCESSOR", processorComponents={"processor": "judge", "params": static({"a": 1}, "MAP")})
    document = workflow(
        {
            "a": state(node, "b"),
            "b": state(good("SUCCESS", comment="${_global.a.a} next")),
            "other": state(good("SUCCESS", comment="${_global.a.a} other")),
        }
    )
    async with stage.app(judge) as app:
        assert await ended(app, document, {"jump": True}) == {"comment": "1 other"}
        assert await ended(app, document, {"jump": False}) == {"comment": "1 next"}


@on_stage
async def test_e17_a_script_may_name_the_next_state_and_an_unknown_one_fails(stage: Stage) -> None:
    node = good("BRANCH", choices=None, script="return _global.params.way", scriptType="GROOVY")
    del node["choices"]
    document = workflow({"a": state(node, nextNode=None), "b": state(good("SUCCESS", comment="came"))})
    async with stage.app() as app:
        assert await ended(app, document, {"params": {"way": "b"}}) == {"comment": "came"}
        found = await failure(await begun(app, document, {"params": {"way": "nowhere"}}))
        assert found["code"] == "BRANCH_NO_WAY"


@pytest.mark.parametrize("status", [static("COMPLETED"), script("return 'COMPLETED'")])
@on_stage
async def test_an_instruction_that_says_completed_ends_the_run_with_its_view(stage: Stage, status: Doc) -> None:
    ask = good("INSTRUCTION", workflowStatus={"attribute": status}, disposition="SHOWN")
    document = workflow({"a": state(ask, nextNode=None)})
    async with stage.app() as app:
        found = await ended(app, document)
        assert (found["workflowStatus"], found["disposition"]) == ("COMPLETED", "SHOWN")
        assert found["view"]["inputOptions"][0]["id"] == "why"


@on_stage
async def test_empty_parts_of_a_call_are_not_sent(stage: Stage) -> None:
    node = calling(headers=static("", "MAP"), queryParams=static(""), body=script("return null"))
    async with incidents() as server, stage.app() as app:
        await app.lookups.put("default", {"ims.vip": server.host})
        found = await ended(app, workflow({"a": state(node, parameters={"id": 5})}))
        assert found == server.answer
        assert (server.asked[0].path_qs, server.bodies) == ("/incidents/5", [""])
