"""Messages to the outside: at least once, in order within a run."""

from __future__ import annotations

import asyncio

from perdure.model.values import Json
from perdure.ports.journal import Message, TurnWrite
from perdure.testing.contracts.subject import BEGIN, LEASE, ME, OTHER, SECOND, Subject, ended, new_run, start, step


def telling(turn: TurnWrite, count: int = 1, payload: Json = None) -> TurnWrite:
    """The same turn with messages; `<run>/<seq>/<place>` as the engine names them."""
    fields = {name: getattr(turn, name) for name in turn.__struct_fields__}
    messages = [Message(f"{turn.run}/{turn.seq}/{place}", "told", payload) for place in range(count)]
    return TurnWrite(**fields | {"messages": messages})


async def take(subject: Subject, limit: int = 100, worker: str = ME) -> list[str]:
    return [each.message.id for each in await subject.store.outbox.take(worker, limit, LEASE)]


class OutboxContract:
    async def test_a_message_comes_out_as_it_was_published(self, subject: Subject) -> None:
        payload = {"ünï": ["𝄞", 1, 2.5, None, True, {"deep": []}], "big": 2**70}
        message = Message("run-1/1/0", "order.placed", payload, key="k")
        await subject.committed(start("run-1", new=new_run(namespace="acme"), messages=[message]))

        (outgoing,) = await subject.store.outbox.take(ME, 10, LEASE)

        assert (outgoing.namespace, outgoing.run, outgoing.attempts) == ("acme", "run-1", 0)
        assert outgoing.message == message

    async def test_an_empty_payload_is_null(self, subject: Subject) -> None:
        await subject.committed(telling(start("run-1")))
        (outgoing,) = await subject.store.outbox.take(ME, 10, LEASE)
        assert (outgoing.message.payload, outgoing.message.key) == (None, None)

    async def test_messages_of_a_run_come_in_order(self, subject: Subject) -> None:
        await subject.committed(telling(start("run-1"), 12))
        for seq in range(1, 11):
            await subject.committed(telling(step("run-1", seq), 2))
        expected = [f"run-1/1/{place}" for place in range(12)]
        expected += [f"run-1/{seq}/{place}" for seq in range(2, 12) for place in range(2)]
        assert await take(subject) == expected

    async def test_turns_of_one_group_publish_in_order(self, subject: Subject) -> None:
        turns = [
            telling(start("run-1")),
            *(telling(step("run-1", seq)) for seq in range(1, 12)),
            telling(start("run-2")),
        ]
        await subject.committed(*turns)
        mine = [name for name in await take(subject) if name.startswith("run-1/")]
        assert mine == [f"run-1/{seq}/0" for seq in range(1, 13)]

    async def test_a_taken_message_is_hidden_until_its_lease_ends(self, subject: Subject) -> None:
        await subject.committed(telling(start("run-1")))
        assert await take(subject) == ["run-1/1/0"]
        subject.clock.advance(LEASE - 1)
        assert await take(subject, worker=OTHER) == []
        subject.clock.advance(1)
        assert await take(subject, worker=OTHER) == ["run-1/1/0"]

    async def test_what_is_done_does_not_come_back(self, subject: Subject) -> None:
        await subject.committed(telling(start("run-1"), 3))
        await take(subject, 2)
        await subject.store.outbox.done(["run-1/1/0", "run-1/1/1", "never"])
        await subject.store.outbox.done([])
        assert await take(subject) == ["run-1/1/2"]
        await subject.store.outbox.done(["run-1/1/2"])
        subject.clock.advance(LEASE)
        assert await take(subject) == []

    async def test_a_later_message_waits_for_an_earlier_one_in_somebodys_hands(self, subject: Subject) -> None:
        await subject.committed(telling(start("run-1"), 3), telling(start("run-2")))
        assert await take(subject, 1) == ["run-1/1/0"]
        assert await take(subject, worker=OTHER) == ["run-2/1/0"]
        await subject.committed(telling(step("run-1", 1)))
        assert await take(subject, worker=OTHER) == []
        await subject.store.outbox.done(["run-1/1/0"])
        assert await take(subject, worker=OTHER) == ["run-1/1/1", "run-1/1/2", "run-1/2/0"]

    async def test_when_a_lease_ends_the_earlier_one_comes_first_again(self, subject: Subject) -> None:
        await subject.committed(telling(start("run-1"), 3))
        assert await take(subject, 1) == ["run-1/1/0"]
        subject.clock.advance(LEASE)
        assert await take(subject, 1, OTHER) == ["run-1/1/0"]

    async def test_a_failed_delivery_is_repeated_later_with_the_same_id(self, subject: Subject) -> None:
        await subject.committed(telling(start("run-1")))
        for attempt in range(3):
            (outgoing,) = await subject.store.outbox.take(ME, 10, LEASE)
            assert (outgoing.message.id, outgoing.attempts) == ("run-1/1/0", attempt)
            await subject.store.outbox.again("run-1/1/0", subject.clock.now() + SECOND, "no answer")
            assert await take(subject) == []
            subject.clock.advance(SECOND)

    async def test_a_later_message_waits_for_an_earlier_one_that_waits_for_its_retry(self, subject: Subject) -> None:
        await subject.committed(telling(start("run-1"), 2), telling(start("run-2"), 2))
        await take(subject)
        await subject.store.outbox.again("run-1/1/0", BEGIN + 100 * SECOND, "refused")
        subject.clock.advance(LEASE)
        assert await take(subject) == ["run-2/1/0", "run-2/1/1"]
        subject.clock.advance(100 * SECOND - LEASE)
        await subject.store.outbox.done(["run-2/1/0", "run-2/1/1"])
        assert await take(subject) == ["run-1/1/0", "run-1/1/1"]

    async def test_a_retry_may_be_due_at_once(self, subject: Subject) -> None:
        await subject.committed(telling(start("run-1")))
        await take(subject)
        await subject.store.outbox.again("run-1/1/0", BEGIN, "hiccup")
        await subject.store.outbox.again("never", BEGIN, "unknown ids are ignored")
        assert await take(subject) == ["run-1/1/0"]

    async def test_takers_share_without_overlap(self, subject: Subject) -> None:
        await subject.committed(*(telling(start(f"run-{number:03}"), 2) for number in range(200)))

        async def all_there_is(worker: str) -> list[str]:
            taken: list[str] = []
            while bit := await take(subject, 7, worker):
                taken += bit
                await subject.store.outbox.done(bit)
            return taken

        shares = await asyncio.gather(*(all_there_is(f"worker-{number}") for number in range(5)))
        taken = [name for share in shares for name in share] + await all_there_is(ME)
        assert sorted(taken) == [f"run-{number:03}/1/{place}" for number in range(200) for place in range(2)]

    async def test_messages_outlive_the_end_of_their_run(self, subject: Subject) -> None:
        await subject.committed(start("run-1"))
        await subject.committed(telling(ended("run-1", 1)))
        assert await take(subject) == ["run-1/2/0"]
