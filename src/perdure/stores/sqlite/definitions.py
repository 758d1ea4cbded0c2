"""Drafts, versions and which one is active, on SQLite."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import apsw

from perdure.errors import DraftChanged, NotFound
from perdure.model.values import Json, decode_json, encode_json
from perdure.ports.clock import Clock
from perdure.ports.definitions import Active, Draft, Summary, Version, newer, span
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.reader import Reader
from perdure.stores.sqlite.writer import Writer

_Q = queries("definitions")


class SqliteDefinitions:
    def __init__(self, writer: Writer, reader: Reader, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock

    async def save_draft(self, namespace: str, id: str, kind: str, document: Json, if_etag: str | None = None) -> Draft:
        text = encode_json(document).decode()

        def work(connection: apsw.Connection) -> Draft:
            found = connection.execute(_Q["draft"], (namespace, id)).fetchone()
            etag = "" if found is None else _etag(found[2])
            if if_etag is not None and if_etag != etag:
                raise DraftChanged(f"the draft of {id} was saved by somebody else in between", etag=etag)
            now = self._clock.now()
            number = connection.execute(_Q["save draft"], (namespace, id, kind, _name(document), text, now)).get
            return Draft(namespace, id, kind, document, _etag(number), now)

        return await self._writer.call(work)

    async def draft(self, namespace: str, id: str) -> Draft | None:
        row = await self._reader.long(lambda connection: connection.execute(_Q["draft"], (namespace, id)).fetchone())
        if row is None:
            return None
        kind, text, number, at = row
        return Draft(namespace, id, kind, decode_json(text), _etag(number), at)

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
        text = encode_json(document).decode()

        def work(connection: apsw.Connection) -> Version:
            newest = connection.execute(_Q["newest"], (namespace, id)).fetchone()
            if newest is not None and newest[3] == hash:
                return _version(newest)
            number = 1 if newest is None else newest[2] + 1
            if if_newest is not None and if_newest != number - 1:
                raise newer(id, number - 1)
            now = self._clock.now()
            connection.execute(_Q["published"], (namespace, id, kind, _name(document), number, now))
            connection.execute(_Q["publish"], (namespace, id, number, kind, hash, text, note, now))
            return Version(namespace, id, kind, number, hash, document, note, now)

        return await self._writer.call(work)

    async def activate(self, namespace: str, id: str, version: int) -> Active:
        def work(connection: apsw.Connection) -> Active:
            row = connection.execute(_Q["version"], (namespace, id, version)).fetchone()
            if row is None:
                raise NotFound(f"there is no version {version} of {id}")
            revision = connection.execute(_Q["activate"], (version, self._clock.now(), namespace, id)).get
            return Active(_version(row), revision)

        return await self._writer.call(work)

    async def version(self, namespace: str, id: str, version: int | None = None) -> Version | None:
        def read(connection: apsw.Connection) -> Any:
            if version is None:
                return connection.execute(_Q["newest"], (namespace, id)).fetchone()
            return connection.execute(_Q["version"], (namespace, id, version)).fetchone()

        row = await self._reader.long(read)
        return None if row is None else _version(row)

    async def active(self, namespace: str, id: str) -> Active | None:
        row = await self._reader.short(lambda connection: connection.execute(_Q["active"], (namespace, id)).fetchone())
        return None if row is None else Active(_version(row[:-1]), row[-1])

    async def versions(self, namespace: str, id: str) -> Sequence[Version]:
        text = await self._reader.long(lambda connection: connection.execute(_Q["versions"], (namespace, id)).get)
        return [_version(row) for row in decode_json(text)]

    async def list(
        self, namespace: str, after: str = "", limit: int = 100, kind: str | None = None
    ) -> Sequence[Summary]:
        asked = (namespace, *span(after, kind), limit)
        text = await self._reader.long(lambda connection: connection.execute(_Q["list"], asked).get)
        rows: builtins.list[Any] = decode_json(text)
        return [
            Summary(id, kind, name, latest, active, bool(has_draft), updated_at)
            for id, kind, name, latest, active, has_draft, updated_at in rows
        ]


def _etag(number: int) -> str:
    return f"d{number}"


def _name(document: Json) -> str | None:
    name = document.get("name") if isinstance(document, dict) else None
    return name if isinstance(name, str) else None


def _version(row: Sequence[Any]) -> Version:
    namespace, id, version, hash, kind, text, note, created_at = row
    return Version(namespace, id, kind, version, hash, decode_json(text), note, created_at)
