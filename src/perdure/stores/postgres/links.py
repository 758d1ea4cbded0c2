"""Connections that mend themselves, with a deadline on every call.

A statement is a transaction: nothing here ever leaves one open, so there is nothing to roll back, and no locks are held
while somebody thinks. A call that has no answer by its deadline loses its connection, because only that is certain to
end it (behind a proxy, keepalives prove nothing); the next call opens a new one.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import asyncpg
import asyncpg.exceptions

from perdure.errors import StoreError, StoreUnavailable
from perdure.stores.postgres.failures import RETRYABLE, AnswerLost, ends_connection, must_reconnect, translate

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
ConnectHook: TypeAlias = Callable[[Connection], Awaitable[None]]
Rows: TypeAlias = "list[asyncpg.Record]"

ATTEMPTS = 6
CONNECT_SECONDS = 5.0

SESSION: dict[str, str] = {
    "default_transaction_isolation": "read committed",
    "idle_in_transaction_session_timeout": "10s",
    "jit": "off",
    "lock_timeout": "2s",
    "statement_timeout": "10s",
    "tcp_keepalives_count": "3",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_user_timeout": "5000",
}

KEEPALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 5000}


class Target:
    """Where to connect, and as what."""

    def __init__(self, url: str, *, schema: str, application_name: str, deadline: float) -> None:
        self.url = url
        self.schema = schema
        self.deadline = deadline
        self._settings = {
            **SESSION,
            "application_name": application_name,
            "search_path": '"' + schema.replace('"', '""') + '"',
        }

    async def connect(self, settings: Mapping[str, str], seconds: float) -> Connection:
        connection = await asyncpg.connect(
            self.url,
            timeout=max(min(seconds, CONNECT_SECONDS), 0.001),
            max_cached_statement_lifetime=0,
            server_settings={**self._settings, **settings},
        )
        _keep_alive(connection)
        return connection


class Link:
    """One connection, made when it is needed and made anew when it is lost. For one call at a time."""

    def __init__(
        self,
        target: Target,
        settings: Mapping[str, str] | None = None,
        *,
        deadline: float | None = None,
        on_connect: ConnectHook | None = None,
    ) -> None:
        self._target = target
        self._settings = settings or {}
        self._deadline = deadline or target.deadline
        self._on_connect = on_connect
        self._connection: Connection | None = None

    async def fetch(self, query: str, *args: object) -> Rows:
        return await self.fetch_by(asyncio.get_running_loop().time() + self._deadline, query, *args)

    async def fetch_by(self, ends: float, query: str, *args: object) -> Rows:
        """The rows of one statement, by that time. Raises `AnswerLost` if it may have been committed nevertheless."""
        loop = asyncio.get_running_loop()
        attempt = 1
        while True:
            connection = await self.connected(ends)
            expiry = loop.call_at(ends, connection.terminate)
            try:
                return await connection.fetch(query, *args)
            except asyncio.CancelledError:
                self.drop()
                raise
            except asyncpg.PostgresError as problem:
                if ends_connection(problem):
                    self.drop()
                    raise AnswerLost(f"PostgreSQL ended the connection: {problem}") from problem
                if must_reconnect(problem):
                    self.drop()
                if problem.sqlstate not in RETRYABLE or attempt == ATTEMPTS or loop.time() >= ends:
                    raise translate(problem) from problem
            except (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError) as problem:
                if not connection.is_closed():
                    raise StoreError(f"asyncpg refused: {problem}") from problem
                self.drop()
                raise AnswerLost(f"the connection to PostgreSQL was lost: {problem}") from problem
            finally:
                expiry.cancel()
            attempt += 1
            await asyncio.sleep(random.uniform(0.001, 0.01 * attempt))

    async def connected(self, ends: float | None = None) -> Connection:
        """The connection, opened if there is none. Raises `StoreUnavailable`: nothing was sent."""
        connection = self._connection
        if connection is not None and not connection.is_closed():
            return connection
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._deadline if ends is None else ends
        self.drop()
        connection = None
        try:
            async with asyncio.timeout_at(ends):
                connection = await self._target.connect(self._settings, ends - loop.time())
                if self._on_connect is not None:
                    await self._on_connect(connection)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as problem:
            if connection is not None:
                connection.terminate()
            raise translate(problem) from problem
        except BaseException:
            if connection is not None:
                connection.terminate()
            raise
        self._connection = connection
        return connection

    def drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            await connection.close(timeout=2.0)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
            connection.terminate()


class Pool:
    """A few links, opened as they are needed, the one used last first."""

    def __init__(
        self, target: Target, size: int, settings: Mapping[str, str] | None = None, *, deadline: float | None = None
    ) -> None:
        self.size = size
        self.deadline = deadline or target.deadline
        self._links = [Link(target, settings, deadline=deadline) for _ in range(size)]
        self._free = list(self._links)
        self._turnstile = asyncio.Semaphore(size)
        self._under_way: set[asyncio.Task[Rows]] = set()
        self._closed = False

    async def fetch(self, query: str, *args: object) -> Rows:
        """Like `Link.fetch`. A caller that is cancelled does not cut its statement in half: it ends by itself."""
        ends = asyncio.get_running_loop().time() + self.deadline
        task = asyncio.ensure_future(self.fetch_by(ends, query, *args))
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Rows]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # somebody was told, or nobody waits any more

    async def fetch_by(self, ends: float, query: str, *args: object) -> Rows:
        """The same in the caller's own task, for callers that are never cancelled."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        if self._turnstile.locked():
            await self._queue_up(ends)
        else:
            await self._turnstile.acquire()
        link = self._free.pop()
        try:
            return await link.fetch_by(ends, query, *args)
        finally:
            self._free.append(link)
            self._turnstile.release()

    async def read_by(self, ends: float, query: str, *args: object) -> Rows:
        """For statements that change nothing, so that nothing is unknown afterwards."""
        try:
            return await self.fetch_by(ends, query, *args)
        except AnswerLost as problem:
            raise StoreUnavailable(problem.message, remedy="try again") from problem

    async def _queue_up(self, ends: float) -> None:
        try:
            async with asyncio.timeout_at(ends):
                await self._turnstile.acquire()
        except TimeoutError as problem:
            raise StoreUnavailable("no connection became free in time", remedy="a larger pool") from problem

    async def disconnect(self) -> None:
        """Lets go of the connections; the next call opens new ones."""
        if self._under_way:
            await asyncio.wait(self._under_way)
        await asyncio.gather(*(link.close() for link in self._links))

    async def close(self) -> None:
        self._closed = True
        await self.disconnect()


def _keep_alive(connection: Connection) -> None:
    """Lets the kernel find out about a peer that is gone, also while nobody asks. Only a help: see above."""
    transport = getattr(connection, "_transport", None)
    if transport is None or (line := transport.get_extra_info("socket")) is None or line.family == socket.AF_UNIX:
        return
    with socket.socket(fileno=os.dup(line.fileno())) as twin:  # uvloop's own has no options
        twin.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE.items():
            if (option := getattr(socket, name, None)) is not None:
                twin.setsockopt(socket.IPPROTO_TCP, option, value)


def one(rows: Rows) -> Any:
    """The only value of the only row; None if there is no row."""
    return rows[0][0] if rows else None
