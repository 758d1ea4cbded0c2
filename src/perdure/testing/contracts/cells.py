"""Small values that workers share: set, compared and set, expired, swept."""

from __future__ import annotations

import asyncio

import pytest

from perdure.errors import InvalidInput, TooMuch
from perdure.ports.cells import ABSENT, LARGEST, LONGEST_KEY
from perdure.testing.contracts.subject import BEGIN, SECOND, Subject


class CellsContract:
    async def test_a_cell_holds_what_was_put_last(self, subject: Subject) -> None:
        cells = subject.store.cells
        assert await cells.get("default", "a") is None
        first = await cells.put("default", "a", b"one\0\xff")
        second = await cells.put("default", "a", b"")
        assert first is not None
        assert second is not None
        assert first.version != second.version
        assert await cells.get("default", "a") == second

    async def test_namespaces_and_keys_are_told_apart(self, subject: Subject) -> None:
        cells = subject.store.cells
        for place in (("x", "a"), ("y", "a"), ("x", "Ä ✓"), ("x", "A")):
            await cells.put(*place, "/".join(place).encode())
        for place in (("x", "a"), ("y", "a"), ("x", "Ä ✓"), ("x", "A")):
            cell = await cells.get(*place)
            assert cell is not None
            assert cell.value.decode() == "/".join(place)
        await cells.remove("x", "a")
        await cells.remove("x", "never there")
        assert await cells.get("x", "a") is None
        assert await cells.get("y", "a") is not None

    async def test_a_cell_is_set_only_if_it_is_what_it_was(self, subject: Subject) -> None:
        cells = subject.store.cells
        assert await cells.put("default", "a", b"0", if_version="unheard of") is None
        first = await cells.put("default", "a", b"1", if_version=ABSENT)
        assert first is not None
        assert await cells.put("default", "a", b"2", if_version=ABSENT) is None
        second = await cells.put("default", "a", b"2", if_version=first.version)
        assert second is not None
        assert await cells.put("default", "a", b"3", if_version=first.version) is None
        assert await cells.get("default", "a") == second

    async def test_a_version_does_not_come_back(self, subject: Subject) -> None:
        cells = subject.store.cells
        first = await cells.put("default", "a", b"same")
        assert first is not None
        await cells.remove("default", "a")
        again = await cells.put("default", "a", b"same")
        assert again is not None
        assert again.version != first.version
        assert await cells.put("default", "a", b"x", if_version=first.version) is None

    async def test_of_many_that_add_or_replace_the_same_one_succeeds(self, subject: Subject) -> None:
        cells = subject.store.cells
        version: str = ABSENT
        for _ in range(3):
            puts = [cells.put("default", "a", str(n).encode(), if_version=version) for n in range(20)]
            (winner,) = [cell for cell in await asyncio.gather(*puts) if cell is not None]
            assert await cells.get("default", "a") == winner
            version = winner.version

    async def test_counting_together_loses_nothing(self, subject: Subject) -> None:
        cells = subject.store.cells

        async def count_one() -> None:
            while True:
                cell = await cells.get("default", "counter")
                number, version = (int(cell.value), cell.version) if cell is not None else (0, ABSENT)
                if await cells.put("default", "counter", str(number + 1).encode(), if_version=version) is not None:
                    return

        await asyncio.gather(*(count_one() for _ in range(12)))
        cell = await cells.get("default", "counter")
        assert cell is not None
        assert cell.value == b"12"

    async def test_a_cell_is_gone_when_its_time_is_over(self, subject: Subject) -> None:
        cells = subject.store.cells
        cell = await cells.put("default", "a", b"1", ttl=10 * SECOND)
        assert cell is not None
        assert cell.expires_at == BEGIN + 10 * SECOND
        subject.clock.advance(10 * SECOND - 1)
        assert await cells.get("default", "a") == cell
        subject.clock.advance(1)
        assert await cells.get("default", "a") is None
        assert await cells.put("default", "a", b"2", if_version=cell.version) is None
        assert await cells.put("default", "a", b"2", if_version=ABSENT) is not None

    async def test_putting_again_begins_a_new_time(self, subject: Subject) -> None:
        cells = subject.store.cells
        await cells.put("default", "a", b"1", ttl=10 * SECOND)
        await cells.put("default", "b", b"1", ttl=10 * SECOND)
        subject.clock.advance(9 * SECOND)
        await cells.put("default", "a", b"1", ttl=10 * SECOND)
        await cells.put("default", "b", b"1")
        subject.clock.advance(9 * SECOND)
        assert await cells.get("default", "a") is not None
        subject.clock.advance(10_000 * SECOND)
        assert await cells.get("default", "a") is None
        assert await cells.get("default", "b") is not None

    async def test_sweeping_removes_what_has_expired_and_no_more_than_it_may(self, subject: Subject) -> None:
        cells = subject.store.cells
        for n in range(7):
            await cells.put("default", f"old-{n}", b"x", ttl=SECOND)
        await cells.put("default", "later", b"x", ttl=10 * SECOND)
        await cells.put("default", "ever", b"x")
        assert await cells.sweep() == 0
        subject.clock.advance(SECOND)
        assert [await cells.sweep(limit=5), await cells.sweep(limit=5), await cells.sweep(limit=5)] == [5, 2, 0]
        assert await cells.get("default", "later") is not None
        assert await cells.get("default", "ever") is not None

    async def test_expired_cells_do_not_pile_up_where_others_are_put(self, subject: Subject) -> None:
        cells = subject.store.cells
        for n in range(300):
            await cells.put("default", f"c{n}", b"x", ttl=SECOND)
            subject.clock.advance(SECOND)
        assert await cells.sweep() <= 64

    async def test_what_is_too_large_is_refused(self, subject: Subject) -> None:
        cells = subject.store.cells
        await cells.put("default", "k" * LONGEST_KEY, b"x" * LARGEST)
        with pytest.raises(TooMuch):
            await cells.put("default", "a", b"x" * (LARGEST + 1))
        for key in ("", "k" * (LONGEST_KEY + 1), "a\0b"):
            with pytest.raises(InvalidInput):
                await cells.put("default", key, b"x")
