"""Drafts, versions and which version is active."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

import asyncpg

from perdure.errors import DraftChanged, NotFound
from perdure.model.values import Json, decode_json, encode_json
from perdure.ports.definitions import Active, Draft, Summary, Version, newer, span
from perdure.stores.postgres.links import Pool, one
from perdure.stores.postgres.queries import load_queries

_SQL = load_queries("definitions")


class PostgresDefinitions:
    def __init__(self, pool: Pool, now: Callable[[], int | None]) -> None:
        self._pool = pool
        self._now = now

    async def save_draft(self, namespace: str, id: str, kind: str, document: Json, if_etag: str | None = None) -> Draft:
        number = None if if_etag is None else _number(if_etag)
        rows = await self._pool.fetch(
            _SQL["save_draft"], namespace, id, kind, _name(document), encode_json(document), number, self._now()
        )
        if not rows:
            raise DraftChanged(f"the draft of {id} was saved by somebody else in between", remedy="read it again")
        return Draft(namespace, id, kind, document, _etag(rows[0]["draft_number"]), rows[0]["draft_at"])

    async def draft(self, namespace: str, id: str) -> Draft | None:
        rows = await self._pool.fetch(_SQL["draft"], namespace, id)
        if not rows:
            return None
        row = rows[0]
        return Draft(namespace, id, row["kind"], decode_json(row["draft"]), _etag(row["draft_number"]), row["draft_at"])

    async def publish(
        self,
        namespace: str,
        id: str,
        kind: str,
        document: Json,
        hash: str,
        note: str | None,
        if_newest: int | None = None,
    ) -> Version:
        content = encode_json(document)
        while True:
            rows = await self._pool.fetch(
                _SQL["publish"], namespace, id, kind, _name(document), hash, content, note, self._now(), if_newest
            )
            if rows:
                return _version(rows[0])
            newest = await self.version(namespace, id)
            if newest is not None and newest.hash == hash:
                return newest
            number = newest.version if newest is not None else 0
            if if_newest is not None and if_newest != number:
                raise newer(id, number)
            # else somebody has published another one since: again

    async def activate(self, namespace: str, id: str, version: int) -> Active:
        revision = one(await self._pool.fetch(_SQL["activate"], namespace, id, version, self._now()))
        found = await self.version(namespace, id, version)
        if revision is None or found is None:
            raise NotFound(f"{id} has no version {version}")
        return Active(found, revision)

    async def version(self, namespace: str, id: str, version: int | None = None) -> Version | None:
        rows = await self._pool.fetch(_SQL["version"], namespace, id, version)
        return _version(rows[0]) if rows else None

    async def active(self, namespace: str, id: str) -> Active | None:
        rows = await self._pool.fetch(_SQL["active"], namespace, id)
        return Active(_version(rows[0]), rows[0]["revision"]) if rows else None

    async def versions(self, namespace: str, id: str) -> Sequence[Version]:
        return [_version(row) for row in await self._pool.fetch(_SQL["versions"], namespace, id)]

    async def list(
        self, namespace: str, after: str = "", limit: int = 100, kind: str | None = None
    ) -> builtins.list[Summary]:
        return [
            Summary(
                row["id"], row["kind"], row["name"], row["latest"], row["active"], row["has_draft"], row["updated_at"]
            )
            for row in await self._pool.fetch(_SQL["list"], namespace, *span(after, kind), limit)
        ]


def _etag(number: int) -> str:
    return f"d{number}"


def _number(etag: str) -> int:
    """-1 for what cannot be the etag of any draft."""
    if not etag:
        return 0
    return int(etag[1:]) if etag[0] == "d" and etag[1:].isascii() and etag[1:].isdigit() and len(etag) < 10 else -1


def _name(document: Json) -> str | None:
    name = document.get("name") if isinstance(document, dict) else None
    return name if isinstance(name, str) else None


def _version(row: asyncpg.Record) -> Version:
    return Version(
        namespace=row["namespace"],
        id=row["id"],
        kind=row["kind"],
        version=row["version"],
        hash=row["hash"],
        document=decode_json(row["document"]),
        note=row["note"],
        created_at=row["created_at"],
    )
