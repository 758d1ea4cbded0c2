"""Makes the tables of docs/reference/http.md from the routes, from what they answer, and from the error tree.

python tools/http_page.py            writes them
python tools/http_page.py --check    fails if the page is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, cast

import made
import msgspec
from error_page import descendants

from perdure.api.app import Routes
from perdure.assembly import Perdure
from perdure.errors import PerdureError
from perdure.model.statuses import FINAL, Status
from perdure.ports.definitions import Summary, Version
from perdure.service.runs import RunView

PAGE = made.REFERENCE / "http.md"

ROUTES = {
    "GET /api/v1/definitions": ("The definitions of the namespace, the first 100 by id.", "200"),
    "PUT /api/v1/definitions/{id}": ("Checks a flow document, saves, publishes and activates it.", "200"),
    "GET /api/v1/definitions/{id}": ("The newest version, with its document.", "200"),
    "POST /api/v1/runs": ("Starts a run. Durable when it is answered.", "201"),
    "GET /api/v1/runs": ("Runs, newest first. Query: `definition`, `status`, `limit`, `before`.", "200"),
    "GET /api/v1/runs/{id}": ("One run, and why it is not further on.", "200"),
    "GET /api/v1/runs/{id}/history": ("Its events, in order. Query: `after`, `limit`.", "200"),
    "POST /api/v1/runs/{id}/signal": ("Sends it a signal.", "202"),
    "GET /api/v1/tasks": ("Lists what people are asked.", "200"),
    "GET /api/v1/tasks/{id}": ("Shows one such task, with its view.", "200"),
    "POST /api/v1/tasks/{id}/answer": ("Answers it.", "200"),
    "POST /api/v1/runs/{id}/cancel": ("Cancels it.", "202"),
    "POST /api/v1/runs/{id}/retry": ("Takes a failed run up again where it failed.", "202"),
    "GET /health/live": ("Whether the process answers.", "200"),
    "GET /health/ready": ("Whether it reaches its database.", "200"),
}

STATUSES = {
    "QUEUED": "started; no worker has taken it up yet",
    "RUNNING": "something is executing, or about to",
    "WAITING": "for a signal, a person, a child, or more items of a loop",
    "SLEEPING": "until a timer is due, be it of a pause or of a retry",
    "SUSPENDED": "held by somebody, until it is resumed",
    "COMPLETED": "ended with its output",
    "FAILED": "ended with a failure; can be taken up again",
    "CANCELLED": "ended by somebody",
    "TIMED_OUT": "ended because its active time was used up; can be taken up again",
}

RUN = {
    "id": "26 characters that sort by the time of the start; a child's begins with `c`",
    "namespace": "to which it belongs",
    "definition": "whose run it is",
    "version": "with which it started, and which it keeps",
    "hash": "of that version's document",
    "status": "see below",
    "trigger": "what started it: `api`, `manual` (the command line), `child`",
    "key": "the idempotency key of its start",
    "parent": "the run that started it",
    "created_at": "when it started, in UTC",
    "updated_at": "when its log last grew",
    "closed_at": "when it ended",
    "attributes": "search attributes; empty in this release",
    "output": "of a run that is COMPLETED",
    "failure": "of one that FAILED, was CANCELLED or TIMED_OUT: `code`, `message`, `node`, `details`",
    "events": "how many its log has",
    "pins": "which versions of stored parts it keeps; null if it uses none",
}

VERSION = {
    "namespace": "to which it belongs",
    "id": "of the definition",
    "kind": "`flow`",
    "version": "1, 2, 3 …",
    "hash": "SHA-256 of what the document does, without what is only for people",
    "document": "as it was saved",
    "note": "of whoever published it",
    "created_at": "microseconds since 1970",
}

SUMMARY = {
    "id": "of the definition",
    "kind": "`flow`",
    "name": "the document's",
    "latest": "the newest version",
    "active": "the version that new runs get",
    "has_draft": "whether there is one; `PUT` leaves the draft that it published",
    "updated_at": "microseconds since 1970",
}


def routes() -> Iterator[str]:
    table = Routes(cast(Perdure, None)).table()
    found = [f"{method} {route.path}" for route in table for method in (route.methods or ()) if method != "HEAD"]
    made.in_words(found, ROUTES, "routes")
    rows = [[f"`{route}`", *ROUTES[route]] for route in found]
    yield from made.table(["request", "does", "answers"], rows)


def statuses() -> Iterator[str]:
    made.in_words(list(Status), STATUSES, "statuses")
    rows = [[status, "end" if status in FINAL else "", STATUSES[status]] for status in Status]
    yield from made.table(["status", "", "meaning"], rows)


def members(kind: type[msgspec.Struct], words: Mapping[str, Any], more: Mapping[str, str]) -> Iterator[str]:
    made.in_words(kind.__struct_fields__, words, f"fields of {kind.__name__}")
    yield from made.table(["field", "what it is"], ([f"`{name}`", text] for name, text in {**words, **more}.items()))


def codes() -> Iterator[str]:
    by_status: dict[int, list[str]] = {405: ["METHOD_NOT_ALLOWED"]}
    for each, _ in descendants(PerdureError, 0):
        if not each.__subclasses__() or each.code in ("INTERNAL", "STORE"):
            by_status.setdefault(each.status, []).append(each.code)
    rows = [[str(status), ", ".join(found)] for status, found in sorted(by_status.items())]
    yield from made.table(["status", "codes"], rows)


PARTS: dict[str, made.Part] = {
    "routes": routes,
    "run": partial(
        members, RunView, RUN, {"why": "why it is not further on, in sentences (only where one run is asked for)"}
    ),
    "statuses": statuses,
    "version": partial(members, Version, VERSION, {}),
    "summary": partial(members, Summary, SUMMARY, {}),
    "codes": codes,
}

if __name__ == "__main__":
    sys.exit(made.keep(PAGE, PARTS))
