"""When snapshots are written, and that a run comes back from them."""

from __future__ import annotations

from typing import Any

from perdure.engine import ActivationContext
from perdure.model.policies import Limits
from perdure.testing.crashing import crash
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import World, output_of, sleep, step, steps, world


def snapshots(w: World) -> list[tuple[int, int]]:
    """(seq, bytes) of every snapshot that was written."""
    return [(turn.seq, len(turn.snapshot)) for turn in w.store.commits if turn.snapshot is not None]


@simulated()
async def test_a_short_run_gets_none() -> None:
    async with world() as w:
        await w.define("five", *steps(["echo"] * 5))
        engine = await w.engine()
        await w.run(engine, "five")
        assert not snapshots(w)


@simulated()
async def test_a_snapshot_comes_after_twenty_events_and_as_many_bytes_as_the_last_one() -> None:
    async with world() as w:
        w.handlers.add("grow", lambda context: {"n": context.input["n"] + 1})
        await w.define("long", *steps(["grow"] * 200))
        engine = await w.engine()
        await w.run(engine, "long", {"n": 0})
        taken = snapshots(w)
        assert taken
        assert taken[0][0] >= 20
        since = 0
        last = 0
        events = 0
        for turn in w.store.commits:
            since += len(turn.data)
            events += turn.seq - turn.expected
            if turn.snapshot is not None:
                assert events >= 20
                assert since >= last
                since, events, last = 0, 0, len(turn.snapshot)
        total = sum(size for _, size in taken)
        written = sum(len(turn.data) for turn in w.store.commits)
        assert total <= 3 * written, "snapshots do not cost more than the log does"


@simulated()
async def test_a_run_comes_back_from_its_snapshot_and_from_the_log_alone_to_the_same_place() -> None:
    async with world() as w:
        w.handlers.add("inc", lambda context: context.input + 1)
        await w.define("long", *steps(["inc"] * 60), sleep(50), step("inc"))
        first = await w.engine()
        runs = [await w.start(first, "long", n * 1000) for n in range(2)]
        await pass_time(10)
        crash(first)
        load = w.beneath.journal.load

        async def damaged(run: str) -> Any:
            import msgspec

            loaded = await load(run)
            assert loaded is not None
            assert loaded.snapshot is not None
            return msgspec.structs.replace(loaded, snapshot=b"\x00 rotten") if run == runs[1] else loaded

        w.beneath.journal.load = damaged  # type: ignore[method-assign]
        second = await w.engine()
        assert [output_of(await w.ended(second, run)) for run in runs] == [61, 1061]
        w.beneath.journal.load = load  # type: ignore[method-assign]
        assert w.handlers.count("inc") == 122


@simulated()
async def test_a_roll_over_always_comes_with_one() -> None:
    async with world() as w:
        w.handlers.add("inc", lambda context: context.input + 1)
        await w.define("long", *steps(["inc"] * 100))
        engine = await w.engine(snapshot_events=1_000_000)
        head = await w.run(engine, "long", 0, limits=Limits(generation_events=50))
        assert output_of(head) == 100
        assert len(snapshots(w)) == (await w.event_names(head.run)).count("RolledOver") >= 3


@simulated()
async def test_a_parked_runs_state_is_kept_up_to_a_number_of_bytes() -> None:
    async with world() as w:

        async def big(context: ActivationContext) -> str:
            return "x" * 3_000

        w.handlers.add("big", big)
        await w.define("one", step("big"), sleep(1000))
        engine = await w.engine(parked_bytes=50_000)
        for _ in range(20):
            await w.start(engine, "one")
        await pass_time(5)
        assert 1 <= len(engine.runtime.roster.parked) <= 7
