"""Reading a run back from its log: the events as they were recorded, and the state as of any of them."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.errors import HistoryUnreadable
from perdure.kernel.kernel import Kernel
from perdure.kernel.state import RunState
from perdure.model.codec import decode_events
from perdure.model.events import Event, Recorded
from perdure.ports.journal import Row
from perdure.ports.store import Store

PAGE = 500


async def decode_row(store: Store, namespace: str, row: Row) -> list[Event]:
    blobs = {}
    for ref in row.refs:
        blobs[ref.hash] = b"".join([part async for part in store.blobs.read(namespace, ref.hash)])
    return decode_events(row.data, row.codec, row.refs, blobs)


async def read_history(store: Store, namespace: str, run: str, after: int = 0, limit: int = 1000) -> Sequence[Recorded]:
    """Up to `limit` events with numbers greater than `after`."""
    found: list[Recorded] = []
    at = after
    while len(found) < limit:
        rows = await store.journal.history(run, at, PAGE)
        if not rows:
            break
        for row in rows:
            events = await decode_row(store, namespace, row)
            found += [
                Recorded(row.first + place, row.at, event)
                for place, event in enumerate(events)
                if row.first + place > after
            ]
        at = rows[-1].seq
    return found[:limit]


async def rebuild(store: Store, kernel: Kernel, namespace: str, run: str, as_of: int | None = None) -> RunState:
    """Replays the whole log (no snapshot), so it also proves it."""
    state = kernel.new(run)
    at = 0
    while True:
        rows = await store.journal.history(run, at, PAGE)
        if not rows:
            return state
        for row in rows:
            events = await decode_row(store, namespace, row)
            if row.first != state.seq + 1:
                raise HistoryUnreadable(f"the log of {run} has a gap before event {row.first}", run=run)
            for event in events:
                kernel.apply(state, event, row.at)
                if as_of is not None and state.seq >= as_of:
                    return state
        at = rows[-1].seq
