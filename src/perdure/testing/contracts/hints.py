"""Hints: given by whoever knows, heard by all who listen, and often enough to make things fast."""

from __future__ import annotations

from collections import Counter

from perdure.ports.hints import Hint
from perdure.ports.journal import Message, Send
from perdure.testing.contracts.subject import BEGIN, ME, OTHER, Subject, ended, eventually, sleeper, start, step


class Ear:
    def __init__(self, subject: Subject) -> None:
        self.heard: Counter[tuple[Hint, str]] = Counter()
        self.stop = subject.store.hints.listen(self._hear)

    def _hear(self, hint: Hint, subject: str) -> None:
        self.heard[hint, subject] += 1

    async def hears(self, hint: Hint, subject: str = "") -> None:
        async def is_so() -> bool:
            return self.heard[hint, subject] > 0

        await eventually(is_so)


class HintsContract:
    async def test_a_hint_reaches_every_listener(self, subject: Subject) -> None:
        ears = [Ear(subject), Ear(subject)]
        subject.store.hints.give(Hint.INBOX, ME)
        subject.store.hints.give(Hint.DUE)
        for ear in ears:
            await ear.hears(Hint.INBOX, ME)
            await ear.hears(Hint.DUE)

    async def test_giving_a_hint_calls_nobody_at_once(self, subject: Subject) -> None:
        ear = Ear(subject)
        subject.store.hints.give(Hint.DUE)
        assert not ear.heard
        await ear.hears(Hint.DUE)

    async def test_many_equal_hints_are_few(self, subject: Subject) -> None:
        ear = Ear(subject)
        for _ in range(1000):
            subject.store.hints.give(Hint.DUE)
            subject.store.hints.give(Hint.INBOX, ME)
        await ear.hears(Hint.DUE)
        await ear.hears(Hint.INBOX, ME)
        assert max(ear.heard.values()) < 10

    async def test_who_stopped_listening_hears_nothing(self, subject: Subject) -> None:
        deaf, ear = Ear(subject), Ear(subject)
        deaf.stop()
        deaf.stop()
        subject.store.hints.give(Hint.DUE)
        await ear.hears(Hint.DUE)
        assert not deaf.heard

    async def test_a_listener_may_stop_or_give_hints_while_it_hears_one(self, subject: Subject) -> None:
        heard: list[Hint] = []

        def listen(hint: Hint, _: str) -> None:
            heard.append(hint)
            stop()
            subject.store.hints.give(Hint.OUTBOX)

        stop = subject.store.hints.listen(listen)
        ear = Ear(subject)
        subject.store.hints.give(Hint.DUE)
        await ear.hears(Hint.OUTBOX)
        assert heard == [Hint.DUE]

    async def test_nobody_needs_to_listen(self, subject: Subject) -> None:
        subject.store.hints.give(Hint.CLOSED, "run-1")

    async def test_the_owner_is_told_of_a_command(self, subject: Subject) -> None:
        await subject.committed(start("run-1", owner=OTHER))
        ear = Ear(subject)
        await subject.store.inbox.send("default", "run-1", b"{}", "a")
        await ear.hears(Hint.INBOX, OTHER)

    async def test_a_command_for_an_unowned_run_is_told_as_due(self, subject: Subject) -> None:
        await subject.committed(sleeper("run-1", None))
        ear = Ear(subject)
        await subject.store.inbox.send("default", "run-1", b"{}", "a")
        await ear.hears(Hint.DUE)

    async def test_owners_are_told_of_what_a_turn_sends(self, subject: Subject) -> None:
        await subject.committed(start("run-1"), start("run-2", owner=OTHER))
        ear = Ear(subject)
        await subject.committed(step("run-1", 1, sends=[Send("run-2", b"{}", "s")]))
        await ear.hears(Hint.INBOX, OTHER)

    async def test_the_end_of_a_run_is_told(self, subject: Subject) -> None:
        ear = Ear(subject)
        await subject.committed(start("run-1"))
        await subject.committed(ended("run-1", 1))
        await ear.hears(Hint.CLOSED, "run-1")

    async def test_a_message_is_told(self, subject: Subject) -> None:
        ear = Ear(subject)
        await subject.committed(start("run-1", messages=[Message("m", "m", None)]))
        await ear.hears(Hint.OUTBOX)

    async def test_a_run_left_to_others_is_told_as_due(self, subject: Subject) -> None:
        await subject.leased()
        ear = Ear(subject)
        await subject.committed(sleeper("run-1", BEGIN))
        await ear.hears(Hint.DUE)

        await subject.committed(start("run-2"))
        ear.heard.clear()
        await subject.store.ownership.release(ME, ["run-2"])
        await ear.hears(Hint.DUE)
