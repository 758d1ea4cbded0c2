"""Messages, blobs and definitions under several processes at once."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from perdure.errors import DraftChanged
from perdure.model.codec import Ref
from perdure.model.values import digest
from perdure.ports.journal import Message
from perdure.stores.postgres import PostgresStore
from tests.fixtures.moments import moment
from tests.stores.postgres.conftest import OpenStore
from tests.stores.postgres.making import SECOND, ManualClock, committed, server, start, turn

HOUR = 3600 * SECOND


@pytest.fixture
def postgres_url(migrated_url: str) -> str:
    """One that other tests use after us."""
    return migrated_url


async def test_relays_share_the_outbox_and_keep_the_order_of_each_run(open_store: OpenStore) -> None:
    stores = [await open_store() for _ in range(3)]
    runs = [f"run-{number:02}" for number in range(30)]
    await committed(stores[0], *(start(run) for run in runs))
    delivered: dict[str, list[str]] = defaultdict(list)
    written = False

    async def write() -> None:
        nonlocal written
        for seq in range(1, 8):
            messages = {run: [Message(f"{run}/{seq}/{n}", "t", n) for n in range(3)] for run in runs}
            await committed(stores[0], *(turn(run, seq, messages=messages[run]) for run in runs))
        written = True

    async def relay(store: PostgresStore, worker: str) -> None:
        while True:
            last = written
            taken = await store.outbox.take(worker, 10, HOUR)
            for each in taken:
                delivered[each.run].append(each.message.id)
            await moment(0.001)
            await store.outbox.done([each.message.id for each in taken])
            if last and not taken:
                return

    await asyncio.gather(write(), *(relay(store, f"relay-{number}") for number, store in enumerate(stores)))

    for run in runs:
        assert delivered[run] == [f"{run}/{seq}/{n}" for seq in range(1, 8) for n in range(3)]


async def test_a_message_that_failed_holds_back_only_its_own_run(open_store: OpenStore) -> None:
    clock = ManualClock()
    store = await open_store(clock=clock)
    await committed(store, start("run-1"), start("run-2"))
    for run in ("run-1", "run-2"):
        await committed(store, turn(run, 1, messages=[Message(f"{run}/{n}", "t", None) for n in range(3)]))
    await store.outbox.take("relay", 100, SECOND)
    await store.outbox.again("run-1/0", clock.now() + 10 * SECOND, "no answer")
    clock.time += 2 * SECOND
    assert [each.message.id for each in await store.outbox.take("relay", 100, SECOND)] == [
        "run-2/0",
        "run-2/1",
        "run-2/2",
    ]
    await store.outbox.done(["run-2/0", "run-2/1", "run-2/2"])
    clock.time += 10 * SECOND
    again = await store.outbox.take("relay", 2, SECOND)
    assert [(each.message.id, each.attempts) for each in again] == [("run-1/0", 1), ("run-1/1", 0)]


async def stream(content: bytes) -> AsyncIterator[bytes]:
    for place in range(0, len(content), 100_000):
        yield content[place : place + 100_000]
        await asyncio.sleep(0)


async def test_the_same_content_from_several_writers_is_kept_once(open_store: OpenStore, postgres_url: str) -> None:
    stores = [await open_store() for _ in range(3)]
    content = os.urandom(700_000)
    ref = Ref(0, "output", digest(content), len(content))
    await committed(stores[0], *(start(f"run-{number}") for number in range(8)))
    write = [store.blobs.write("default", stream(content)) for store in stores]
    turns = [
        committed(stores[number % 3], turn(f"run-{number}", 1, refs=[ref], blobs={ref.hash: content}))
        for number in range(8)
    ]
    infos = await asyncio.gather(*write)
    await asyncio.gather(*turns)
    assert {info.hash for info in infos} == {ref.hash}
    loaded = await stores[1].journal.load("run-5")
    assert loaded is not None
    assert loaded.blobs == {ref.hash: content}
    async with server(postgres_url) as other:
        assert await other.fetchval("SELECT count(*) FROM blobs") == 1
        assert await other.fetchval("SELECT count(*) FROM blob_chunks") == 3
        assert await other.fetchval("SELECT count(*) FROM blob_refs") == 8


async def test_content_that_is_used_again_while_it_is_swept_is_not_lost(open_store: OpenStore) -> None:
    clock = ManualClock()
    stores = [await open_store(clock=clock), await open_store(clock=clock)]
    contents = [os.urandom(5_000) for _ in range(60)]
    for content in contents:
        await stores[0].blobs.write("default", stream(content))
    await committed(stores[0], *(start(f"run-{number}") for number in range(60)))
    clock.time += 25 * HOUR

    async def write(number: int) -> None:
        ref = Ref(0, "output", digest(contents[number]), len(contents[number]))
        await committed(stores[0], turn(f"run-{number}", 1, refs=[ref], blobs={ref.hash: contents[number]}))

    async def write_in_turn() -> None:
        for number in range(0, 60, 6):
            await asyncio.gather(*(write(each) for each in range(number, number + 6)))

    async def sweep() -> None:
        await moment(0.005)
        await stores[1].blobs.sweep(clock.now() - 24 * HOUR)

    await asyncio.gather(write_in_turn(), sweep())

    for number, content in enumerate(contents):
        loaded = await stores[0].journal.load(f"run-{number}")
        assert loaded is not None
        assert list(loaded.blobs.values()) == [content]


async def test_versions_published_together_are_numbered_without_gaps(open_store: OpenStore) -> None:
    stores = [await open_store() for _ in range(3)]
    published = await asyncio.gather(
        *(
            store.definitions.publish("default", "order", "flow", {"n": n % 7}, f"hash-{n % 7}", None)
            for n, store in enumerate(stores * 10)
        )
    )
    versions = await stores[0].definitions.versions("default", "order")
    assert [each.version for each in versions] == list(range(1, len(versions) + 1))
    assert all(earlier.hash != later.hash for earlier, later in pairwise(versions))
    assert {each.hash for each in published} == {f"hash-{n}" for n in range(7)}


async def test_of_two_who_save_the_same_draft_one_is_told(open_store: OpenStore) -> None:
    stores = [await open_store(), await open_store()]
    draft = await stores[0].definitions.save_draft("default", "order", "flow", {"n": 0}, "")
    for round_number in range(5):
        saved = await asyncio.gather(
            *(
                store.definitions.save_draft("default", "order", "flow", {"n": round_number, "by": place}, draft.etag)
                for place, store in enumerate(stores)
            ),
            return_exceptions=True,
        )
        assert sum(isinstance(each, DraftChanged) for each in saved) == 1
        found = await stores[0].definitions.draft("default", "order")
        assert found is not None
        draft = found


async def test_a_damaged_snapshot_is_passed_over(store: PostgresStore, postgres_url: str) -> None:
    await committed(store, start("run-1", snapshot=b"one"))
    await committed(store, turn("run-1", 1, snapshot=b"two"))
    await committed(store, turn("run-1", 2))
    async with server(postgres_url) as other:
        await other.execute("UPDATE snapshots SET data = 'damaged' WHERE run = 'run-1' AND seq = 2")
        loaded = await store.journal.load("run-1")
        assert loaded is not None
        assert (loaded.snapshot_seq, loaded.snapshot, len(loaded.rows)) == (1, b"one", 2)
        await other.execute("UPDATE snapshots SET data = 'damaged' WHERE run = 'run-1'")
        loaded = await store.journal.load("run-1")
        assert loaded is not None
        assert (loaded.snapshot_seq, loaded.snapshot, len(loaded.rows)) == (0, None, 3)
