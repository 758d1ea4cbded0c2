"""Lists that come in pages, and pauses that a server asks for."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web

from perdure import Perdure
from perdure.nodes.calling.paging import next_link
from perdure.nodes.calling.responses import retry_after
from tests.fixtures.webserver import WebServer
from tests.nodes.calls import SOON, application, called, refused

ITEMS = list(range(25))


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    """Ten items at a time, told in four ways."""
    async with WebServer() as server:

        async def by_link(request: web.Request) -> web.StreamResponse:
            at = int(request.query.get("at", "0"))
            links = f'</link?at={at + 10}>; rel="next", </link>; rel="first"' if at + 10 < len(ITEMS) else ""
            return web.json_response(ITEMS[at : at + 10], headers={"Link": links} if links else {})

        async def by_url(request: web.Request) -> web.StreamResponse:
            at = int(request.query.get("at", "0"))
            following = f"/url?at={at + 10}" if at + 10 < len(ITEMS) else None
            return web.json_response({"data": {"rows": ITEMS[at : at + 10]}, "links": {"next": following}})

        async def by_cursor(request: web.Request) -> web.StreamResponse:
            body = await request.read()
            given = json.loads(body) if body else request.query
            at = int(given.get("cursor", "0"))
            following = {"next": str(at + 10)} if at + 10 < len(ITEMS) else {}
            return web.json_response({"rows": ITEMS[at : at + 10], "meta": following, "q": given.get("q")})

        async def by_number(request: web.Request) -> web.StreamResponse:
            at = (int(request.query["page"]) - 1) * 10
            return web.json_response(ITEMS[at : at + 10])

        async def for_ever(request: web.Request) -> web.StreamResponse:
            return web.json_response([1, 2, 3], headers={"Link": '</ever>; rel="next"'})

        async def away(request: web.Request) -> web.StreamResponse:
            return web.json_response([1], headers={"Link": "<https://other.example/>; rel=next"})

        for path, handler in {"/link": by_link, "/url": by_url, "/cursor": by_cursor, "/page": by_number,
                              "/ever": for_ever, "/away": away}.items():  # fmt: skip
            server.handle(path, handler)
        yield server


@pytest.fixture
async def app(server: WebServer) -> AsyncIterator[Perdure]:
    async with application(secrets={"KEY": "k-0123456789"}, hosts={"x.example": server.url}) as app:
        yield app


@pytest.mark.parametrize(
    ("path", "config", "pages", "calls"),
    [
        ("link", {}, {"type": "link"}, 3),
        ("url", {}, {"type": "next_url", "path": "links.next", "items": "data.rows"}, 3),
        ("cursor", {"query": {"q": "x"}}, {"type": "cursor", "path": "meta.next", "items": "rows"}, 3),
        ("cursor", {"method": "POST", "body": {"q": "${input.q}"}},
         {"type": "cursor", "path": "meta.next", "items": "rows", "in": "body"}, 3),
        ("page", {}, {"type": "page"}, 4),
    ],
)  # fmt: skip
async def test_pages_are_put_together(
    path: str, config: Any, pages: Any, calls: int, server: WebServer, app: Perdure
) -> None:
    auth = {"type": "bearer", "token": {"secret": "KEY"}}
    found = await called(app, {"url": f"https://x.example/{path}", "auth": auth, "pagination": pages, **config},
                         input={"q": "x"})  # fmt: skip
    assert found["data"] == ITEMS
    assert len(server.asked) == calls
    assert {each.header("Authorization") for each in server.asked} == {"Bearer k-0123456789"}
    if "body" in config:  # each page is a call of its own to a server that remembers keys
        assert len({each.header("Idempotency-Key") for each in server.asked}) == calls
    if config:
        asked = server.asked[-1]
        assert (asked.json() if asked.body else asked.path) in ({"q": "x", "cursor": "20"}, "/cursor?q=x&cursor=20")


@pytest.mark.parametrize(
    ("path", "pages", "code"),
    [
        ("ever", {"type": "link", "max_pages": 5}, "HTTP_TOO_LARGE"),
        ("ever", {"type": "link", "max_items": 10}, "HTTP_TOO_LARGE"),
        ("away", {"type": "link"}, "HTTP_RESPONSE_INVALID"),
        ("url", {"type": "link", "items": "data"}, "HTTP_RESPONSE_INVALID"),
    ],
)
async def test_pages_have_an_end(path: str, pages: Any, code: str, server: WebServer, app: Perdure) -> None:
    failure = await refused(app, {"url": f"https://x.example/{path}", "pagination": pages}, retry=SOON)
    assert failure["code"] == code
    assert len(server.asked) <= 5


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ('<https://a/?page=2>; rel="next"', "https://a/?page=2"),
        ("</2>; rel=next", "/2"),
        ('</1>; rel="prev", </3>; title="x, y"; rel="last next"', "/3"),
        ('</1>; rel="prev"', None),
        ('</1>; REL="NEXT"', "/1"),
        ("nonsense", None),
        ("", None),
        (None, None),
    ],
)
def test_links(header: str | None, target: str | None) -> None:
    assert next_link(header) == target


NOW = int(datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("5", 5),
        (" 120 ", 120),
        ("-1", 0),
        ("1000000000", 3600),
        ("Sun, 01 Mar 2026 12:01:00 GMT", 60),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Tue, 01 Mar 2050 12:00:00 GMT", 3600),
        ("soon", None),
        ("", None),
        (None, None),
        ("9" * 400, 3600),
    ],
)
def test_a_server_may_ask_for_a_pause_within_reason(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


async def test_the_pause_that_a_server_asks_for_is_recorded_with_the_failure(server: WebServer, app: Perdure) -> None:
    server.answer("/busy", status=429, headers={"Retry-After": "7"})
    failure = await refused(app, {"url": "https://x.example/busy", "maxRetries": 0})
    assert failure["retry_after"] == 7_000_000
