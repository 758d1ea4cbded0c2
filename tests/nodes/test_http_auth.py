"""Tokens of clients (row R10), and what a hostile server can make of a secret: nothing that is kept."""

from __future__ import annotations

import asyncio
import base64
import logging
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import web

from perdure.engine.concealing import CONCEALED
from perdure.errors import RunEnded
from perdure.nodes.outgoing.policy import AuthClient
from perdure.nodes.outgoing.tokens import Grant, Tokens
from perdure.stores.sqlite import SqliteStore
from tests.fixtures.webserver import WebServer
from tests.nodes.calls import SOON, application, called, flow, refused

SECRET = "s3cr3t/of+the client"
OAUTH = {"type": "oauth2", "token_url": "https://id.example/token", "client_id": "me", "client_secret": {"secret": "S"},
         "scope": "a b", "audience": "aud"}  # fmt: skip


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer() as server:
        yield server


class Issuer:
    """Gives tokens t1, t2 … and knows which is good."""

    def __init__(self, server: WebServer, **more: Any) -> None:
        self.count = 0
        self.good: set[str] = set()
        self.more = {"expires_in": 3600, "token_type": "Bearer", **more}
        server.handle("/token", self.issue)
        server.handle("/api", self.serve)

    async def issue(self, request: web.Request) -> web.StreamResponse:
        self.count += 1
        self.good = {f"token-number-{self.count}"}
        return web.json_response({"access_token": f"token-number-{self.count}", **self.more})

    async def serve(self, request: web.Request) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return web.json_response({"hello": given in self.good}, status=200 if given in self.good else 401)


def hosts(server: WebServer) -> dict[str, str]:
    return {"id.example": server.url, "x.example": server.url}


async def test_r10_a_token_is_fetched_once_and_shared(server: WebServer) -> None:
    issuer = Issuer(server)
    async with application(secrets={"S": SECRET}, hosts=hosts(server)) as app:
        await app.deploy(flow({"url": "https://x.example/api", "auth": OAUTH}))
        runs = await asyncio.gather(*[app.start("flow") for _ in range(20)])
        results = await asyncio.gather(*[run.result() for run in runs])
    assert all(each["data"] == {"hello": True} for each in results)
    assert issuer.count == 1
    asked = next(each for each in server.asked if each.path == "/token")
    pair = f"me:{quote(SECRET, safe='').replace('%20', '+')}"
    assert asked.header("Authorization") == "Basic " + base64.b64encode(pair.encode()).decode()
    assert asked.body == b"grant_type=client_credentials&scope=a+b&audience=aud"


async def test_r10_a_token_that_is_refused_is_fetched_anew_once(server: WebServer) -> None:
    issuer = Issuer(server)
    async with application(secrets={"S": SECRET}, hosts=hosts(server)) as app:
        await called(app, {"url": "https://x.example/api", "auth": OAUTH})
        issuer.good = set()  # revoked
        assert (await called(app, {"url": "https://x.example/api", "auth": OAUTH}))["status_code"] == 200
        assert issuer.count == 2
        server.answer("/always", status=401)
        failure = await refused(app, {"url": "https://x.example/always", "auth": OAUTH})
        assert (failure["code"], failure["details"]["status"]) == ("HTTP_STATUS", 401)
        assert len([each for each in server.asked if each.path == "/always"]) == 2


@pytest.mark.parametrize(("life", "lasts"), [(3600, 3570), (60, 54), (None, 270)])
async def test_r10_a_token_is_renewed_before_it_ends(life: int | None, lasts: int, server: WebServer) -> None:
    issuer = Issuer(server, expires_in=life)
    now = 0.0
    async with application(hosts=hosts(server)) as app:
        tokens = Tokens(lambda: app.tools.http, lambda: now)

        async def secret() -> str:
            return SECRET

        for later, count in ((0.0, 1), (lasts - 1.0, 1), (lasts + 1.0, 2)):
            now = later
            await tokens.get("default", Grant("https://id.example/token", "me"), secret)
            assert issuer.count == count
        await tokens.get("other", Grant("https://id.example/token", "me"), secret)
        assert issuer.count == 3


async def test_r10_a_client_that_the_operator_has_set_up_is_called_by_its_name(server: WebServer) -> None:
    issuer = Issuer(server)
    clients = {"billing": AuthClient(token_url="https://id.example/token", client_id="me", secret="S")}
    async with application(secrets={"S": SECRET}, hosts=hosts(server), clients=clients) as app:
        for auth in (
            {"auth": "billing"},
            {"targetClientId": "billing"},
            {"auth": {"type": "client", "name": "billing"}},
        ):
            assert (await called(app, {"url": "https://x.example/api", **auth}))["status_code"] == 200
        failure = await refused(app, {"url": "https://x.example/api", "auth": "nobody"})
        assert (failure["code"], failure.get("retryable", False)) == ("HTTP_AUTH_FAILED", False)
    assert issuer.count == 1


@pytest.mark.parametrize(
    ("status", "body", "retryable"),
    [
        (401, {"error": "invalid_client"}, False),
        (503, "busy", True),
        (200, "no json", False),
        (200, {"token": "x"}, False),
        (200, {"access_token": "x", "token_type": "mac"}, False),
        (302, None, False),
    ],
)
async def test_a_token_server_that_gives_none(status: int, body: Any, retryable: bool, server: WebServer) -> None:
    server.answer(
        "/token", body, status=status, headers={"Location": "https://evil.example/"} if status == 302 else None
    )
    async with application(secrets={"S": SECRET}, hosts=hosts(server)) as app:
        failure = await refused(app, {"url": "https://x.example/api", "auth": OAUTH, "maxRetries": 0})
    assert (failure["code"], failure.get("retryable", False)) == ("HTTP_AUTH_FAILED", retryable)


async def test_r10_tokens_are_for_those_who_know_the_secret(server: WebServer) -> None:
    """A wrong secret gets neither a token that is kept nor one that is on its way, and nobody fails with it."""
    expected = base64.b64encode(b"me:right-secret").decode()
    both = asyncio.Barrier(2)

    async def issue(request: web.Request) -> web.StreamResponse:
        if len([asked for asked in server.asked if asked.path == "/token"]) <= 2:
            await both.wait()
        is_right = request.headers["Authorization"] == f"Basic {expected}"
        body = {"access_token": "token-of-me", "expires_in": 60} if is_right else {"error": "invalid_client"}
        return web.json_response(body, status=200 if is_right else 401)

    server.handle("/token", issue)
    server.answer("/api", {"hello": True})
    async with application(secrets={"R": "right-secret", "W": "wrong-secret"}, hosts=hosts(server)) as app:
        for name in "WR":
            auth = {**OAUTH, "client_secret": {"secret": name}}
            await app.deploy(flow({"url": "https://x.example/api", "auth": auth}, id=name, retry={"attempts": 1}))

        async def begin(name: str) -> Any:
            try:
                return (await (await app.start(name)).result())["data"]
            except RunEnded as ended:
                return (ended.failure or {})["code"]

        assert await asyncio.gather(begin("W"), begin("R")) == ["HTTP_AUTH_FAILED", {"hello": True}]
        assert await begin("W") == "HTTP_AUTH_FAILED"
        assert await begin("R") == {"hello": True}
    assert [asked.path for asked in server.asked].count("/token") == 3


async def test_r10_pages_go_on_with_the_new_token(server: WebServer) -> None:
    issuer = Issuer(server)

    async def listed(request: web.Request) -> web.StreamResponse:
        page = int(request.query["page"])
        if page == 2 and issuer.count == 1:
            issuer.good = set()  # revoked in the middle
        given = request.headers["Authorization"].removeprefix("Bearer ")
        return web.json_response([page] if page < 5 else [], status=200 if given in issuer.good else 401)

    server.handle("/list", listed)
    async with application(secrets={"S": SECRET}, hosts=hosts(server)) as app:
        config = {"url": "https://x.example/list", "auth": OAUTH, "pagination": {"type": "page"}}
        assert (await called(app, config))["data"] == [1, 2, 3, 4]
    assert issuer.count == 2
    assert len([each for each in server.asked if each.path.startswith("/list")]) == 6


async def test_who_calls_must_be_text_in_the_end(server: WebServer) -> None:
    async with application(hosts=hosts(server)) as app:
        for auth in (
            {"type": "bearer", "token": "${input.n}"},
            {"type": "basic", "username": "${input.n}", "password": "x"},
        ):
            failure = await refused(app, {"url": "https://x.example/api", "auth": auth}, {"n": [7]}, retry=SOON)
            assert failure["code"] == "HTTP_REQUEST_INVALID"
    assert not server.asked


def in_directory(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


async def test_no_canary_is_found_anywhere(server: WebServer, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A hostile server echoes what it is sent: in bodies, headers, redirects, errors, as text, base64 and bytes. The
    database, its log of changes, and everything that was logged are searched for it."""
    caplog.set_level(logging.DEBUG)
    canary, password, client = "canary-key-7f3a91", "canary-pass-51b2c7", "canary-client-66e0d"
    token = "canary-token-8842aa"

    async def echo(request: web.Request) -> web.StreamResponse:
        heard = " ".join([*request.headers.values(), request.path_qs, (await request.read()).decode()])
        seen = heard.encode()
        kind = request.query.get("as", "text")
        if kind == "json":
            return web.json_response({"k" + canary: [canary, quote(canary), {"b": base64.b64encode(seen).decode()}]})
        if kind == "binary":
            return web.Response(body=seen * 500, content_type="image/png")
        if kind == "header":
            return web.Response(headers={"X-Echo": base64.b64encode(seen).decode(), "X-Key": canary})
        if kind == "redirect":
            own = token if token in heard else ""
            raise web.HTTPFound(f"/other-{canary}-{own}?x={canary}")
        if kind == "error":
            return web.json_response({"sent": heard, "hex": canary.encode().hex()}, status=422)
        if kind == "busy":
            return web.Response(status=503, text=heard, headers={"Retry-After": "0"})
        return web.Response(text=heard)

    server.handle("/echo", echo)
    server.answer("/token", {"access_token": token, "expires_in": 60})
    auths: list[Any] = [
        {"type": "basic", "username": "user", "password": {"secret": "PASS"}},
        {"type": "bearer", "token": {"secret": "KEY"}},
        {"type": "oauth2", "token_url": "https://id.example/token", "client_id": "me",
         "client_secret": {"secret": "CLIENT"}},
        None,
    ]  # fmt: skip
    secrets = {"KEY": canary, "PASS": password, "CLIENT": client}
    store = SqliteStore(str(tmp_path / "p.db"))
    async with application(secrets=secrets, hosts=hosts(server), store=store) as app:
        for kind in ("text", "json", "binary", "header", "redirect", "error", "busy"):
            for auth in auths:
                config = {
                    "url": "https://x.example/echo", "method": "POST", "query": {"as": kind, "k": {"secret": "KEY"}},
                    "headers": {"X-Key": {"secret": "KEY"}}, "body": {"deep": [{"secret": "KEY"}]}, "auth": auth,
                }  # fmt: skip
                with suppress(RunEnded):
                    await called(app, {**config, "transformer": "[_response, response]"}, retry=SOON)
        server.answer("/down", status=500)
        await refused(app, {"url": "https://x.example:1/${'x'}", "headers": {"A": {"secret": "KEY"}}, "maxRetries": 0})
        files = in_directory(tmp_path)  # with the write-ahead log
        # What is kept compressed is searched as it is read.
        histories = [repr(await app.run(view.id).history()) for view in await app.list_runs()]
        blobs = set(re.findall(r"'hash': '(\w+)'", "".join(histories)))
        for hash in blobs:
            files[hash] = b"".join([part async for part in app.store.blobs.read("default", hash)])
        files["histories"] = "".join(histories).encode()
    assert len(histories) == 29
    assert blobs
    files |= {f"{name} closed": data for name, data in in_directory(tmp_path).items()}
    logged = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records).encode()
    for name, data in {**files, "log": logged}.items():
        for secret in (canary, password, client, token):
            forms = [secret, secret.encode().hex(), base64.b64encode(secret.encode()).decode().rstrip("=")[:-1]]
            assert not [form for form in forms if form.encode() in data], (name, secret)
    assert CONCEALED.encode() in files["p.db closed"]
    assert len([name for name in files if "wal" in name]) >= 1
