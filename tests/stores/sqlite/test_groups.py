"""Group commit: few statements for many turns, and one bad turn that fails alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import pytest

from perdure.errors import InvalidInput
from perdure.model.codec import Ref
from perdure.model.values import digest
from perdure.ports.journal import Message, Send, Verdict
from perdure.stores.sqlite import SqliteStore
from perdure.testing.contracts.subject import ME, ManualClock, Subject, ended, new_run, start, step, verdicts


@contextmanager
def statements(connection: apsw.Connection) -> Iterator[list[str]]:
    seen: list[str] = []

    def trace(_: Any, sql: str, __: Any) -> bool:
        if "FROM start_keys" not in sql:  # a slow machine may be idle in between, and purge
            seen.append(sql.split(None, 1)[0])
        return True

    connection.exec_trace = trace
    try:
        yield seen
    finally:
        connection.exec_trace = None


async def test_a_group_of_plain_turns_is_one_statement(subject: Subject, writing: apsw.Connection) -> None:
    await subject.committed(start("warm-up"))
    runs = [f"run-{number:03}" for number in range(200)]
    with statements(writing) as seen:
        await subject.committed(*(start(run, new=new_run(key=run)) for run in runs))
        await subject.committed(*(step(run, 1) for run in runs))
        await subject.committed(*(ended(run, 2) for run in runs))
    assert seen == ["INSERT"] * 3


@pytest.mark.parametrize("turns", [1, 8, 200])
async def test_the_number_of_statements_does_not_depend_on_the_number_of_turns(
    subject: Subject, writing: apsw.Connection, turns: int
) -> None:
    runs = [f"run-{number:03}" for number in range(turns)]
    await subject.committed(*(start(run) for run in runs), start("receiver"))
    with statements(writing) as seen:
        await subject.committed(
            *(
                step(
                    run,
                    1,
                    snapshot=b"state",
                    consumed=[1],
                    messages=[Message(f"{run}/2/0", "m", {})],
                    sends=[Send("receiver", b"{}", run)],
                    attributes={"n": 1},
                    refs=[Ref(0, "output", digest(run.encode()), 1)],
                    blobs={digest(run.encode()): run.encode()},
                )
                for run in runs
            )
        )
    assert len(seen) <= 25


async def test_the_loop_is_woken_once_for_a_group(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    calls: list[Any] = []
    original = loop.call_soon_threadsafe

    def counting(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments[0])
        return original(*arguments, **options)

    monkeypatch.setattr(loop, "call_soon_threadsafe", counting)
    await subject.committed(*(start(f"run-{number:03}") for number in range(200)))
    assert len(calls) == 1


async def test_more_turns_than_fit_into_one_group_are_all_committed(subject: Subject) -> None:
    await subject.committed(*(start(f"run-{number:04}") for number in range(1_500)))
    assert len(await subject.store.runs.walk(limit=2_000)) == 1_500


async def test_a_turn_that_cannot_be_stored_fails_alone(subject: Subject) -> None:
    await subject.committed(start("run-1"), start("run-2"))
    turns = [step("run-1", 1), start("bad-\ud800"), step("run-2", 1), start("run-3", wake_at=2**70), start("run-4")]

    outcomes = await asyncio.gather(*map(subject.store.journal.commit, turns), return_exceptions=True)

    assert [type(outcome) for outcome in outcomes if isinstance(outcome, BaseException)] == [InvalidInput] * 2
    assert verdicts(each for each in outcomes if not isinstance(each, BaseException)) == [Verdict.COMMITTED] * 3
    assert [head.run for head in await subject.store.runs.walk()] == ["run-1", "run-2", "run-4"]


async def test_a_call_that_fails_does_not_fail_the_turns_of_its_group(subject: Subject) -> None:
    from perdure.errors import NotFound

    failing = subject.store.definitions.activate("default", "nobody", 1)
    committing = [subject.store.journal.commit(start(f"run-{number}")) for number in range(3)]
    answers = await asyncio.gather(failing, *committing, subject.store.ownership.renew(ME, 1), return_exceptions=True)
    assert isinstance(answers[0], NotFound)
    assert answers[4] is True
    assert len(await subject.store.runs.walk()) == 3


async def test_the_same_turn_twice_does_nothing_twice(subject: Subject) -> None:
    data = os.urandom(5000)
    await subject.committed(start("run-1"), start("run-2"))
    turn = step(
        "run-1",
        1,
        messages=[Message("run-1/2/0", "m", None)],
        sends=[Send("run-2", b"{}", "s")],
        blobs={digest(data): data},
    )
    await subject.committed(turn)
    await subject.store.outbox.done(["run-1/2/0"])
    assert await subject.commit(turn) is Verdict.FENCED
    assert list(await subject.store.outbox.take(ME, 10, 1)) == []
    assert (await subject.head("run-2")).inbox_seq == 1


async def test_inline_commits_in_the_next_iteration_of_the_loop(path: str) -> None:
    store = SqliteStore(path, clock=ManualClock(), writer="inline")
    await store.open()
    commits = [asyncio.ensure_future(store.journal.commit(start(f"run-{number}"))) for number in range(3)]
    assert not any(commit.done() for commit in commits)
    await asyncio.sleep(0)
    assert all(commit.done() for commit in commits)
    await store.close()


async def test_an_abandoned_commit_is_carried_out_all_the_same(subject: Subject) -> None:
    commit = asyncio.ensure_future(subject.store.journal.commit(start("run-1")))
    commit.cancel()
    await subject.committed(step("run-1", 1))
