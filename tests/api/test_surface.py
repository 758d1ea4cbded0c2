"""The first HTTP surface, through a real server process."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

JSON = {"Content-Type": "application/json"}

FLOW: dict[str, Any] = {
    "nodes": [
        {"id": "start", "type": "start"},
        {"id": "ask", "type": "wait-for-signal", "config": {"name": "go"}},
        {"id": "end", "type": "end", "config": {"output": "${nodes.ask.output}"}},
    ],
    "edges": [{"source": "start", "target": "ask"}, {"source": "ask", "target": "end"}],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("server")
    yield from serve(place)


def serve(place: Path, **variables: str) -> Iterator[str]:
    command = [sys.executable, "-m", "perdure.cli.main", "dev", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **variables}
    with subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"listens on (http://[^\s,]+)", line):
                yield found.group(1)
                break
        process.terminate()
        process.communicate(timeout=20)
    assert process.returncode == 0


@pytest.fixture
async def client(server: str) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(server) as session:
        yield session


async def _json(response: Any) -> Any:
    return await response.json(content_type=None)


async def test_a_flow_is_deployed_started_signalled_and_read(client: aiohttp.ClientSession) -> None:
    async with client.put("/api/v1/definitions/asker", json=FLOW) as response:
        assert response.status == 200
        assert (await _json(response))["version"] == 1
    async with client.post("/api/v1/runs", json={"definition": "asker", "input": {"n": 1}}) as response:
        assert response.status == 201
        run = (await _json(response))["id"]
    async with client.get(f"/api/v1/runs/{run}") as response:
        seen = await _json(response)
        assert seen["status"] == "WAITING"
        assert seen["why"] == ["ask waits for the signal 'go'"]
    async with client.post(f"/api/v1/runs/{run}/signal", json={"name": "go", "payload": [1, 2]}) as response:
        assert response.status == 202
    async with client.get(f"/api/v1/runs/{run}") as response:
        seen = await _json(response)
        assert (seen["status"], seen["output"]) == ("COMPLETED", [1, 2])
    async with client.get(f"/api/v1/runs/{run}/history") as response:
        names = [item["event"]["event"] for item in (await _json(response))["items"]]
        assert (names[0], names[-1]) == ("RunStarted", "RunCompleted")


async def test_the_same_key_gives_the_same_run_and_another_body_a_conflict(client: aiohttp.ClientSession) -> None:
    await (await client.put("/api/v1/definitions/asker", json=FLOW)).read()
    headers = {"Idempotency-Key": "k1"}
    ids = []
    for _ in range(2):
        async with client.post("/api/v1/runs", json={"definition": "asker", "input": 1}, headers=headers) as response:
            ids.append((await _json(response))["id"])
    assert ids[0] == ids[1]
    async with client.post("/api/v1/runs", json={"definition": "asker", "input": 2}, headers=headers) as response:
        assert (response.status, (await _json(response))["code"]) == (409, "KEY_REUSED")


async def test_the_same_signal_may_be_repeated_and_another_with_its_key_is_a_conflict(
    client: aiohttp.ClientSession,
) -> None:
    await (await client.put("/api/v1/definitions/asker", json=FLOW)).read()
    async with client.post("/api/v1/runs", json={"definition": "asker"}) as response:
        path = f"/api/v1/runs/{(await _json(response))['id']}/signal"
    for name, payload, status in (("other", 1, 202), ("other", 1, 202), ("other", 2, 409), ("go", 1, 409)):
        body = {"name": name, "payload": payload}
        async with client.post(path, json=body, headers={"Idempotency-Key": "s1"}) as response:
            said = await _json(response)
            assert (response.status, said.get("code")) == (status, "KEY_REUSED" if status == 409 else None)
            assert status == 202 or (said["signal"], said["pointer"]) == ("s1", "/id")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/api/v1/runs", b"{", 400, "INVALID_INPUT"),
        ("POST", "/api/v1/runs", b'{"a": 1, "a": 2}', 400, "INVALID_INPUT"),
        ("POST", "/api/v1/runs", b'{"definition": 7}', 400, "INVALID_INPUT"),
        ("POST", "/api/v1/runs", b'{"definition": "x", "colour": 1}', 400, "INVALID_INPUT"),
        ("POST", "/api/v1/runs", b'{"definition": "nobody"}', 404, "NOT_FOUND"),
        ("POST", "/api/v1/runs", b"[" * 100_000, 400, "INVALID_INPUT"),
        ("POST", "/api/v1/runs", b'{"definition": "x", "input": NaN}', 400, "INVALID_INPUT"),
        ("POST", "/api/v1/runs", b'"' + b"x" * 3_000_000 + b'"', 413, "TOO_MUCH"),
        ("PUT", "/api/v1/definitions/bad", b'{"nodes": []}', 422, "DOCUMENT_INVALID"),
        ("GET", "/api/v1/runs/nobody", b"", 404, "NOT_FOUND"),
        ("POST", "/api/v1/runs/nobody/cancel", b"", 404, "NOT_FOUND"),
        ("POST", "/api/v1/runs/nobody/signal", b'{"name": "go"}', 404, "NOT_FOUND"),
        ("GET", "/api/v1/runs?limit=-1", b"", 400, "INVALID_INPUT"),
        ("GET", "/api/v1/runs?limit=%C2%B2", b"", 400, "INVALID_INPUT"),
        ("GET", "/api/v1/runs?status=BROKEN", b"", 400, "INVALID_INPUT"),
        ("GET", "/api/v1/runs/x/history?after=99999999999999999999", b"", 400, "INVALID_INPUT"),
        ("PUT", "/api/v1/definitions/a%20b", b'{"nodes": []}', 400, "INVALID_INPUT"),
        ("GET", "/api/v1/nothing", b"", 404, "NOT_FOUND"),
        ("DELETE", "/api/v1/runs", b"", 405, "METHOD_NOT_ALLOWED"),
    ],
)
async def test_bad_requests_get_a_clear_answer(
    client: aiohttp.ClientSession, method: str, path: str, body: bytes, status: int, code: str
) -> None:
    async with client.request(method, path, data=io.BytesIO(body) if body else None, headers=JSON) as response:
        answer = await _json(response)
        assert (response.status, answer["code"]) == (status, code)
        assert response.headers["content-type"] == "application/problem+json"
        assert answer["title"]


async def test_it_is_alive_and_ready(client: aiohttp.ClientSession) -> None:
    for path in ("/health/live", "/health/ready"):
        async with client.get(path) as response:
            assert response.status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({**JSON, "Origin": "http://evil.example"}, 403),
        ({**JSON, "Host": "evil.example"}, 403),
    ],
)
async def test_a_foreign_page_cannot_use_the_server(
    client: aiohttp.ClientSession, headers: dict[str, str], status: int
) -> None:
    async with client.post("/api/v1/runs", data=b'{"definition": "x"}', headers=headers) as response:
        assert response.status == status
