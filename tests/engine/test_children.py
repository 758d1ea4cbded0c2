"""Runs started by runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.engine import ActivationContext
from perdure.model.commands import Cancel
from perdure.model.policies import Limits
from perdure.ports.runs import RunFilter
from perdure.stores.sqlite import SqliteStore
from perdure.testing.crashing import crash
from perdure.testing.simloop import SimClock, pass_time, simulated
from tests.engine.world import NAMESPACE, World, child, output_of, result_of, signal, sleep, step, until, world


async def children_of(w: World, run: str) -> list[Any]:
    return list(await w.beneath.runs.find(RunFilter(parent=run)))


@simulated()
async def test_a_parent_gets_its_childs_output_and_is_parked_meanwhile() -> None:
    async with world() as w:
        w.handlers.add("double", lambda context: context.input * 2)
        await w.define("child", step("double"), sleep(100))
        await w.define("parent", step(), child("child"), step())
        engine = await w.engine(poll=20)
        run = await w.start(engine, "parent", 21, thread={"tenant": "t"})
        await pass_time(5)
        head = await w.head(run)
        assert (head.owner, head.status) == (None, "WAITING")
        (made,) = await children_of(w, run)
        assert made.parent == run
        assert made.key == f"{run}/1/1"
        assert output_of(await w.ended(engine, run)) == 42
        state_thread = [e.thread for e in await w.events(made.run) if hasattr(e, "thread")]
        assert state_thread == [{"tenant": "t"}]


@simulated()
async def test_a_child_that_fails_fails_its_parent() -> None:
    async with world() as w:
        w.handlers.add("broken", lambda context: 1 / 0)
        await w.define("child", step("broken"))
        await w.define("parent", child("child"))
        engine = await w.engine()
        head = await w.run(engine, "parent")
        failure = result_of(head)["failure"]
        assert failure["code"] == "CHILD_FAILED"
        assert failure["details"]["failure"]["code"] == "NODE_FAILED"
        (made,) = await children_of(w, head.run)
        why = "NODE_FAILED: division by zero"
        assert failure["message"] == f"child flow 'child' (run {made.run}) failed at node '0': {why}"


@simulated()
async def test_a_child_whose_definition_is_missing_fails_with_not_found() -> None:
    async with world() as w:
        await w.define("parent", child("nowhere"))
        engine = await w.engine()
        failure = result_of(await w.run(engine, "parent"))["failure"]
        assert failure["code"] == "CHILD_FAILED"
        assert failure["details"]["failure"]["code"] == "NOT_FOUND"


@simulated()
async def test_a_child_that_nobody_waits_for_lives_on_its_own() -> None:
    async with world() as w:
        await w.define("child", sleep(50), step())
        await w.define("parent", child("child", wait=False), step())
        engine = await w.engine()
        head = await w.run(engine, "parent")
        assert output_of(head) == {"run": f"{head.run}.1.0"}
        assert output_of(await w.ended(engine, f"{head.run}.1.0")) is None


@simulated()
async def test_cancelling_a_parent_cancels_its_child_unless_it_is_to_be_abandoned() -> None:
    async with world() as w:
        await w.define("child", signal("go"))
        await w.define("cancels", child("child"))
        await w.define("abandons", child("child", policy="abandon"))
        engine = await w.engine()
        statuses = []
        for definition in ("cancels", "abandons"):
            run = await w.start(engine, definition)
            await pass_time(5)
            await engine.send(NAMESPACE, run, Cancel("enough"))
            assert (await w.ended(engine, run)).status == "CANCELLED"
            await pass_time(5)
            (made,) = await children_of(w, run)
            statuses.append(made.status)
        assert statuses == ["CANCELLED", "WAITING"]
        await engine.send(NAMESPACE, made.run, Cancel())


@simulated()
async def test_a_cancel_that_comes_while_the_child_is_being_started_reaches_the_child_too() -> None:
    async with world() as w:
        await w.define("child", signal("go"))
        await w.define("parent", step(), child("child"))
        engine = await w.engine()
        run = await w.start(engine, "parent")

        def starts_a_child(turn: Any) -> bool:
            return turn.new is not None and turn.new.parent is not None

        await until(lambda: bool(w.store.commits))
        with w.store.held() as gate:
            await asyncio.sleep(0)
            cancelling = asyncio.ensure_future(engine.send(NAMESPACE, run, Cancel()))
            await pass_time(1)
            gate.set()
            await cancelling
        assert (await w.ended(engine, run)).status == "CANCELLED"
        await pass_time(5)
        assert [made.status for made in await children_of(w, run)] in ([], ["CANCELLED"])


@simulated()
async def test_a_parent_does_not_close_while_it_is_uncertain_whether_one_of_its_children_exists() -> None:
    async with world() as w:
        from perdure.testing.faults import Fault

        await w.define("child", signal("go"))
        await w.define("parent", step(), child("child", count=3))
        engine = await w.engine()

        def starts_the_second(turn: Any) -> bool:
            return turn.new is not None and turn.run.endswith(".3.0")

        for _ in range(6):
            w.store.next_commit(Fault.UNAVAILABLE, starts_the_second)
        run = await w.start(engine, "parent")
        await until(lambda: len(engine.runtime.roster.parked) == 2)
        cancelling = asyncio.ensure_future(engine.send(NAMESPACE, run, Cancel()))
        await pass_time(0.1)
        assert not cancelling.done()
        await cancelling
        assert (await w.ended(engine, run)).status == "CANCELLED"
        await pass_time(5)
        assert [made.status for made in await children_of(w, run)] == ["CANCELLED"] * 3


@simulated()
async def test_children_cannot_be_nested_without_end() -> None:
    async with world() as w:
        await w.define("endless", child("endless"))
        engine = await w.engine()
        head = await w.run(engine, "endless", limits=Limits(child_depth=4))
        assert head.status == "FAILED"
        heads = await w.beneath.runs.find(RunFilter(namespace=NAMESPACE))
        assert len(heads) == 5
        assert "LIMIT_CHILD_DEPTH" in str([result_of(one) for one in heads])


@simulated()
async def test_a_parent_that_is_taken_over_finds_its_child_and_starts_no_other() -> None:
    async with world() as w:

        async def hang(context: ActivationContext) -> Any:
            await pass_time(100)
            return "grown"

        w.handlers.add("hang", hang)
        await w.define("child", step("hang"))
        await w.define("parent", child("child"), step())
        first = await w.engine(poll=1)
        run = await w.start(first, "parent")
        await pass_time(10)
        crash(first)
        second = await w.engine(poll=1)
        assert output_of(await w.ended(second, run)) == "grown"
        assert len(await children_of(w, run)) == 1


@simulated()
async def test_an_engine_that_dies_between_asking_for_a_child_and_starting_it_loses_nothing() -> None:
    async with world() as w:
        await w.define("child", step())
        await w.define("parent", child("child"))
        first = await w.engine()

        def starts_a_child(turn: Any) -> bool:
            return turn.new is not None and turn.new.parent is not None

        from perdure.testing.faults import Fault

        for _ in range(1000):
            w.store.next_commit(Fault.UNAVAILABLE, starts_a_child)
        run = await w.start(first, "parent", "x")
        await pass_time(1)
        crash(first)
        w.store._planned.clear()
        assert not await children_of(w, run)
        second = await w.engine()
        assert output_of(await w.ended(second, run)) == "x"


@simulated()
async def test_a_child_that_has_ended_while_its_parent_had_no_owner_is_heard() -> None:
    async with world() as w:
        await w.define("child", sleep(3), step())
        await w.define("parent", child("child"), step("hang"))

        async def hang(context: ActivationContext) -> Any:
            await pass_time(1)
            return context.input

        w.handlers.add("hang", hang)
        first = await w.engine(poll=1)
        run = await w.start(first, "parent", "p")
        await pass_time(1)
        await first.close()
        await pass_time(100)
        second = await w.engine(poll=1)
        assert output_of(await w.ended(second, run)) == "p"


@simulated()
async def test_where_there_is_no_room_children_are_stored_and_taken_up_later() -> None:
    async with world() as w:

        async def slow(context: ActivationContext) -> Any:
            await pass_time(2)
            return context.input

        w.handlers.add("slow", slow)
        await w.define("child", step("slow"))
        await w.define("parent", child("child"))
        engine = await w.engine(max_runs=4, poll=1)
        runs = await asyncio.gather(*(w.start(engine, "parent", n) for n in range(4)))
        assert [output_of(await w.ended(engine, run)) for run in runs] == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("seed", range(10))
def test_families_come_to_the_same_end_whatever_the_order(seed: int, kind: str) -> None:
    @simulated(seed)
    async def check() -> None:
        store = SqliteStore(":memory:", clock=SimClock(), writer="inline") if kind == "sqlite" else None
        async with world(store) as w:
            w.handlers.add("inc", lambda context: context.input + 1)
            await w.define("leaf", step("inc"))
            await w.define("middle", child("leaf"), child("leaf"))
            await w.define("top", child("middle"), step("inc"), child("middle"))
            engines = [await w.engine(poll=1) for _ in range(2)]
            runs = [await w.start(engines[n % 2], "top", n * 10) for n in range(5)]
            ended = [await asyncio.wait_for(w.ended(engines[0], run), 600) for run in runs]
            assert [output_of(head) for head in ended] == [n * 10 + 5 for n in range(5)]

    check()
