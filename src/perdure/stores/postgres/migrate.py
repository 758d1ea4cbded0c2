"""Brings the schema up to this program's number, once, however many servers start together.

`NNNN_name.pre.sql` adds what the new program needs and leaves alone what the old one uses; it runs when a program opens
the store. `NNNN_name.post.sql` removes what only older programs used; it runs when somebody says that none is left. So
a program runs on its own schema and, while a fleet is upgraded one by one, on the next as long as that has not lost
anything. On an empty database both kinds run in order.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import asyncpg

from perdure.errors import SchemaMismatch
from perdure.stores.postgres.failures import translate
from perdure.stores.postgres.links import Connection, Target, one

_FILES = Path(__file__).parent / "migrations"
_NAME = re.compile(r"(\d{4})_\w+\.(pre|post)\.sql")

_EXISTS = "SELECT to_regclass('schema_version') IS NOT NULL"
_APPLIED = "SELECT version, phase FROM schema_version"
_CREATE_SCHEMA = "SELECT format('CREATE SCHEMA IF NOT EXISTS %I', $1::text)"
_CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS schema_version (
    version     integer NOT NULL,
    phase       text NOT NULL CHECK (phase IN ('pre', 'post')),
    name        text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (version, phase)
)"""
_LOCK = "SELECT pg_advisory_lock(hashtextextended('perdure migrations of ' || $1, 0))"
_UNLOCK = "SELECT pg_advisory_unlock(hashtextextended('perdure migrations of ' || $1, 0))"
_RECORD = "INSERT INTO schema_version (version, phase, name) VALUES ($1, $2, $3)"
_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '2s'"


class Migration(NamedTuple):
    version: int
    phase: str
    file: Path


def migrations() -> list[Migration]:
    """All there are, in the order in which they run: by number, pre before post."""
    found = [
        Migration(int(match[1]), match[2], file)
        for file in _FILES.iterdir()
        if (match := _NAME.fullmatch(file.name)) is not None
    ]
    return sorted(found, key=lambda each: (each.version, each.phase == "post"))


NEWEST = max(migration.version for migration in migrations())
"""The number of the schema that this program is written for."""


async def bring_up(target: Target, *, migrate: bool, contract: bool = False) -> None:
    """Checks the schema, and migrates it if allowed. With `contract` the post migrations run as well."""
    try:
        connection = await target.connect({"statement_timeout": "0", "lock_timeout": "0"}, target.deadline)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as problem:
        raise translate(problem) from problem
    try:
        await _bring_up(connection, target.schema, migrate=migrate, contract=contract)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as problem:
        raise translate(problem) from problem
    finally:
        await connection.close(timeout=2.0)


async def _bring_up(connection: Connection, schema: str, *, migrate: bool, contract: bool) -> None:
    applied = await _applied(connection)
    _refuse_newer(applied)
    if not _outstanding(applied, contract):
        return
    if not migrate:
        raise SchemaMismatch(
            f"the database has schema {_newest(applied)}, this program needs {NEWEST}",
            remedy="perdure migrate",
            found=_newest(applied),
            needed=NEWEST,
        )
    await connection.fetch(_LOCK, schema)
    try:
        await connection.execute(one(await connection.fetch(_CREATE_SCHEMA, schema)))
        await connection.execute(_CREATE_TABLE)
        applied = await _applied(connection)  # somebody may have been faster
        _refuse_newer(applied)
        for migration in _outstanding(applied, contract):
            async with connection.transaction():
                await connection.execute(_LOCK_TIMEOUT)
                await connection.execute(migration.file.read_text("utf-8"))
                await connection.execute(_RECORD, migration.version, migration.phase, migration.file.name)
    finally:
        if not connection.is_closed():
            await connection.fetch(_UNLOCK, schema)


async def _applied(connection: Connection) -> set[tuple[int, str]]:
    if not one(await connection.fetch(_EXISTS)):
        return set()
    return {(row["version"], row["phase"]) for row in await connection.fetch(_APPLIED)}


def _outstanding(applied: set[tuple[int, str]], contract: bool) -> list[Migration]:
    return [
        migration
        for migration in migrations()
        if (migration.version, migration.phase) not in applied and (migration.phase == "pre" or contract or not applied)
    ]


def _newest(applied: set[tuple[int, str]], phase: str | None = None) -> int:
    return max((version for version, found in applied if phase in (None, found)), default=0)


def _refuse_newer(applied: set[tuple[int, str]]) -> None:
    found = _newest(applied)
    if found > NEWEST + 1 or _newest(applied, "post") > NEWEST:
        raise SchemaMismatch(
            f"the database has schema {found}, this program knows up to {NEWEST}",
            expected=f"schema {NEWEST}, or {NEWEST + 1} before its post migrations",
            remedy="run this database with the newer version",
            found=found,
            needed=NEWEST,
        )
