"""The HTTP surface of this release: runs, definitions, tasks for people, health. The full API grows here."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from perdure.api.connections import as_problem
from perdure.assembly import Perdure
from perdure.errors import Forbidden, InvalidInput, NotJson, PerdureError, TooMuch, TooSlow
from perdure.model.reading import read_document
from perdure.model.statuses import Status
from perdure.model.values import Json, check_name

MAX_BODY = 2 * 1024 * 1024
PATIENCE = 10.0
"""Seconds for the body of a request."""
_encode = msgspec.json.Encoder().encode
_HOST = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
"""Not taken apart by a library for URLs: what is no host would be nobody's name there, or somebody else's."""
Endpoint = Callable[[Request], Awaitable[Response]]


def answer(value: Any, status: int = 200) -> Response:
    return Response(_encode(value), status, media_type="application/json")


def problem(error: PerdureError) -> Response:
    return Response(as_problem(error), error.status, media_type="application/problem+json")


async def body_of(request: Request) -> Json:
    """The JSON body, within limits; no body is null. Only what is called JSON is read as JSON: a browser on a foreign
    page can send forms and plain text without asking, and JSON it cannot."""
    data = await _received(request)
    if not data:
        return None
    kind, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    if kind.strip() != "application/json" and not kind.strip().endswith("+json"):
        raise _not_json(f"a body of type {kind.strip() or 'none'}")
    charset = re.search(r"charset\s*=\s*\"?([^\s\";]*)", parameters)
    if charset is not None and charset[1] not in ("utf-8", "utf8"):
        raise _not_json(f"a body in {charset[1]}")
    if (coding := request.headers.get("content-encoding", "identity").lower()) not in ("identity", ""):
        raise _not_json(f"a body that is packed ({coding})")
    value, problems = read_document(data)
    if problems:
        first = problems[0]
        raise InvalidInput(
            first.message,
            pointer=first.pointer,
            expected=first.expected,
            remedy=first.remedy or "send one JSON object that every reader reads alike",
            problems=[found.as_dict() for found in problems],
        )
    return value


async def _received(request: Request) -> bytes:
    """The length that is announced is looked at before anything is read, and the time is that for the whole: a byte now
    and then does not buy more of it."""
    announced = request.headers.get("content-length", "")
    parts, size = [], int(announced) if announced.isdecimal() else 0
    if size > MAX_BODY:
        raise _too_large()
    patience, size = request.app.state.patience, 0
    try:
        async with asyncio.timeout(patience):
            async for part in request.stream():
                size += len(part)
                if size > MAX_BODY:
                    raise _too_large()
                parts.append(part)
    except TimeoutError:
        raise TooSlow(
            f"the body did not come within {patience:g} seconds",
            remedy="send it in one go; raise request_seconds for clients on slow lines",
        ) from None
    return b"".join(parts)


def _too_large() -> TooMuch:
    return TooMuch(
        f"the body is larger than {MAX_BODY} bytes",
        limit=MAX_BODY,
        remedy="keep what is large elsewhere and refer to it",
    )


def _not_json(message: str) -> NotJson:
    return NotJson(message, expected="Content-Type: application/json", remedy="send JSON in UTF-8, as it is")


def refuse_unknown(body: dict[str, Any], known: set[str]) -> None:
    if unknown := set(body) - known:
        raise InvalidInput(
            f"unknown field {min(unknown)!r}", pointer=f"/{min(unknown)}", expected=", ".join(sorted(known))
        )


def whole_number(request: Request, name: str, default: int, least: int, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"[0-9]{1,15}", text) or not least <= int(text) <= most:
        raise InvalidInput(f"{name} is a number from {least} to {most}", pointer=f"/{name}")
    return int(text)


def status_of(name: str) -> Status:
    try:
        return Status(name)
    except ValueError:
        raise InvalidInput(f"no status {name!r}", pointer="/status", expected=", ".join(Status)) from None


def guarded(endpoint: Endpoint) -> Endpoint:
    """What our own errors say, every endpoint says as problem+json; and only a page of this server may ask."""

    async def call(request: Request) -> Response:
        try:
            refuse_strangers(request)
            return await endpoint(request)
        except PerdureError as error:
            return problem(error)
        except ClientDisconnect:
            return Response(status_code=499)

    return call


def refuse_strangers(request: Request) -> None:
    """There is no login yet, so nobody but this machine may get through: not by a name that was made to point here,
    and not by a foreign page in somebody's browser."""
    said = ",".join(request.headers.getlist("host")).lower()
    found = _HOST.fullmatch(said)
    if found is None:
        raise InvalidInput(f"{said!r} is no host", expected="one header Host, such as localhost:8000")
    host = found[1].strip("[]")
    if not is_loopback(host):
        raise Forbidden(f"this server does not answer to the name {host!r}", expected="localhost or 127.0.0.1")
    origin = request.headers.get("origin")
    if origin is not None and origin.lower() not in (f"http://{said}", f"https://{said}"):
        raise Forbidden(f"a page of {origin} may not use this server")


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Routes:
    def __init__(self, app: Perdure) -> None:
        self._app = app

    def table(self) -> list[Route]:
        def route(path: str, endpoint: Endpoint, method: str) -> Route:
            return Route(path, guarded(endpoint), methods=[method])

        base = "/api/v1"
        return [
            route(f"{base}/definitions", self.list_definitions, "GET"),
            route(f"{base}/definitions/{{id}}", self.deploy, "PUT"),
            route(f"{base}/definitions/{{id}}", self.definition, "GET"),
            route(f"{base}/runs", self.start, "POST"),
            route(f"{base}/runs", self.list_runs, "GET"),
            route(f"{base}/runs/{{id}}", self.run, "GET"),
            route(f"{base}/runs/{{id}}/history", self.history, "GET"),
            route(f"{base}/runs/{{id}}/signal", self.signal, "POST"),
            route(f"{base}/runs/{{id}}/cancel", self.cancel, "POST"),
            route(f"{base}/runs/{{id}}/retry", self.retry, "POST"),
            route(f"{base}/tasks", self.list_tasks, "GET"),
            route(f"{base}/tasks/{{id}}", self.task, "GET"),
            route(f"{base}/tasks/{{id}}/answer", self.answer_task, "POST"),
            route("/health/live", self.live, "GET"),
            route("/health/ready", self.ready, "GET"),
        ]

    async def list_definitions(self, request: Request) -> Response:
        return answer({"items": await self._app.list_definitions()})

    async def deploy(self, request: Request) -> Response:
        version = await self._app.deploy(await body_of(request), id=request.path_params["id"])
        return answer({"id": version.id, "version": version.version, "hash": version.hash})

    async def definition(self, request: Request) -> Response:
        return answer(
            await self._app.definitions.version(self._app.namespace, check_name(request.path_params["id"], "/id"))
        )

    async def start(self, request: Request) -> Response:
        body = await body_of(request)
        if not isinstance(body, dict) or not isinstance(body.get("definition"), str):
            raise InvalidInput("name the definition to start", pointer="/definition", expected="a string")
        refuse_unknown(body, {"definition", "input", "version"})
        version = body.get("version")
        key = request.headers.get("idempotency-key")
        run = await self._app.start(body["definition"], body.get("input"), key=key, version=version, trigger="api")
        return answer({"id": run.id}, 201)

    async def list_runs(self, request: Request) -> Response:
        query = request.query_params
        filter: dict[str, Any] = {"definition": query["definition"]} if "definition" in query else {}
        if "status" in query:
            filter["statuses"] = [status_of(name) for name in query["status"].split(",")]
        limit = whole_number(request, "limit", 100, 1, 1000)
        return answer({"items": await self._app.list_runs(before=query.get("before"), limit=limit, **filter)})

    async def run(self, request: Request) -> Response:
        run = self._app.run(request.path_params["id"])
        view = await run.view()
        why = [] if view.status.is_final else await run.why()
        return answer({**msgspec.to_builtins(view), "why": why})

    async def history(self, request: Request) -> Response:
        after = whole_number(request, "after", 0, 0, 10**12)
        limit = whole_number(request, "limit", 1000, 1, 1000)
        return answer({"items": await self._app.run(request.path_params["id"]).history(after, limit)})

    async def signal(self, request: Request) -> Response:
        body = await body_of(request)
        if not isinstance(body, dict) or not isinstance(body.get("name"), str):
            raise InvalidInput("name the signal", pointer="/name", expected="a string")
        refuse_unknown(body, {"name", "payload"})
        id = request.headers.get("idempotency-key")
        await self._app.run(request.path_params["id"]).signal(body["name"], body.get("payload"), id=id)
        return answer({"accepted": True}, 202)

    async def cancel(self, request: Request) -> Response:
        body = await body_of(request)
        reason = body.get("reason") if isinstance(body, dict) else None
        await self._app.run(request.path_params["id"]).cancel(reason if isinstance(reason, str) else None)
        return answer({"accepted": True}, 202)

    async def retry(self, request: Request) -> Response:
        await self._app.run(request.path_params["id"]).retry()
        return answer({"accepted": True}, 202)

    async def list_tasks(self, request: Request) -> Response:
        query = request.query_params
        page = await self._app.tasks.list(
            self._app.namespace,
            definition=query.get("definition"),
            assignee=query.get("assignee"),
            before=query.get("before"),
            limit=whole_number(request, "limit", 100, 1, 1000),
        )
        return answer(page)

    async def task(self, request: Request) -> Response:
        return answer(await self._app.tasks.get(self._app.namespace, request.path_params["id"]))

    async def answer_task(self, request: Request) -> Response:
        """With a token in the query the task is the one that the token is for, or nothing."""
        body = await body_of(request)
        tasks, namespace, id = self._app.tasks, self._app.namespace, request.path_params["id"]
        token = request.query_params.get("token")
        if token is not None:
            return answer(await tasks.answer_with_token(namespace, token, body, task=id))
        return answer(await tasks.answer(namespace, id, body, request=request.headers.get("idempotency-key")))

    async def live(self, request: Request) -> Response:
        return answer({"status": "alive"})

    async def ready(self, request: Request) -> Response:
        await self._app.store.ownership.now()
        return answer({"status": "ready"})


async def on_bug(request: Request, error: Exception) -> Response:
    """The server's log has the cause; the caller gets no path, query or stack."""
    body = {"type": "about:blank", "title": "a mistake of ours", "status": 500, "code": "INTERNAL"}
    return Response(_encode(body), 500, media_type="application/problem+json")


async def on_http_error(request: Request, error: Exception) -> Response:
    """What the router says: no such address, no such method for it."""
    assert isinstance(error, HTTPException)
    code, remedy = _ROUTING.get(error.status_code, (f"HTTP_{error.status_code}", None))
    body = {"type": "about:blank", "title": error.detail, "status": error.status_code, "code": code}
    if remedy is not None:
        body["remedy"] = remedy
    return Response(_encode(body), error.status_code, error.headers, media_type="application/problem+json")


_ROUTING = {
    404: ("NOT_FOUND", "see the list of addresses in docs/reference/http.md"),
    405: ("METHOD_NOT_ALLOWED", "use a method that the header Allow names"),
}


def create_api(app: Perdure, patience: float = PATIENCE) -> Starlette:
    """The ASGI application. Whoever serves it opens and closes `app`."""
    api = Starlette(routes=Routes(app).table(), exception_handlers={HTTPException: on_http_error, Exception: on_bug})
    api.router.redirect_slashes = False  # an address that is nearly right is wrong
    api.state.patience = patience
    return api
