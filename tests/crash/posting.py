"""Runs that send a mail and post to Slack, killed at every commit; whoever received them counts (`test_posting.py`).

    python -m tests.crash.posting DIRECTORY MAIL_URL HOOK_URL

Prints a line of JSON for each kill: which run it was, when it was killed, and how it ended in its second life.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perdure import Perdure
from perdure.assembly import open_store
from perdure.engine import EngineSettings
from perdure.nodes.mail.servers import mail_settings
from perdure.nodes.outgoing.reading import outgoing_settings
from perdure.settings import Settings
from tests.crash.killing import AFTER, BEFORE, KillingStore
from tests.crash.runner import LEASE_SECONDS, PATIENCE_SECONDS, OffsetClock, in_child
from tests.crash.scenarios import outcome

HOOK = "https://hooks.slack.com/services/T/B/X"


def flow(at_most_once: bool) -> dict[str, Any]:
    once = {"at_most_once": at_most_once, "retry": {"attempts": 3, "initial": "1ms"}}
    mail = {"to": "ada@example.com", "subject": "${input}", "body": "Hello"}
    slack = {"webhookUrl": HOOK, "text": "${input}"}
    return {
        "id": "main",
        "nodes": [
            {"id": "start", "type": "start"},
            {"id": "mail", "type": "email", "config": mail, **once},
            {"id": "slack", "type": "slack", "config": slack, **once},
        ],
        "edges": [{"source": "start", "target": "mail"}, {"source": "mail", "target": "slack"}],
    }


@dataclass
class Point:
    name: str
    place: Path
    settings: Settings
    at_most_once: bool
    at: int | None = None
    when: str = BEFORE

    async def live(self, ahead: int) -> None:
        clock = OffsetClock(ahead)
        store = KillingStore(open_store(f"sqlite:///{self.place / 'perdure.db'}", clock), None, self.when)
        app = Perdure(
            store,
            clock=clock,
            engine_settings=EngineSettings(grace=0.2, lease=LEASE_SECONDS),
            mail=mail_settings(self.settings),
            outgoing=outgoing_settings(self.settings),
        )
        async with app:
            await app.deploy(flow(self.at_most_once))
            store.count, store.at = 0, self.at if not ahead else None
            run = await app.start("main", self.name, key="the-run")
            status, said = await asyncio.wait_for(outcome(run), PATIENCE_SECONDS)
            code = said["code"] if status != "COMPLETED" else None
            (self.place / "end.json").write_text(json.dumps({"status": status, "code": code, "commits": store.count}))


def kill(point: Point) -> dict[str, Any]:
    point.place.mkdir(parents=True)
    in_child(lambda: point.live(0))
    if point.at is not None and in_child(lambda: point.live(2 * LEASE_SECONDS)) != 0:
        return {"status": "the second life broke down", "code": None, "commits": 0}
    found: dict[str, Any] = json.loads((point.place / "end.json").read_text())
    return found


def main(directory: str, mail_url: str, hook_url: str) -> None:
    settings = Settings(smtp_url=mail_url, mail_from="robot@example.com", http_hosts=f"hooks.slack.com={hook_url}")
    for at_most_once in (False, True):
        kind = "once" if at_most_once else "plain"
        whole = Point(f"{kind}-whole", Path(directory) / kind / "whole", settings, at_most_once)
        commits = kill(whole)["commits"]
        for at in range(1, commits + 1):
            for when in (BEFORE, AFTER):
                name = f"{kind}-{when}-{at}"
                point = Point(name, Path(directory) / kind / name, settings, at_most_once, at, when)
                sys.stdout.write(json.dumps({"name": name, "kind": kind, "at": at, "when": when, **kill(point)}) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
