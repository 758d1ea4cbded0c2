"""Group commit: how few statements it takes, and that a bad neighbour harms nobody."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.errors import InvalidInput, PerdureError
from perdure.model.statuses import Status
from perdure.ports.journal import Message, Send, Verdict
from perdure.stores.postgres import PostgresStore
from tests.stores.postgres.conftest import OpenStore
from tests.stores.postgres.making import commit, committed, server, sleeper, start, turn


@pytest.fixture
def postgres_url(migrated_url: str) -> str:
    """One that other tests use after us."""
    return migrated_url


DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
COMMITTED, FENCED, KEY_EXISTS = Verdict.COMMITTED, Verdict.FENCED, Verdict.KEY_EXISTS


def count_statements(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    statements: list[str] = []
    pool = store._committers
    fetch = pool.fetch_by

    async def counted(ends: float, query: str, *args: object) -> Any:
        statements.append(query)
        return await fetch(ends, query, *args)

    monkeypatch.setattr(pool, "fetch_by", counted)
    return statements


async def test_turns_that_wait_together_share_a_statement(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = count_statements(store, monkeypatch)
    runs = [f"run-{number:03}" for number in range(100)]

    await committed(store, *(start(run, key=run) for run in runs))
    assert len(statements) == 1
    await committed(store, *(turn(run, 1) for run in runs[:99]), turn(runs[99], 1, snapshot=b"s"))
    assert len(statements) == 2
    await committed(store, *(turn(run, 2, status=Status.COMPLETED) for run in runs))
    assert len(statements) == 3


async def test_turns_that_come_meanwhile_are_the_next_group(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = count_statements(store, monkeypatch)

    async def live(run: str) -> None:
        await committed(store, start(run))
        for seq in range(1, 20):
            await committed(store, turn(run, seq))

    await asyncio.gather(*(live(f"run-{number}") for number in range(100)))
    assert len(statements) < 2 * 20 * 4


async def test_a_poisonous_turn_fails_alone(store: PostgresStore) -> None:
    """PostgreSQL's jsonb cannot hold NUL; the other stores can, and the boundary refuses it before."""
    turns = [start(f"run-{number}") for number in range(64)]
    turns[17] = start("run-17", attributes={"a": "\0"})
    turns[40] = start("run-40", messages=[Message("m", "t", float)])

    outcomes = await asyncio.gather(*(store.journal.commit(each) for each in turns), return_exceptions=True)

    for number, outcome in enumerate(outcomes):
        if number in (17, 40):
            assert isinstance(outcome, InvalidInput)
        else:
            assert not isinstance(outcome, BaseException)
            assert outcome.verdict is COMMITTED
    assert await store.journal.head("run-17") is None


async def test_a_poisonous_command_fails_alone(store: PostgresStore) -> None:
    await committed(store, start("run-1"))
    requests = ["a", "b", "nul\0", "c"]
    sent = await asyncio.gather(
        *(store.inbox.send("default", "run-1", b"{}", each) for each in requests), return_exceptions=True
    )
    assert isinstance(sent[2], InvalidInput)
    received = await store.inbox.receive("worker-a", ["run-1"])
    assert [each.request_id for each in received.waiting] == ["a", "b", "c"]
    assert received.inbox_seqs == {"run-1": 3}


async def test_a_head_that_somebody_holds_delays_only_its_own_turn(open_store: OpenStore, postgres_url: str) -> None:
    store = await open_store()
    runs = [f"run-{number}" for number in range(8)]
    await committed(store, *(start(run) for run in runs))
    async with server(postgres_url) as other, other.transaction():
        await other.fetch("SELECT 1 FROM runs WHERE id = 'run-3' FOR UPDATE")
        outcomes = await asyncio.gather(*(store.journal.commit(turn(run, 1)) for run in runs), return_exceptions=True)
    for run, outcome in zip(runs, outcomes, strict=True):
        if run == "run-3":
            assert isinstance(outcome, PerdureError)
            assert outcome.retryable
        else:
            assert not isinstance(outcome, BaseException)
            assert outcome.verdict is COMMITTED
    assert await commit(store, turn("run-3", 1)) == [COMMITTED]


async def test_deadlocks_and_serialization_failures_are_tried_again(store: PostgresStore, postgres_url: str) -> None:
    async with server(postgres_url) as other:
        await other.execute(
            """
            CREATE SEQUENCE attempts;
            CREATE FUNCTION stumble() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                CASE nextval('attempts')
                    WHEN 1 THEN RAISE SQLSTATE '40001';
                    WHEN 2 THEN RAISE SQLSTATE '40P01';
                    ELSE RETURN NULL;
                END CASE;
            END $$;
            CREATE TRIGGER stumble AFTER INSERT ON events EXECUTE FUNCTION stumble();
            """
        )
        try:
            await committed(store, start("run-1"))
            assert await other.fetchval("SELECT last_value FROM attempts") == 3
        finally:
            await other.execute("DROP TRIGGER stumble ON events; DROP FUNCTION stumble; DROP SEQUENCE attempts")


async def test_two_processes_race_for_the_same_turn(open_store: OpenStore) -> None:
    stores = [await open_store(), await open_store()]
    await committed(stores[0], *(start(f"run-{number:02}") for number in range(50)))
    for seq in range(1, 6):
        verdicts = await asyncio.gather(
            *(commit(store, *(turn(f"run-{number:02}", seq) for number in range(50))) for store in stores)
        )
        for pair in zip(*verdicts, strict=True):
            assert set(pair) == {COMMITTED, FENCED}
    for number in range(50):
        rows = await stores[0].journal.history(f"run-{number:02}")
        assert [row.seq for row in rows] == [1, 2, 3, 4, 5, 6]


async def test_two_processes_race_for_the_same_keys(open_store: OpenStore) -> None:
    """In opposite order, too: nobody waits in a circle."""
    stores = [await open_store(), await open_store()]
    keys = [f"key-{number:02}" for number in range(60)]
    orders = [keys, keys[::-1]]
    verdicts = await asyncio.gather(
        *(
            asyncio.gather(*(store.journal.commit(start(f"{place}/{key}", key=key)) for key in order))
            for place, (store, order) in enumerate(zip(stores, orders, strict=True))
        )
    )
    found = [dict(zip(order, outcomes, strict=True)) for order, outcomes in zip(orders, verdicts, strict=True)]
    for key in keys:
        winner, loser = sorted((found[place][key].verdict is KEY_EXISTS, place) for place in (0, 1))
        assert (winner[0], loser[0]) == (False, True)
        assert found[loser[1]][key].existing_run == f"{winner[1]}/{key}"


async def test_sends_in_opposite_order_do_not_deadlock(open_store: OpenStore, postgres_url: str) -> None:
    stores = [await open_store(), await open_store()]
    runs = [f"run-{number}" for number in range(12)]
    await committed(stores[0], *(start(run) for run in runs))

    async def live(store: PostgresStore, mine: list[str], targets: list[str]) -> None:
        for seq in range(1, 16):
            turns = [
                turn(run, seq, sends=[Send(target, b"{}", f"{run}/{seq}") for target in targets if target != run])
                for run in mine
            ]
            await committed(store, *turns)

    async with server(postgres_url) as other:
        before = await other.fetchval(DEADLOCKS)
    await asyncio.gather(live(stores[0], runs[:6], runs), live(stores[1], runs[6:], runs[::-1]))

    received = await stores[0].inbox.receive("worker-a", runs)
    assert len(received.waiting) == 12 * 15 * 11
    assert received.inbox_seqs == dict.fromkeys(runs, 15 * 11)
    async with server(postgres_url) as other:
        assert await other.fetchval(DEADLOCKS) == before


async def test_sends_stay_within_their_namespace(store: PostgresStore) -> None:
    await committed(store, start("run-1"), start("run-2", namespace="other"), start("run-3"))
    await committed(store, turn("run-1", 1, sends=[Send("run-2", b"{}", "a"), Send("run-3", b"{}", "a")]))
    received = await store.inbox.receive("worker-a", ["run-2", "run-3"])
    assert [each.run for each in received.waiting] == ["run-3"]


async def test_a_run_that_starts_in_the_group_can_be_sent_to(store: PostgresStore) -> None:
    await committed(store, start("parent"))
    await committed(store, sleeper("child", 5), turn("parent", 1, sends=[Send("child", b"{}", "a")]))
    assert [each.run for each in (await store.inbox.receive("worker-a", ["child"])).waiting] == ["child"]


async def test_closing_finishes_what_is_queued(open_store: OpenStore, postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    await store.open()
    waiting = [store.journal.commit(start(f"run-{number}")) for number in range(300)]
    await store.close()
    assert {(await each).verdict for each in waiting} == {COMMITTED}
    with pytest.raises(PerdureError):
        await store.journal.commit(start("run-late"))
    assert len(await (await open_store()).runs.walk()) == 300
