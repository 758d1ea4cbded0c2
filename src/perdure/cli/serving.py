"""`perdure dev`: engine and HTTP surface in one process."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import Any

import uvicorn

from perdure.api.app import create_api, is_loopback
from perdure.api.connections import Complaints, connections
from perdure.assembly import Perdure
from perdure.cli.screen import give_up, tell
from perdure.errors import PerdureError, SettingsInvalid
from perdure.settings import Settings, load_settings

SIGNALS = (signal.SIGINT, signal.SIGTERM)
BACKLOG = 256
"""So often in a row asyncio tries to take a connection when it has no room for one."""
_NO_SUCH_ADDRESS = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)
"""`localhost` may stand for an IPv6 address that this machine does not have."""
STRAGGLERS = 1.0
"""Seconds for threads to end when everything has been handed over."""


class Server(uvicorn.Server):
    """uvicorn's own would repeat the signal against us as soon as it has stopped listening, before the engine has
    handed its runs over."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def leave(self, number: int, frame: FrameType | None) -> None:
        """The first signal: in good order. The second: at once. Not by the event loop, which a step may be blocking."""
        if self.should_exit:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.should_exit = True
        with suppress(OSError):  # not by `sys.stdout`, in the midst of whose work we may be
            os.write(1, b"Perdure hands its runs over and ends; the same signal once more ends it at once\n")


def serve(flags: dict[str, Any], target: str | None) -> int:
    with ExitStack() as undo:
        try:
            settings = load_settings(flags)
            sockets = bind(settings)
            for one in sockets:
                undo.enter_context(one)
            app = Perdure.open(settings=settings, on_fatal=give_up)
            if target is not None:
                from perdure.cli.loading import load_steps

                load_steps(target, app)
            server = Server(configure(app, settings))
            for number in SIGNALS:
                undo.callback(signal.signal, number, signal.signal(number, server.leave))
            asyncio.run(listen(app, server, sockets, settings))
        except PerdureError as error:
            tell(error)
            return 2
    return 0


def configure(app: Perdure, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        create_api(app, settings.request_seconds),
        log_level=settings.log_level.lower(),
        access_log=False,
        server_header=False,
        lifespan="off",
        http=connections(settings.request_seconds),
        ws="none",
        backlog=BACKLOG,
        timeout_graceful_shutdown=5,
    )


def bind(settings: Settings) -> list[socket.socket]:
    """Before anything else is done: who cannot be reached shall not open the database. They listen already, as a
    port that is only bound can be bound once more."""
    host, port = settings.host, settings.port
    if not is_loopback(host):
        raise SettingsInvalid(
            f"refusing to listen on {host}: this release has no login",
            expected="a loopback address such as 127.0.0.1",
            remedy="put it behind a proxy that authenticates",
        )
    bound: list[socket.socket] = []
    with ExitStack() as undo:
        try:
            for family, _, _, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
                number = bound[0].getsockname()[1] if bound else port  # `localhost` is two addresses and one port
                try:
                    one = socket.create_server((str(address[0]), number), family=family, backlog=BACKLOG)
                except OSError as problem:
                    if problem.errno not in _NO_SUCH_ADDRESS:
                        raise
                else:
                    bound.append(undo.enter_context(one))
            if not bound:
                raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
        except OSError as problem:
            raise SettingsInvalid(
                f"cannot listen on port {port} of {host}: {os.strerror(problem.errno or 0).lower()}",
                remedy="choose another port with --port or PERDURE_PORT; 0 is any free one",
                port=port,
            ) from None
        undo.pop_all()
    return bound


async def listen(app: Perdure, server: Server, sockets: list[socket.socket], settings: Settings) -> None:
    """The database first: who cannot open it has nothing to listen for."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    asyncio.get_running_loop().set_exception_handler(Complaints())
    async with app:
        where = f"http://{host}:{sockets[0].getsockname()[1]}"
        sys.stdout.write(f"Perdure listens on {where}, database {settings.database_url}\n")
        sys.stdout.flush()
        await server.serve(sockets)
    _leave_stragglers()


def _leave_stragglers() -> None:
    """A thread cannot be interrupted, and Python waits for it. What it does belongs to somebody else by now."""

    def leave() -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    last = threading.Timer(STRAGGLERS, leave)
    last.daemon = True
    last.start()
