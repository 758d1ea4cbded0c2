"""HTTP nodes of Drift: their components, their transformer, who calls, and performance tests (B01, B02, B06, R10)."""

from __future__ import annotations

from typing import Any

from perdure import Perdure
from perdure.nodes.outgoing.policy import AuthClient
from tests.dialects.drift.documents import SUCCESS, definition, script, state, static, workflow
from tests.fixtures.webserver import WebServer
from tests.nodes.calls import application


def called(components: dict[str, Any], transformer: str | None = None) -> dict[str, Any]:
    more = {"transformerComponents": {"transformer": script(transformer)}} if transformer else {}
    fetch = definition("HTTP", "fetch", httpComponents={"method": "GET", **components}, **more)
    return workflow({"fetch": state(fetch, "done"), "done": state(SUCCESS)})


async def outputs(app: Perdure, document: dict[str, Any], params: Any, thread: Any = None) -> Any:
    """What the call has given."""
    await app.deploy(document)
    run = await app.start("wf", {"params": params, "threadContext": thread or {}}, thread=thread)
    await run.result()
    return next(each.event.output for each in await run.history() if type(each.event).__name__ == "ActivationCompleted")  # type: ignore[attr-defined]


async def test_a_call_of_drift_is_made_with_all_its_components() -> None:
    async with WebServer() as server, application(hosts={"api.test": server.url}) as app:
        server.answer("/orders/7", {"price": 5})
        components = {
            "url": script('return "http://api.test/orders/" + _global.params.id'),
            "method": "POST",
            "headers": script('return ["X-A": "b"]'),
            "queryParams": static({"q": "x y"}, "MAP"),
            "body": script("return [n: _global.params.id]"),
            "contentType": "application/x-www-form-urlencoded",
        }
        found = await outputs(app, called(components, "return [total: _response.price * 2]"), {"id": 7})
        assert found == {"total": 10}
        (asked,) = server.asked
        assert (asked.method, asked.path, asked.header("X-A")) == ("POST", "/orders/7?q=x%20y", "b")
        assert (asked.body, asked.header("Content-Type")) == (b"n=7", "application/x-www-form-urlencoded")


async def test_without_transformer_the_body_is_the_output_and_an_empty_one_an_object() -> None:
    async with WebServer() as server, application(hosts={"api.test": server.url}) as app:
        server.answer("/x", {"a": 1}, times=1)
        server.answer("/x", None)
        document = called({"url": static("http://api.test/x")})
        assert await outputs(app, document, {}) == {"a": 1}
        assert await outputs(app, document, {}) == {}


async def test_a_target_client_is_one_of_the_operators_clients() -> None:
    clients = {"billing": AuthClient(token_url="https://id.test/token", client_id="me", secret="S")}
    async with (
        WebServer() as server,
        application(hosts={"api.test": server.url, "id.test": server.url}, clients=clients, secrets={"S": "x"}) as app,
    ):
        server.answer("/token", {"access_token": "a-token"})
        server.answer("/x", {"a": 1})
        await outputs(app, called({"url": static("http://api.test/x"), "targetClientId": "billing"}), {})
        assert server.asked[-1].header("Authorization") == "Bearer a-token"


async def test_b06_a_performance_test_says_so_to_those_it_calls() -> None:
    async with WebServer() as server, application(hosts={"api.test": server.url}) as app:
        server.answer("/x", {"a": 1})
        document = called({"url": static("http://api.test/x")})
        await outputs(app, document, {}, {"perfFlag": "true"})
        await outputs(app, document, {}, {"perfFlag": "false"})
        assert [asked.header("X_PERF_TEST") for asked in server.asked] == ["true", None]
