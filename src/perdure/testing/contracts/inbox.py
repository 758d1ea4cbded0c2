"""Commands from outside: none lost, none twice, and none between a look at the inbox and the end of a run."""

from __future__ import annotations

import asyncio

import pytest

from perdure.ports.inbox import Sent
from perdure.ports.journal import Send, Verdict
from perdure.testing.contracts.subject import (
    BEGIN,
    ME,
    OTHER,
    SECOND,
    Subject,
    ended,
    new_run,
    parked,
    sleeper,
    start,
    step,
    verdicts,
)


async def send(subject: Subject, run: str, request: str, command: bytes = b"{}") -> Sent:
    return await subject.store.inbox.send("default", run, command, request)


async def waiting(subject: Subject, *runs: str) -> list[str]:
    return [command.request_id for command in (await subject.store.inbox.receive(ME, runs)).waiting]


class InboxContract:
    async def test_a_command_waits_for_its_run(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        command = '{"signal":"ünï\\u0000"}'.encode()
        assert await send(subject, "run-1", "a", command) is Sent.ACCEPTED

        for received in (await subject.store.inbox.receive(ME), await subject.store.inbox.receive(ME, ["run-1"])):
            (found,) = received.waiting
            assert (found.run, found.request_id, found.command) == ("run-1", "a", command)
            assert received.inbox_seqs == {"run-1": 1}

    async def test_commands_come_oldest_first(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), start("run-2"))
        for number in range(20):
            await send(subject, f"run-{1 + number % 2}", f"r{number}")
        received = await subject.store.inbox.receive(ME)
        assert [command.request_id for command in received.waiting] == [f"r{number}" for number in range(20)]
        assert received.inbox_seqs == {"run-1": 10, "run-2": 10}

    async def test_a_worker_receives_for_its_own_runs(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), start("run-2", owner=OTHER), sleeper("run-3", None))
        for run in ("run-1", "run-2", "run-3"):
            await send(subject, run, "a")
        assert [command.run for command in (await subject.store.inbox.receive(ME)).waiting] == ["run-1"]
        assert [command.run for command in (await subject.store.inbox.receive(OTHER)).waiting] == ["run-2"]
        assert list((await subject.store.inbox.receive("nobody")).waiting) == []

    async def test_runs_asked_for_by_name_need_no_owner(self, subject: Subject) -> None:
        await subject.committed(start("run-1", owner=OTHER), sleeper("run-2", None), start("run-3"))
        await send(subject, "run-1", "a")
        await send(subject, "run-2", "b")
        received = await subject.store.inbox.receive(ME, ["run-2", "run-1", "run-3", "nobody"])
        assert [command.request_id for command in received.waiting] == ["a", "b"]
        assert received.inbox_seqs == {"run-1": 1, "run-2": 1, "run-3": 0}
        assert await subject.store.inbox.receive(ME, []) == type(received)([], {})

    async def test_the_same_request_waits_once(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), start("run-2"))
        assert await send(subject, "run-1", "a", b"1") is Sent.ACCEPTED
        assert await send(subject, "run-1", "a", b"2") is Sent.DUPLICATE
        assert await send(subject, "run-2", "a", b"3") is Sent.ACCEPTED
        received = await subject.store.inbox.receive(ME, ["run-1"])
        assert [command.command for command in received.waiting] == [b"1"]
        assert received.inbox_seqs == {"run-1": 1}

    async def test_of_a_thousand_equal_requests_one_is_accepted(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        answers = await asyncio.gather(*(send(subject, "run-1", "a") for _ in range(1000)))
        assert sorted(answer.value for answer in answers) == ["accepted"] + ["duplicate"] * 999
        assert (await subject.head("run-1")).inbox_seq == 1

    async def test_a_thousand_different_requests_are_all_accepted(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        answers = await asyncio.gather(*(send(subject, "run-1", f"r{number}") for number in range(1000)))
        assert set(answers) == {Sent.ACCEPTED}
        received = await subject.store.inbox.receive(ME)
        assert {command.request_id for command in received.waiting} == {f"r{number}" for number in range(1000)}
        assert received.inbox_seqs == {"run-1": 1000}

    async def test_closed_and_unknown_runs_take_nothing(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), start("run-2", new=new_run(namespace="other")))
        await subject.committed(ended("run-1", 1))
        assert await send(subject, "run-1", "a") is Sent.CLOSED
        assert await send(subject, "nobody", "a") is Sent.UNKNOWN
        assert await send(subject, "run-2", "a") is Sent.UNKNOWN  # of another namespace
        assert (await subject.store.inbox.receive(ME, ["run-1", "run-2"])).waiting in ([], ())

    async def test_one_refused_does_not_fail_the_others(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), start("run-2"))
        await subject.committed(ended("run-2", 1))
        answers = await asyncio.gather(
            *(
                send(subject, run, request)
                for run, request in [("run-1", "a"), ("run-2", "b"), ("x", "c"), ("run-1", "d")]
            )
        )
        assert answers == [Sent.ACCEPTED, Sent.CLOSED, Sent.UNKNOWN, Sent.ACCEPTED]
        assert await waiting(subject, "run-1") == ["a", "d"]

    @pytest.mark.parametrize("wake_at", [None, BEGIN + SECOND])
    async def test_a_command_makes_an_unowned_run_due(self, subject: Subject, wake_at: int | None) -> None:
        await subject.leased(ME)
        await subject.committed(sleeper("run-1", wake_at))
        await send(subject, "run-1", "a")
        assert await subject.store.ownership.next_wake() == BEGIN
        assert await subject.claim() == ["run-1"]

    async def test_a_run_that_is_due_earlier_stays_so(self, subject: Subject) -> None:
        await subject.committed(sleeper("run-1", BEGIN - SECOND))
        await send(subject, "run-1", "a")
        assert await subject.store.ownership.next_wake() == BEGIN - SECOND

    async def test_an_owned_run_does_not_become_due(self, subject: Subject) -> None:
        await subject.leased()
        await subject.committed(start("run-1"))
        await send(subject, "run-1", "a")
        assert await subject.store.ownership.next_wake() is None
        assert await subject.claim(OTHER) == []

    async def test_a_turn_consumes_what_it_answers(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        for request in "abc":
            await send(subject, "run-1", request)
        first, _, third = (await subject.store.inbox.receive(ME)).waiting
        await subject.committed(step("run-1", 1, consumed=[first.id, third.id]))
        assert await waiting(subject, "run-1") == ["b"]
        assert (await subject.head("run-1")).inbox_seq == 3

    async def test_a_turn_consumes_nothing_of_another_run(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), start("run-2"))
        await send(subject, "run-2", "a")
        (found,) = (await subject.store.inbox.receive(ME)).waiting
        await subject.committed(step("run-1", 1, consumed=[found.id, 10**9]))
        assert await waiting(subject, "run-2") == ["a"]

    async def test_numbers_of_commands_grow_and_are_never_used_again(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        numbers: list[int] = []
        for turn in range(1, 6):
            await send(subject, "run-1", "same")  # consumed each time, so it is no duplicate
            (found,) = (await subject.store.inbox.receive(ME)).waiting
            numbers.append(found.id)
            await subject.committed(step("run-1", turn, consumed=[found.id]))
        assert numbers == sorted(set(numbers))

    async def test_a_turn_sends_commands_to_other_runs(self, subject: Subject) -> None:
        await subject.leased(ME)
        await subject.committed(start("run-1"), start("run-2"), sleeper("run-3", None))
        sends = [Send("run-2", b"x", "s1"), Send("run-3", b"y", "s2"), Send("run-2", b"z", "s3")]
        await subject.committed(step("run-1", 1, sends=sends))

        received = await subject.store.inbox.receive(ME, ["run-2", "run-3"])

        assert sorted((c.run, c.request_id, c.command) for c in received.waiting) == [
            ("run-2", "s1", b"x"),
            ("run-2", "s3", b"z"),
            ("run-3", "s2", b"y"),
        ]
        assert received.inbox_seqs == {"run-2": 2, "run-3": 1}
        assert await subject.claim() == ["run-3"]
        assert await subject.commit(parked("run-2", 1)) is Verdict.INBOX_MOVED

    async def test_sends_to_closed_and_unknown_runs_are_ignored(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), start("run-2"), start("run-3"))
        await subject.committed(ended("run-2", 1))
        sends = [Send("run-2", b"x", "s1"), Send("nobody", b"y", "s2"), Send("run-3", b"z", "s3")]
        await subject.committed(step("run-1", 1, sends=sends), step("run-3", 1))
        assert await waiting(subject, "run-2", "run-3") == ["s3"]

    async def test_a_repeated_send_is_ignored(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), start("run-2"))
        await subject.committed(step("run-1", 1, sends=[Send("run-2", b"x", "s")]))
        await subject.committed(step("run-1", 2, sends=[Send("run-2", b"x", "s")]))
        assert await waiting(subject, "run-2") == ["s"]
        assert (await subject.head("run-2")).inbox_seq == 1

    async def test_a_new_run_may_send_at_once(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        await subject.committed(start("run-2", sends=[Send("run-1", b"x", "s")]))
        assert await waiting(subject, "run-1") == ["s"]

    async def test_no_command_falls_between_the_last_look_and_the_end(self, subject: Subject) -> None:
        """Senders race with an owner that parks; in the end every accepted command is seen or the run is due."""
        await subject.leased(ME)
        runs = [f"run-{number:02}" for number in range(50)]
        await subject.committed(*(start(run) for run in runs))

        sends = [send(subject, run, request) for request in "ab" for run in runs]
        parks = [subject.store.journal.commit(parked(run, 1)) for run in runs]
        answers = asyncio.gather(*sends)
        outcomes = await asyncio.gather(*parks)
        assert set(await answers) == {Sent.ACCEPTED}

        due = set(await subject.claim(limit=100))
        for run, verdict in zip(runs, verdicts(outcomes), strict=True):
            assert verdict in {Verdict.COMMITTED, Verdict.INBOX_MOVED}
            assert (run in due) == (verdict is Verdict.COMMITTED)
            assert sorted(await waiting(subject, run)) == ["a", "b"]

    async def test_no_command_is_accepted_by_a_run_that_ends(self, subject: Subject) -> None:
        runs = [f"run-{number:02}" for number in range(50)]
        await subject.committed(*(start(run) for run in runs))

        sends = asyncio.gather(*(send(subject, run, "a") for run in runs))
        outcomes = await asyncio.gather(*(subject.store.journal.commit(ended(run, 1)) for run in runs))

        for run, sent, verdict in zip(runs, await sends, verdicts(outcomes), strict=True):
            if verdict is Verdict.COMMITTED:
                assert (sent, await waiting(subject, run)) == (Sent.CLOSED, [])
            else:
                assert (verdict, sent) == (Verdict.INBOX_MOVED, Sent.ACCEPTED)
