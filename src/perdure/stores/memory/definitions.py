"""Drafts, versions and which one is active, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.errors import DraftChanged, NotFound
from perdure.model.references import BETWEEN
from perdure.model.values import Json, decode_json, encode_json
from perdure.ports.definitions import Active, Draft, Summary, Version, newer, span
from perdure.stores.memory.tables import Definition, Tables


class MemoryDefinitions:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def save_draft(self, namespace: str, id: str, kind: str, document: Json, if_etag: str | None = None) -> Draft:
        found = await self.draft(namespace, id)
        etag = "" if found is None else found.etag
        if if_etag is not None and if_etag != etag:
            raise DraftChanged(f"the draft of {id} was saved by somebody else in between", etag=etag)
        data = encode_json(document)
        definition = self._touch(namespace, id, kind, document)
        definition.draft, definition.drafted_at = data, definition.updated_at
        definition.draft_number += 1
        return self._draft(namespace, id, definition)

    async def draft(self, namespace: str, id: str) -> Draft | None:
        definition = self._tables.definitions.get((namespace, id))
        if definition is None or definition.draft is None:
            return None
        return self._draft(namespace, id, definition)

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
        newest = await self.version(namespace, id)
        if newest is not None and newest.hash == hash:
            return newest
        number = newest.version if newest is not None else 0
        if if_newest is not None and if_newest != number:
            raise newer(id, number)
        document = decode_json(encode_json(document))
        definition = self._touch(namespace, id, kind, document)
        version = Version(namespace, id, kind, number + 1, hash, document, note, definition.updated_at)
        definition.versions.append(version)
        return version

    async def activate(self, namespace: str, id: str, version: int) -> Active:
        found = await self.version(namespace, id, version)
        if found is None:
            raise NotFound(f"there is no version {version} of {id}")
        definition = self._tables.definitions[namespace, id]
        definition.active = version
        definition.revision += 1
        definition.updated_at = self._tables.clock.now()
        return Active(found, definition.revision)

    async def version(self, namespace: str, id: str, version: int | None = None) -> Version | None:
        versions = await self.versions(namespace, id)
        if version is None:
            return versions[-1] if versions else None
        return versions[version - 1] if 0 < version <= len(versions) else None

    async def active(self, namespace: str, id: str) -> Active | None:
        definition = self._tables.definitions.get((namespace, id))
        if definition is None or definition.active is None:
            return None
        return Active(definition.versions[definition.active - 1], definition.revision)

    async def versions(self, namespace: str, id: str) -> Sequence[Version]:
        definition = self._tables.definitions.get((namespace, id))
        return [] if definition is None else list(definition.versions)

    async def list(
        self, namespace: str, after: str = "", limit: int = 100, kind: str | None = None
    ) -> Sequence[Summary]:
        after, before = span(after, kind)
        found = sorted(
            ((id, definition) for (space, id), definition in self._tables.definitions.items() if space == namespace),
            key=lambda each: each[0],
        )
        found = [each for each in found if each[0] > after and (each[0] < before if before else BETWEEN not in each[0])]
        return [
            Summary(
                id=id,
                kind=definition.kind,
                name=definition.name,
                latest=len(definition.versions) or None,
                active=definition.active,
                has_draft=definition.draft is not None,
                updated_at=definition.updated_at,
            )
            for id, definition in found[:limit]
        ]

    def _touch(self, namespace: str, id: str, kind: str, document: Json) -> Definition:
        now = self._tables.clock.now()
        definition = self._tables.definitions.setdefault((namespace, id), Definition(kind, now))
        name = document.get("name") if isinstance(document, dict) else None
        definition.kind, definition.updated_at = kind, now
        definition.name = name if isinstance(name, str) else None
        return definition

    def _draft(self, namespace: str, id: str, definition: Definition) -> Draft:
        document = decode_json(definition.draft or b"null")
        etag = f"d{definition.draft_number}"
        return Draft(namespace, id, definition.kind, document, etag, definition.drafted_at)
