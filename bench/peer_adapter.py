"""Perdure in the harness that measures durable-workflow engines side by side (class `Adapter`, its verbs).

The harness gives its own `common` and `adapters.base`; this file imports them from there when it is loaded by it.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import common
from adapters.base import Base

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.documents import chain, fan, sleeper, waiter
from perdure import Perdure


async def noop(ctx):
    return None


async def late(due):
    return time.time() - due


class Adapter(Base):
    w1_n, w1_conc = 40_000, 256

    def __init__(self, workdir, db):
        super().__init__(workdir)
        self.db, self.pg, self.known = db, None, set()
        self.config = "flows of Python steps, engine in the driver process, library defaults, a key for each start"
        self.durability = (
            "SQLite WAL, synchronous=FULL" if db == "sqlite" else "PostgreSQL fsync=on, synchronous_commit=on"
        ) + ": start, each step and the end are fsynced before the next begins"

    def versions(self):
        return {"perdure": version("perdure"), "apsw": version("apsw"), "asyncpg": version("asyncpg")}

    async def start(self):
        if self.db == "sqlite":
            url = f"sqlite:///{self.workdir / 'perdure.db'}"
        else:
            self.pg = common.Postgres(self.workdir).start()
            self.pg.sql("create database bench")
            url = self.pg.url("bench")
        self.app = Perdure.open(url)
        await self.app.__aenter__()
        self.app.register(noop, late)
        for document in (chain(1), chain(5), sleeper(), waiter()):
            await self._know(document)

    async def stop(self):
        await self.app.__aexit__(None, None, None)
        if self.pg:
            self.pg.stop()

    def server_pids(self):
        return [self.pg.proc.pid] if self.pg else []

    def data_bytes(self):
        return int(self.pg.sql("select pg_database_size('bench')")) if self.pg else common.du(self.workdir)

    async def _know(self, document):
        if document["id"] not in self.known:
            await self.app.deploy(document)
            self.known.add(document["id"])
        return document["id"]

    async def _finish(self, key, definition):
        run = await self.app.start(definition, None, key=key)
        await run.result()

    async def run5(self, key):
        await self._finish(key, "chain-5")

    async def run1(self, key):
        await self._finish(key, "chain-1")

    async def chain(self, key, n):
        await self._finish(key, await self._know(chain(n)))

    async def fan(self, key, n):
        await self._finish(key, await self._know(fan(n)))

    async def sleeper(self, key, due):
        moment = datetime.fromtimestamp(due, UTC).isoformat()
        return await self.app.start("sleeper", {"due": moment, "due_seconds": due}, key=key)

    async def late(self, handle):
        return await handle.result()

    async def waiter(self, key):
        return await self.app.start("waiter", None, key=key)

    async def signal(self, handle):
        await handle.signal("go", "x")

    async def result(self, handle):
        assert await handle.result() == "x"
