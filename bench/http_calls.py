"""How many calls per second the http node makes, as complete activations on SQLite, beside the client alone.

    python -m bench.http_calls [--calls 6000] [--connections 20] [--uvloop] [--profile]

The server is a process of its own and does next to nothing. `bare`: aiohttp with as many connections, and nothing
around it. `client`: our guarded client. `loop`: one run, a loop over all items. `runs`: one run for each call. Each as
calls per second, and as µs of CPU per call, which hardly changes with the load of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import multiprocessing
import pstats
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from perdure import Perdure
from perdure.nodes.outgoing.calls import Call
from perdure.nodes.outgoing.client import HttpClient
from perdure.nodes.outgoing.policy import OutgoingSettings, parse_allow
from perdure.settings import Settings

BODY = b'{"ok": true, "price": 12.5, "items": [1, 2, 3]}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
ANSWER = HEAD % len(BODY) + BODY
LANES = 100


class _Server(asyncio.Protocol):
    connections = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        _Server.connections += 1
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        """Requests of this bench have no body and come one at a time."""
        if data.startswith(b"GET /connections"):
            told = str(_Server.connections - 1).encode()
            self._transport.write(HEAD % len(told) + told)
            _Server.connections = 0
            self._transport.close()
        else:
            self._transport.write(ANSWER)


def _serve(pipe: Connection) -> None:
    async def serve() -> None:
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(_Server, "127.0.0.1", 0)
        pipe.send(listening.sockets[0].getsockname()[1])
        await listening.serve_forever()

    asyncio.run(serve())


@contextmanager
def server() -> Iterator[int]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


class Figures(dict[str, float]):
    """Of each way: calls per second, and CPU per call."""

    @contextmanager
    def of(self, name: str, calls: int) -> Iterator[None]:
        begun, used = time.perf_counter(), time.process_time()
        yield
        self[name] = calls / (time.perf_counter() - begun)
        self[f"{name}_cpu_us"] = (time.process_time() - used) / calls * 1e6


async def _in_lanes(calls: int, one: Callable[[], Awaitable[Any]]) -> None:
    """A hundred at a time."""

    async def lane(count: int) -> None:
        for _ in range(count):
            await one()

    await asyncio.gather(*[lane(calls // LANES) for _ in range(LANES)])


async def bare(url: str, calls: int, connections: int) -> None:
    import aiohttp

    connector = aiohttp.TCPConnector(limit_per_host=connections, limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def one() -> None:
            async with session.get(url) as response:
                await response.json()

        await _in_lanes(calls, one)


async def client(url: str, calls: int, connections: int) -> None:
    http = HttpClient(OutgoingSettings(allow=parse_allow("127.0.0.1"), connections_per_host=connections))
    try:
        await _in_lanes(calls, lambda: http.call("default", Call("GET", url)))
    finally:
        await http.close()


def document(url: str) -> dict[str, Any]:
    call = {"url": f"{url}/orders/${{item}}", "headers": {"X-Order": "${item}"}, "output": "body"}
    return {
        "id": "loop",
        "nodes": [
            {"id": "start", "type": "start"},
            {
                "id": "each",
                "type": "loop",
                "config": {"range": {"stop": "${input}"}, "concurrency": LANES, "accumulate": "none"},
            },
            {"id": "call", "type": "http", "parent": "each", "config": call},
        ],
        "edges": [{"source": "start", "target": "each"}],
    }


def single(url: str) -> dict[str, Any]:
    call = {"url": f"{url}/orders/${{input}}", "headers": {"X-Order": "${input}"}}
    nodes = [{"id": "start", "type": "start"}, {"id": "call", "type": "http", "config": call}]
    return {"id": "single", "nodes": nodes, "edges": [{"source": "start", "target": "call"}]}


async def measured(port: int, calls: int, connections: int, profile: bool) -> dict[str, float]:
    url, found = f"http://127.0.0.1:{port}", Figures()
    await bare(url, LANES, connections)  # what is made once
    with found.of("bare", calls):
        await bare(url, calls, connections)
    with found.of("client", calls):
        await client(url, calls, connections)
    await _connections(url)
    with tempfile.TemporaryDirectory(prefix="perdure-bench-") as directory:
        settings = Settings(http_allow="127.0.0.1", http_connections_per_host=connections)
        async with Perdure.open(f"sqlite:///{Path(directory) / 'bench.db'}", settings=settings) as app:
            await app.deploy(document(url))
            await app.deploy(single(url))
            await (await app.start("loop", 200)).result()
            profiler = cProfile.Profile()
            if profile:
                profiler.enable()
            with found.of("loop", calls):
                await (await app.start("loop", calls)).result()
            if profile:
                profiler.disable()
                pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(35)

            async def one() -> None:
                await (await app.start("single", 7)).result()

            with found.of("runs", calls):
                await _in_lanes(calls, one)
            found["connections"] = await _connections(url)
    return found


async def _connections(url: str) -> float:
    http = HttpClient(OutgoingSettings(allow=parse_allow("127.0.0.1")))
    told = await http.call("default", Call("GET", f"{url}/connections"))
    await http.close()
    return float(told.body)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.http_calls")
    parser.add_argument("--calls", type=int, default=6000)
    parser.add_argument("--connections", type=int, default=20)
    parser.add_argument("--uvloop", action="store_true")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    if options.uvloop:
        import uvloop

        uvloop.install()
    with server() as port:
        found = asyncio.run(measured(port, options.calls, options.connections, options.profile))
    sys.stdout.write(json.dumps({name: round(value, 1) for name, value in found.items()}) + "\n")


if __name__ == "__main__":
    main()
