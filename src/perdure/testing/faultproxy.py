"""A TCP proxy that can be told to misbehave, to stand between a program and a server.

    async with FaultProxy("/run/postgresql/.s.PGSQL.5432") as proxy:      # or ("db.example", 5432)
        connect(port=proxy.port)
        proxy.answers.mode = Mode.HALF_OPEN      # requests arrive, answers do not, nobody is told

Each direction has its own fault, for connections that are open and for those to come. What was swallowed stays lost.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass
from enum import Enum
from types import TracebackType

_ABORT = struct.pack("ii", 1, 0)


class Mode(Enum):
    PASS = "pass"
    HALF_OPEN = "half-open"
    """Bytes are swallowed; the connection stays."""
    RESET = "reset"
    """The next bytes break the connection instead of passing."""


@dataclass
class Fault:
    """What happens to bytes in one direction."""

    mode: Mode = Mode.PASS
    latency: float = 0.0
    """Seconds before each piece passes."""
    cut_after: int | None = None
    """So many bytes pass, over all connections, then the connection breaks, once."""
    passed: int = 0
    """Bytes so far."""


class FaultProxy:
    def __init__(self, upstream: str | tuple[str, int]) -> None:
        self.port = 0
        self.requests = Fault()
        self.answers = Fault()
        self._upstream = upstream
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> FaultProxy:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        self.reset()
        while self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def connections(self) -> int:
        return len(self._tasks)

    def both(self, mode: Mode) -> None:
        self.requests.mode = self.answers.mode = mode

    def reset(self) -> None:
        """Breaks every connection now."""
        for writer in tuple(self._writers):
            _break(writer)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        self._writers.add(writer)
        far: asyncio.StreamWriter | None = None
        try:
            if isinstance(self._upstream, str):
                far_reader, far = await asyncio.open_unix_connection(self._upstream)
            else:
                far_reader, far = await asyncio.open_connection(*self._upstream)
            self._writers.add(far)
            await asyncio.gather(
                self._pump(reader, far, writer, self.requests), self._pump(far_reader, writer, far, self.answers)
            )
        except OSError:
            pass  # the server is not there
        finally:
            for each in (writer, far):
                if each is not None:
                    self._writers.discard(each)
                    each.transport.abort()
            if task is not None:
                self._tasks.discard(task)

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, other: asyncio.StreamWriter, fault: Fault
    ) -> None:
        try:
            while data := await source.read(65536):
                if fault.latency:
                    await asyncio.sleep(fault.latency)
                if fault.mode is Mode.HALF_OPEN:
                    continue
                broken = fault.mode is Mode.RESET
                if fault.cut_after is not None and fault.passed + len(data) >= fault.cut_after:
                    data = data[: max(fault.cut_after - fault.passed, 0)]
                    fault.cut_after, broken = None, True
                fault.passed += len(data)
                if fault.mode is Mode.PASS:
                    sink.write(data)
                    await sink.drain()
                if broken:
                    break
        except OSError:
            pass
        _break(sink)
        _break(other)


def _break(writer: asyncio.StreamWriter) -> None:
    """Resets a TCP connection instead of closing it politely."""
    line: socket.socket | None = writer.get_extra_info("socket")
    if line is not None and line.family != socket.AF_UNIX and not writer.transport.is_closing():
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
    writer.transport.abort()
