"""What the work looks like from the server: pages, plans, transactions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.model.statuses import Status
from perdure.ports.journal import Message, Send
from perdure.ports.runs import RunFilter
from perdure.stores.postgres import PostgresStore
from perdure.stores.postgres.journal import COMMIT_SESSION
from perdure.stores.postgres.outbox import _SQL as OUTBOX
from perdure.stores.postgres.runs import _SQL as RUNS
from tests.fixtures.moments import moment
from tests.stores.postgres.conftest import OpenStore
from tests.stores.postgres.making import committed, server, sleeper, start, turn

OLDEST = """
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float AS age,
       count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS idle
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


async def live(store: PostgresStore, run: str, turns: int) -> None:
    await committed(store, start(run, key=run))
    for seq in range(1, turns):
        await committed(store, turn(run, seq, wake_at=seq))
    await committed(store, turn(run, turns, status=Status.COMPLETED))


@pytest.mark.serial
async def test_ordinary_turns_stay_on_their_page(postgres_url: str) -> None:
    """Also those that change the wake time of a run that they keep. (Alone: what other sessions still see stays.)"""
    store = PostgresStore(postgres_url)
    await store.open()
    await asyncio.gather(*(live(store, f"run-{number:03}", 20) for number in range(100)))
    await store.close()  # the server counts when a session ends
    async with server(postgres_url) as other:
        updates, hot = await other.fetchrow(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'runs'"
        )
        assert updates == 100 * 20
        assert hot > 0.9 * 100 * 19


async def test_no_transaction_is_older_than_a_second_under_load(open_store: OpenStore, postgres_url: str) -> None:
    stores = [await open_store() for _ in range(2)]
    ages: list[float] = []
    ended = False

    async def watch() -> None:
        async with server(postgres_url) as other:
            while not ended:
                row = await other.fetchrow(OLDEST)
                ages.append(row["age"])
                assert row["idle"] == 0
                await moment(0.005)

    async def work(place: int, number: int) -> None:
        run = f"run-{place}-{number}"
        await live(stores[place], run, 10)
        await committed(stores[place], sleeper(f"{run}-b", 1))
        for seq in range(1, 6):
            await committed(
                stores[place],
                turn(
                    f"{run}-b",
                    seq,
                    snapshot=b"x" * 5000,
                    messages=[Message(f"{run}/{seq}", "t", None)],
                    sends=[Send(f"run-{place}-{number + 1}-b", b"{}", f"{run}/{seq}")],
                ),
            )

    watching = asyncio.ensure_future(watch())
    await asyncio.gather(*(work(place, number) for place in (0, 1) for number in range(60)))
    ended = True
    await watching
    assert len(ages) > 10
    assert max(ages) < 1.0


async def explain(connection: Any, query: str, *args: object) -> str:
    return "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN {query}", *args))


async def test_turns_lock_heads_in_the_given_order(store: PostgresStore, postgres_url: str) -> None:
    """The plan of the update inside `commit_turns`: ids as they come, each head by the primary key."""
    await committed(store, *(start(f"run-{number}") for number in range(300)))
    async with server(postgres_url, **COMMIT_SESSION) as other:
        await other.execute("ANALYZE runs")
        plan = await explain(
            other,
            "UPDATE runs r SET seq = t.seq FROM unnest($1::text[], $2::bigint[]) AS t (run, seq) WHERE r.id = t.run",
            [f"run-{number}" for number in range(128)],
            list(range(128)),
        )
        assert "Nested Loop" in plan
        assert plan.index("Function Scan on t") < plan.index("Index Scan using runs_pk")


async def test_looking_up_uses_indexes(store: PostgresStore, postgres_url: str) -> None:
    async with server(postgres_url) as other:
        await other.execute(
            """
            INSERT INTO runs (seq, updated_at, epoch, turn_id, status, id, namespace, definition, version, hash,
                              program, created_at, trigger, parent, attributes)
            SELECT 1, 1, 1, 't', 'RUNNING', 'run-' || n, 'n' || n % 10, 'd', 1, 'h', 'flow', 1, 'api',
                   'p' || n % 5000, jsonb_build_object('customer', n % 5000)
            FROM generate_series(1, 20000) n;
            INSERT INTO outbox (id, namespace, run, seq, position, due_at, type, payload)
            SELECT n, 'n', 'run-' || n % 5000, n, 0, 1, 't', '' FROM generate_series(1, 20000) n;
            ANALYZE runs, outbox;
            """
        )
        nothing: list[Any] = [None, None, [], None, None, None, 100]
        for place, value, index in [(0, "n1", "runs_namespace"), (3, "p1", "runs_parent"), (5, "run-5", "runs_pk")]:
            plan = await explain(other, RUNS["find"], *[*nothing[:place], value, *nothing[place + 1 :]])
            assert index in plan
            assert "Seq Scan on runs" not in plan
        attributes = '{"customer": 7}'
        plan = await explain(other, RUNS["find"], *[*nothing[:4], attributes, *nothing[5:]])
        assert "runs_attributes" in plan
        plan = await explain(other, OUTBOX["take"], "w", 10, 1000, None)
        assert "outbox_due" in plan
        assert "outbox_order" in plan
    found = await store.runs.find(RunFilter(attributes={"customer": 7}))
    assert sorted(head.run for head in found) == ["run-10007", "run-15007", "run-5007", "run-7"]
