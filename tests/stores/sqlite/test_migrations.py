"""Schemas: brought up to date, or refused with both numbers."""

from __future__ import annotations

import apsw
import pytest

from perdure.errors import SchemaMismatch
from perdure.stores.sqlite import SqliteStore, migrate
from perdure.stores.sqlite.queries import migrations
from perdure.testing.contracts.subject import ManualClock, Subject, start

NEWEST = migrations()[-1][0]


async def reopen(path: str, **options: bool) -> SqliteStore:
    store = SqliteStore(path, clock=ManualClock(), **options)
    await store.open()
    return store


def version_of(path: str) -> int:
    connection = apsw.Connection(path)
    try:
        return migrate.schema_version(connection)
    finally:
        connection.close()


def test_migrations_are_numbered_without_gaps() -> None:
    assert [number for number, _ in migrations()] == list(range(1, NEWEST + 1))


async def test_a_new_file_gets_the_newest_schema(path: str) -> None:
    await (await reopen(path)).close()
    assert version_of(path) == NEWEST


async def test_a_newer_schema_is_refused_and_left_alone(path: str) -> None:
    await (await reopen(path)).close()
    connection = apsw.Connection(path)
    connection.execute("INSERT INTO schema_version VALUES (?, 0)", (NEWEST + 3,))
    connection.close()

    with pytest.raises(SchemaMismatch, match=rf"schema {NEWEST + 3}.* up to {NEWEST}"):
        await reopen(path)

    assert version_of(path) == NEWEST + 3
    with pytest.raises(SchemaMismatch):  # and the lock was given back
        await reopen(path)


async def test_an_older_schema_is_refused_if_migrating_is_not_allowed(path: str) -> None:
    with pytest.raises(SchemaMismatch, match=rf"schema 0.* needs schema {NEWEST}"):
        await reopen(path, migrate=False)
    await (await reopen(path)).close()
    await (await reopen(path, migrate=False)).close()


async def test_a_migration_that_breaks_off_can_be_run_again(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await reopen(path)
    await Subject(store, ManualClock()).committed(start("run-1"))
    await store.close()
    broken = "CREATE TABLE half (x); INSERT INTO half VALUES (1); SELECT * FROM nowhere; CREATE TABLE other (y);"
    monkeypatch.setattr(migrate, "migrations", lambda: [*migrations(), (NEWEST + 1, broken)])

    with pytest.raises(Exception, match="nowhere"):
        await reopen(path)
    assert version_of(path) == NEWEST

    mended = broken.replace("SELECT * FROM nowhere;", "")
    monkeypatch.setattr(migrate, "migrations", lambda: [*migrations(), (NEWEST + 1, mended)])
    store = await reopen(path)
    assert [head.run for head in await store.runs.walk()] == ["run-1"]
    await store.close()
    assert version_of(path) == NEWEST + 1
