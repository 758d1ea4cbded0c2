"""`perdure dev`: engine and HTTP surface in one process."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import uvicorn

from perdure.api.app import create_api, is_loopback
from perdure.api.connections import connections
from perdure.assembly import Perdure
from perdure.cli.screen import give_up, tell
from perdure.errors import PerdureError, SettingsInvalid
from perdure.settings import load_settings


def serve(flags: dict[str, Any], target: str | None) -> int:
    try:
        settings = load_settings(flags)
        if not is_loopback(settings.host):
            raise SettingsInvalid(
                f"refusing to listen on {settings.host}: this release has no login",
                expected="a loopback address such as 127.0.0.1",
                remedy="put it behind a proxy that authenticates",
            )
        app = Perdure.open(settings=settings, on_fatal=give_up)
        if target is not None:
            from perdure.cli.loading import load_steps

            load_steps(target, app)
    except PerdureError as error:
        tell(error)
        return 2
    config = uvicorn.Config(
        create_api(app, settings.request_seconds),
        host=settings.host,
        port=settings.port,
        log_level=settings.log_level.lower(),
        access_log=False,
        server_header=False,
        lifespan="off",
        http=connections(settings.request_seconds),
        ws="none",
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    try:
        asyncio.run(listen(app, server, f"http://{settings.host}:{settings.port}, database {settings.database_url}"))
    except PerdureError as error:
        tell(error)
        return 2
    except KeyboardInterrupt:
        return 0
    return 0 if server.started else 2


async def listen(app: Perdure, server: uvicorn.Server, where: str) -> None:
    """The database first: who cannot open it has nothing to listen for."""
    async with app:
        sys.stdout.write(f"Perdure listens on {where}\n")
        sys.stdout.flush()
        await server.serve()
