"""Stores on a database of the test's own; each store is as good as a process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from perdure.stores.postgres import PostgresStore
from perdure.testing.faultproxy import FaultProxy

OpenStore = Callable[..., Awaitable[PostgresStore]]


@pytest.fixture
async def open_store(postgres_url: str) -> AsyncIterator[OpenStore]:
    opened: list[PostgresStore] = []

    async def open_one(url: str = postgres_url, **options: Any) -> PostgresStore:
        store = PostgresStore(url, **options)
        opened.append(store)
        await store.open()
        return store

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_store: OpenStore) -> PostgresStore:
    return await open_store()


@pytest.fixture
async def proxy(postgres_url: str) -> AsyncIterator[FaultProxy]:
    parts = urlsplit(postgres_url)
    home = parse_qs(parts.query)["host"][0]
    async with FaultProxy(f"{home}/.s.PGSQL.5432") as proxy:
        yield proxy


@pytest.fixture
def proxied_url(postgres_url: str, proxy: FaultProxy) -> str:
    return f"postgresql://postgres@127.0.0.1:{proxy.port}{urlsplit(postgres_url).path}?sslmode=disable"
