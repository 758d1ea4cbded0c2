"""Every request of docs/reference/http.md, sent to a real server in the order of the page, and every answer."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "http.md"
HOST = "http://127.0.0.1:8000"
FILE = re.compile(r"<!-- file: (\S+) -->\n```json\n(.*?)```", re.DOTALL)
EXCHANGE = re.compile(r"```sh\n(curl .*?)```\n\n```http\nHTTP/1\.1 (\d+) ([^\n]*)\n(.*?)\n(.*?)```", re.DOTALL)


class Call(NamedTuple):
    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command = [sys.executable, "-m", "perdure.cli.main", "dev", "--port", "0", "--database", "memory://"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    place = tmp_path_factory.mktemp("server")
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env=environment) as process:  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"listens on (http://[^\s,]+)", line):
                yield found.group(1)
                break
        process.terminate()
        process.communicate(timeout=20)
    assert process.returncode == 0


def read_curl(command: str, files: dict[str, str], variables: dict[str, str]) -> Call:
    """The part of curl that the page uses."""
    for name, value in variables.items():
        command = command.replace(f"${name}", value)
    words = iter(shlex.split(command)[1:])
    method, url, headers, body = None, "", {}, None
    for word in words:
        match word:
            case "-X":
                method = next(words)
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "-d" | "--json":
                kind = "application/json" if word == "--json" else "application/x-www-form-urlencoded"
                headers.setdefault("Content-Type", kind)
                given = next(words)
                body = (files[given[1:]] if given.startswith("@") else given).encode()
            case _:
                assert word.startswith(HOST), word
                url = word.removeprefix(HOST)
    return Call(method or ("GET" if body is None else "POST"), url, headers, body)


def agrees(said: Any, found: Any) -> bool:
    """Whether an answer is as the page says; `…` on the page is anything."""
    if said == "…":
        return True
    if isinstance(said, dict) and isinstance(found, dict):
        return list(said) == list(found) and all(agrees(said[name], found[name]) for name in said)
    if isinstance(said, list) and isinstance(found, list):
        return len(said) == len(found) and all(map(agrees, said, found))
    return type(said) is type(found) and said == found


async def test_every_request_is_answered_as_the_page_says(server: str) -> None:
    text = PAGE.read_text()
    files = dict(FILE.findall(text))
    exchanges = EXCHANGE.findall(text)
    assert len(exchanges) == text.count("```sh") == text.count("```http")
    variables: dict[str, str] = {}
    async with aiohttp.ClientSession(server) as session:
        for command, status, reason, headers, body in exchanges:
            call = read_curl(command, files, variables)
            async with session.request(call.method, call.url, headers=call.headers, data=call.body) as response:
                found = json.loads(await response.read())
                assert (response.status, response.reason) == (int(status), reason), (command, found)
                assert agrees(json.loads(body), found), (command, found)
                for line in headers.splitlines():
                    name, _, value = line.partition(": ")
                    assert response.headers[name] == value, command
            if response.status == 201:
                variables["RUN"] = found["id"]


async def test_every_route_is_shown(server: str) -> None:
    text = PAGE.read_text()
    routes = set(re.findall(r"^\| `([A-Z]+ /\S+)` \|", text, re.MULTILINE))
    calls = [read_curl(command, dict(FILE.findall(text)), {}) for command, *_ in EXCHANGE.findall(text)]
    shown = set()
    for route in routes:
        method, path = route.split()
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))
        if any(call.method == method and re.fullmatch(pattern, call.url.partition("?")[0]) for call in calls):
            shown.add(route)
    assert routes
    assert shown == routes
