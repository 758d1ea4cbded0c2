"""A server for the HTTP nodes of these tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web


class Incidents:
    """Answers as the incident service of the examples does, and keeps what it was asked."""

    def __init__(self) -> None:
        self.host = ""
        self.asked: list[web.BaseRequest] = []
        self.bodies: list[Any] = []
        self.answer: Any = {"statusResponse": {"id": 219, "status": "Solved", "statusType": "RESOLVED"}}
        self.status = 200

    async def _any(self, request: web.Request) -> web.Response:
        self.asked.append(request)
        self.bodies.append(await request.text())
        return web.json_response(self.answer, status=self.status)


@asynccontextmanager
async def incidents() -> AsyncIterator[Incidents]:
    server = Incidents()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server._any)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.host = f"127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
