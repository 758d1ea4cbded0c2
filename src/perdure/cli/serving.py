"""`perdure dev`: engine and HTTP surface in one process."""

from __future__ import annotations

import ipaddress
import os
import sys
from typing import Any

from perdure.cli.screen import tell
from perdure.errors import PerdureError, SettingsInvalid
from perdure.settings import load_settings

DISK_FAILED = 74
"""Exit status, as sysexits.h has it for input and output errors."""


def serve(flags: dict[str, Any], target: str | None) -> int:
    import uvicorn

    from perdure.api.app import create_api
    from perdure.assembly import Perdure

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
    sys.stdout.write(f"Perdure listens on http://{settings.host}:{settings.port}, database {settings.database_url}\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        create_api(app),
        host=settings.host,
        port=settings.port,
        log_level=settings.log_level.lower(),
        access_log=False,
        server_header=False,
    )
    server = uvicorn.Server(config)
    server.run()
    return 0 if server.started else 2


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def give_up(problem: BaseException) -> None:
    """The disk failed under the database: what is written cannot be known any more. Whoever starts us again recovers
    from what is really there; trying the same write again would only hide the loss."""
    sys.stderr.write(f"the database failed, giving up: {problem}\n")
    sys.stderr.flush()
    os._exit(DISK_FAILED)
