"""branch and processor: B12, B13, B16, B19, B21, E17."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.authoring.activities import ActivityRequest, ActivityResponse, activity
from perdure.errors import RunEnded
from perdure.model.events import ActivationCompleted
from perdure.testing.pure import PureRunner
from tests.fixtures.stage import Stage, on_stage
from tests.nodes.flows import node as plain
from tests.nodes.flows import output, run
from tests.rows.worlds import events, flow, node

ENDS = [node(name, "end", {"output": {"came": name}}) for name in ("a", "b", "other")]


def branching(config: dict[str, Any]) -> dict[str, Any]:
    ways = [*(each["next"] for each in config.get("choices", [])), *config.get("ways", []), config.get("default")]
    ways = [way for way in dict.fromkeys(ways) if way is not None]
    ends = [node(way, "end", {"output": {"came": way}}) for way in ways]
    edges = ["start ask", *(f"ask {way} {way}" for way in ways)]
    return flow("f", node("ask", "branch", config), *ends, edges=edges)


async def asked(app: Any, config: dict[str, Any], input: Any = None) -> Any:
    await app.deploy(branching(config))
    started = await app.start("f", input)
    assert (await started.result())["came"]
    return next(e.output for e in await events(app, started.id) if isinstance(e, ActivationCompleted))


def test_b12_the_first_choice_that_is_true_wins_and_the_rest_are_not_asked() -> None:
    document = branching({"choices": [{"when": "data.x == 1", "next": "a"}, {"when": "1 / 0 == 1", "next": "b"}]})
    result = PureRunner(document, restart=True).run({"x": 1})
    assert result.status == "COMPLETED"
    assert result.state.body.scopes[0].outputs["ask"] == {"nextNode": "a"}
    assert "a" in result.trace
    assert "b" not in result.trace


@on_stage
async def test_b12_scripts_are_asked_in_order_until_one_is_true(stage: Stage) -> None:
    async with stage.app() as app:
        counting = [
            {"script": "return input.x > 10", "next": "a"},
            {"script": "return 1 / 0 == 1", "next": "b"},
        ]
        assert await asked(app, {"choices": counting, "default": "other"}, {"x": 11}) == {"nextNode": "a"}


@on_stage
async def test_b13_a_bad_rule_takes_the_default_and_is_told_in_the_run(stage: Stage) -> None:
    choices = [
        {"script": "return _global.missing.flag == 1", "language": "groovy", "next": "a"},
        {"script": "return True", "next": "b"},
    ]
    async with stage.app() as app:
        told = await asked(app, {"choices": choices, "default": "other"})
        assert told["nextNode"] == "other"
        assert told["warnings"][0]["code"] == "SCRIPT_RUNTIME"
        assert "line 1" in told["warnings"][0]["message"]


@on_stage
async def test_b13_a_bad_rule_without_a_default_fails_the_node(stage: Stage) -> None:
    async with stage.app() as app:
        await app.deploy(branching({"choices": [{"script": "return 1 / 0 == 1", "next": "a"}]}))
        started = await app.start("f")
        with pytest.raises(RunEnded):
            await started.result()
        failure = (await started.view()).failure
        assert failure is not None
        assert failure["code"] == "BRANCH_NO_WAY"
        assert "SCRIPT_RUNTIME" in failure["message"]


def test_b13_no_choice_and_no_default() -> None:
    result = run(plain("branch", {"choices": [{"when": "false", "next": "x"}]}))
    assert result.failure is not None
    assert result.failure.code == "BRANCH_NO_WAY"


def test_nothing_is_not_true() -> None:
    assert output(plain("branch", {"choices": [{"when": "input.x ?? null", "next": "x"}], "default": "y"})) == {
        "nextNode": "y"
    }


@pytest.mark.parametrize("way", ["b", {"nextNode": "b"}])
def test_e17_a_way_that_is_computed_is_taken(way: Any) -> None:
    result = PureRunner(branching({"next": "input.way", "ways": ["a", "b"]}), restart=True).run({"way": way})
    assert "b" in result.trace
    assert "a" not in result.trace


def test_e17_a_way_that_there_is_not_fails() -> None:
    result = run(plain("branch", {"next": "input.way", "ways": ["a"], "default": "a"}), input={"way": "c"})
    assert result.failure is not None
    assert result.failure.code == "BRANCH_NO_WAY"


@on_stage
async def test_b16_a_registered_processor_runs_by_name_with_its_params_and_a_transformer(stage: Stage) -> None:
    async def double(ctx: Any, amount: int) -> dict[str, Any]:
        return {"amount": amount * 2, "context": ctx.bindings["_global"]["rate"]}

    config = {
        "processor": "double",
        "params": {"amount": "${input.amount}"},
        "transformer": {"script": "return [total: _response.amount * _global.rate]", "language": "groovy"},
    }
    async with stage.app(double) as app:
        await app.deploy(flow("f", node("p", "processor", config)))
        assert await (await app.start("f", {"amount": 4, "rate": 3})).result() == {"total": 24}


@on_stage
async def test_b19_an_activity_gets_a_request_and_its_response_is_heeded(stage: Stage) -> None:
    seen: list[ActivityRequest] = []

    @activity
    async def judge(request: ActivityRequest) -> ActivityResponse:
        seen.append(request)
        if request.params and request.params.get("fail"):
            return ActivityResponse(status="FAILED", error_message="not today")
        return ActivityResponse(node_response={"ok": True}, next_node="b")

    config = {"processor": "judge", "params": {"limit": 5}, "ways": ["a", "b"]}
    document = flow(
        "f", node("ask", "processor", config), *ENDS, edges=["start ask", "ask a a", "ask b b", "ask other next"]
    )
    async with stage.app(judge) as app:
        await app.deploy(document)
        started = await app.runs.start("default", "f", {"x": 1}, thread={"tenant": "cs"})
        assert await app.run(started).result() == {"came": "b"}
        request = seen[0]
        assert request.context["x"] == 1
        assert request.thread_context == {"tenant": "cs"}
        assert request.definition["definition"]["processor"] == "judge"
        assert request.node_instance_id == f"{started}/ask/1"
        assert request.params == {"limit": 5}


@on_stage
async def test_b19_a_response_that_failed_fails_the_node(stage: Stage) -> None:
    @activity
    def judge(request: ActivityRequest) -> ActivityResponse:
        return ActivityResponse(status="FAILED", error_message="not today")

    async with stage.app(judge) as app:
        await app.deploy(flow("f", node("p", "processor", {"processor": "judge"})))
        started = await app.start("f")
        with pytest.raises(RunEnded, match="not today"):
            await started.result()
