"""The HTTP surface of this release: start, get, signal, cancel, retry, definitions, health. The full API grows here."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from perdure.assembly import Perdure
from perdure.errors import InvalidInput, PerdureError, TooMuch
from perdure.model.reading import read_document
from perdure.model.values import Json

MAX_BODY = 2 * 1024 * 1024
_encode = msgspec.json.Encoder().encode
Endpoint = Callable[[Request], Awaitable[Response]]


def answer(value: Any, status: int = 200) -> Response:
    return Response(_encode(value), status, media_type="application/json")


def problem(error: PerdureError) -> Response:
    """RFC 9457, with the error tree's code and the JSON pointer."""
    body = {"type": f"urn:perdure:{error.code}", "title": error.message, "status": error.status, **error.as_dict()}
    return Response(_encode(body), error.status, media_type="application/problem+json")


async def body_of(request: Request) -> Json:
    """The JSON body, within limits; no body is null."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY:
            raise TooMuch(f"the body is larger than {MAX_BODY} bytes", limit=MAX_BODY)
        parts.append(part)
    data = b"".join(parts)
    if not data:
        return None
    value, problems = read_document(data)
    if problems:
        first = problems[0]
        raise InvalidInput(first.message, pointer=first.pointer, problems=[found.as_dict() for found in problems])
    return value


def guarded(endpoint: Endpoint) -> Endpoint:
    async def call(request: Request) -> Response:
        try:
            return await endpoint(request)
        except PerdureError as error:
            return problem(error)

    return call


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
            route("/health/live", self.live, "GET"),
            route("/health/ready", self.ready, "GET"),
        ]

    async def list_definitions(self, request: Request) -> Response:
        return answer({"items": await self._app.list_definitions()})

    async def deploy(self, request: Request) -> Response:
        version = await self._app.deploy(await body_of(request), id=request.path_params["id"])
        return answer({"id": version.id, "version": version.version, "hash": version.hash})

    async def definition(self, request: Request) -> Response:
        return answer(await self._app.definitions.version(self._app.namespace, request.path_params["id"]))

    async def start(self, request: Request) -> Response:
        body = await body_of(request)
        if not isinstance(body, dict) or not isinstance(body.get("definition"), str):
            raise InvalidInput("name the definition to start", pointer="/definition", expected="a string")
        unknown = set(body) - {"definition", "input", "version"}
        if unknown:
            raise InvalidInput(f"unknown field {min(unknown)!r}", pointer=f"/{min(unknown)}")
        version = body.get("version")
        if version is not None and (not isinstance(version, int) or isinstance(version, bool) or version < 1):
            raise InvalidInput("a version is a whole number from 1", pointer="/version")
        key = request.headers.get("idempotency-key")
        run = await self._app.start(body["definition"], body.get("input"), key=key, version=version, trigger="api")
        return answer({"id": run.id}, 201)

    async def list_runs(self, request: Request) -> Response:
        query = request.query_params
        limit = query.get("limit", "100")
        if not limit.isdigit() or not 1 <= int(limit) <= 1000:
            raise InvalidInput("limit is a number from 1 to 1000", pointer="/limit")
        filter = {"definition": query["definition"]} if "definition" in query else {}
        return answer({"items": await self._app.list_runs(before=query.get("before"), limit=int(limit), **filter)})

    async def run(self, request: Request) -> Response:
        run = self._app.run(request.path_params["id"])
        view = await run.view()
        why = [] if view.status.is_final else await run.why()
        return answer({**msgspec.to_builtins(view), "why": why})

    async def history(self, request: Request) -> Response:
        after = request.query_params.get("after", "0")
        if not after.isdigit():
            raise InvalidInput("after is the number of an event", pointer="/after")
        return answer({"items": await self._app.run(request.path_params["id"]).history(int(after))})

    async def signal(self, request: Request) -> Response:
        body = await body_of(request)
        if not isinstance(body, dict) or not isinstance(body.get("name"), str):
            raise InvalidInput("name the signal", pointer="/name", expected="a string")
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

    async def live(self, request: Request) -> Response:
        return answer({"status": "alive"})

    async def ready(self, request: Request) -> Response:
        await self._app.store.ownership.now()
        return answer({"status": "ready"})


async def on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    codes = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}
    body = {
        "type": "about:blank",
        "title": error.detail,
        "status": error.status_code,
        "code": codes.get(error.status_code),
    }
    return Response(_encode(body), error.status_code, media_type="application/problem+json")


def create_api(app: Perdure) -> Starlette:
    """The ASGI application. It opens and closes `app`."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with app:
            yield

    return Starlette(routes=Routes(app).table(), lifespan=lifespan, exception_handlers={HTTPException: on_http_error})
