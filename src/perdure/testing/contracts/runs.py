"""Looking runs up."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from perdure.model.statuses import Status
from perdure.ports.journal import Message
from perdure.ports.runs import RunFilter
from perdure.testing.contracts.subject import BEGIN, SECOND, Subject, ended, new_run, parked, sleeper, start, step


async def find(subject: Subject, **filter: Any) -> list[str]:
    return [head.run for head in await subject.store.runs.find(RunFilter(**filter))]


async def populate(subject: Subject) -> None:
    await subject.committed(
        start("run-1", new=new_run(definition="order")),
        start("run-2", new=new_run(definition="order", parent="run-1")),
        start("run-3", new=new_run(definition="invoice", parent="run-1")),
        sleeper("run-4", BEGIN, new=new_run(definition="invoice")),
        start("run-5", new=new_run(namespace="other", definition="order")),
    )
    await subject.committed(ended("run-1", 1), ended("run-3", 1, status=Status.FAILED), parked("run-2", 1))


class RunsContract:
    async def test_the_newest_come_first(self, subject: Subject) -> None:
        await populate(subject)
        assert await find(subject) == ["run-5", "run-4", "run-3", "run-2", "run-1"]

    @pytest.mark.parametrize(
        ("filter", "expected"),
        [
            ({"namespace": "default"}, "4321"),
            ({"namespace": "other"}, "5"),
            ({"namespace": "nobody"}, ""),
            ({"definition": "order"}, "521"),
            ({"namespace": "default", "definition": "order"}, "21"),
            ({"parent": "run-1"}, "32"),
            ({"namespace": "other", "parent": "run-1"}, ""),
            ({"statuses": [Status.RUNNING]}, "5"),
            ({"statuses": [Status.COMPLETED, Status.FAILED]}, "31"),
            ({"statuses": [Status.FAILED]}, "3"),
            ({"statuses": [Status.WAITING, Status.SLEEPING]}, "42"),
            ({"statuses": [Status.WAITING, Status.FAILED], "parent": "run-1", "definition": "order"}, "2"),
            ({"namespace": "default", "statuses": [Status.FAILED]}, "3"),
            ({"namespace": "default", "statuses": [Status.RUNNING]}, ""),
            ({"statuses": [Status.TIMED_OUT]}, ""),
        ],
    )
    async def test_filters_narrow(self, subject: Subject, filter: dict[str, Any], expected: str) -> None:
        await populate(subject)
        assert await find(subject, **filter) == [f"run-{number}" for number in expected]

    async def test_runs_are_found_by_their_attributes(self, subject: Subject) -> None:
        values: list[Any] = [1, "1", True, None, 2.5, [1, 2], {"b": 1, "a": 2}, "ü'\"%"]
        for number, value in enumerate(values):
            attributes = {"value": value, "even": number % 2 == 0}
            await subject.committed(start(f"run-{number}", attributes=attributes))
        for number, value in enumerate(values):
            assert await find(subject, attributes={"value": value}) == [f"run-{number}"]
            assert await find(subject, namespace="default", attributes={"value": value}) == [f"run-{number}"]
        assert await find(subject, attributes={"even": True}) == ["run-6", "run-4", "run-2", "run-0"]
        assert await find(subject, attributes={"even": True, "value": True}) == ["run-2"]
        assert await find(subject, attributes={"even": False, "value": True}) == []
        assert await find(subject, attributes={"other": 1}) == []
        assert await find(subject, namespace="other", attributes={"even": True}) == []

    async def test_attributes_that_changed_are_found_by_the_new_values_only(self, subject: Subject) -> None:
        await subject.committed(start("run-1", attributes={"stage": "one", "customer": 7}))
        await subject.committed(step("run-1", 1, attributes={"stage": "two"}))
        assert await find(subject, attributes={"stage": "two"}) == ["run-1"]
        assert await find(subject, attributes={"stage": "one"}) == []
        assert await find(subject, attributes={"customer": 7}) == []

    async def test_pages_follow_one_another_without_gap(self, subject: Subject) -> None:
        runs = [f"run-{number:03}" for number in range(25)]
        await subject.committed(*(start(run) for run in runs))
        filter = RunFilter(namespace="default")
        found: list[str] = []
        before: str | None = None
        while page := await subject.store.runs.find(filter, before, 10):
            found += [head.run for head in page]
            before = found[-1]
        assert found == runs[::-1]

    async def test_what_is_found_is_the_head(self, subject: Subject) -> None:
        await populate(subject)
        for head in await subject.store.runs.find(RunFilter()):
            assert head == await subject.head(head.run)

    async def test_walking_sees_every_run_in_order(self, subject: Subject) -> None:
        runs = [f"run-{number:03}" for number in range(25)]
        await subject.committed(*(start(run) for run in runs))
        walked: list[str] = []
        while page := await subject.store.runs.walk(walked[-1] if walked else "", 10):
            assert page[0] == await subject.head(page[0].run)
            walked += [head.run for head in page]
        assert walked == runs

    async def test_a_sound_store_has_no_orphans(self, subject: Subject) -> None:
        await populate(subject)
        await subject.store.inbox.send("default", "run-2", b"{}", "a")
        await subject.committed(step("run-5", 1, snapshot=b"s", attributes={"a": 1}, messages=[Message("m", "m", 1)]))
        orphans = (await subject.store.runs.counts()).orphans
        assert orphans
        assert set(orphans.values()) == {0}

    async def test_a_head_is_repaired(self, subject: Subject) -> None:
        await subject.committed(sleeper("run-1", BEGIN, attributes={"a": 1}))
        head = await subject.head("run-1")
        wake = BEGIN + SECOND
        repaired = msgspec.structs.replace(head, status=Status.WAITING, wake_at=wake, attributes={"b": 2})

        await subject.store.runs.repair(repaired)

        assert await subject.head("run-1") == repaired
        assert await find(subject, attributes={"b": 2}) == ["run-1"]
        assert await find(subject, attributes={"a": 1}) == []
        assert await subject.store.ownership.next_wake() == wake

    async def test_a_result_is_repaired(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        await subject.committed(ended("run-1", 1))
        head = await subject.head("run-1")
        repaired = msgspec.structs.replace(head, status=Status.FAILED, result=b'{"failure":{}}')
        await subject.store.runs.repair(repaired)
        assert await subject.head("run-1") == repaired

    async def test_a_repair_does_not_touch_a_run_that_moved_meanwhile(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        outdated = await subject.head("run-1")
        await subject.committed(step("run-1", 1))
        current = await subject.head("run-1")
        await subject.store.runs.repair(msgspec.structs.replace(outdated, status=Status.SUSPENDED))
        assert await subject.head("run-1") == current
