"""The contract kit, held against every type of the catalogue; and what the kit finds wrong with types that are."""

import asyncio
from typing import Any

import pytest

from perdure.engine.handlers import HandlerSpec
from perdure.nodes import json_to_csv, rate_limit
from perdure.nodes.catalogue import CATALOGUE
from perdure.nodes.plugins import ActivationError, Field, NodeConfig, TemplateText, node
from perdure.programs.flow.nodetypes import Done, NodeType
from perdure.testing.nodes import (
    Misfit,
    Try,
    check_cancelling,
    check_handler,
    check_node_type,
    check_plan,
    check_saving,
    check_schema,
    check_words,
)
from tests.nodes.test_configurations import BAD, GOOD


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_type_of_the_catalogue_fulfils_the_contract(name: str) -> None:
    kind = CATALOGUE[name]
    check_words(kind)
    check_schema(kind, GOOD[name])
    check_saving(kind, GOOD[name], [(config, pointer, code) for type, config, pointer, code in BAD if type == name])
    check_plan(kind, GOOD[name])


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_type_has_a_group_and_an_icon_for_the_editor(name: str) -> None:
    assert CATALOGUE[name].group in ("Flow", "Data", "Time", "People", "Messages", "Code", "Drift")
    assert CATALOGUE[name].icon != "square"


async def test_handlers_of_the_catalogue() -> None:
    rows = [{"n": n} for n in range(30_000)]
    await check_handler(json_to_csv.TYPE, json_to_csv.HANDLER, Try({"data": "${input}"}, rows))
    await check_handler(json_to_csv.TYPE, json_to_csv.HANDLER, Try({"outputFormat": "blob"}, rows[:3]))
    await check_handler(rate_limit.TYPE, rate_limit.HANDLER, Try({"key": "k", "rate": 10}, {"x": 1}))
    limited = Try({"key": "k", "rate": 1, "period": "1h", "exceeded": "fail"}, fails_with="RATE_LIMITED")
    with pytest.raises(Misfit, match="should fail"):
        await check_handler(rate_limit.TYPE, rate_limit.HANDLER, limited)


# -- what the kit finds ------------------------------------------------------------------------------------------------


class SmsConfig(NodeConfig):
    to: TemplateText = Field(title="To", description="A number.", examples=["1"])


def made(function: Any, config: Any = SmsConfig, **more: Any) -> Any:
    example = [] if config is not SmsConfig else [{"to": "1"}]
    given = {"title": "SMS", "description": "Sends it.", "examples": example, **more}
    return node("acme.sms", config=config, **given)(function)


async def send(ctx: Any, config: SmsConfig) -> Any:
    if config.to == "0":
        raise ActivationError("NO_NUMBER", "none")
    return {"to": config.to}


GOOD_SMS = [{"to": "1"}, {"to": "${data.x}"}]


async def test_a_good_plug_in_passes() -> None:
    await check_node_type(
        made(send),
        good=GOOD_SMS,
        bad=[({}, "/to", "CONFIG_MISSING"), ({"to": "${dta}"}, "/to"), ({"to": "1", "x": 1}, "/x", "CONFIG_UNKNOWN")],
        tries=[Try({"to": "${input.n}"}, {"n": "5"}, output={"to": "5"}), Try({"to": "0"}, fails_with="NO_NUMBER")],
    )


class Wordless(NodeConfig):
    to: str


class Guest(NodeConfig):
    """Takes what its schema refuses."""

    model_config = NodeConfig.model_config | {"extra": "ignore"}
    to: str = Field(title="To", description="A number.")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"config": Wordless}, "no description"),
        ({"title": ""}, "needs a title"),
        ({"description": "no sentence"}, "in sentences"),
        ({"examples": []}, "no example"),
        ({"examples": [{"from": "1"}]}, "is refused"),
        ({"config": Guest, "examples": [{"to": "1"}]}, "should both refuse"),
    ],
)
async def test_words_and_schema(given: dict[str, Any], told: str) -> None:
    with pytest.raises(Misfit, match=told):
        await check_node_type(made(send, **given), good=[{"to": "1"}])


async def test_configurations() -> None:
    with pytest.raises(Misfit, match="should be accepted"):
        await check_node_type(made(send), good=[{"to": "1"}, {"from": "x"}])
    with pytest.raises(Misfit, match="should be refused"):
        await check_node_type(made(send), good=GOOD_SMS, bad=[({"to": "1"}, "/to")])
    with pytest.raises(Misfit, match="should be refused at '/from'"):
        await check_node_type(made(send), good=GOOD_SMS, bad=[({}, "/from")])
    with pytest.raises(Misfit, match="not one good"):
        await check_node_type(made(send), good=[])


def test_a_plan_that_counts() -> None:
    calls: list[int] = []

    def plan(prepared: Any, moment: Any) -> Done:
        calls.append(1)
        return Done(len(calls))

    kind = NodeType(name="acme.x", title="X", description="X.", config=NodeConfig, prepare=lambda c: c, plan=plan)
    with pytest.raises(Misfit, match="is planned as"):
        check_plan(kind, [{}])


def test_a_plan_that_changes_its_input() -> None:
    def plan(prepared: Any, moment: Any) -> Done:
        if isinstance(moment.input, dict):
            moment.input["x"] = 1
        return Done()

    kind = NodeType(name="acme.x", title="X", description="X.", config=NodeConfig, prepare=lambda c: c, plan=plan)
    with pytest.raises(Misfit, match="changes its input"):
        check_plan(kind, [{}])


async def tried(function: Any, each: Try | None = None) -> None:
    plugin = made(function)
    await check_handler(plugin.type, plugin.handler, each or Try({"to": "1"}))


async def test_a_handler_that_cannot_be_repeated() -> None:
    seen: set[str] = set()

    async def once(ctx: Any, config: Any) -> Any:
        if ctx.key in seen:
            raise ValueError("sent already")
        seen.add(ctx.key)

    with pytest.raises(Misfit, match="should complete"):
        await tried(once)


async def test_a_handler_whose_answer_is_no_json() -> None:
    async def wrong(ctx: Any, config: Any) -> Any:
        return object()

    with pytest.raises(Misfit, match="OUTPUT_INVALID"):
        await tried(wrong)


async def test_a_handler_whose_failure_has_another_code() -> None:
    async def wrong(ctx: Any, config: Any) -> Any:
        raise KeyError("x")

    with pytest.raises(Misfit, match="should fail with NO_NUMBER"):
        await tried(wrong, Try({"to": "1"}, fails_with="NO_NUMBER"))


async def test_a_handler_that_lets_a_secret_out() -> None:
    async def leaky(ctx: Any, config: Any) -> Any:
        import base64

        return base64.b64encode((await ctx.secret("KEY")).encode()).decode() + (await ctx.secret("KEY"))[::-1]

    await tried(leaky, Try({"to": "1"}, secrets={"KEY": "canary-7f3a91c2"}))

    async def leakier(ctx: Any, config: Any) -> Any:
        return "canary-7f3a91c2"  # known from elsewhere, so nobody cuts it out

    with pytest.raises(Misfit, match="a secret comes out"):
        await tried(leakier, Try({"to": "1"}, secrets={"KEY": "canary-7f3a91c2"}))


async def test_a_handler_that_does_not_let_itself_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    release = asyncio.Event()

    async def stubborn(ctx: Any) -> Any:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    plugin = made(send)
    real = asyncio.timeout
    monkeypatch.setattr("perdure.testing.nodes.asyncio.timeout", lambda seconds: real(min(seconds, 0.5)))
    asyncio.get_running_loop().call_later(1.5, release.set)
    with pytest.raises(Misfit, match="it goes on"):
        await check_cancelling(plugin.type, HandlerSpec(stubborn), Try({"to": "1"}))
