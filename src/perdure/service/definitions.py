"""Definitions: check, save, publish, activate, find."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from perdure.dialects.known import dialect_of
from perdure.engine.library import Library
from perdure.errors import DocumentInvalid, InvalidInput, NotFound
from perdure.model.canonical import canonical
from perdure.model.problems import Problem
from perdure.model.values import check_json, decode_json, digest, encode_json
from perdure.ports.definitions import Active, Definitions, Draft, Summary, Version
from perdure.programs.flow.nodetypes import Catalogue

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
T = TypeVar("T")


class DefinitionService:
    def __init__(self, definitions: Definitions, catalogue: Catalogue, library: Library) -> None:
        self._definitions = definitions
        self._catalogue = catalogue
        self._library = library

    def validate(self, document: Any) -> list[Problem]:
        """Every mistake at once. Executes nothing, opens nothing."""
        return dialect_of(document).validate(document, self._catalogue)

    async def save(self, namespace: str, id: str, document: Any, if_etag: str | None = None) -> Draft:
        """The draft. A document with errors is not stored."""
        self._check_named(id, document)
        return await self._definitions.save_draft(namespace, id, dialect_of(document).kind, document, if_etag)

    async def publish(self, namespace: str, id: str, note: str | None = None) -> Version:
        """The draft as the next version; the same content again is the same version."""
        draft = await self._definitions.draft(namespace, id)
        if draft is None:
            raise NotFound(f"the definition {id!r} has no draft", remedy="save it first", namespace=namespace)
        self._check(draft.document)
        return await self._publish(namespace, id, draft.document, note)

    async def activate(self, namespace: str, id: str, version: int) -> Active:
        """New starts use this version from now on, in every process."""
        active = await self._definitions.activate(namespace, id, version)
        self._library.forget(namespace, id)
        return active

    async def deploy(self, namespace: str, document: Any, id: str | None = None, note: str | None = None) -> Version:
        """Save, publish and activate in one go. What is published is the document given here, not the draft: that is
        shared, and somebody else who deploys at the same time may have saved his over it."""
        name = id or (dialect_of(document).id_of(document) if isinstance(document, dict) else None)
        if not isinstance(name, str) or not name:
            raise InvalidInput("a definition needs an id", pointer="/id")
        self._check_named(name, document)
        document = decode_json(encode_json(document))  # the caller may change his own meanwhile
        await self._definitions.save_draft(namespace, name, dialect_of(document).kind, document)
        version = await self._publish(namespace, name, document, note)
        active = await self._definitions.active(namespace, name)
        if active is None or active.version.version != version.version:
            await self.activate(namespace, name, version.version)
        return version

    async def draft(self, namespace: str, id: str) -> Draft:
        return _found(await self._definitions.draft(namespace, id), f"no draft of {id!r}")

    async def version(self, namespace: str, id: str, version: int | None = None) -> Version:
        text = f"{id!r} has no version {version}" if version is not None else f"{id!r} has no published version"
        return _found(await self._definitions.version(namespace, id, version), text)

    async def versions(self, namespace: str, id: str) -> Sequence[Version]:
        return await self._definitions.versions(namespace, id)

    async def active(self, namespace: str, id: str) -> Active:
        return _found(await self._definitions.active(namespace, id), f"no active version of {id!r}")

    async def list(self, namespace: str, after: str = "", limit: int = 100) -> Sequence[Summary]:
        return await self._definitions.list(namespace, after, limit)

    async def _publish(self, namespace: str, id: str, document: Any, note: str | None) -> Version:
        dialect = dialect_of(document)
        hash = digest(canonical(dialect.semantic(document)))
        return await self._definitions.publish(namespace, id, dialect.kind, document, hash, note)

    def _check_named(self, id: str, document: Any) -> None:
        if not isinstance(id, str) or not _ID.fullmatch(id):
            raise InvalidInput(
                "not an id", pointer="/id", expected="letters, digits, dot, underscore, hyphen; at most 128"
            )
        if isinstance(document, dict) and document.get("id") not in (None, id):
            raise InvalidInput(f"the document calls itself {document['id']!r}, not {id!r}", pointer="/id")
        self._check(document)

    def _check(self, document: Any) -> None:
        check_json(document)
        errors = [problem for problem in self.validate(document) if problem.severity == "error"]
        if errors:
            count = "1 problem" if len(errors) == 1 else f"{len(errors)} problems"
            raise DocumentInvalid(f"the document has {count}", [problem.as_dict() for problem in errors])


def _found(value: T | None, text: str) -> T:
    if value is None:
        raise NotFound(text)
    return value
