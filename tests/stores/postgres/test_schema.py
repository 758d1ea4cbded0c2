"""Opening: the server is checked, the schema brought up by exactly one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from perdure.errors import SchemaMismatch, SettingsInvalid, StoreError, StoreUnavailable
from perdure.stores.postgres import PostgresStore, migrate
from perdure.stores.postgres.migrate import NEWEST, migrations
from tests.fixtures.postgres import Cluster
from tests.stores.postgres.conftest import OpenStore
from tests.stores.postgres.making import committed, server, start


async def test_servers_that_start_together_migrate_once(open_store: OpenStore, postgres_url: str) -> None:
    stores = await asyncio.gather(*(open_store() for _ in range(6)))
    async with server(postgres_url) as other:
        applied = await other.fetch("SELECT version, phase, name FROM schema_version ORDER BY version, phase DESC")
    assert [tuple(row) for row in applied] == [(each.version, each.phase, each.file.name) for each in migrations()]
    await committed(stores[3], start("run-1"))


def test_migrations_are_numbered_without_gaps() -> None:
    assert [each.version for each in migrations() if each.phase == "pre"] == list(range(1, NEWEST + 1))


async def test_opening_again_changes_nothing(open_store: OpenStore) -> None:
    await committed(await open_store(), start("run-1"))
    assert await (await open_store()).journal.head("run-1") is not None


@pytest.mark.parametrize(("version", "phase"), [(NEWEST + 2, "pre"), (NEWEST + 1, "post"), (NEWEST + 40, "post")])
async def test_a_newer_schema_is_refused_with_both_numbers(
    store: PostgresStore, postgres_url: str, version: int, phase: str
) -> None:
    async with server(postgres_url) as other:
        await other.execute("INSERT INTO schema_version (version, phase, name) VALUES ($1, $2, 'n')", version, phase)
    late = PostgresStore(postgres_url)
    with pytest.raises(SchemaMismatch) as caught:
        await late.open()
    await late.close()
    assert str(version) in caught.value.message
    assert str(NEWEST) in caught.value.message


async def test_the_next_schema_is_borne_until_it_is_contracted(open_store: OpenStore, postgres_url: str) -> None:
    await open_store()
    async with server(postgres_url) as other:
        await other.execute("INSERT INTO schema_version (version, phase, name) VALUES ($1, 'pre', 'n')", NEWEST + 1)
    await committed(await open_store(), start("run-1"))


async def test_an_older_schema_is_refused_where_migrating_is_not_allowed(postgres_url: str) -> None:
    store = PostgresStore(postgres_url, migrate=False)
    with pytest.raises(SchemaMismatch, match=f"schema 0, this program needs {NEWEST}"):
        await store.open()
    await store.migrate()
    await store.open()
    await store.close()


async def test_post_migrations_wait_until_somebody_says_so(
    store: PostgresStore, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in migrations():
        (tmp_path / each.file.name).write_text(each.file.read_text())
    (tmp_path / f"{NEWEST + 1:04}_more.pre.sql").write_text("CREATE TABLE more ();")
    (tmp_path / f"{NEWEST + 1:04}_more.post.sql").write_text("DROP TABLE more;")
    monkeypatch.setattr(migrate, "_FILES", tmp_path)
    monkeypatch.setattr(migrate, "NEWEST", NEWEST + 1)
    exists = "SELECT to_regclass('more') IS NOT NULL"
    async with server(postgres_url) as other:
        await store.migrate()
        assert await other.fetchval(exists)
        await store.migrate()
        assert await other.fetchval(exists)
        await store.migrate(contract=True)
        assert not await other.fetchval(exists)
        await store.migrate(contract=True)


async def test_a_migration_that_fails_leaves_nothing_behind(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0001_broken.pre.sql").write_text("CREATE TABLE half (); SELECT 1 / 0;")
    store = PostgresStore(postgres_url)
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "_FILES", tmp_path)
        patch.setattr(migrate, "NEWEST", 1)
        with pytest.raises((StoreError, Exception), match="division by zero"):
            await store.open()
    async with server(postgres_url) as other:
        assert await other.fetchval("SELECT to_regclass('half') IS NULL")
    await store.open()
    await store.close()


async def test_sessions_have_their_limits(store: PostgresStore) -> None:
    for name, value in {
        "statement_timeout": "10s",
        "lock_timeout": "2s",
        "idle_in_transaction_session_timeout": "10s",
        "application_name": "perdure",
        "search_path": '"perdure"',
        "default_transaction_isolation": "read committed",
    }.items():
        assert await store._setting(name) == value


async def test_several_schemas_in_one_database_do_not_meet(open_store: OpenStore) -> None:
    one, two = await open_store(schema="One"), await open_store(schema='t"wo')
    await committed(one, start("run-1"))
    assert await two.journal.head("run-1") is None
    await committed(two, start("run-1"))


async def test_reduced_durability_is_said(open_store: OpenStore, postgres_url: str) -> None:
    assert (await open_store()).durability_warnings == []
    async with server(postgres_url) as other:
        name = await other.fetchval("SELECT quote_ident(current_database())")
        await other.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    (warning,) = (await open_store()).durability_warnings
    assert warning.startswith("synchronous_commit is off")


async def test_a_database_in_another_encoding_is_refused(postgres_cluster: Cluster) -> None:
    connection = await asyncpg.connect(postgres_cluster.url())
    try:
        await connection.execute("DROP DATABASE IF EXISTS latin")
        await connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        store = PostgresStore(postgres_cluster.url("latin"))
        with pytest.raises(SettingsInvalid, match="LATIN1"):
            await store.open()
        await store.close()
    finally:
        await connection.execute("DROP DATABASE IF EXISTS latin WITH (FORCE)")
        await connection.close()


async def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    store = PostgresStore(f"postgresql://postgres@/x?host={tmp_path}", deadline=1.0)
    with pytest.raises(StoreUnavailable):
        await store.open()
    await store.close()


async def test_a_database_that_is_not_there(postgres_cluster: Cluster) -> None:
    store = PostgresStore(postgres_cluster.url("no-such-database"))
    with pytest.raises(StoreError, match="does not exist"):
        await store.open()
    await store.close()
