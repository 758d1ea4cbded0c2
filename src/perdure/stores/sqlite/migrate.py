"""Brings a database to this program's schema, or refuses one that is newer.

A migration and the row that says it was applied share one transaction, so a crash in the middle leaves the old schema
and the same migration runs again.
"""

from __future__ import annotations

import apsw

from perdure.errors import SchemaMismatch
from perdure.ports.clock import Clock
from perdure.stores.sqlite.connection import transaction
from perdure.stores.sqlite.queries import migrations, queries

_Q = queries("schema")


def schema_version(connection: apsw.Connection) -> int:
    if connection.execute(_Q["is there"]).get is None:
        return 0
    return int(connection.execute(_Q["version"]).get or 0)


def migrate(connection: apsw.Connection, clock: Clock, *, allowed: bool = True) -> None:
    steps = migrations()
    newest = steps[-1][0]
    found = schema_version(connection)
    if found > newest:
        raise SchemaMismatch(
            f"the database has schema {found}, this program knows schemas up to {newest}",
            remedy="run the newer version of Perdure",
            found=found,
            known=newest,
        )
    if found < newest and not allowed:
        raise SchemaMismatch(
            f"the database has schema {found}, this program needs schema {newest}",
            remedy="run `perdure migrate`",
            found=found,
            known=newest,
        )
    for number, text in steps:
        if number > found:
            with transaction(connection):
                connection.execute(_Q["create"])
                connection.execute(text).fetchall()
                connection.execute(_Q["record"], (number, clock.now()))
