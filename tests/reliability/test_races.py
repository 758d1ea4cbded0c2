"""Two writers, one run: one wins, the other reads again; in ten thousand races no update is lost (G05)."""

from __future__ import annotations

import asyncio

import pytest

from perdure.ports.journal import Verdict
from perdure.ports.store import Store
from perdure.stores.memory import MemoryStore
from perdure.stores.sqlite import SqliteStore
from perdure.testing.contracts.subject import start, step

RACES = 10_000


async def writer(store: Store, name: str, updates: int) -> tuple[list[str], int]:
    """Adds its updates one after the other, each on top of what it has read. Gives their names, and its defeats."""
    written: list[str] = []
    defeats = 0
    while len(written) < updates:
        head = await store.journal.head("run-1")
        assert head is not None
        turn = step("run-1", head.seq, epoch=head.epoch, turn_id=f"{name}-{len(written)}-{defeats}")
        outcome = await store.journal.commit(turn)
        if outcome.verdict is Verdict.COMMITTED:
            written.append(turn.turn_id)
        else:
            assert outcome.verdict is Verdict.FENCED
            defeats += 1
    return written, defeats


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_two_writers_lose_no_update_in_ten_thousand_races(kind: str) -> None:
    store: Store = MemoryStore() if kind == "memory" else SqliteStore(":memory:", writer="inline")
    await store.open()
    try:
        await store.journal.commit(start("run-1"))
        (first, lost), (second, also_lost) = await asyncio.gather(
            *(writer(store, name, RACES // 2) for name in ("one", "two"))
        )
        rows = await store.journal.history("run-1", 1, 2 * RACES)
        assert [row.seq for row in rows] == list(range(2, RACES + 2))
        turns = [row.turn_id for row in rows]
        assert [turn for turn in turns if turn.startswith("one")] == first
        assert [turn for turn in turns if turn.startswith("two")] == second
        assert lost + also_lost > RACES // 4, "they really raced"
    finally:
        await store.close()
