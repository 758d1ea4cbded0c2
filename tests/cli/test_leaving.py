"""A server that is told to go: it hands over what it has, and whoever comes next goes on at once."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

STEPS = """
import asyncio, os, threading, time

def say(word):
    os.write(1, f"{word}\\n".encode())

async def two(ctx):
    say("begun")
    try:
        os.close(os.open("met", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return "the second"
    await asyncio.sleep(600)

async def brief():
    say("begun")
    await asyncio.sleep(0.5)
    return "ended"

def blocks():
    say("begun")
    threading.Event().wait(600)

async def hogs():
    say("begun")
    time.sleep(600)

steps = [two, brief, blocks, hogs]
"""


def flow(step: str, **more: Any) -> dict[str, Any]:
    node = {"id": "s", "type": "python", "config": {"step": step}, **more}
    return {"nodes": [{"id": "start", "type": "start"}, node], "edges": [{"source": "start", "target": "s"}]}


class Server:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = self.until(r"listens on (http://[^\s,]+)")

    def until(self, pattern: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(pattern, line):
                return found.group(found.re.groups)
        raise AssertionError("it ended before it said so")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        with urlopen(Request(self.url + "/api/v1" + path, data, headers, method=method), timeout=20) as answer:
            return json.load(answer)

    def begin(self, document: dict[str, Any]) -> str:
        """The id of a run whose step has begun."""
        self.ask("PUT", "/definitions/f", document)
        run = str(self.ask("POST", "/runs", {"definition": "f"})["id"])
        self.until("begun")
        return run

    def ended(self, run: str) -> Any:
        """Asks until it has."""
        while (seen := self.ask("GET", f"/runs/{run}"))["status"] in ("RUNNING", "QUEUED"):
            pass
        return seen

    def deaths(self, run: str) -> int:
        """On how many executions it is held that a worker died on them."""
        events = [item["event"] for item in self.ask("GET", f"/runs/{run}/history")["items"]]
        return sum(len(event["ids"]) for event in events if event["event"] == "ActivationsRedelivered")

    def leave(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)


@contextmanager
def started(place: Path, database: str) -> Iterator[Server]:
    (place / "mine.py").write_text(STEPS)
    command = [sys.executable, "-m", "perdure.cli.main", "dev", "--port", "0", "--database", database, "--app", "mine"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


FILE = "sqlite:///perdure.db"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_go_hands_its_runs_over_and_no_death_is_counted(tmp_path: Path, number: int) -> None:
    with started(tmp_path, FILE) as server:
        run = server.begin(flow("two"))
        assert server.leave(number) == 0
    with started(tmp_path, FILE) as server:
        seen = server.ended(run)
        assert (seen["status"], seen["output"]) == ("COMPLETED", "the second")
        assert server.deaths(run) == 0


def test_another_server_takes_over_long_before_the_lease_has_run_out(tmp_path: Path, postgres_url: str) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(started(tmp_path, postgres_url))
        run = first.begin(flow("two"))
        second = stack.enter_context(started(tmp_path, postgres_url))
        assert first.leave() == 0
        second.until("begun")
        assert second.ended(run)["output"] == "the second"
        assert second.deaths(run) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_ends_soon_is_waited_for(tmp_path: Path, number: int) -> None:
    with started(tmp_path, FILE) as server:
        run = server.begin(flow("brief", at_most_once=True))
        assert server.leave(number) == 0
    with started(tmp_path, FILE) as server:
        seen = server.ask("GET", f"/runs/{run}")
        assert (seen["status"], seen["output"]) == ("COMPLETED", "ended")


def test_a_thread_that_does_not_end_does_not_keep_the_server(tmp_path: Path) -> None:
    with started(tmp_path, FILE) as server:
        server.begin(flow("blocks"))
        assert server.leave() == 0


def test_a_second_signal_ends_it_at_once_whatever_a_step_does(tmp_path: Path) -> None:
    with started(tmp_path, FILE) as server:
        server.ask("PUT", "/definitions/f", flow("hogs"))
        place = urlsplit(server.url).netloc
        head = f"POST /api/v1/runs HTTP/1.1\r\nHost: {place}\r\nContent-Type: application/json\r\nContent-Length: 19"
        with socket.create_connection(tuple(place.split(":"))) as unanswered:
            unanswered.sendall(f'{head}\r\n\r\n{{"definition": "f"}}'.encode())
            server.until("begun")
            server.process.send_signal(signal.SIGTERM)
            server.until("once more")
            assert server.leave() == -signal.SIGTERM


def test_a_port_that_is_taken_is_named_before_the_database_is_opened(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "perdure.cli.main", "dev", "--port", port]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"cannot listen on port {port} of 127.0.0.1: address already in use" in done.stderr
    assert "--port" in done.stderr
    assert list(tmp_path.iterdir()) == []
