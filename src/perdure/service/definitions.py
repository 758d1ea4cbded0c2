"""Definitions: check, save, publish, activate, find."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from perdure.dialects.known import dialect_of
from perdure.engine.library import DRAFT, Library
from perdure.errors import Conflict, DocumentInvalid, DraftChanged, InvalidInput, NotFound
from perdure.model.canonical import canonical
from perdure.model.problems import Problem
from perdure.model.references import Word
from perdure.model.values import check_json, decode_json, digest, encode_json
from perdure.ports.definitions import Active, Definitions, Draft, Summary, Version
from perdure.programs.flow.nodetypes import Catalogue
from perdure.service.checking import problems_alone, problems_with_parts
from perdure.service.merging import merged

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
T = TypeVar("T")
_LOGGER = logging.getLogger(__name__)


class DefinitionService:
    def __init__(self, definitions: Definitions, catalogue: Catalogue, library: Library) -> None:
        self._definitions = definitions
        self._catalogue = catalogue
        self._library = library

    def validate(self, document: Any) -> list[Problem]:
        """Every mistake at once. Executes nothing, opens nothing; so what depends on stored parts is left open."""
        return problems_alone(dialect_of(document), document, self._catalogue)

    async def check(self, namespace: str, document: Any) -> list[Problem]:
        """Every mistake at once, with the stored parts that the document uses."""
        dialect = dialect_of(document)
        return await problems_with_parts(self._definitions, namespace, dialect, document, self._catalogue)

    async def save(self, namespace: str, id: str, document: Any, if_etag: str | None = None) -> Draft:
        """The draft. A document with errors is not stored."""
        document = await self._checked(namespace, id, document)
        draft = await self._definitions.save_draft(namespace, id, dialect_of(document).kind, document, if_etag)
        self._library.forget(namespace, id)
        return draft

    async def create(self, namespace: str, id: str, document: Any) -> Draft:
        """A first draft. Raises Conflict if there is one."""
        try:
            return await self.save(namespace, id, document, if_etag="")
        except DraftChanged as there:
            raise Conflict(f"there is a draft of {id!r} already", remedy="update it") from there

    async def update(self, namespace: str, id: str, changes: Any, if_etag: str | None = None) -> Draft:
        """Fields that are given replace those of the draft, `states` key by key; the others stay."""
        while True:
            draft = await self.draft(namespace, id)
            try:
                return await self.save(namespace, id, merged(draft.document, changes), if_etag or draft.etag)
            except DraftChanged:
                if if_etag is not None:
                    raise  # otherwise the changes are merged into what somebody else has saved meanwhile

    async def publish(self, namespace: str, id: str, note: str | None = None) -> Version:
        """The draft as the next version; the same content again is the same version."""
        draft = await self._definitions.draft(namespace, id)
        if draft is None:
            raise NotFound(f"the definition {id!r} has no draft", remedy="save it first", namespace=namespace)
        await self._check(namespace, draft.document)
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
        document = await self._checked(namespace, name, document)
        await self._definitions.save_draft(namespace, name, dialect_of(document).kind, document)
        version = await self._publish(namespace, name, document, note)
        active = await self._definitions.active(namespace, name)
        if active is None or active.version.version != version.version:
            await self.activate(namespace, name, version.version)
        return version

    async def draft(self, namespace: str, id: str) -> Draft:
        return _found(await self._definitions.draft(namespace, id), f"no draft of {id!r}")

    async def version(self, namespace: str, id: str, version: int | Word | None = None) -> Version:
        """A number, or a word; without either the newest. The draft has the number 0."""
        if version == "ACTIVE":
            return (await self.active(namespace, id)).version
        if version == "SNAPSHOT":
            draft = await self.draft(namespace, id)
            hash = _hash(draft.document)
            return Version(namespace, id, draft.kind, DRAFT, hash, draft.document, None, draft.updated_at)
        number = version if isinstance(version, int) else None
        text = f"{id!r} has no version {version}" if number is not None else f"{id!r} has no published version"
        return _found(await self._definitions.version(namespace, id, number), text)

    async def versions(self, namespace: str, id: str) -> Sequence[Version]:
        return await self._definitions.versions(namespace, id)

    async def active(self, namespace: str, id: str) -> Active:
        return _found(await self._definitions.active(namespace, id), f"no active version of {id!r}")

    async def list(self, namespace: str, after: str = "", limit: int = 100) -> Sequence[Summary]:
        return await self._definitions.list(namespace, after, limit)

    async def _publish(self, namespace: str, id: str, document: Any, note: str | None) -> Version:
        kind = dialect_of(document).kind
        version = await self._definitions.publish(namespace, id, kind, document, _hash(document), note)
        self._library.forget(namespace, id)
        return version

    async def _checked(self, namespace: str, id: str, document: Any) -> Any:
        """A copy of the document, which has no errors: the caller may change his own meanwhile."""
        if not isinstance(id, str) or not _ID.fullmatch(id):
            raise InvalidInput(
                "not an id", pointer="/id", expected="letters, digits, dot, underscore, hyphen; at most 128"
            )
        if isinstance(document, dict) and document.get("id") not in (None, id):
            raise InvalidInput(f"the document calls itself {document['id']!r}, not {id!r}", pointer="/id")
        check_json(document)
        copied = decode_json(encode_json(document))
        for each in await self._check(namespace, copied):
            _LOGGER.warning("%s: %s: %s: %s", id, each.pointer or "/", each.code, each.message)
        return copied

    async def _check(self, namespace: str, document: Any) -> Sequence[Problem]:
        """The warnings."""
        problems = await self.check(namespace, document)
        errors = [problem for problem in problems if problem.is_error]
        if errors:
            count = "1 problem" if len(errors) == 1 else f"{len(errors)} problems"
            raise DocumentInvalid(f"the document has {count}", [problem.as_dict() for problem in errors])
        return problems


def _hash(document: Any) -> str:
    return digest(canonical(dialect_of(document).semantic(document)))


def _found(value: T | None, text: str) -> T:
    if value is None:
        raise NotFound(text)
    return value
