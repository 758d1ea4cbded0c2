"""Every store under the same contract: the fixture `subject` is one of each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

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


@pytest.fixture
def migrated_url(postgres_cluster: Cluster) -> Iterator[str]:
    """A database of its own for each test, copied from one that has the schema already."""

    async def migrate(url: str) -> None:
        store = PostgresStore(url)
        await store.open()
        await store.close()

    template = postgres_cluster.template("contracts", lambda url: outside_the_loop(lambda: migrate(url)))
    url = postgres_cluster.create_database(template)
    yield url
    postgres_cluster.drop_database(url)
