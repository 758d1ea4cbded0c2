"""The ports of one PostgreSQL database, bundled.

Connections of a store, opened as they are needed: two that commit turns, one for renewing leases, one that listens for
hints, and a small pool for everything else.
"""

from __future__ import annotations

from perdure.errors import SettingsInvalid
from perdure.ports.clock import Clock
from perdure.stores.postgres.blobs import PostgresBlobs
from perdure.stores.postgres.cells import PostgresCells
from perdure.stores.postgres.definitions import PostgresDefinitions
from perdure.stores.postgres.hints import PostgresHints
from perdure.stores.postgres.inbox import PostgresInbox
from perdure.stores.postgres.journal import COMMIT_SESSION, PostgresJournal
from perdure.stores.postgres.links import Pool, Target, one
from perdure.stores.postgres.migrate import bring_up
from perdure.stores.postgres.outbox import PostgresOutbox
from perdure.stores.postgres.ownership import PostgresOwnership
from perdure.stores.postgres.runs import PostgresRuns

OLDEST_SERVER = 140000
_SETTING = "SELECT current_setting($1)"


class PostgresStore:
    """`clock` replaces the database's own, in tests. `deadline` is in seconds and holds for every call."""

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        pool_size: int = 4,
        committers: int = 2,
        deadline: float = 15.0,
        schema: str = "perdure",
        application_name: str = "perdure",
        migrate: bool = True,
        check_hints_every: float = 5.0,
    ) -> None:
        self._clock = clock
        self._migrate = migrate
        self._target = Target(url, schema=schema, application_name=application_name, deadline=deadline)
        self._pool = Pool(self._target, pool_size)
        self._committers = Pool(self._target, committers, COMMIT_SESSION)
        self._renewals = Pool(self._target, 1, deadline=deadline / 3)
        self.durability_warnings: list[str] = []
        """What of this server's settings makes acknowledged turns less than durable."""
        self.hints = PostgresHints(self._target, check_every=check_hints_every, answer_within=min(3.0, deadline))
        self.journal = PostgresJournal(self._committers, self._pool, self.hints, self._now)
        self.ownership = PostgresOwnership(self._pool, self._renewals, self.hints, self._now)
        self.inbox = PostgresInbox(self._pool, self.hints, self._now)
        self.definitions = PostgresDefinitions(self._pool, self._now)
        self.blobs = PostgresBlobs(self._pool, self._now)
        self.cells = PostgresCells(self._pool, self._now)
        self.outbox = PostgresOutbox(self._pool, self._now)
        self.runs = PostgresRuns(self._pool)

    def _now(self) -> int | None:
        """None: the database's clock."""
        return self._clock.now() if self._clock is not None else None

    async def open(self) -> None:
        try:
            await self._check_server()
            await bring_up(self._target, migrate=self._migrate)
            await self.ownership.forget()
            await self.hints.open()
        except BaseException:
            await self._pool.disconnect()
            raise

    async def migrate(self, *, contract: bool = False) -> None:
        """Only the schema. With `contract` also what must wait until no older program runs on this database."""
        await bring_up(self._target, migrate=True, contract=contract)

    async def close(self) -> None:
        await self.inbox.close()
        await self.journal.close()
        await self.hints.close()
        for pool in (self._committers, self._renewals, self._pool):
            await pool.close()

    async def _check_server(self) -> None:
        version = int(await self._setting("server_version_num"))
        if version < OLDEST_SERVER:
            raise SettingsInvalid(
                f"PostgreSQL {version // 10000} is too old", expected=f"PostgreSQL {OLDEST_SERVER // 10000} or newer"
            )
        encoding = await self._setting("server_encoding")
        if encoding != "UTF8":
            raise SettingsInvalid(f"the database is encoded in {encoding}", expected="UTF8")
        self.durability_warnings = []
        for name, durable in (
            ("fsync", ("on",)),
            ("full_page_writes", ("on",)),
            ("synchronous_commit", ("on", "remote_apply")),
        ):
            found = await self._setting(name)
            if found not in durable:
                self.durability_warnings.append(f"{name} is {found}: acknowledged turns may be lost in a crash")

    async def _setting(self, name: str) -> str:
        return str(one(await self._pool.fetch(_SETTING, name)))
