"""URLs that are secrets (webhooks, signed links) and secrets that come back: nothing of them is kept."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from perdure import Perdure
from perdure.engine.concealing import CONCEALED
from perdure.errors import RunEnded
from perdure.stores.sqlite import SqliteStore
from tests.fixtures.webserver import WebServer
from tests.nodes.calls import application, called, refused

PATH = "/services/T0CANARYT/B0CANARYB/xCANARYpath"
HOOK = f"https://hook.example{PATH}?sig=CANARYsig77&v=1"
ONCE = {"retry": {"attempts": 1}}
HTTP = {"type": "http", "config": {"url": {"secret": "HOOK"}, "method": "POST", "body": {"a": 1}, "query": {"q": "1"}}}
SLACK = {"type": "slack", "config": {"webhookUrl": {"secret": "HOOK"}, "text": "x"}}


async def not_found(request: web.Request) -> web.StreamResponse:
    return web.Response(text=f"<pre>Cannot POST {request.path}</pre>", status=404, content_type="text/html")


async def broken(request: web.Request) -> web.StreamResponse:
    return web.json_response({"path": request.path, "query": dict(request.query)}, status=500)


async def escaped(request: web.Request) -> web.StreamResponse:
    return web.Response(text="no " + json.dumps(request.path_qs).replace("/", "\\/"), status=403)


async def redirected(request: web.Request) -> web.StreamResponse:
    if request.path.startswith("/other"):
        return await not_found(request)
    return web.Response(status=302, headers={"Location": f"/other{request.path}"})


async def redirected_badly(request: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": f"https://hook.example:{PATH[-11:]}/"})


async def parts(request: web.Request) -> web.StreamResponse:
    return web.json_response({"team": request.path.split("/")[2], "mount": request.path.removeprefix("/services")})


async def dropped(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


def bytes_in(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.iterdir())


async def histories(app: Perdure, node: dict[str, Any]) -> str:
    nodes = [{"id": "start", "type": "start"}, {"id": "n", **node, **ONCE}]
    await app.deploy({"id": "f", "nodes": nodes, "edges": [{"source": "start", "target": "n"}]})
    run = await app.start("f")
    with suppress(RunEnded):
        await run.result()
    return repr(await run.history())


@pytest.mark.parametrize(
    "server_does", [not_found, broken, escaped, redirected, redirected_badly, parts, dropped, None]
)
async def test_nothing_of_a_secret_url_is_kept_but_its_host(server_does: Any, tmp_path: Path) -> None:
    async with WebServer() as server:
        hosts = {"hook.example": server.url if server_does else "http://127.0.0.1:1"}
        if server_does:
            for path in (PATH, "/other" + PATH):
                server.handle(path, server_does)
        store = SqliteStore(str(tmp_path / "p.db"))
        async with application(secrets={"HOOK": HOOK}, hosts=hosts, store=store) as app:
            for node in (HTTP, SLACK):
                history = await histories(app, node)
                assert "canary" not in history.lower()
                if "ActivationFailed" in history and server_does is not redirected_badly and node is HTTP:
                    assert "hook.example" in history
            kept = bytes_in(tmp_path)
    assert b"canary" not in kept.lower()


async def test_a_webhook_that_the_document_has_is_not_in_failures_either() -> None:
    async with WebServer() as server:
        server.handle(PATH, not_found)
        async with application(hosts={"hook.example": server.url}) as app:
            nodes = [{"id": "start", "type": "start"}, {"id": "n", **SLACK, **ONCE}]
            nodes[1]["config"] = {"webhookUrl": HOOK, "text": "x"}
            await app.deploy({"id": "f", "nodes": nodes, "edges": [{"source": "start", "target": "n"}]})
            with pytest.raises(RunEnded) as ended:
                await (await app.start("f")).result()
    assert "Cannot POST [secret]" in str(ended.value.failure)
    assert "CANARY" not in str(ended.value.failure)


@pytest.mark.parametrize("secret", ["no url CANARY", "https://hook.example:CANARY/x", "ftp://CANARYhost/x"])
async def test_a_secret_that_is_no_url_is_not_quoted(secret: str) -> None:
    async with application(secrets={"HOOK": secret}) as app:
        failure = await refused(app, HTTP["config"], **ONCE)
    assert failure["code"] == "HTTP_URL_INVALID"
    assert "CANARY" not in str(failure)


async def test_a_transformer_cannot_take_an_echoed_secret_apart() -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.json_response({"k": request.headers["X-K"]}, headers={"X-Echo": request.headers["X-K"]})

    async with WebServer() as server:
        server.handle("/", echo)
        async with application(secrets={"K": "CANARY/part+two "}, hosts={"x.example": server.url}) as app:
            config = {"url": "https://x.example/", "headers": {"X-K": {"secret": "K"}}}
            split = "[split(_response.k, '/'), split(response.headers['X-Echo'], '/')]"
            found = await called(app, {**config, "transformer": split})
            assert found == [[CONCEALED], [CONCEALED]]
            script = {"script": "raise Exception(_response['k'][:4])", "language": "python"}
            assert "CANA" not in str(await refused(app, {**config, "transformer": script}, **ONCE))


@pytest.mark.parametrize("status", [200, 400])
async def test_where_a_response_is_cut_no_half_of_a_secret_is_left(status: int) -> None:
    async def long(request: web.Request) -> web.StreamResponse:
        return web.Response(text="x" * (16 * 1024 - 12) + request.headers["X-K"] + "y" * 9000, status=status)

    async with WebServer() as server:
        server.handle("/", long)
        async with application(secrets={"K": "CANARY-CANARY-CANARY"}, hosts={"x.example": server.url}) as app:
            config = {"url": "https://x.example/", "headers": {"X-K": {"secret": "K"}}, "transformer": "1"}
            history = await histories(app, {"type": "http", "config": config})
    assert "xx" + CONCEALED in history
    assert "CANARY" not in history


async def test_a_long_way_that_a_redirect_leads_holds_no_half_of_a_secret() -> None:
    async def lead(request: web.Request) -> web.StreamResponse:
        if request.path != "/":
            return web.Response(status=400)
        way = "x" * (490 - len("https://x.example/"))
        return web.Response(status=302, headers={"Location": f"/{way}{request.headers['X-K']}"})

    key = "CANARY-CANARY-CANARY"
    async with WebServer() as server:
        server.handle("/", lead)
        async with application(secrets={"K": key}, hosts={"x.example": server.url}) as app:
            failure = await refused(app, {"url": "https://x.example/", "headers": {"X-K": {"secret": "K"}}}, **ONCE)
    assert "CANARY" not in str(failure)


async def test_white_space_around_a_secret_that_is_lost_on_the_way_hides_nothing() -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.json_response(dict(request.headers))

    async with WebServer() as server:
        server.handle("/", echo)
        async with application(secrets={"K": "CANARY-77 "}, hosts={"x.example": server.url}) as app:
            config = {
                "url": "https://x.example/",
                "headers": {"X-K": {"secret": "K"}},
                "auth": {"type": "bearer", "token": {"secret": "K"}},
            }
            found = await called(app, config)
    assert (found["data"]["X-K"], found["data"]["Authorization"]) == (CONCEALED, f"Bearer {CONCEALED}")
