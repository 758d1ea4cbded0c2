"""Names that are none, on every database alike: told what is wrong in our words, never in the database's."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from perdure.api.connections import Complaints
from tests.api.test_rude_clients import answer_of, listen
from tests.api.test_surface import serve


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    folder: Path = tmp_path_factory.mktemp("server")
    url = "sqlite:///perdure.db"
    if request.param == "postgres":
        cluster = request.getfixturevalue("postgres_cluster")
        url = cluster.create_database()
    for found in serve(folder, PERDURE_DATABASE_URL=url):
        parts = urlsplit(found)
        yield str(parts.hostname), int(parts.port or 0)


def ask(place: tuple[str, int], line: str, *headers: str, body: bytes = b"", host: str | None = "localhost") -> Any:
    lines = [f"{line} HTTP/1.1", *headers, f"Content-Length: {len(body)}", "Content-Type: application/json"]
    if host is not None:
        lines.append(f"Host: {host}")
    with socket.create_connection(place) as connection:
        connection.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        return answer_of(listen(connection))


@pytest.mark.parametrize(
    ("line", "body", "status"),
    [
        ("GET /api/v1/runs/%00", b"", 400),
        ("GET /api/v1/runs/%00/history", b"", 400),
        ("POST /api/v1/runs/%00/cancel", b"", 400),
        ("POST /api/v1/runs/%00/retry", b"", 400),
        ("POST /api/v1/runs/%00/signal", b'{"name": "go"}', 400),
        ("GET /api/v1/runs/%ED%A0%80", b"", 404),
        ("GET /api/v1/runs/" + "x" * 300, b"", 400),
        ("GET /api/v1/runs?before=%00", b"", 400),
        ("GET /api/v1/runs?definition=%00", b"", 400),
        ("GET /api/v1/definitions/%00", b"", 400),
        ("PUT /api/v1/definitions/%00", b'{"nodes": [{"id": "start", "type": "start"}]}', 400),
        ("POST /api/v1/runs", b'{"definition": "\\u0000"}', 400),
        ("POST /api/v1/runs", b'{"definition": "x", "version": 2147483648}', 400),
        ("POST /api/v1/runs", b'{"definition": "x", "version": 2147483647}', 404),
        ("POST /api/v1/runs", b'{"definition": "x", "version": true}', 400),
    ],
)
def test_what_is_no_name_is_told_so_on_every_database(
    place: tuple[str, int], line: str, body: bytes, status: int
) -> None:
    told = ask(place, line, body=body)
    assert (told.status, told.headers["content-type"]) == (status, "application/problem+json")
    assert told.body["code"] == {400: "INVALID_INPUT", 404: "NOT_FOUND"}[status]


@pytest.mark.parametrize(
    "host", ["évil", "[", "evil.com#@127.0.0.1", "", "localhost, evil.com", "localhost:x", "[::1", "a b"]
)
def test_a_host_that_is_none_is_not_taken_for_ours(place: tuple[str, int], host: str) -> None:
    told = ask(place, "GET /api/v1/runs", host=host)
    assert (told.status, told.body["code"]) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("host", ["evil.com", "a_b.evil.com:80", "127.0.0.1.evil.com", "10.0.0.1", "[::2]:80"])
def test_the_host_of_somebody_else_is_refused(place: tuple[str, int], host: str) -> None:
    assert ask(place, "GET /api/v1/runs", host=host).status == 403


@pytest.mark.parametrize("host", ["localhost", "LocalHost:1", "127.0.0.1:8000", "127.0.0.2", "[::1]:8000"])
def test_our_own_names_are_taken(place: tuple[str, int], host: str) -> None:
    assert ask(place, "GET /api/v1/runs", f"Origin: http://{host}", host=host).status == 200


@pytest.mark.parametrize(
    "origin", ["http://[", "null", "", "http://évil", "http://localhost:9", "localhost", "http://"]
)
def test_an_origin_that_is_not_ours_is_refused(place: tuple[str, int], origin: str) -> None:
    told = ask(place, "GET /api/v1/runs", f"Origin: {origin}")
    assert (told.status, told.body["code"]) == (403, "FORBIDDEN")


async def test_that_there_is_no_room_for_connections_is_said_once_in_a_while(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.get_running_loop()
    complaints = Complaints()
    full = {"message": "socket.accept()", "exception": OSError(errno.EMFILE, "Too many open files"), "socket": None}
    with caplog.at_level(logging.WARNING):
        for _ in range(1000):
            complaints(loop, full)
        assert ["ulimit" in record.message for record in caplog.records] == [True]
        for _ in range(2):
            complaints(loop, {"message": "something else"})
        assert len(caplog.records) == 3
