"""Connections with manners: a client that dawdles, or whose request has no end, is told so and left.

uvicorn waits for the head of a request for ever and keeps as much of it as comes. Here it must be there in time and be
of a sensible size. What is not HTTP is answered like every other mistake. For the body see `app.body_of`; here, a body
that is still on its way after its request was answered is read for a moment and thrown away (whoever sends would
otherwise see a broken connection instead of the answer), then the connection is closed.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from typing import Any, ClassVar

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from perdure.errors import InvalidInput, PerdureError, TooMuch, TooSlow

MAX_HEAD = 64 * 1024
MAX_HEADERS = 100
LINGER = 2.0

_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode


def as_problem(error: PerdureError, status: int | None = None) -> bytes:
    """RFC 9457, with the error tree's code and the JSON pointer."""
    status = status or error.status
    return _encode({"type": f"urn:perdure:{error.code}", "title": error.message, "status": status, **error.as_dict()})


class Connection(HttpToolsProtocol):
    patience: ClassVar[float] = 10.0
    """Seconds for the head of a request."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._head = 0
        """Bytes of the head that is being received, as far as it came in pieces."""
        self._in_head = True
        self._deadline: asyncio.TimerHandle | None = None
        self._linger: asyncio.TimerHandle | None = None
        self._refused = False

    # -- time ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._linger is not None:
            self._linger.cancel()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(self.patience, self._too_slow)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_for_head()  # the request before it is still being answered: let that end
        elif self._head:
            self._refuse(TooSlow("the head of the request did not come in time", remedy="send it in one go"))
        else:
            self.transport.close()  # nobody has asked anything

    # -- size ---------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        super().data_received(data)
        if self._in_head and not self._refused:
            self._head += len(data)
            if self._head > MAX_HEAD:
                self._refuse_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head = True, 0
        if self._deadline is None:
            self._wait_for_head()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_waiting()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > MAX_HEAD or len(self.headers) > MAX_HEADERS:
            self._refuse_head()
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        if not self._refused:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        unfinished = self.cycle is not None and self.cycle.more_body
        super().on_response_complete()
        if unfinished and not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self._linger = self.loop.call_later(min(LINGER, self.patience), self.transport.close)

    # -- refusing -----------------------------------------------------------------------------------

    def _refuse_head(self) -> None:
        limits = f"at most {MAX_HEAD} bytes and {MAX_HEADERS} headers"
        self._refuse(TooMuch("the head of the request is too large", expected=limits, limit=MAX_HEAD), status=431)

    def send_400_response(self, msg: str) -> None:
        """Called for what the parser refuses."""
        if not self._refused:
            self._refuse(InvalidInput("this is not a request in HTTP/1.1", remedy="let an HTTP library write it"))

    def _refuse(self, error: PerdureError, status: int | None = None) -> None:
        self._refused = True
        self._stop_waiting()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.close()  # another answer in the midst of one would be none
                return
        body = as_problem(error, status)
        self.transport.write(
            STATUS_LINE[status or error.status]
            + b"content-type: application/problem+json\r\n"
            + b"content-length: %d\r\n" % len(body)
            + b"connection: close\r\n\r\n"
            + body
        )
        self.transport.close()


class Complaints:
    """For `loop.set_exception_handler`. Where a process may have no more descriptors, asyncio says so for each
    connection that it cannot take, many times a second; here it is said once in a while."""

    def __init__(self, every: float = 60.0) -> None:
        self._every = every
        self._quiet_until: float | None = None

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        if "socket" not in context or not isinstance(problem, OSError) or problem.errno not in _NO_ROOM:
            loop.default_exception_handler(context)
        elif self._quiet_until is None or loop.time() >= self._quiet_until:
            self._quiet_until = loop.time() + self._every
            _log.warning("there is no room for more connections (%s): allow more with `ulimit -n`", problem.strerror)


def connections(patience: float) -> type[Connection]:
    """For `uvicorn.Config(http=…)`, which wants a class."""
    return type("Connection", (Connection,), {"patience": patience})
