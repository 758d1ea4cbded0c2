"""S06 for calls: an answer that is kept is given to the same call only, whatever of it stands fixed in the document."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from perdure import Perdure
from tests.fixtures.webserver import WebServer
from tests.nodes.calls import application, flow

HOUR = {"ttl": "1h"}


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async def tell(request: web.Request) -> web.StreamResponse:
        names = ("X-Key", "X-Tenant", "X-PERF-TEST", "Authorization")
        return web.json_response(
            {
                "method": request.method,
                "url": f"{request.host}{request.path_qs}",
                "body": await request.text(),
                "headers": {name: request.headers.get(name) for name in names},
            }
        )

    async with WebServer() as server:
        for path in ("/a", "/b", "/7"):
            server.handle(path, tell)
        yield server


@pytest.fixture
async def app(server: WebServer) -> AsyncIterator[Perdure]:
    hosts = {"x.example": server.url, "y.example": server.url}
    secrets = {"A": "canary-aaaaaaaaa", "B": "canary-bbbbbbbbb"}
    async with application(hosts=hosts, secrets=secrets) as app:
        yield app


URL = "https://x.example/a"
ID = {"id": "${input.id}"}
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "url": ({"url": URL, "query": ID}, {"url": "https://x.example/b", "query": ID}),
    "host": ({"url": URL, "query": ID}, {"url": "https://y.example/a", "query": ID}),
    "all fixed": ({"url": URL}, {"url": "https://x.example/b"}),
    "method": ({"url": "https://x.example/${input.id}"}, {"url": "https://x.example/${input.id}", "method": "PUT"}),
    "header": ({"url": URL, "query": ID, "headers": {"X-Key": "a"}}, {"url": URL, "query": ID}),
    "secret": (
        {"url": URL, "query": ID, "headers": {"X-Key": {"secret": "A"}}},
        {"url": URL, "query": ID, "headers": {"X-Key": {"secret": "B"}}},
    ),
    "auth": (
        {"url": URL, "query": ID, "auth": {"type": "bearer", "token": {"secret": "A"}}},
        {"url": URL, "query": ID},
    ),
    "body": (
        {"url": URL, "query": ID, "method": "POST", "body": {"x": 1}},
        {"url": URL, "query": ID, "method": "POST", "body": {"x": 2}},
    ),
    "transformer": (
        {"url": URL, "query": ID, "transformer": "_response.method"},
        {"url": URL, "query": ID, "transformer": "_response.url"},
    ),
    "output": ({"url": URL, "query": ID, "output": "body"}, {"url": URL, "query": ID, "output": "response"}),
}


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("key", [None, "k-${input.id}"])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
async def test_s06_calls_that_differ_in_what_is_fixed_share_no_answer(
    pair: tuple[dict[str, Any], dict[str, Any]], key: str | None, shared: bool, server: WebServer, app: Perdure
) -> None:
    cache = {**HOUR, "shared": shared, **({"key": key} if key else {})}
    for config in pair:  # two versions
        await app.deploy(flow(config, cache=cache, id="f"))
        await (await app.start("f", {"id": 7})).result()
        await (await app.start("f", {"id": 7})).result()
    assert len(server.asked) == 2
    if shared:
        await app.deploy(flow(pair[0], cache=cache, id="g"))
        await (await app.start("g", {"id": 7})).result()
        assert len(server.asked) == 2


async def test_two_calls_of_one_flow_share_no_answer(server: WebServer, app: Perdure) -> None:
    second = {"id": "second", "type": "http", "config": {"url": "https://x.example/b"}, "cache": HOUR}
    await app.deploy(flow({"url": URL}, second, cache=HOUR))
    for _ in range(2):
        assert (await (await app.start("flow")).result())["data"]["url"].endswith("/b")
    assert len(server.asked) == 2


async def test_what_is_forwarded_of_the_thread_belongs_to_the_call(server: WebServer, app: Perdure) -> None:
    await app.deploy(flow({"url": URL, "forward_thread": {"X-Tenant": "tenant"}}, cache=HOUR))
    threads: list[dict[str, Any]] = [
        {"tenant": "a", "trace": 1},
        {"tenant": "a", "trace": 2},
        {"tenant": "b", "trace": 3},
        {"tenant": "a", "perfFlag": "true"},
    ]
    found = [(await (await app.start("flow", thread=each)).result())["data"]["headers"] for each in threads]
    assert [each["X-Tenant"] for each in found] == ["a", "a", "b", "a"]
    assert [each["X-PERF-TEST"] for each in found] == [None, None, None, "true"]
    assert len(server.asked) == 3
