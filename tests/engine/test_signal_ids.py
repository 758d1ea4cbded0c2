"""A signal's id is said once for one signal: repeated it changes nothing, said for another it is refused."""

from __future__ import annotations

import pytest

from perdure import Perdure
from perdure.engine import Reply
from perdure.errors import IllegalCommand, KeyReused
from perdure.model.commands import Signal
from perdure.service.fsck import fsck
from perdure.stores.memory import MemoryStore
from perdure.stores.memory.journal import MemoryJournal
from perdure.testing.simloop import SimClock, pass_time, simulated
from tests.engine.world import NAMESPACE, output_of, signal, world

FLOW = {
    "id": "asks",
    "nodes": [
        {"id": "start", "type": "start"},
        {"id": "one", "type": "wait-for-signal", "config": {"name": "go"}},
        {"id": "two", "type": "wait-for-signal", "config": {"name": "go"}},
    ],
    "edges": [{"source": "start", "target": "one"}, {"source": "one", "target": "two"}],
}


@simulated()
async def test_the_sender_of_another_signal_with_the_same_id_is_told_so() -> None:
    async with world() as w:
        await w.define("two", signal("go"), signal("go"))
        engine = await w.engine()
        run = await w.start(engine, "two")
        assert await engine.send(NAMESPACE, run, Signal("go", 1, "x")) is Reply.DECIDED
        assert await engine.send(NAMESPACE, run, Signal("go", 1, "x")) is Reply.UNCHANGED
        for name, payload in (("go", 2), ("stop", 1)):
            with pytest.raises(KeyReused) as refused:
                await engine.send(NAMESPACE, run, Signal(name, payload, "x"))
            assert refused.value.details == {"signal": "x", "run": run}
        assert await engine.send(NAMESPACE, run, Signal("go", 3, "y")) is Reply.DECIDED
        assert output_of(await w.ended(engine, run)) == 3


@simulated()
async def test_what_came_through_the_inbox_with_an_id_of_another_signal_is_ignored_and_recorded_as_nothing() -> None:
    """Whoever sent it was told that it is accepted, not that it counts: the run's owner is another process."""
    async with world() as w:
        await w.define("two", signal("go", seconds=3600), signal("go", seconds=3600))
        owner = await w.engine(park_after=10**6)
        run = await w.start(owner, "two")
        sender = await w.engine()
        assert await owner.send(NAMESPACE, run, Signal("go", 1, "x")) is Reply.DECIDED
        assert await sender.send(NAMESPACE, run, Signal("go", 2, "x")) is Reply.ACCEPTED
        await pass_time(5)
        assert (await w.event_names(run)).count("SignalReceived") == 1
        assert await sender.send(NAMESPACE, run, Signal("go", 3, "y")) is Reply.ACCEPTED
        assert output_of(await w.ended(owner, run)) == 3
        assert (await w.event_names(run)).count("SignalReceived") == 2
        assert w.diary.aside == []


@simulated()
async def test_after_the_end_of_a_run_a_repeated_signal_is_no_offence_and_another_with_its_id_is() -> None:
    app = Perdure(MemoryStore(clock := SimClock()), clock=clock)
    async with app:
        await app.deploy(FLOW)
        run = await app.start("asks")
        await run.signal("go", {"n": 1}, id="x")
        await run.signal("go", {"n": 2}, id="y")
        assert await run.result() == {"n": 2}
        await run.signal("go", {"n": 1}, id="x")
        with pytest.raises(KeyReused):
            await run.signal("go", {"n": 9}, id="x")
        with pytest.raises(IllegalCommand):
            await run.signal("go", {"n": 1}, id="z")


@simulated()
async def test_a_snapshot_of_an_older_release_is_sound_although_it_does_not_say_what_ids_were_used_for() -> None:
    async with world() as w:
        await w.define("two", signal("go"), signal("go"))
        engine = await w.engine(snapshot_events=1)
        run = await w.start(engine, "two")
        await engine.send(NAMESPACE, run, Signal("go", 1, "x"))
        await pass_time(2)
        await engine.close()
        head = await w.head(run)
        kernel = (await w.library().get(NAMESPACE, head.definition, head.version)).kernel
        journal = w.beneath.journal
        assert isinstance(journal, MemoryJournal)
        snapshots = journal._tables.runs[run].snapshots
        seq = max(snapshots)
        state = kernel.restore(snapshots[seq])
        state.signal_ids = {"x": 1}
        snapshots[seq] = kernel.snapshot(state)
        assert (await fsck(w.beneath, w.library())).is_clean
