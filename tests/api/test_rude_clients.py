"""Clients without manners, on a real port and without a library in between: told what is wrong, never a 500."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from perdure import Perdure
from perdure.api.app import create_api
from perdure.stores.memory import MemoryStore
from perdure.testing.simloop import SimClock, pass_time, simulated
from tests.api.test_surface import serve

PATIENCE = 0.5
"""Seconds that this server waits for a request."""
JSON = "Content-Type: application/json\r\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    for url in serve(tmp_path_factory.mktemp("server"), PERDURE_REQUEST_SECONDS=str(PATIENCE)):
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        yield (server := (parts.hostname, parts.port))
        assert spoken_to(server, b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")[0] == 200


class Answer(msgspec.Struct):
    status: int
    headers: dict[str, str]
    body: Any


def answer_of(data: bytes) -> Answer:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Answer(int(first.split()[1]), headers, json.loads(body))


def listen(connection: socket.socket) -> bytes:
    """All that comes until the whole answer is there, or the server hangs up."""
    connection.settimeout(20)
    data = b""
    with suppress(ConnectionError):
        while part := connection.recv(65_536):
            data += part
            head, found, body = data.partition(b"\r\n\r\n")
            length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0")
            if found and len(body) >= int(length.partition(b":")[2]):
                break
    return data


def is_hung_up(connection: socket.socket) -> bool:
    connection.settimeout(20)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def spoken_to(place: tuple[str, int], *parts: bytes) -> tuple[int, Answer]:
    with socket.create_connection(place, timeout=20) as connection:
        for part in parts:
            with suppress(ConnectionError):
                connection.sendall(part)
        found = answer_of(listen(connection))
        return found.status, found


def post(body: bytes, headers: str = JSON, path: str = "/api/v1/runs") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    return head.encode("latin-1") + body


def is_clear(found: Answer, status: int, code: str) -> None:
    assert (found.status, found.body["code"]) == (status, code), found
    assert found.headers["content-type"] == "application/problem+json"
    assert found.body["status"] == status
    assert found.body["title"]


# -- slow ---------------------------------------------------------------------------------------------


def dripped(place: tuple[str, int], begin: bytes, drip: bytes) -> tuple[float, bytes, bool]:
    """Sends the beginning, then a byte now and then for as long as the server listens. How long that was, what it said,
    and whether it hung up."""
    with socket.create_connection(place, timeout=20) as connection:
        connection.sendall(begin)
        begun = time.monotonic()
        connection.settimeout(PATIENCE / 20)  # while nothing comes back, so often a byte goes out
        while time.monotonic() < begun + 20:
            with suppress(TimeoutError):
                first = connection.recv(1)
                passed = time.monotonic() - begun
                said = first + listen(connection) if first else b""
                return passed, said, is_hung_up(connection)
            connection.sendall(drip)
    raise AssertionError("the server listens for ever")


def test_a_body_that_comes_byte_by_byte_is_cut_off(place: tuple[str, int]) -> None:
    head = f"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n{JSON}Content-Length: 1000000\r\n\r\n".encode()
    passed, said, hung_up = dripped(place, head, b" ")
    is_clear(answer_of(said), 408, "TOO_SLOW")
    assert "request_seconds" in answer_of(said).body["remedy"]
    assert PATIENCE * 0.9 <= passed < PATIENCE + 5
    assert hung_up


def test_a_body_in_endless_pieces_is_cut_off(place: tuple[str, int]) -> None:
    head = f"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n".encode()
    _, said, hung_up = dripped(place, head, b"1\r\n \r\n")
    is_clear(answer_of(said), 408, "TOO_SLOW")
    assert hung_up


@pytest.mark.parametrize("begin", [b"G", b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-Long: "])
def test_a_head_that_comes_byte_by_byte_is_cut_off(place: tuple[str, int], begin: bytes) -> None:
    drip = b"x" if b":" in begin else b""
    passed, said, hung_up = dripped(place, begin, drip)
    is_clear(answer_of(said), 408, "TOO_SLOW")
    assert PATIENCE * 0.9 <= passed < PATIENCE + 5
    assert hung_up


def test_the_second_head_on_a_connection_has_no_more_time_than_the_first(place: tuple[str, int]) -> None:
    request = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(place, timeout=20) as connection:
        connection.sendall(request)
        assert answer_of(listen(connection)).status == 200
        connection.sendall(b"GET /health/l")
        is_clear(answer_of(listen(connection)), 408, "TOO_SLOW")


def test_who_connects_and_says_nothing_is_left(place: tuple[str, int]) -> None:
    with socket.create_connection(place, timeout=20) as connection:
        assert is_hung_up(connection)


def test_others_are_served_while_a_hundred_clients_dawdle(place: tuple[str, int]) -> None:
    slow = [socket.create_connection(place, timeout=20) for _ in range(100)]
    for connection in slow:
        connection.sendall(b"POST /api/v1/runs HTTP/1.1\r\n")
    assert spoken_to(place, b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")[0] == 200
    for connection in slow:
        connection.close()


@simulated()
async def test_the_time_for_a_body_is_that_for_the_whole_of_it() -> None:
    app = Perdure(MemoryStore(clock := SimClock()), clock=clock)
    async with app:
        sent: list[Any] = []

        async def receive() -> Any:
            await pass_time(3)
            return {"type": "http.request", "body": b" ", "more_body": True}

        async def send(message: Any) -> None:
            sent.append((clock.now() - begun, message))

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/api/v1/runs",
            "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
            "query_string": b"",
            "scheme": "http",
            "server": ("127.0.0.1", 80),
        }
        begun = clock.now()
        await create_api(app)(scope, receive, send)
        (passed, start), _ = sent
        assert (start["status"], passed) == (408, 10_000_000)


# -- too much -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000,
        b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 1_000 + b"\r\n",
    ],
    ids=["a header without an end", "a long header", "a long address", "a thousand headers"],
)
def test_a_head_that_is_too_large_is_refused(place: tuple[str, int], head: bytes) -> None:
    status, found = spoken_to(place, head)
    is_clear(found, 431, "TOO_MUCH")
    assert status == 431


def test_a_body_that_is_announced_as_too_large_is_refused_before_it_comes(place: tuple[str, int]) -> None:
    head = f"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n{JSON}Content-Length: 3000000000\r\n\r\n".encode()
    _, found = spoken_to(place, head)
    is_clear(found, 413, "TOO_MUCH")
    assert found.body["remedy"]


def test_a_body_that_turns_out_too_large_is_refused(place: tuple[str, int]) -> None:
    head = f"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n".encode()
    piece = b"%x\r\n" % 65_536 + b" " * 65_536 + b"\r\n"
    _, found = spoken_to(place, head, *[piece] * 40)
    is_clear(found, 413, "TOO_MUCH")


# -- wrong --------------------------------------------------------------------------------------------

LOCAL = "Host: localhost\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello\r\n\r\n",
        b"GET /health/live HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /health/live HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET /health/live HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_not_http_is_told_so(place: tuple[str, int], request_: bytes) -> None:
    _, found = spoken_to(place, request_)
    assert found.status == 400, found
    is_clear(found, 400, "INVALID_INPUT")
    assert found.body["remedy"]


@pytest.mark.parametrize(
    ("headers", "body", "status", "code"),
    [
        ("", b"{}", 415, "NOT_JSON"),
        ("Content-Type: text/plain\r\n", b"{}", 415, "NOT_JSON"),
        ("Content-Type: multipart/form-data; boundary=x\r\n", b"--x\r\n", 415, "NOT_JSON"),
        ("Content-Type: application/json; charset=utf-16\r\n", "{}".encode("utf-16"), 415, "NOT_JSON"),
        (JSON + "Content-Encoding: gzip\r\n", b"\x1f\x8b\x08\x00", 415, "NOT_JSON"),
        (JSON, b'{"definition": "\xff"}', 400, "INVALID_INPUT"),
        (JSON, "{}".encode("utf-16"), 400, "INVALID_INPUT"),
        (JSON, b'{"a":' * 70 + b"1" + b"}" * 70, 400, "INVALID_INPUT"),
        (JSON, b'{"a":' * 100_000, 400, "INVALID_INPUT"),
        (JSON, b'{"definition": "x", "definition": "y"}', 400, "INVALID_INPUT"),
        (JSON, b'{"definition": "x", "input": {"n": 1' + b"0" * 400 + b"}}", 400, "INVALID_INPUT"),
        (JSON, b'{"definition": "x", "input": {"n": 1e999}}', 400, "INVALID_INPUT"),
        (JSON, b'{"definition": "x", "input": {"n": Infinity}}', 400, "INVALID_INPUT"),
        (JSON, b'{"definition": "x", "input": "\\ud800"}', 400, "INVALID_INPUT"),
        (JSON, b'{"definition": "x", "input": "\\u0000"}', 400, "INVALID_INPUT"),
        (JSON, b"null", 400, "INVALID_INPUT"),
        (JSON, b"[1]", 400, "INVALID_INPUT"),
        (JSON, b'{"definition": "x"} trailing', 400, "INVALID_INPUT"),
    ],
)
def test_what_is_wrong_with_a_body_is_said(
    place: tuple[str, int], headers: str, body: bytes, status: int, code: str
) -> None:
    _, found = spoken_to(place, post(body, headers))
    is_clear(found, status, code)
    assert found.body["remedy"]


@pytest.mark.parametrize(
    ("line", "status", "code"),
    [
        ("DELETE /api/v1/runs", 405, "METHOD_NOT_ALLOWED"),
        ("PATCH /api/v1/definitions/x", 405, "METHOD_NOT_ALLOWED"),
        ("OPTIONS /health/live", 405, "METHOD_NOT_ALLOWED"),
        ("GET /", 404, "NOT_FOUND"),
        ("GET /api/v1/nothing", 404, "NOT_FOUND"),
        ("GET /api//v1/runs", 404, "NOT_FOUND"),
        ("GET /API/V1/RUNS", 404, "NOT_FOUND"),
        ("GET /api/v1/runs/", 404, "NOT_FOUND"),
        ("GET /api/v1/runs;x", 404, "NOT_FOUND"),
        ("GET /api/v1/%2e%2e/runs", 404, "NOT_FOUND"),
    ],
)
def test_a_wrong_method_or_address_is_told_so(place: tuple[str, int], line: str, status: int, code: str) -> None:
    _, found = spoken_to(place, f"{line} HTTP/1.1\r\n{LOCAL}\r\n".encode())
    is_clear(found, status, code)
    assert found.body["remedy"]
    assert (status == 405) == ("allow" in found.headers)


@pytest.mark.parametrize(
    ("line", "headers"),
    [
        ("GET /api/v1/runs/%00", LOCAL),
        ("GET /api/v1/runs/%ff", LOCAL),
        ("GET /api/v1/runs/" + "x" * 5_000, LOCAL),
        ("GET /api/v1/definitions/%00", LOCAL),
        ("PUT /api/v1/definitions/%00", LOCAL),
        ("PUT /api/v1/definitions/x", LOCAL),
        ("GET /api/v1/runs?definition=%00", LOCAL),
        ("GET /api/v1/runs?definition=%ff&before=%00&limit=1", LOCAL),
        ("GET /api/v1/runs?status=", LOCAL),
        ("GET /api/v1/runs", LOCAL + "Origin: http://[\r\n"),
        ("GET /api/v1/runs", LOCAL + "Origin: null\r\n"),
        ("GET /api/v1/runs", "Host: evil.example\r\n"),
        ("POST /api/v1/runs/x/retry", LOCAL),
        ("POST /api/v1/runs/%00/cancel", LOCAL),
    ],
)
def test_odd_addresses_and_headers_never_end_in_a_500(place: tuple[str, int], line: str, headers: str) -> None:
    status, _ = spoken_to(place, f"{line} HTTP/1.1\r\n{headers}\r\n".encode())
    assert status in (200, 400, 403, 404, 422), status


def test_an_upgrade_that_nobody_offers_is_no_offence(place: tuple[str, int]) -> None:
    upgrade = f"{LOCAL}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n"
    status, _ = spoken_to(place, f"GET /health/live HTTP/1.1\r\n{upgrade}\r\n".encode())
    assert status in (200, 400, 404)


def test_requests_in_a_row_are_answered_in_a_row(place: tuple[str, int]) -> None:
    request = f"GET /health/live HTTP/1.1\r\n{LOCAL}\r\n".encode()
    with socket.create_connection(place, timeout=20) as connection:
        connection.sendall(request * 3)
        data = b""
        while data.count(b'{"status":"alive"}') < 3:
            part = connection.recv(65_536)
            assert part
            data += part
