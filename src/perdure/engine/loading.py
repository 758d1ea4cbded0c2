"""From what the store has of a run to its state."""

from __future__ import annotations

import msgspec

from perdure.engine.writing import SnapshotGauge
from perdure.errors import HistoryUnreadable
from perdure.kernel.kernel import Kernel
from perdure.kernel.state import RunState
from perdure.model.codec import decode_events
from perdure.ports.blobs import Blobs
from perdure.ports.journal import Journal, Loaded, Row

_PAGE = 500


class Rebuilt(msgspec.Struct, frozen=True):
    state: RunState
    gauge: SnapshotGauge
    size: int
    """Bytes read, as a rough estimate of the size of the state."""


class Loader:
    def __init__(self, journal: Journal, blobs: Blobs) -> None:
        self._journal = journal
        self._blobs = blobs

    async def rebuild(self, kernel: Kernel, loaded: Loaded) -> Rebuilt:
        """Raises HistoryUnreadable, or whatever a definition that does not fit the log makes of it."""
        state = _restored(kernel, loaded)
        if state is None:
            return await self._from_the_beginning(kernel, loaded)
        snapshot = len(loaded.snapshot or b"")
        gauge = SnapshotGauge(last=snapshot)
        for row in loaded.rows:
            _replay(kernel, state, row, loaded.blobs, gauge)
        _check(state, loaded.head.seq)
        return Rebuilt(state, gauge, snapshot + gauge.bytes)

    async def _from_the_beginning(self, kernel: Kernel, loaded: Loaded) -> Rebuilt:
        """The snapshot cannot be read, so it does not count. The log is the truth."""
        state, gauge, head = kernel.new(loaded.head.run), SnapshotGauge(), loaded.head
        while state.seq < head.seq:
            rows = await self._journal.history(head.run, state.seq, _PAGE)
            if not rows:
                break
            for row in rows:
                blobs = {ref.hash: await self._read(head.namespace, ref.hash) for ref in row.refs}
                _replay(kernel, state, row, blobs, gauge)
        _check(state, head.seq)
        return Rebuilt(state, gauge, gauge.bytes)

    async def _read(self, namespace: str, hash: str) -> bytes:
        return b"".join([part async for part in self._blobs.read(namespace, hash)])


def _restored(kernel: Kernel, loaded: Loaded) -> RunState | None:
    if loaded.snapshot is None:
        return kernel.new(loaded.head.run) if loaded.snapshot_seq == 0 else None
    try:
        state = kernel.restore(loaded.snapshot)
    except HistoryUnreadable:
        return None
    return state if state.seq == loaded.snapshot_seq else None


def _replay(kernel: Kernel, state: RunState, row: Row, blobs: dict[str, bytes], gauge: SnapshotGauge) -> None:
    events = decode_events(row.data, row.codec, row.refs, blobs)
    kernel.replay(state, events, row.at)
    gauge.events += len(events)
    gauge.bytes += len(row.data)


def _check(state: RunState, seq: int) -> None:
    if state.seq != seq:
        raise HistoryUnreadable(f"the log of {state.run} ends at {state.seq}, its head says {seq}", run=state.run)
