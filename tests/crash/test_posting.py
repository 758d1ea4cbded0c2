"""Mails and messages to Slack when the worker is killed: rows C13, C14."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.mailserver import MailServer
from tests.fixtures.webserver import WebServer

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.crash


@pytest.mark.timeout(300)
async def test_c13_c14_a_killed_worker_sends_again_with_the_same_key_and_never_a_third_time(
    mail_server: MailServer, tmp_path: Path
) -> None:
    async with WebServer() as server:
        server.answer("/services/T/B/X", "ok")
        arguments = ["-m", "tests.crash.posting", str(tmp_path), mail_server.url, server.url]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        told, _ = await process.communicate()
        assert process.returncode == 0
    points: list[dict[str, Any]] = [json.loads(line) for line in told.splitlines()]
    mails, posts = defaultdict(list), defaultdict(list)
    for mail in mail_server.mails():
        mails[mail.message["Subject"]].append(mail)
    for asked in server.asked:
        posts[asked.json()["text"]].append(asked)

    assert len(points) >= 12
    for point in points:
        name = point["name"]
        # whatever happened, every copy is the same mail and every post has the same key
        assert len({mail.raw for mail in mails[name]}) <= 1, name
        assert len({post.header("Idempotency-Key") for post in posts[name]}) <= 1, name
        if point["kind"] == "plain":
            assert point["status"] == "COMPLETED", point
            assert len(mails[name]) in (1, 2), name
            assert len(posts[name]) in (1, 2), name
        else:
            assert len(mails[name]) <= 1, name
            assert len(posts[name]) <= 1, name
            if point["status"] == "COMPLETED":
                assert (len(mails[name]), len(posts[name])) == (1, 1), name
            else:
                assert point["code"] == "OUTCOME_UNKNOWN", point

    # nothing is sent before the turn that asks for it is durable
    assert [len(mails[f"{kind}-before-1"]) for kind in ("plain", "once")] == [1, 1]
    # the server had taken it, and the turn that would have recorded that was lost: the one case of a copy
    plain = [point["name"] for point in points if point["kind"] == "plain"]
    assert [name for name in plain if len(mails[name]) == 2 and "-before-" in name] == ["plain-before-2"]
    assert [name for name in plain if len(posts[name]) == 2 and "-before-" in name] == ["plain-before-3"]
    once = {point["name"]: point["status"] for point in points if point["kind"] == "once"}
    assert (once["once-before-2"], once["once-before-3"]) == ("FAILED", "FAILED")
