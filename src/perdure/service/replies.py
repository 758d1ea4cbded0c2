"""Waiting for what a run answers before it ends."""

from __future__ import annotations

import asyncio

import msgspec

from perdure.engine import Engine
from perdure.model.events import MessagePublished
from perdure.model.replies import REPLY, Reply
from perdure.ports.store import Store
from perdure.service.histories import read_history

SHORTEST, LONGEST = 0.01, 1.0
"""Seconds between two looks into the log: a reply may be given by a worker that we hear nothing of."""
PAGE = 500


async def wait_for_reply(engine: Engine, store: Store, namespace: str, run: str) -> Reply | None:
    """The reply; None if the run ends without one. Raises NotFound."""
    ended = asyncio.ensure_future(engine.result(namespace, run))
    after, pause = 0, SHORTEST
    try:
        while True:
            is_over = ended.done()
            while recorded := await read_history(store, namespace, run, after, PAGE):
                after, pause = recorded[-1].seq, SHORTEST
                for each in recorded:
                    if isinstance(each.event, MessagePublished) and each.event.type == REPLY:
                        return msgspec.convert(each.event.payload, Reply)
            if is_over:
                ended.result()
                return None
            await asyncio.wait([ended], timeout=pause)
            pause = min(pause * 2, LONGEST)
    finally:
        ended.cancel()
