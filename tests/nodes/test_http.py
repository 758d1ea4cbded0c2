"""The http node against a real server: rows B01, B02, B04, B05, B06, C12, D04."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import RunEnded
from perdure.model.events import ActivationFailed, ActivationRetrying
from tests.fixtures.webserver import WebServer
from tests.nodes.calls import SOON, application, called, flow, refused


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer() as server:
        yield server


@pytest.fixture
async def app(server: WebServer) -> AsyncIterator[Perdure]:
    async with application(secrets={"KEY": "canary-0123456789"}, hosts={"x.example": server.url}) as app:
        yield app


async def test_b01_everything_about_a_call_is_dynamic(server: WebServer, app: Perdure) -> None:
    server.answer("/orders/12345", {"ok": True})
    config = {
        "url": "https://x.example/orders/${_global.orderId}",
        "method": "post",
        "query": {"tag": ["${input.tag}", "b"], "none": None, "n": "${input.n}"},
        "headers": {"X-Customer": "{{input.customer}}", "X-None": None, "X-N": "${input.n}"},
        "body": {"lines": ["${input.n}", {"deep": "no. ${input.n}"}], "all": "${input.list}"},
    }
    input = {"orderId": 12345, "tag": "a&b", "n": 7, "customer": "Ann", "list": [1, 2]}
    found = await called(app, config, input=input)
    assert found["status_code"] == 200
    assert found["data"] == {"ok": True}
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/orders/12345?tag=a%26b&tag=b&n=7")
    assert (asked.header("X-Customer"), asked.header("X-None"), asked.header("X-N")) == ("Ann", None, "7")
    assert asked.header("Content-Type") == "application/json"
    assert asked.json() == {"lines": [7, {"deep": "no. 7"}], "all": [1, 2]}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("a/../b", "/o/a%2F..%2Fb/x"),
        ("1?y=2#z", "/o/1%3Fy%3D2%23z/x"),
        ("ü %", "/o/%C3%BC%20%25/x"),
        ("@evil", "/o/%40evil/x"),
    ],
)
async def test_what_is_put_into_a_url_stays_where_it_is_put(
    value: str, path: str, server: WebServer, app: Perdure
) -> None:
    await refused(app, {"url": "https://x.example/o/${input.v}/x"}, {"v": value})
    assert server.asked[0].path == path


@pytest.mark.parametrize("value", ["..", ".", "%2e%2e"])
async def test_a_value_cannot_lead_up(value: str, server: WebServer, app: Perdure) -> None:
    failure = await refused(app, {"url": "https://x.example/o/${input.v}/x"}, {"v": value})
    assert failure["code"] == ("HTTP_STATUS" if value == "%2e%2e" else "HTTP_URL_INVALID")
    assert all(asked.path.startswith("/o/") for asked in server.asked)


async def test_a_url_may_begin_with_a_placeholder_or_be_one(server: WebServer, app: Perdure) -> None:
    server.answer("/v1/a b", "ok")
    for url in ("${input.base}/v1/${input.x}", "{{input.whole}}", "${input.base + '/v1/a%20b'}", "{{{input.whole}}}"):
        found = await called(
            app, {"url": url}, input={"base": server.url, "x": "a b", "whole": f"{server.url}/v1/a%20b"}
        )
        assert found["data"] == "ok"
    assert {asked.path for asked in server.asked} == {"/v1/a%20b"}


@pytest.mark.parametrize("url", ["${input.host}", "https://${input.host}/x", "http://x.${input.host}/"])
async def test_a_host_that_is_computed_is_guarded_like_any(url: str, app: Perdure) -> None:
    failure = await refused(app, {"url": url}, {"host": "evil.example/?"})
    assert failure["code"] in ("HTTP_URL_INVALID", "EGRESS_REFUSED")


async def test_b02_the_transformer_makes_the_output_and_the_response_can_still_be_seen(
    server: WebServer, app: Perdure
) -> None:
    server.answer("/x", {"price": 10, "tax": {"rate": 0.5}}, status=201, headers={"X-Y": "z"})
    config = {
        "url": "https://x.example/x",
        "transformer": "{'gross': _response.price * (1 + response.body.tax.rate) * input.n, 's': response.status_code}",
    }
    look = {"id": "look", "type": "json", "config": {"data": '${_global["call:httpResponse"]}'}}
    also = {
        "id": "also",
        "type": "json",
        "config": {"data": {"a": "${nodes.call.output}", "b": "${nodes.look.output}"}},
    }
    found = (await called(app, config, look, also, input={"n": 2}))["data"]
    assert found["a"] == {"gross": 30.0, "s": 201}
    raw = found["b"]["data"]
    assert (raw["status_code"], raw["data"], raw["headers"]["X-Y"]) == (201, {"price": 10, "tax": {"rate": 0.5}}, "z")


async def test_a_large_response_beside_the_output_is_cut(server: WebServer, app: Perdure) -> None:
    server.answer("/x", ["y" * 1000] * 100)
    look = {"id": "look", "type": "json", "config": {"data": '${_global["call:httpResponse"]}'}}
    found = await called(app, {"url": "https://x.example/x", "transformer": "len(_response)"}, look)
    assert found["data"]["truncated"] is True
    assert len(found["data"]["data"]) == 16 * 1024


async def test_the_output_without_transformer_reads_by_both_names(server: WebServer, app: Perdure) -> None:
    server.answer("/x", {"a": 1})
    look = {"id": "look", "type": "json", "config": {"data": '${_global["call:httpResponse"].data.a}'}}
    assert (await called(app, {"url": "https://x.example/x"}, look))["data"] == 1
    assert (await called(app, {"url": "https://x.example/x", "output": "body"}, look))["data"] == 1


async def test_a_transformer_that_fails_is_not_tried_again(server: WebServer, app: Perdure) -> None:
    server.answer("/x", {"a": 1})
    failure = await refused(app, {"url": "https://x.example/x", "transformer": "_response.b.c"}, retry=SOON)
    assert failure["code"] == "VALUE_MISSING"
    assert len(server.asked) == 1


async def test_b04_a_broken_connection_is_tried_three_times(server: WebServer, app: Perdure) -> None:
    server.drop("/two", times=2)
    server.answer("/two", "ok")
    await app.deploy(flow({"url": "https://x.example/two"}, retry=SOON))
    run = await app.start("flow")
    assert (await run.result())["data"] == "ok"
    retries = [each.event for each in await run.history() if isinstance(each.event, ActivationRetrying)]
    assert [each.attempt for each in retries] == [2, 3]
    assert len(server.asked) == 3
    server.drop("/three")
    failure = await refused(app, {"url": "https://x.example/three"}, retry=SOON)
    assert failure["code"] == "HTTP_DROPPED"
    assert len(server.asked) == 6


def test_b04_three_attempts_are_what_it_makes_by_itself() -> None:
    from perdure.nodes.http import TYPE, HttpConfig

    assert TYPE.retry is not None
    assert TYPE.retry(HttpConfig(url="https://x.example/")).attempts == 3
    assert TYPE.retry(HttpConfig(url="https://x.example/", max_retries=0)).attempts == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 418, 422, 451, 304])
async def test_b05_other_statuses_are_final_and_tell_what_was_said(
    status: int, server: WebServer, app: Perdure
) -> None:
    body = None if status == 304 else {"why": "because"}
    server.answer("/x", body, status=status)
    await app.deploy(flow({"url": "https://x.example/x"}, retry=SOON))
    run = await app.start("flow")
    failure = await refused(app, {"url": "https://x.example/x"}, retry=SOON)
    assert (failure["code"], failure["details"]["status"]) == ("HTTP_STATUS", status)
    assert failure["details"]["body"] == body
    assert failure.get("retryable", False) is False
    with pytest.raises(Exception, match="answered"):
        await run.result()
    failed = [each.event for each in await run.history() if isinstance(each.event, ActivationFailed)]
    assert [each.attempt for each in failed] == [1]
    assert len(server.asked) == 2


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
async def test_statuses_that_may_pass_are_tried_again(status: int, server: WebServer, app: Perdure) -> None:
    server.answer("/x", "later", status=status, headers={"Retry-After": "0"}, times=2)
    server.answer("/x", "now")
    assert (await called(app, {"url": "https://x.example/x"}, retry=SOON))["data"] == "now"
    assert len(server.asked) == 3


async def test_statuses_can_be_expected(server: WebServer, app: Perdure) -> None:
    server.answer("/x", "none", status=404)
    found = await called(app, {"url": "https://x.example/x", "ok": [200, 404]})
    assert (found["status_code"], found["data"]) == (404, "none")
    assert (await refused(app, {"url": "https://x.example/x", "ok": "5xx"}))["code"] == "HTTP_STATUS"


async def test_a_failure_can_be_taken_care_of_by_its_status(server: WebServer, app: Perdure) -> None:
    server.answer("/x", "none", status=404)
    document = flow({"url": "https://x.example/x"})
    document["nodes"].append({"id": "care", "type": "end", "config": {"output": "${data.error.details.status}"}})
    document["edges"].append({"source": "call", "target": "care", "outcome": "error"})
    await app.deploy(document)
    assert await (await app.start("flow")).result() == 404


@pytest.mark.parametrize(
    ("thread", "sent"),
    [
        ({"perfFlag": "true"}, True),
        ({"perfFlag": True}, True),
        ({"perf": True}, True),
        ({"perfFlag": "false"}, False),
        ({"perfFlag": False}, False),
        ({"tenant": "t"}, False),
        (None, False),
    ],
)
async def test_b06_calls_of_a_performance_test_say_so(
    thread: dict[str, Any] | None, sent: bool, server: WebServer, app: Perdure
) -> None:
    server.answer("/x", "ok")
    await called(app, {"url": "https://x.example/x"}, thread=thread)
    wanted = "true" if sent else None
    assert (server.asked[0].header("X_PERF_TEST"), server.asked[0].header("X-PERF-TEST")) == (wanted, wanted)


async def test_d04_thread_data_goes_out_as_headers_where_that_is_configured(server: WebServer, app: Perdure) -> None:
    server.answer("/x", "ok")
    thread = {"tenant": "acme", "clientId": "web", "other": "x"}
    for wanted in ({"X-Tenant-Id": "tenant", "X-Client-Id": "clientId"}, ["tenant", "missing"]):
        await called(app, {"url": "https://x.example/x", "forwardThread": wanted}, thread=thread)
    first, second = server.asked
    assert (first.header("X-Tenant-Id"), first.header("X-Client-Id"), first.header("other")) == ("acme", "web", None)
    assert (second.header("tenant"), second.header("missing")) == ("acme", None)


async def test_c12_both_spellings_are_one_type(server: WebServer, app: Perdure) -> None:
    """Yantra's keys and our own."""
    server.answer("/x", {"a": 1})
    yantra = {"url": "https://x.example/x", "method": "GET", "headers": {"A": "b"}, "timeout": 30000, "maxRetries": 3,
              "queryParams": {"q": "1"}}  # fmt: skip
    own = {"url": "https://x.example/x", "headers": {"A": "b"}, "timeout": "30s", "max_retries": 3, "query": {"q": "1"}}
    assert await called(app, yantra) == await called(app, own)
    first, second = server.asked
    assert (first.method, first.path, first.header("A")) == (second.method, second.path, second.header("A"))


async def test_its_output_has_yantras_words(server: WebServer, app: Perdure) -> None:
    server.answer("/x", {"a": 1})
    found = await called(app, {"url": "https://x.example/x"})
    assert set(found) == {"status_code", "url", "method", "data", "headers"}


# -- bodies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "sent", "kind"),
    [
        ({"body": {"a": 1}}, b'{"a":1}', "application/json"),
        ({"body": [1]}, b"[1]", "application/json"),
        ({"body": '{"a": 1}'}, b'{"a": 1}', "application/json"),
        ({"body": "plain ü"}, "plain ü".encode(), "text/plain; charset=utf-8"),
        ({"body": "text", "body_type": "json"}, b'"text"', "application/json"),
        ({"body": {"a": "b c", "l": [1, 2], "n": None}, "body_type": "form"}, b"a=b+c&l=1&l=2",
         "application/x-www-form-urlencoded"),
        ({"body": {"a": "b"}, "contentType": "application/x-www-form-urlencoded"}, b"a=b",
         "application/x-www-form-urlencoded"),
        ({"body": {"a": "b"}, "headers": {"content-type": "application/x-www-form-urlencoded"}}, b"a=b",
         "application/x-www-form-urlencoded"),
        ({"body": "<a/>", "body_type": "xml"}, b"<a/>", "application/xml; charset=utf-8"),
        ({"body": "<a/>", "headers": {"Content-Type": "text/xml"}}, b"<a/>", "text/xml"),
        ({"body": {"base64": "AP8="}, "body_type": "binary"}, b"\x00\xff", "application/octet-stream"),
        ({"body": {"a": 1}, "contentType": "application/vnd.x+json"}, b'{"a":1}', "application/vnd.x+json"),
        ({}, b"", None),
    ],
)  # fmt: skip
async def test_bodies(config: dict[str, Any], sent: bytes, kind: str | None, server: WebServer, app: Perdure) -> None:
    server.answer("/x", "ok")
    await called(app, {"url": "https://x.example/x", "method": "POST", **config})
    (asked,) = server.asked
    assert (asked.body, asked.header("Content-Type")) == (sent, kind)


async def test_a_multipart_form_with_files(server: WebServer, app: Perdure) -> None:
    server.answer("/image", b"\x89PNG\x00", headers={"Content-Type": "image/png"}, times=1)
    server.answer("/x", "ok")
    body = {
        "note": "hi",
        "n": [1, 2],
        "text": {"filename": 'a"b\r\nX: y.txt', "content_type": "text/plain", "data": "${input.text}"},
        "image": "${nodes.call.output.data}",
    }
    config = {"url": "https://x.example/x", "method": "PUT", "body_type": "multipart", "body": body}
    send = {"id": "send", "type": "http", "config": config}
    await called(app, {"url": "https://x.example/image"}, send, input={"text": "inside"})
    sent = server.asked[1]
    kind = sent.header("Content-Type") or ""
    boundary = kind.removeprefix("multipart/form-data; boundary=").encode()
    parts = sent.body.split(b"--" + boundary)
    assert parts[0] == b""
    assert parts[-1] == b"--\r\n"
    assert parts[1] == b'\r\nContent-Disposition: form-data; name="note"\r\n\r\nhi\r\n'
    assert len(parts) == 7
    assert b'filename="a%22b%0D%0AX: y.txt"\r\nContent-Type: text/plain\r\n\r\ninside' in parts[4]
    assert b"Content-Type: image/png\r\n\r\n\x89PNG\x00\r\n" in parts[5]


# -- responses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "body", "config", "data"),
    [
        ("application/json", b'{"a": 1}', {}, {"a": 1}),
        ("application/problem+json; charset=utf-8", b"[1]", {}, [1]),
        ("application/json", b"not json", {}, "not json"),
        ("text/plain", b'{"a": 1}', {}, {"a": 1}),
        ("text/plain", b'{"a": 1}', {"response": "text"}, '{"a": 1}'),
        ("text/html; charset=iso-8859-1", "ü".encode("latin-1"), {}, "ü"),
        ("text/html; charset=nonsense", "ü".encode(), {}, "ü"),
        ("text/html; charset=zlib_codec", b"x", {}, "x"),
        ("text/plain", b"\xef\xbb\xbfbom", {}, "bom"),
        ("text/plain", b"a\x00b\xff", {}, "a\ufffdb\ufffd"),
        ("application/xml", b"<a/>", {}, "<a/>"),
        ("application/octet-stream", b'{"a": 1}', {"response": "json"}, {"a": 1}),
        ("application/json", b"", {}, None),
        ("application/json", b"", {"emptyBody": {}}, {}),
        ("application/json", b"12345678901234567890123", {}, 12345678901234567890123),
    ],
)
async def test_responses(
    kind: str, body: bytes, config: dict[str, Any], data: Any, server: WebServer, app: Perdure
) -> None:
    server.answer("/x", body, headers={"Content-Type": kind})
    assert (await called(app, {"url": "https://x.example/x", **config}))["data"] == data


async def test_a_binary_response_is_a_blob(server: WebServer, app: Perdure) -> None:
    server.answer("/x", b"\x00\x01" * 5000, headers={"Content-Type": "image/png"})
    found = (await called(app, {"url": "https://x.example/x"}))["data"]
    assert (found["size"], found["content_type"]) == (10_000, "image/png")
    stored = b"".join([part async for part in app.store.blobs.read("default", found["hash"])])
    assert stored == b"\x00\x01" * 5000


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"response": "json"}, "HTTP_RESPONSE_INVALID"),
        ({"response_schema": {"type": "object"}}, "HTTP_RESPONSE_INVALID"),
        ({"max_bytes": 3}, "HTTP_TOO_LARGE"),
    ],
)
async def test_responses_that_are_refused(config: dict[str, Any], code: str, server: WebServer, app: Perdure) -> None:
    server.answer("/x", "text")
    failure = await refused(app, {"url": "https://x.example/x", **config}, retry=SOON)
    assert failure["code"] == code
    assert len(server.asked) == 1


async def test_a_response_that_fits_its_schema(server: WebServer, app: Perdure) -> None:
    server.answer("/x", {"id": 7})
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    assert (await called(app, {"url": "https://x.example/x", "responseSchema": schema}))["data"] == {"id": 7}


async def test_a_call_that_takes_too_long(server: WebServer, app: Perdure) -> None:
    """Its own timeout takes the edge of timeouts."""
    never = asyncio.Event()

    async def wait(request: Any) -> Any:
        await never.wait()

    server.handle("/x", wait)
    document = flow({"url": "https://x.example/x", "timeout": 50, "maxRetries": 0})
    document["nodes"].append({"id": "late", "type": "end", "config": {"output": "too late"}})
    document["edges"].append({"source": "call", "target": "late", "outcome": "timeout"})
    await app.deploy(document)
    assert await (await app.start("flow")).result() == "too late"
    never.set()


# -- keys --------------------------------------------------------------------------------------------


async def test_calls_that_change_something_carry_the_same_key_each_time(server: WebServer, app: Perdure) -> None:
    server.drop("/x", times=2)
    server.answer("/x", "ok")
    await called(app, {"url": "https://x.example/x", "method": "POST"}, retry=SOON)
    keys = {asked.header("Idempotency-Key") for asked in server.asked}
    assert len(server.asked) == 3
    assert len(keys) == 1
    assert keys != {None}
    await called(app, {"url": "https://x.example/x"})
    assert server.asked[-1].header("Idempotency-Key") is None
    await called(app, {"url": "https://x.example/x", "method": "PATCH", "idempotencyKey": "X-Key"})
    assert server.asked[-1].header("X-Key")
    await called(app, {"url": "https://x.example/x", "method": "DELETE", "idempotencyKey": False})
    assert server.asked[-1].header("Idempotency-Key") is None
    await called(app, {"url": "https://x.example/x", "method": "PUT", "headers": {"idempotency-key": "mine"}})
    assert server.asked[-1].header("Idempotency-Key") == "mine"


# -- secrets in a call -------------------------------------------------------------------------------


async def test_secrets_are_filled_in_where_the_document_has_them(server: WebServer, app: Perdure) -> None:
    server.answer("/x", "ok")
    key = {"secret": "KEY"}
    config = {
        "url": "https://x.example/x",
        "method": "POST",
        "headers": {"X-Key": key},
        "query": {"k": key},
        "body": {"a": [{"b": key}], "n": "${input.n}"},
    }
    await called(app, config, input={"n": 1})
    (asked,) = server.asked
    assert asked.header("X-Key") == "canary-0123456789"
    assert asked.path == "/x?k=canary-0123456789"
    assert asked.json() == {"a": [{"b": "canary-0123456789"}], "n": 1}


async def test_data_that_looks_like_a_secret_stays_data(server: WebServer, app: Perdure) -> None:
    """Otherwise whoever sends an order could have a key delivered with it."""
    server.answer("/x", "ok")
    bad = {"secret": "KEY"}
    bodies = [
        "${input}",
        {"order": "${input.order}"},
        {"order": "${input.order}", "mine": {"secret": "KEY"}},
        {"secret": "${input.name}"},
    ]
    for body in bodies:
        config = {"url": "https://x.example/x", "method": "POST", "body": body}
        await called(app, config, input={"order": bad, "name": "KEY"})
    sent = [asked.json() for asked in server.asked]
    assert sent[0] == {"order": bad, "name": "KEY"}
    assert sent[1] == {"order": bad}
    assert sent[2] == {"order": bad, "mine": "canary-0123456789"}
    assert sent[3] == {"secret": "KEY"}


async def test_a_secret_that_is_not_there_is_named(app: Perdure) -> None:
    failure = await refused(app, {"url": "https://x.example/x", "headers": {"A": {"secret": "NONE"}}})
    assert (failure["code"], "NONE" in failure["message"]) == ("NOT_FOUND", True)


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\x01b"])
async def test_computed_headers_cannot_smuggle(value: str, server: WebServer, app: Perdure) -> None:
    failure = await refused(app, {"url": "https://x.example/x", "headers": {"A": "x${input.v}"}}, {"v": value})
    assert failure["code"] == "HTTP_REQUEST_INVALID"
    assert not server.asked


async def test_computed_header_names_cannot_either(server: WebServer, app: Perdure) -> None:
    for headers in ({"Host": "evil"}, {"Content-Length": "5"}, {"A b": "c"}, {"A": {"b": 1}}, "text"):
        failure = await refused(app, {"url": "https://x.example/x", "headers": "${input.h}"}, {"h": headers})
        assert failure["code"] == "HTTP_REQUEST_INVALID"
    assert not server.asked


# -- who calls ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        ({"type": "header", "name": "X-Api-Key", "value": {"secret": "KEY"}}, "X-Api-Key", "canary-0123456789"),
        ({"type": "bearer", "token": {"secret": "KEY"}}, "Authorization", "Bearer canary-0123456789"),
        ({"type": "bearer", "token": "${input.token}"}, "Authorization", "Bearer t0"),
        ({"type": "basic", "username": "me-{{input.token}}", "password": {"secret": "KEY"}}, "Authorization",
         "Basic " + base64.b64encode(b"me-t0:canary-0123456789").decode()),
    ],
)  # fmt: skip
async def test_ways_to_say_who_calls(auth: Any, header: str, value: str, server: WebServer, app: Perdure) -> None:
    server.answer("/x", "ok")
    await called(app, {"url": "https://x.example/x", "auth": auth}, input={"token": "t0"})
    assert server.asked[0].header(header) == value


# -- scripts -----------------------------------------------------------------------------------------


async def test_every_dynamic_field_and_the_transformer_may_be_a_script(server: WebServer, app: Perdure) -> None:
    """As Drift's documents have them."""
    server.answer("/orders/7", {"items": [{"price": 2}, {"price": 3}]})
    config = {
        "url": {"script": "'https://x.example/orders/' + str(_global['id'])"},
        "method": "POST",
        "headers": {"script": "['X-Tenant': _thread.tenant]", "language": "groovy"},
        "query": {"script": "return ['q': _global.id + 1]", "language": "groovy"},
        "body": {"script": "{'ids': [input['id']], 'secret': 'KEY'}"},
        "transformer": {"script": "return _response.items.collect { it.price * _global.n }", "language": "groovy"},
    }
    found = await called(app, config, input={"id": 7, "n": 10}, thread={"tenant": "acme"})
    assert found == [20, 30]
    (asked,) = server.asked
    assert (asked.path, asked.header("X-Tenant")) == ("/orders/7?q=8", "acme")
    assert asked.json() == {"ids": [7], "secret": "KEY"}


async def test_a_script_that_fails_is_not_tried_again(server: WebServer, app: Perdure) -> None:
    server.answer("/x", {"a": 1})
    config = {"url": "https://x.example/x", "transformer": {"script": "_response['b']"}}
    assert (await refused(app, config, retry=SOON))["code"] == "SCRIPT_RUNTIME"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 5_000 + b"]" * 5_000,
        b'"\\u0000"',
        b'{"a":"\\u0000"}',
        b"[1e999]",
        b"[NaN]",
        b'"\\ud800"',
        b"9" * 100_000,
        b'{"a":1,"a":2}',
        b"\xff\xfe[1]",
    ],
    ids=range(11),
)
async def test_no_response_is_too_odd(body: bytes, server: WebServer, app: Perdure) -> None:
    """Whatever it is, the node ends: with a value that can be kept, or with a failure that has a name."""
    server.answer("/x", body, headers={"Content-Type": "application/json"})
    for kind in ("auto", "json"):
        await app.deploy(flow({"url": "https://x.example/x", "response": kind}, retry=SOON))
        run = await app.start("flow")
        try:
            await run.result()
        except RunEnded as ended:
            code = (ended.failure or {})["code"]
            assert code in ("HTTP_RESPONSE_INVALID", "OUTPUT_INVALID"), code
    assert len(server.asked) == 2
