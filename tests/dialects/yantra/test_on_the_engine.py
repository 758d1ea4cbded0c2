"""Graphs of Yantra's from the document to real servers: documents of our own, and those that other people wrote.

The latter are not in this repository. They are looked for beside it, or where PERDURE_SHARED says."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from perdure import Perdure
from perdure.dialects.known import dialect_of
from perdure.dialects.yantra import triggers_of
from perdure.model.canonical import canonical
from perdure.model.statuses import Status
from perdure.model.times import iso
from perdure.nodes.catalogue import builtin_types
from perdure.settings import Settings
from tests.dialects.yantra.graphs import edge, graph, node, row
from tests.fixtures.mailserver import MailServer
from tests.fixtures.moments import until
from tests.fixtures.webserver import WebServer
from tests.nodes.mail.test_trying_again import LeapingClock

SHARED = Path(os.environ.get("PERDURE_SHARED") or Path(__file__).resolve().parents[4] / "shared")
EXAMPLES = SHARED / "examples" / "yantra"
needs_examples = pytest.mark.skipif(not EXAMPLES.exists(), reason="the example documents are not at hand")
USERS = [{"id": number, "name": f"User {number}", "email": "x"} for number in range(1, 6)]


def example(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    return found


async def _time(request: web.Request) -> web.Response:
    return web.json_response({"datetime": f"T{len(request.query)}+0", "params": dict(request.query)})


class World:
    def __init__(self, server: WebServer, mail: MailServer, settings: Settings, url: str) -> None:
        self.server, self.mail, self.settings, self.url = server, mail, settings, url
        self.clock = LeapingClock()

    @asynccontextmanager
    async def app(self) -> AsyncIterator[Perdure]:
        async with Perdure.open(self.url, settings=self.settings, clock=self.clock) as app:
            yield app

    async def run(self, document: dict[str, Any], input: Any = None, trigger: str = "manual") -> Any:
        """The output of a run, which must complete; the document is stored and given back as it is."""
        async with self.app() as app:
            version = await app.deploy(document)
            assert version.kind == "yantra"
            assert canonical(version.document) == canonical(document)
            run = await app.start(version.id, input, trigger=trigger)
            result = await run.result()
            assert (await run.history())[0].event.hash == version.hash  # type: ignore[attr-defined]
            return result

    async def sleep_through(self, document: dict[str, Any], seconds: float) -> Any:
        """A run that sleeps; meanwhile the process ends, and another goes on when it is time."""
        async with self.app() as app:
            version = await app.deploy(document)
            run = await app.start(version.id)

            async def is_asleep() -> bool:
                return await run.status() is Status.SLEEPING

            await until(is_asleep)
            assert version.kind == "yantra"
        self.clock.ahead += seconds + 1
        async with self.app() as app:
            return await app.run(run.id).result()


@pytest.fixture
async def world(tmp_path: Path, mail_server: MailServer) -> AsyncIterator[World]:
    async with WebServer() as server:
        server.answer("/users", USERS)
        server.answer("/services/YOUR/WEBHOOK/URL", "ok")
        server.handle("/api/examples/time", _time)
        place = f"http://127.0.0.1:{server.port}"
        names = ("jsonplaceholder.typicode.com", "localhost:3000", "hooks.slack.com", "api.example")
        settings = Settings(
            http_hosts=", ".join(f"{name}={place}" for name in names),
            http_allow="127.0.0.1, localhost",
            smtp_url=mail_server.url,
            mail_from="Perdure <robot@example.com>",
        )
        yield World(server, mail_server, settings, f"sqlite:///{tmp_path / 'perdure.db'}")


# -- documents of our own ------------------------------------------------------------------------------------------


def report(*, only_even: bool) -> dict[str, Any]:
    pick = {
        "operations": [
            {
                "type": "map",
                "config": {"mappings": [{"from": "item.id", "to": "id"}, {"from": "item.name", "to": "name"}]},
            }
        ]
    }
    mail = {
        "to": "team@example.com",
        "subject": "{{iteration_count}} users",
        "body": "{{range $i, $u := .accumulated}}{{add $i 1}}. {{$u.name}}\n{{end}}{{len .accumulated}} in all",
    }
    nodes = [
        node("start"),
        node("http", {"url": "https://api.example/users"}),
        node("loop-accumulator", {"accumulatorVariable": "users"}, "each"),
        node("conditional", {"conditions": [{"left": "item.id % 2", "operator": "eq", "right": "0"}]}),
        node("transform", pick),
        node("email", mail),
        node("end"),
    ]
    edges = [
        edge("start-1", "http-1"),
        edge("http-1", "each", targetHandle="input"),
        edge("each", "conditional-1", sourceHandle="loop-output"),
        edge("conditional-1", "transform-1", **({"sourceHandle": "true"} if only_even else {})),
        edge("transform-1", "each", targetHandle="accumulator-input"),
        edge("each", "email-1", sourceHandle="output"),
        edge("email-1", "end-1"),
    ]
    if not only_even:
        nodes[4]["data"]["config"]["operations"][0]["config"]["mappings"] = {"input.item.name": "name"}
    return graph(nodes, edges)


async def test_users_are_fetched_gathered_and_mailed(world: World) -> None:
    await world.run(report(only_even=True))
    [mail] = world.mail.mails()
    assert mail.recipients == ["team@example.com"]
    assert mail.message["Subject"] == "5 users"
    assert mail.text.splitlines() == ["1. User 2", "2. User 4", "2 in all"]


async def test_all_users_are_mailed_where_none_is_dropped(world: World) -> None:
    await world.run(report(only_even=False))
    [mail] = world.mail.mails()
    assert mail.text.splitlines() == [*(f"{number}. User {number}" for number in range(1, 6)), "5 in all"]


async def test_a_run_sleeps_without_a_process_and_reads_what_it_had_before(world: World) -> None:
    mail = {"to": "a@example.com", "subject": "then", "body": "{{data.params.old}} {{data.datetime}} {{data.nothing}}"}
    document = row(
        node("http", {"url": "https://api.example/api/examples/time"}),
        node("sleep", {"mode": "relative", "duration_value": 2, "duration_unit": "hours"}),
        node("http", {"url": "https://api.example/api/examples/time?old={{input.datetime}}"}, "again"),
        node("email", mail),
    )
    await world.sleep_through(document, 7200)
    [mail_sent] = world.mail.mails()
    assert mail_sent.text.strip() == "T0+0 T1+0 {{data.nothing}}"
    assert [each.path for each in world.server.asked] == ["/api/examples/time", "/api/examples/time?old=T0%2B0"]


def asking() -> dict[str, Any]:
    nodes = [
        node("start", {"triggerType": "webhook", "webhookPath": "orders"}),
        node("conditional", {"condition": "ok === true"}),
        node("email", {"to": "a@example.com", "subject": "fine", "body": "{{conditional-1.input.ok}}"}),
        node(
            "slack",
            {
                "webhookUrl": "https://hooks.slack.com/services/YOUR/WEBHOOK/URL",
                "message": "not ok: {{input.input.ok}}",
            },
        ),
        node("end"),
    ]
    edges = [
        edge("start-1", "conditional-1"),
        edge("conditional-1", "email-1", label="true"),
        edge("conditional-1", "slack-1", label="false"),
        edge("email-1", "end-1"),
        edge("slack-1", "end-1"),
    ]
    return graph(nodes, edges)


@pytest.mark.parametrize("ok", [True, False])
async def test_one_of_two_ways_is_gone(world: World, ok: bool) -> None:
    await world.run(asking(), {"ok": ok}, trigger="webhook")
    assert len(world.mail.mails()) == (1 if ok else 0)
    assert len(world.server.asked) == (0 if ok else 1)
    if not ok:
        assert "not ok: false" in world.server.asked[0].body.decode()


# -- documents of other people -------------------------------------------------------------------------------------

NAMES = [
    "conditional_loop", "cron_scheduled", "http_transform_email", "nested_loops_email", "simple_transform",
    "sleep_absolute_past", "sleep_relative_short", "sleep_until_example", "webhook_example",
]  # fmt: skip


@needs_examples
@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_recognised_and_valid(name: str) -> None:
    document = example(name)
    dialect = dialect_of(document)
    assert dialect.kind == "yantra"
    assert dialect.validate(document, builtin_types()) == []


@needs_examples
async def test_simple_transform(world: World) -> None:
    assert await world.run(example("simple_transform")) == {"data": {"first_name": "John", "last_name": "Doe"}}


@needs_examples
async def test_conditional_loop(world: World) -> None:
    found = await world.run(example("conditional_loop"))
    assert found["iteration_count"] == 4
    assert [each["user"]["name"] for each in found["data"]] == ["Alice", "Bob", "Charlie", "Diana"]


@needs_examples
async def test_sleep_absolute_past(world: World) -> None:
    assert await world.run(example("sleep_absolute_past")) == {"data": {"message": "Sleep was skipped - past date"}}


@needs_examples
async def test_sleep_relative_short(world: World) -> None:
    assert (await world.sleep_through(example("sleep_relative_short"), 5))["data"]["status"] == "resumed"


@needs_examples
async def test_sleep_until_example(world: World) -> None:
    await world.sleep_through(example("sleep_until_example"), 30)
    [mail] = world.mail.mails()
    assert "Old Time (from query param): T0+0" in mail.text
    assert "New Time (current): T1+0" in mail.text
    assert [each.path for each in world.server.asked] == ["/api/examples/time", "/api/examples/time?oldtime=T0%2B0"]


@needs_examples
async def test_http_transform_email(world: World) -> None:
    await world.run(example("http_transform_email"))
    [mail] = world.mail.mails()
    assert [line for line in mail.text.splitlines() if "•" in line] == [f"{at}• User {at + 1}" for at in range(5)]
    assert "Total: 5 items" in mail.text


@needs_examples
async def test_nested_loops_email(world: World) -> None:
    document = example("nested_loops_email")
    await world.run(document)
    [mail] = world.mail.mails()
    orders = next(each for each in document["nodes"] if each["id"] == "json-1")["data"]["config"]["data"]
    for number, order in enumerate(orders, 1):
        assert mail.text.count(f"Order #{number}: {order['orderId']}") == 1
        for item in order["items"]:
            assert mail.text.count(f"Price: ${item['price']} × Qty: {item['qty']} =") == 1
    assert f"Total Orders: {len(orders)}" in mail.text


@needs_examples
async def test_cron_scheduled(world: World) -> None:
    document = example("cron_scheduled")
    [_, clock] = triggers_of(document)
    begin = 1_772_841_600_000_000  # 2026-03-07
    assert [iso(each) for each in islice(clock.fires_after(begin), 2)] == [
        "2026-03-07T14:00:00Z",
        "2026-03-08T13:00:00Z",
    ]
    await world.run(document, {}, trigger="schedule")
    [mail] = world.mail.mails()
    assert [line for line in mail.text.splitlines() if line.startswith("User")] == [
        "User #2: User 2",
        "User #4: User 4",
    ]
    assert mail.text.rstrip().endswith("Total Matching Users: 2")


@needs_examples
@pytest.mark.parametrize("success", [True, False])
async def test_webhook_example(world: World, success: bool) -> None:
    document = example("webhook_example")
    [_, hook] = triggers_of(document)
    assert (hook.kind, hook.path, hook.secret_required) == ("webhook", "example-webhook", True)
    await world.run(document, {"success": success}, trigger="webhook")
    assert len(world.mail.mails()) == (1 if success else 0)
    assert len(world.server.asked) == (0 if success else 1)
    if not success:
        assert '"success": false' in world.server.asked[0].json()["text"]
