"""Large values: content-addressed, in pieces, and gone when nobody needs them."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from perdure.errors import NotFound
from perdure.model.codec import Ref
from perdure.model.values import digest
from perdure.ports.blobs import CHUNK
from perdure.testing.contracts.subject import SECOND, Subject, new_run, start

MIB = 1024 * 1024


async def stream(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def read(subject: Subject, name: str, offset: int = 0, namespace: str = "default") -> bytes:
    return b"".join([part async for part in subject.store.blobs.read(namespace, name, offset)])


class BlobsContract:
    @pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7])
    async def test_what_is_written_is_read(self, subject: Subject, size: int) -> None:
        data = os.urandom(size)
        info = await subject.store.blobs.write("default", stream(data))
        assert (info.hash, info.size) == (digest(data), size)
        assert await subject.store.blobs.info("default", info.hash) == info
        assert await read(subject, info.hash) == data

    async def test_the_pieces_of_the_stream_do_not_matter(self, subject: Subject) -> None:
        data = bytes(range(256)) * 4096
        pieces = [data[:10], b"", data[10:700_000], data[700_000:]]
        info = await subject.store.blobs.write("default", stream(*pieces))
        assert info.hash == digest(data)
        assert await read(subject, info.hash) == data

    @pytest.mark.parametrize("offset", [0, 1, CHUNK - 1, CHUNK, CHUNK + 5, 2 * CHUNK + 99, 2 * CHUNK + 100, 10 * CHUNK])
    async def test_reading_begins_at_an_offset(self, subject: Subject, offset: int) -> None:
        data = os.urandom(2 * CHUNK + 100)
        info = await subject.store.blobs.write("default", stream(data))
        assert await read(subject, info.hash, offset) == data[offset:]

    async def test_pieces_that_are_read_are_no_longer_than_a_chunk(self, subject: Subject) -> None:
        info = await subject.store.blobs.write("default", stream(os.urandom(3 * CHUNK)))
        lengths = [len(part) async for part in subject.store.blobs.read("default", info.hash)]
        assert max(lengths) <= CHUNK

    async def test_an_unknown_blob_is_not_found_before_the_first_piece(self, subject: Subject) -> None:
        with pytest.raises(NotFound):
            await anext(subject.store.blobs.read("default", "0" * 64))
        assert await subject.store.blobs.info("default", "0" * 64) is None

    async def test_a_blob_belongs_to_one_namespace(self, subject: Subject) -> None:
        info = await subject.store.blobs.write("default", stream(b"secret"))
        assert await subject.store.blobs.info("other", info.hash) is None
        with pytest.raises(NotFound):
            await read(subject, info.hash, namespace="other")

    async def test_the_same_content_is_stored_once(self, subject: Subject) -> None:
        write = subject.store.blobs.write
        data = os.urandom(CHUNK + 1)
        infos = await asyncio.gather(*(write("default", stream(data)) for _ in range(5)))
        assert len({info.hash for info in infos}) == 1
        assert await read(subject, infos[0].hash) == data
        assert await subject.store.blobs.sweep(subject.clock.now() + 1) == 1

    async def test_a_stream_that_breaks_off_leaves_nothing(self, subject: Subject) -> None:
        async def broken() -> AsyncIterator[bytes]:
            yield b"x" * CHUNK
            raise ConnectionResetError

        with pytest.raises(ConnectionResetError):
            await subject.store.blobs.write("default", broken())
        assert await subject.store.blobs.info("default", digest(b"x" * CHUNK)) is None

    async def test_a_hundred_megabytes_pass_in_bounded_memory(self, subject: Subject) -> None:
        if not subject.is_bounded:
            pytest.skip("this store keeps everything in memory")
        expected = hashlib.sha256()

        async def parts() -> AsyncIterator[bytes]:
            for number in range(100):
                part = (b"%08d" % number) * (MIB // 8)
                expected.update(part)
                yield part

        tracemalloc.start()
        try:
            info = await subject.store.blobs.write("default", parts())
            received = hashlib.sha256()
            async for part in subject.store.blobs.read("default", info.hash):
                received.update(part)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

        assert (info.hash, info.size) == (expected.hexdigest(), 100 * MIB)
        assert received.digest() == expected.digest()
        assert peak < 20 * MIB

    async def test_sweeping_removes_what_nobody_refers_to(self, subject: Subject) -> None:
        blobs = subject.store.blobs
        lost = await blobs.write("default", stream(b"lost"))
        kept = await blobs.write("default", stream(b"kept"))
        await subject.committed(start("run-1"))
        await blobs.refer("default", kept.hash, "run-1")
        await blobs.refer("default", kept.hash, "run-1")
        subject.clock.advance(SECOND)
        fresh = await blobs.write("default", stream(b"fresh"))

        assert await blobs.sweep(subject.clock.now()) == 1

        assert await blobs.info("default", lost.hash) is None
        assert await blobs.info("default", kept.hash) == kept
        assert await blobs.info("default", fresh.hash) == fresh

    async def test_a_reference_counts_in_its_namespace_only(self, subject: Subject) -> None:
        blobs = subject.store.blobs
        mine = await blobs.write("default", stream(b"same"))
        await blobs.write("other", stream(b"same"))
        await subject.committed(start("run-1"))
        await blobs.refer("default", mine.hash, "run-1")
        assert await blobs.sweep(subject.clock.now() + 1) == 1
        assert await blobs.info("default", mine.hash) == mine
        assert await blobs.info("other", mine.hash) is None

    async def test_writing_again_touches(self, subject: Subject) -> None:
        blobs = subject.store.blobs
        await blobs.write("default", stream(b"again"))
        subject.clock.advance(SECOND)
        info = await blobs.write("default", stream(b"again"))
        assert await blobs.sweep(subject.clock.now()) == 0
        assert await blobs.info("default", info.hash) == info

    async def test_blobs_of_turns_are_kept(self, subject: Subject) -> None:
        data = os.urandom(9_000)
        ref = Ref(0, "output", digest(data), len(data))
        new = new_run(namespace="acme")
        await subject.committed(start("run-1", new=new, refs=[ref], blobs={ref.hash: data}))
        assert await subject.store.blobs.sweep(subject.clock.now() + SECOND) == 0
        assert await read(subject, ref.hash, namespace="acme") == data

    async def test_a_turn_may_refer_to_what_was_written_before(self, subject: Subject) -> None:
        info = await subject.store.blobs.write("default", stream(b"before"))
        await subject.committed(start("run-1", refs=[Ref(0, "output", info.hash, info.size)]))
        assert await subject.store.blobs.sweep(subject.clock.now() + SECOND) == 0
        loaded = await subject.store.journal.load("run-1")
        assert loaded is not None
        assert loaded.blobs == {info.hash: b"before"}

    async def test_many_turns_with_the_same_blob_store_it_once(self, subject: Subject) -> None:
        data = b"shared" * 2_000
        ref = Ref(0, "output", digest(data), len(data))
        await subject.committed(*(start(f"run-{n}", refs=[ref], blobs={ref.hash: data}) for n in range(20)))
        for n in range(20):
            loaded = await subject.store.journal.load(f"run-{n}")
            assert loaded is not None
            assert loaded.blobs == {ref.hash: data}

    async def test_sweeping_many_is_complete(self, subject: Subject) -> None:
        await asyncio.gather(*(subject.store.blobs.write("default", stream(b"%d" % n)) for n in range(450)))
        assert await subject.store.blobs.sweep(subject.clock.now() + 1) == 450
