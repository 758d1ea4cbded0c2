"""Group commit by itself, without a database."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from perdure.errors import StoreUnavailable
from perdure.stores.postgres.lanes import Lanes
from tests.fixtures.moments import moment


class Disk:
    """Writes as slowly as it is told to, and remembers the groups."""

    def __init__(self, pauses: int = 1) -> None:
        self.groups: list[list[str]] = []
        self.at_work = 0
        self.most = 0
        self.pauses = pauses

    async def write(self, items: Sequence[str], ends: float) -> Sequence[str | BaseException]:
        self.groups.append(list(items))
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        for _ in range(self.pauses):
            await asyncio.sleep(0)
        self.at_work -= 1
        return [item.upper() for item in items]

    def lanes(self, width: int = 1, limit: int = 10, deadline: float = 5.0) -> Lanes[str, str]:
        return Lanes(self.write, width=width, limit=limit, deadline=deadline, name=lambda item: item[0])


@pytest.mark.parametrize("naps", range(6))
@pytest.mark.parametrize("pauses", range(3))
async def test_one_alone_is_not_forgotten_whenever_it_comes(naps: int, pauses: int) -> None:
    """Also in the very moment in which a lane ends."""
    lanes = Disk(pauses).lanes()
    async with asyncio.timeout(5):
        for number in range(3):
            await lanes.submit(f"a{number}")
            for _ in range(naps):
                await asyncio.sleep(0)


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("pauses", range(6))
async def test_nobody_is_forgotten_in_a_crowd(width: int, pauses: int) -> None:
    disk = Disk(pauses)
    lanes = disk.lanes(width)

    async def client(name: str, naps: int) -> None:
        for number in range(30):
            for _ in range((naps + number) % 7):
                await asyncio.sleep(0)
            assert await lanes.submit(f"{name}{number}") == f"{name}{number}".upper()

    async with asyncio.timeout(5):
        await asyncio.gather(*(client(chr(ord("a") + place), place) for place in range(5)))
    assert disk.most <= width
    await lanes.close()


async def test_what_comes_meanwhile_is_the_next_group() -> None:
    disk = Disk()
    lanes = disk.lanes()
    first = [lanes.submit(name) for name in ("a1", "b1", "c1")]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    then = [lanes.submit(name) for name in ("d1", "e1")]
    assert await asyncio.gather(*first, *then) == ["A1", "B1", "C1", "D1", "E1"]
    assert disk.groups == [["a1", "b1", "c1"], ["d1", "e1"]]


@pytest.mark.parametrize("width", [1, 2])
async def test_items_of_one_name_go_one_by_one_in_order(width: int) -> None:
    disk = Disk()
    lanes = disk.lanes(width)
    await asyncio.gather(*(lanes.submit(name) for name in ("a1", "b1", "a2", "a3", "b2", "c1")))
    for name in "abc":
        assert [item for group in disk.groups for item in group if item[0] == name] == sorted(
            item for group in disk.groups for item in group if item[0] == name
        )
    assert all(len({item[0] for item in group}) == len(group) for group in disk.groups)


async def test_groups_have_a_limit() -> None:
    disk = Disk()
    lanes = disk.lanes(limit=2)
    await asyncio.gather(*(lanes.submit(name) for name in ("a", "b", "c", "d", "e")))
    assert [len(group) for group in disk.groups] == [2, 2, 1]


async def test_one_who_has_waited_too_long_is_told_so() -> None:
    disk = Disk(pauses=0)
    gate = asyncio.Event()

    async def write(items: Sequence[str], ends: float) -> Sequence[str | BaseException]:
        await gate.wait()
        return await disk.write(items, ends)

    lanes: Lanes[str, str] = Lanes(write, width=1, limit=10, deadline=0.05)
    first = lanes.submit("a")
    await moment(0.01)
    late = lanes.submit("b")
    await moment(0.1)
    gate.set()
    assert await first == "A"
    with pytest.raises(StoreUnavailable):
        await late
    assert disk.groups == [["a"]]


async def test_an_error_is_each_ones_own() -> None:
    async def write(items: Sequence[str], ends: float) -> Sequence[str | BaseException]:
        raise StoreUnavailable("no", sqlstate="08000")

    lanes: Lanes[str, str] = Lanes(write, width=1, limit=10, deadline=1)
    problems = await asyncio.gather(*(lanes.submit(name) for name in "abc"), return_exceptions=True)
    assert len({id(problem) for problem in problems}) == 3
    assert {type(problem) for problem in problems} == {StoreUnavailable}


async def test_closing_waits_for_those_in_the_queue_and_refuses_the_rest() -> None:
    lanes = Disk().lanes(limit=1)
    waiting = [lanes.submit(name) for name in ("a1", "a2", "b1")]
    await lanes.close()
    assert [future.result() for future in waiting] == ["A1", "A2", "B1"]
    with pytest.raises(StoreUnavailable):
        await lanes.submit("c")


async def test_a_caller_that_went_away_harms_nobody() -> None:
    lanes = Disk().lanes()
    gone, stays = lanes.submit("a"), lanes.submit("b")
    gone.cancel()
    assert await stays == "B"
