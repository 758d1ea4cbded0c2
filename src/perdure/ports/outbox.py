"""Messages that a turn has published and that are still to be handed to the outside.

Claimed in batches and deleted after delivery; never followed by a cursor over ids, which loses rows that commit late.
Per run they come in order; a crash between delivery and `done` repeats them with the same id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from perdure.ports.journal import Message


class Outgoing(msgspec.Struct, frozen=True):
    namespace: str
    run: str
    message: Message
    attempts: int


class Outbox(Protocol):
    async def take(self, worker: str, limit: int, lease: int) -> Sequence[Outgoing]:
        """Messages that are due, hidden from others for `lease` microseconds. Of one run only with all earlier ones."""
        ...

    async def done(self, ids: Sequence[str]) -> None: ...

    async def again(self, id: str, due: int, error: str) -> None:
        """Delivery failed: due again then, with one attempt more."""
        ...
