"""Messages to Slack, from the document to a real web server. Row C14."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import RunEnded
from perdure.model import events as e
from perdure.settings import Settings
from tests.fixtures.moments import until
from tests.fixtures.webserver import WebServer

PATH = "/services/T01/B02/s3cretpath"
HOOK = f"https://hooks.slack.com{PATH}"
SOON = {"retry": {"attempts": 3, "initial": "5ms", "multiplier": 1}}
ONCE = {"retry": {"attempts": 1}}


@asynccontextmanager
async def slack(server: WebServer, **more: Any) -> AsyncIterator[Perdure]:
    hosts = f"hooks.slack.com={server.url}, slack.com={server.url}"
    secrets = {"HOOK": HOOK, "TOKEN": "xoxb-s3cret-token"}
    async with Perdure.open("memory://", settings=Settings(http_hosts=hosts, **more), secrets=secrets) as app:
        yield app


async def post(app: Perdure, config: dict[str, Any], input: Any = None, **node: Any) -> Any:
    given = {"webhookUrl": HOOK, "text": "Hello", **config}
    config = {name: value for name, value in given.items() if value is not None}
    nodes = [{"id": "start", "type": "start"}, {"id": "say", "type": "slack", "config": config, **node}]
    await app.deploy({"id": "f", "nodes": nodes, "edges": [{"source": "start", "target": "say"}]})
    return await (await app.start("f", input)).result()


async def failing(app: Perdure, config: dict[str, Any], input: Any = None, **node: Any) -> dict[str, Any]:
    with pytest.raises(RunEnded) as caught:
        await post(app, config, input, **node)
    assert caught.value.failure is not None
    return caught.value.failure


async def test_c14_the_webhook_receives_the_message_once() -> None:
    async with WebServer() as server, slack(server) as app:
        server.answer(PATH, "ok")
        config = {
            "text": None,
            "message": "⚠️ {{data.name}}: ${data.n + 1}",
            "channel": "#alerts",
            "username": "robot",
            "iconEmoji": ":robot_face:",
            "iconUrl": "https://example.com/i.png",
            "threadTs": "1.5",
        }
        output = await post(app, config, {"name": "Zoë", "n": 1})
    [asked] = server.asked
    assert (asked.method, asked.path) == ("POST", PATH)
    assert asked.header("Host") == "hooks.slack.com"
    assert asked.header("Content-Type") == "application/json; charset=utf-8"
    assert asked.header("Idempotency-Key")
    assert asked.json() == {
        "text": "⚠️ Zoë: 2",
        "channel": "#alerts",
        "icon_url": "https://example.com/i.png",
        "icon_emoji": ":robot_face:",
        "thread_ts": "1.5",
        "username": "robot",
    }
    assert output == {"data": True, "sent": True, "channel": "#alerts", "text": "⚠️ Zoë: 2", "statusCode": 200}


async def test_the_url_may_be_a_secret() -> None:
    async with WebServer() as server, slack(server) as app:
        server.answer(PATH, "ok")
        await post(app, {"webhookUrl": {"secret": "HOOK"}})
        [view] = await app.list_runs()
        history = await app.run(view.id).history()
        assert "s3cretpath" not in str(history)
        assert (await failing(app, {"webhookUrl": {"secret": "OTHER"}}))["code"] == "SLACK_NOT_CONFIGURED"
    assert len(server.asked) == 1


async def test_data_cannot_name_a_secret() -> None:
    async with WebServer() as server, slack(server) as app:
        failure = await failing(app, {"webhookUrl": "${input.hook}"}, {"hook": {"secret": "HOOK"}})
    assert failure["code"] == "SLACK_INVALID"
    assert not server.asked


async def test_values_alarm_nobody() -> None:
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "*{{data.x}}* <!here>"}, "block_id": "${data.id}"},
        {"type": "actions", "elements": [{"type": "button", "text": {"text": "Go"}, "url": "{{data.url}}"}]},
        {"type": "section", "fields": [{"type": "mrkdwn", "text": "{{range .list}}<{{.}}>{{end}}"}]},
    ]
    data = {"x": "<!channel> & co", "id": "<b>", "url": "https://example.com/?a=1&b=2", "list": ["@U1", "<x>"]}
    async with WebServer() as server, slack(server) as app:
        server.answer(PATH, "ok")
        await post(app, {"text": "{{data.x}} <!here>", "blocks": blocks}, data)
    body = server.asked[0].json()
    assert body["text"] == "&lt;!channel&gt; &amp; co <!here>"
    assert body["blocks"][0]["text"]["text"] == "*&lt;!channel&gt; &amp; co* <!here>"
    assert body["blocks"][0]["block_id"] == "<b>"
    assert body["blocks"][1]["elements"][0]["url"] == "https://example.com/?a=1&b=2"
    assert body["blocks"][2]["fields"][0]["text"] == "<@U1><&lt;x&gt;>"


async def test_a_channel_may_be_a_number() -> None:
    async with WebServer() as server, slack(server) as app:
        server.answer(PATH, "ok")
        await post(app, {"channel": "${input.c}", "text": "${input.ok}"}, {"c": 5, "ok": True})
    assert server.asked[0].json() == {"channel": "5", "text": "true"}


async def test_blocks_may_be_computed() -> None:
    async with WebServer() as server, slack(server) as app:
        server.answer(PATH, "ok")
        await post(app, {"text": None, "blocks": "${input.blocks}"}, {"blocks": [{"type": "divider"}]})
        assert (await failing(app, {"blocks": "${input.blocks}"}, {"blocks": "x"}))["code"] == "SLACK_INVALID"
        assert (await failing(app, {"channel": "${input.c}"}, {"c": [5]}))["code"] == "SLACK_INVALID"
        assert (await failing(app, {"text": "${'x' * 50000}"}, None))["code"] == "SLACK_INVALID"
    assert server.asked[0].json() == {"blocks": [{"type": "divider"}]}


@pytest.mark.parametrize(("status", "said"), [(400, "invalid_payload"), (403, "action_prohibited"), (404, "no_team")])
async def test_what_slack_refuses_is_told_in_its_words_and_without_the_url(status: int, said: str) -> None:
    async with WebServer() as server, slack(server) as app:
        server.answer(PATH, f"{said} for {HOOK}", status=status)
        failure = await failing(app, {}, **SOON)
    assert (failure["code"], failure["details"]["statusCode"]) == ("SLACK_REJECTED", status)
    assert said in failure["message"]
    assert "s3cretpath" not in str(failure)
    assert len(server.asked) == 1


async def test_what_passes_is_tried_again_with_the_same_key() -> None:
    async with WebServer() as server, slack(server) as app:
        server.answer(PATH, "rollup_error", status=500, times=1)
        server.drop(PATH, times=1)
        server.answer(PATH, "ok")
        assert (await post(app, {}, **SOON))["sent"] is True
    assert len(server.asked) == 3
    assert len({asked.header("Idempotency-Key") for asked in server.asked}) == 1
    assert len({asked.body for asked in server.asked}) == 1


async def test_slack_says_how_long_to_wait() -> None:
    async with WebServer() as server, slack(server) as app:
        server.answer(PATH, "rate_limited", status=429, headers={"Retry-After": "30"})
        nodes = [
            {"id": "start", "type": "start"},
            {"id": "say", "type": "slack", "config": {"webhookUrl": HOOK, "text": "t"}, **SOON},
        ]
        await app.deploy({"id": "f", "nodes": nodes, "edges": [{"source": "start", "target": "say"}]})
        run = await app.start("f")

        async def is_asleep() -> bool:
            return await run.status() == "SLEEPING"

        await until(is_asleep)
        wanted = (e.ActivationFailed, e.ActivationRetrying)
        failed, retrying = [each for each in await run.history() if isinstance(each.event, wanted)]
        assert isinstance(failed.event, e.ActivationFailed)
        assert isinstance(retrying.event, e.ActivationRetrying)
        assert failed.event.failure.code == "SLACK_UNAVAILABLE"
        assert failed.event.failure.retry_after == 30_000_000
        assert retrying.event.due >= failed.at + 30_000_000
        await run.cancel()


async def test_a_lost_answer_is_unknown_and_the_url_is_not_told() -> None:
    async with WebServer() as server, slack(server) as app:
        server.drop(PATH)
        failure = await failing(app, {}, at_most_once=True, **SOON)
        assert failure["code"] == "OUTCOME_UNKNOWN"
        assert "s3cretpath" not in str(failure)
        assert "hooks.slack.com" in failure["message"]
    assert len(server.asked) == 1


async def test_a_host_that_is_not_there_is_told_without_the_url() -> None:
    async with WebServer() as server:
        pass
    async with slack(server) as app:
        failure = await failing(app, {}, **ONCE)
    assert failure["code"] == "HTTP_UNREACHABLE"
    assert "s3cretpath" not in str(failure)
    assert "hooks.slack.com" in failure["message"]


async def test_another_chat_that_understands_the_same_is_called_where_the_guard_allows_it() -> None:
    async with WebServer() as server:
        server.answer("/hook", "ok")
        hook = {"webhookUrl": f"{server.url}/hook"}
        async with Perdure.open("memory://") as app:
            failure = await failing(app, hook)
            assert failure["code"] == "EGRESS_REFUSED"
            assert not server.asked
        async with Perdure.open("memory://", settings=Settings(http_allow="127.0.0.1")) as app:
            await post(app, hook)
    assert len(server.asked) == 1


async def test_an_app_posts_with_its_token() -> None:
    async with WebServer() as server, slack(server) as app:
        server.answer("/api/chat.postMessage", {"ok": True, "ts": "1.2"}, times=1)
        server.answer("/api/chat.postMessage", {"ok": False, "error": "channel_not_found"}, times=1)
        server.answer("/api/chat.postMessage", {"ok": False, "error": "ratelimited"}, times=1)
        server.answer("/api/chat.postMessage", "<html>", times=1)
        config = {"webhookUrl": None, "apiKey": {"secret": "TOKEN"}, "channel": "C1"}
        assert (await post(app, config))["sent"] is True
        failure = await failing(app, config, **SOON)
        assert (failure["code"], "channel_not_found" in failure["message"]) == ("SLACK_REJECTED", True)
        assert (await failing(app, config, **ONCE))["code"] == "SLACK_UNAVAILABLE"
        assert (await failing(app, config, **ONCE))["code"] == "SLACK_REJECTED"
        for view in await app.list_runs():
            assert "s3cret" not in str(await app.run(view.id).history())
    asked = server.asked[0]
    assert asked.header("Authorization") == "Bearer xoxb-s3cret-token"
    assert asked.json()["metadata"]["event_payload"]["key"] == asked.header("Idempotency-Key")
    assert asked.json()["channel"] == "C1"
