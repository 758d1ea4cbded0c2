"""S06: an answer that is kept is given again, for as long as it is good; nothing is executed then."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from perdure.assembly import Perdure
from perdure.engine.handlers import ActivationError, Result
from perdure.errors import DocumentInvalid, StoreUnavailable
from perdure.model.events import ActivationCompleted
from perdure.ports.cells import LARGEST
from perdure.stores.memory import MemoryStore
from perdure.testing.contracts import ManualClock
from perdure.testing.faults import FaultyStore
from perdure.testing.simloop import pass_time
from tests.rows.worlds import World as Shared
from tests.rows.worlds import on_every_store

SECOND = 1_000_000


def step(name: str, **node: Any) -> dict[str, Any]:
    """A flow of one step whose answer is kept."""
    nodes = [
        {"id": "start", "type": "start"},
        {"id": "n", "type": "python", "config": {"step": name}, "cache": {"ttl": "10m"}, **node},
    ]
    return {"nodes": nodes, "edges": [{"source": "start", "target": "n"}]}


class World:
    def __init__(self, app: Perdure, clock: ManualClock) -> None:
        self.app, self.clock, self.calls = app, clock, 0

    async def deploy(self, cache: Any, id: str = "flow", **node: Any) -> None:
        nodes = [
            {"id": "start", "type": "start"},
            {
                "id": "n",
                "type": "python",
                "config": {"step": "ask", "arguments": {"x": "${input.x}"}},
                "cache": cache,
                **node,
            },
        ]
        await self.app.deploy({"nodes": nodes, "edges": [{"source": "start", "target": "n"}]}, id=id)

    async def ask(self, x: Any, id: str = "flow", thread: Any = None, **more: Any) -> tuple[Any, bool]:
        """The answer, and whether it was an old one."""
        run = await self.app.start(id, {"x": x, **more}, thread=thread)
        output = await run.result()
        (done,) = [each.event for each in await run.history() if isinstance(each.event, ActivationCompleted)]
        return output, done.cached


@pytest.fixture
async def world() -> AsyncIterator[World]:
    clock = ManualClock()
    async with Perdure(MemoryStore(clock=clock)) as app:
        world = World(app, clock)

        @app.step()
        async def ask(ctx: Any, x: Any) -> Any:
            world.calls += 1
            if x == "bad":
                raise ActivationError("BAD", "no answer")
            if x == "large":
                return "y" * LARGEST
            return Result({"x": x, "call": world.calls}, vars={"seen": x})

        @app.step()
        async def pair(x: Any, y: Any = None) -> Any:
            return [x, y]

        @app.step()
        async def tenant(ctx: Any) -> Any:
            return ctx.thread["tenant"]

        yield world


async def test_s06_the_same_input_within_its_time_is_not_executed_again_and_marked_cached(world: World) -> None:
    await world.deploy({"ttl": "10m"})
    assert await world.ask(1) == ({"x": 1, "call": 1}, False)
    assert await world.ask(1) == ({"x": 1, "call": 1}, True)
    assert await world.ask(2) == ({"x": 2, "call": 2}, False)
    world.clock.advance(600 * SECOND)
    assert await world.ask(1) == ({"x": 1, "call": 3}, False)


async def test_a_key_says_what_the_same_is(world: World) -> None:
    await world.deploy({"ttl": "10m", "key": "${input.customer}"})
    assert (await world.ask(1, customer="a"))[1] is False
    assert await world.ask(2, customer="a") == ({"x": 1, "call": 1}, True)
    assert (await world.ask(1, customer="b"))[1] is False


async def test_a_key_does_not_make_the_same_of_two_configurations(world: World) -> None:
    """It stands in the place of what is put in, not of what is written."""
    for shared in (False, True):
        cache = {"ttl": "10m", "key": "${input.customer}", "shared": shared}
        asked = []
        for more in ({}, {"y": 1}, {"y": 2}, {}):
            await world.deploy(cache, config={"step": "pair", "arguments": {"x": "${input.x}", **more}})
            asked.append(await world.ask(1, customer="a"))
        assert [cached for _, cached in asked] == [False, False, False, True]


async def test_a_step_is_executed_again_for_another_thread_context(world: World) -> None:
    await world.deploy({"ttl": "10m"}, config={"step": "tenant"})
    found = [await world.ask(1, thread={"tenant": tenant}) for tenant in ("a", "b", "a")]
    assert found == [("a", False), ("b", False), ("a", True)]
    await world.deploy({"ttl": "10m", "key": "all"}, config={"step": "tenant"})
    perf = {"tenant": "c", "perfFlag": "true"}
    found = [await world.ask(1, thread=each) for each in ({"tenant": "a"}, {"tenant": "b"}, perf)]
    assert found == [("a", False), ("a", True), ("c", False)]


async def test_definitions_do_not_share_answers_unless_they_say_so(world: World) -> None:
    for id, shared in (("a", False), ("b", False), ("c", True), ("d", True)):
        await world.deploy({"ttl": "10m", "shared": shared}, id=id)
    found = [(await world.ask(1, id))[1] for id in ("a", "b", "c", "d", "a")]
    assert found == [False, False, False, True, True]


async def test_an_old_answer_changes_shared_data_as_the_new_one_did(world: World) -> None:
    await world.deploy({"ttl": "10m"})
    await world.ask(1)
    run = await world.app.start("flow", {"x": 1})
    await run.result()
    (done,) = [each.event for each in await run.history() if isinstance(each.event, ActivationCompleted)]
    assert (done.cached, done.vars) == (True, {"seen": 1})


async def test_failures_are_not_kept(world: World) -> None:
    await world.deploy({"ttl": "10m"})
    for _ in range(2):
        with pytest.raises(Exception, match="no answer"):
            await world.ask("bad")
    assert world.calls == 2


async def test_what_is_too_large_is_not_kept(world: World) -> None:
    await world.deploy({"ttl": "10m"})
    assert [(await world.ask("large"))[1] for _ in range(2)] == [False, False]


async def test_of_many_that_ask_the_same_at_once_one_is_executed(world: World) -> None:
    await world.deploy({"ttl": "10m"})
    answers = await asyncio.gather(*(world.ask(7) for _ in range(20)))
    assert world.calls == 1
    assert sum(not cached for _, cached in answers) == 1
    assert all(output == {"x": 7, "call": 1} for output, _ in answers)


async def test_if_the_one_that_is_executed_fails_the_next_tries(world: World) -> None:
    await world.deploy({"ttl": "10m"})
    results = await asyncio.gather(*(world.ask("bad") for _ in range(5)), return_exceptions=True)
    assert all(isinstance(each, Exception) for each in results)
    assert world.calls == 5


@on_every_store
async def test_if_it_fails_the_others_go_on_side_by_side_and_with_their_whole_time(world: Shared) -> None:
    begun: list[int] = []

    async def failing() -> None:
        begun.append(world.clock.now())
        await pass_time(4)
        raise ActivationError("BAD", "no answer")

    async with world.app(failing) as app:
        await app.deploy(step("failing", timeout="5s"), id="flow")
        at = world.clock.now()
        results = await asyncio.gather(*[(await app.start("flow")).result() for _ in range(6)], return_exceptions=True)
        assert ["no answer" in str(each) for each in results] == [True] * 6
        assert len(begun) == 6
        assert world.clock.now() - at < 9 * SECOND
        assert begun[-1] - at < 5 * SECOND


@on_every_store
async def test_nobody_waits_longer_than_its_own_time_for_one_that_has_more(world: Shared) -> None:
    calls: list[str] = []

    async def stuck(ctx: Any) -> str:
        calls.append(ctx.run_id)
        if len(calls) == 1:
            await pass_time(600)
        return "done"

    async with world.app(stuck) as app:
        await app.deploy(step("stuck"), id="flow")
        first = await app.start("flow")
        await pass_time(1)
        await app.deploy(step("stuck", timeout="5s"), id="flow")
        at = world.clock.now()
        assert await (await app.start("flow")).result() == "done"
        assert world.clock.now() - at < 6 * SECOND
        assert len(calls) == 2
        assert await first.result() == "done"


@on_every_store
async def test_an_attempt_that_waited_still_has_an_end(world: Shared) -> None:
    async def endless(ctx: Any) -> None:
        await pass_time(3600)

    async with world.app(endless) as app:
        await app.deploy(step("endless", timeout="5s"), id="flow")
        at = world.clock.now()
        results = await asyncio.gather(*[(await app.start("flow")).result() for _ in range(3)], return_exceptions=True)
        assert ["TIMEOUT" in str(each.details) for each in results] == [True] * 3
        assert world.clock.now() - at < 11 * SECOND


@on_every_store
async def test_who_waits_can_be_cancelled(world: Shared) -> None:
    async def slow(ctx: Any) -> str:
        await pass_time(60)
        return "done"

    async with world.app(slow) as app:
        await app.deploy(step("slow", timeout="90s"), id="flow")
        first, second = await app.start("flow"), await app.start("flow")
        await pass_time(1)
        await second.cancel()
        await pass_time(10)
        assert (await second.status()).name == "CANCELLED"
        assert await first.result() == "done"


async def test_blocking_steps_are_kept_too(world: World) -> None:
    def slow(x: int) -> int:
        world.calls += 1
        return x

    world.app.register(slow)
    await world.deploy({"ttl": "1h"}, config={"step": "slow", "arguments": {"x": "${input.x}"}})
    assert [await world.ask(1), await world.ask(1)] == [(1, False), (1, True)]


async def test_an_empty_key_fails_the_node(world: World) -> None:
    await world.deploy({"ttl": "10m", "key": "${input.customer}"})
    with pytest.raises(Exception, match="key of the cache is empty"):
        await world.ask(1, customer=None)


async def test_a_mistake_in_the_key_is_told_at_save(world: World) -> None:
    for cache, place in (
        ({"ttl": "10m", "key": "${inptu.x}"}, "/nodes/1/cache/key"),
        ({"ttl": "soon"}, "/nodes/1/cache/ttl"),
        ({}, "/nodes/1/cache/ttl"),
    ):
        with pytest.raises(DocumentInvalid) as refused:
            await world.deploy(cache)
        assert place in [each["pointer"] for each in refused.value.problems]


async def test_a_store_that_cannot_say_what_it_keeps_means_that_nodes_are_executed() -> None:
    beneath = FaultyStore(MemoryStore())
    async with Perdure(beneath) as app:
        world = World(app, ManualClock())

        @app.step()
        async def ask(x: Any) -> Any:
            world.calls += 1
            return x

        await world.deploy({"ttl": "10m"})

        async def broken(*given: Any, **more: Any) -> Any:
            raise StoreUnavailable("the cells are out of reach")

        beneath.cells.get = beneath.cells.put = broken
        app.store.cells.get = app.store.cells.put = broken  # type: ignore[method-assign]
        assert [await world.ask(1), await world.ask(1)] == [(1, False), (1, False)]
