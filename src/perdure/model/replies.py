"""What a run answers to whoever started it and waits: like an HTTP response, and given before the run ends.

It is a message of the type `perdure.reply` in the run's log and outbox, so it is as durable as the step that gave it.
A run replies once.
"""

from __future__ import annotations

import msgspec

from perdure.model.values import Json

REPLY = "perdure.reply"
REPLIED = "_replied"
"""The shared variable by which a run knows that it has."""


class Reply(msgspec.Struct, frozen=True):
    status: int = 200
    headers: dict[str, str] = {}
    body: Json = None
