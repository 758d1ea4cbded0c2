"""Starting runs: idempotency keys and definitions that changed meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

from perdure.model.statuses import Status
from perdure.ports.journal import TurnWrite, Verdict
from perdure.ports.runs import RunFilter
from perdure.testing.contracts.subject import HOUR, ME, Subject, ended, new_run, parked, start, step, verdicts


def keyed(run: str, key: str | None = "order-7", digest: str = "d", **given: Any) -> TurnWrite:
    return start(run, new=new_run(key=key, request_digest=digest, **given))


class StartsContract:
    async def test_a_key_belongs_to_the_run_that_came_first(self, subject: Subject) -> None:
        await subject.committed(keyed("run-1", digest="first"))

        outcome = await subject.store.journal.commit(keyed("run-2", digest="second"))

        assert outcome.verdict is Verdict.KEY_EXISTS
        assert (outcome.existing_run, outcome.existing_digest) == ("run-1", "first")
        assert await subject.store.journal.head("run-2") is None
        assert list(await subject.store.journal.history("run-2")) == []

    async def test_a_key_is_taken_also_within_one_group(self, subject: Subject) -> None:
        commit = subject.store.journal.commit
        turns = [keyed("run-1", digest="first"), keyed("run-2", digest="second"), start("run-3"), step("run-3", 1)]
        first, second, *others = await asyncio.gather(*map(commit, turns))

        assert first.verdict is Verdict.COMMITTED
        assert second.verdict is Verdict.KEY_EXISTS
        assert (second.existing_run, second.existing_digest) == ("run-1", "first")
        assert verdicts(others) == [Verdict.COMMITTED] * 2
        assert await subject.store.journal.head("run-2") is None

    async def test_of_a_thousand_starts_with_one_key_one_succeeds(self, subject: Subject) -> None:
        commit = subject.store.journal.commit
        outcomes = await asyncio.gather(*(commit(keyed(f"run-{number:04}")) for number in range(1000)))

        (winner,) = [n for n, outcome in enumerate(outcomes) if outcome.verdict is Verdict.COMMITTED]
        others = outcomes[:winner] + outcomes[winner + 1 :]
        assert {outcome.verdict for outcome in others} == {Verdict.KEY_EXISTS}
        assert {outcome.existing_run for outcome in others} == {f"run-{winner:04}"}
        assert [head.run for head in await subject.store.runs.walk()] == [f"run-{winner:04}"]

    async def test_namespaces_have_their_own_keys(self, subject: Subject) -> None:
        await subject.committed(keyed("run-1"), keyed("run-2", namespace="other"), keyed("run-3", key="order-8"))

    async def test_runs_without_a_key_do_not_meet(self, subject: Subject) -> None:
        await subject.committed(keyed("run-1", key=None), keyed("run-2", key=None))

    async def test_a_digest_may_be_missing(self, subject: Subject) -> None:
        await subject.committed(start("run-1", new=new_run(key="k")))
        outcome = await subject.store.journal.commit(start("run-2", new=new_run(key="k")))
        assert (outcome.existing_run, outcome.existing_digest) == ("run-1", None)

    async def test_the_same_start_again_meets_its_own_key(self, subject: Subject) -> None:
        turn = keyed("run-1")
        await subject.committed(turn)
        outcome = await subject.store.journal.commit(turn)
        assert (outcome.verdict, outcome.existing_run) == (Verdict.KEY_EXISTS, "run-1")

    async def test_a_key_outlives_its_run_by_a_day(self, subject: Subject) -> None:
        await subject.committed(keyed("run-1"))
        subject.clock.advance(1000 * HOUR)
        assert await subject.commit(keyed("run-2")) is Verdict.KEY_EXISTS  # open runs keep their keys
        await subject.committed(ended("run-1", 1, at=subject.clock.now()))

        subject.clock.advance(24 * HOUR - 1)
        assert await subject.commit(keyed("run-2")) is Verdict.KEY_EXISTS
        subject.clock.advance(1)
        await subject.committed(keyed("run-2"))

        outcome = await subject.store.journal.commit(keyed("run-3"))
        assert (outcome.verdict, outcome.existing_run) == (Verdict.KEY_EXISTS, "run-2")

    async def test_the_key_of_a_run_that_was_opened_again_is_kept(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(keyed("run-1"))
        await subject.committed(ended("run-1", 1, status=Status.FAILED, at=subject.clock.now()))
        claimed = await subject.store.ownership.acquire("worker-a", "run-1")
        assert claimed is not None
        await subject.committed(step("run-1", 2, epoch=claimed.head.epoch))

        subject.clock.advance(48 * HOUR)

        assert await subject.commit(keyed("run-2")) is Verdict.KEY_EXISTS

    async def test_a_start_from_an_outdated_definition_is_refused(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        await definitions.publish("default", "order", "flow", {"v": 1}, "h1", None)
        active = await definitions.activate("default", "order", 1)
        await subject.committed(start("run-1", new=new_run(active_revision=active.revision)))
        again = await definitions.activate("default", "order", 1)

        stale = keyed("run-2", active_revision=active.revision)
        assert await subject.commit(stale) is Verdict.STALE_DEFINITION
        assert await subject.store.journal.head("run-2") is None

        await subject.committed(keyed("run-2", active_revision=again.revision))  # so the key was not taken either

    async def test_a_start_from_a_definition_that_is_not_there_is_refused(self, subject: Subject) -> None:
        assert await subject.commit(start("run-1", new=new_run(active_revision=1))) is Verdict.STALE_DEFINITION

    async def test_a_revision_belongs_to_one_namespace(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        await definitions.publish("default", "order", "flow", {"v": 1}, "h1", None)
        active = await definitions.activate("default", "order", 1)
        new = new_run(namespace="other", active_revision=active.revision)
        assert await subject.commit(start("run-1", new=new)) is Verdict.STALE_DEFINITION

    async def test_a_start_that_does_not_ask_is_not_refused(self, subject: Subject) -> None:
        await subject.committed(start("run-1", new=new_run(active_revision=None)))

    async def test_a_repeated_start_is_recognised_even_if_its_definition_changed(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        await definitions.publish("default", "order", "flow", {"v": 1}, "h1", None)
        active = await definitions.activate("default", "order", 1)
        await subject.committed(keyed("run-1", active_revision=active.revision))
        await definitions.activate("default", "order", 1)
        assert await subject.commit(keyed("run-2", active_revision=active.revision)) is Verdict.KEY_EXISTS

    async def test_refused_starts_do_not_fail_their_neighbours(self, subject: Subject) -> None:
        await subject.committed(keyed("run-00"))
        turns = [
            keyed(f"run-{n:02}", key="order-7" if n % 3 == 0 else f"k{n}", active_revision=9 if n % 4 == 1 else None)
            for n in range(1, 40)
        ]

        outcomes = await asyncio.gather(*(subject.store.journal.commit(turn) for turn in turns))

        for n, outcome in enumerate(outcomes, 1):
            if n % 3 == 0:
                assert outcome.verdict is Verdict.KEY_EXISTS
            elif n % 4 == 1:
                assert outcome.verdict is Verdict.STALE_DEFINITION
            else:
                assert outcome.verdict is Verdict.COMMITTED
        there = {head.run for head in await subject.store.runs.walk()}
        committed = {f"run-{n:02}" for n in range(1, 40) if n % 3 and n % 4 != 1}
        assert there == committed | {"run-00"}

    async def test_a_run_keeps_its_pins(self, subject: Subject) -> None:
        await subject.leased()
        pins = {"script:grüße@LATEST": 3, "lookups:all@LATEST": 0}
        await subject.committed(
            start("run-1", new=new_run(pins=pins)),
            start("run-2", new=new_run(key="k", pins={"node:a@ACTIVE": 1})),
            start("run-3"),
        )
        await subject.committed(step("run-1", 1), parked("run-2", 1, wake_at=0), parked("run-3", 1, wake_at=0))

        expected = {"run-1": pins, "run-2": {"node:a@ACTIVE": 1}, "run-3": None}
        store = subject.store
        loaded = [await store.journal.load(run) for run in expected]
        assert {each.head.run: each.head.pins for each in loaded if each is not None} == expected
        assert {head.run: head.pins for head in await store.runs.walk()} == expected
        assert {head.run: head.pins for head in await store.runs.find(RunFilter(namespace="default"))} == expected
        claimed = await store.ownership.claim(ME, 10)
        assert {each.head.run: each.head.pins for each in claimed} == {"run-2": {"node:a@ACTIVE": 1}, "run-3": None}

    async def test_a_start_that_is_refused_leaves_the_pins_of_the_run_alone(self, subject: Subject) -> None:
        commit = subject.store.journal.commit
        await subject.committed(start("run-1", new=new_run(key="k", pins={"script:a@LATEST": 1})))
        again = start("run-1", new=new_run(key="k", pins={"script:a@LATEST": 2}))
        other = start("run-2", new=new_run(key="k", pins={"script:a@LATEST": 2}))
        third = start("run-3", new=new_run(pins={"script:a@LATEST": 2}))

        outcomes = await asyncio.gather(*map(commit, (again, other, third)))

        assert verdicts(outcomes) == [Verdict.KEY_EXISTS, Verdict.KEY_EXISTS, Verdict.COMMITTED]
        assert {head.run: head.pins for head in await subject.store.runs.walk()} == {
            "run-1": {"script:a@LATEST": 1},
            "run-3": {"script:a@LATEST": 2},
        }
