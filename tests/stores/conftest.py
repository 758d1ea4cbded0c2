"""Every store under the same contract: the fixture `subject` is one of each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

pytest.register_assert_rewrite("perdure.testing.contracts")  # before it is imported

from perdure.ports.store import Store  # noqa: E402
from perdure.stores.memory import MemoryStore  # noqa: E402
from perdure.stores.postgres import PostgresStore  # noqa: E402
from perdure.stores.sqlite import SqliteStore  # noqa: E402
from perdure.testing.contracts.subject import ManualClock, Subject  # noqa: E402
from tests.fixtures.postgres import Cluster, outside_the_loop  # noqa: E402

STORES = ["memory", "sqlite", "sqlite-inline", "sqlite-memory", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=STORES)
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    clock = ManualClock()
    path = str(tmp_path / "perdure.db")
    match request.param:
        case "memory":
            opening = opened(lambda: MemoryStore(clock), clock, bounded=False)
        case "sqlite":
            opening = opened(lambda: SqliteStore(path, clock=clock), clock, lasting=True)
        case "sqlite-inline":
            opening = opened(lambda: SqliteStore(path, clock=clock, writer="inline"), clock, lasting=True)
        case "sqlite-memory":
            opening = opened(lambda: SqliteStore(":memory:", clock=clock, writer="inline"), clock)
        case _:
            url = request.getfixturevalue("migrated_url")
            opening = opened(lambda: PostgresStore(url, clock=clock), clock, lasting=True)
    async with opening as subject:
        yield subject


@asynccontextmanager
async def opened(
    make: Callable[[], Store], clock: ManualClock, *, bounded: bool = True, lasting: bool = False
) -> AsyncIterator[Subject]:
    async def reopen() -> Store:
        await subject.store.close()
        subject.store = make()
        await subject.store.open()
        return subject.store

    reopening: Callable[[], Awaitable[Store]] | None = reopen if lasting else None
    subject = Subject(make(), clock, is_bounded=bounded, reopen=reopening)
    await subject.store.open()
    try:
        yield subject
    finally:
        await subject.store.close()


@pytest.fixture(scope="session")
def migrated_database(postgres_cluster: Cluster) -> Iterator[str]:
    """With the schema; creating one per test would take longer than the tests do."""
    url = postgres_cluster.create_database()

    async def migrate() -> None:
        store = PostgresStore(url)
        await store.open()
        await store.close()

    outside_the_loop(migrate)
    yield url
    postgres_cluster.drop_database(url)


@pytest.fixture
def migrated_url(migrated_database: str) -> Iterator[str]:
    yield migrated_database

    async def empty() -> None:
        connection = await asyncpg.connect(migrated_database)
        tables = await connection.fetchval(
            "SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') FROM pg_tables"
            " WHERE schemaname = 'perdure' AND tablename <> 'schema_version'"
        )
        await connection.execute(f"TRUNCATE {tables}")
        await connection.close()

    outside_the_loop(empty)
