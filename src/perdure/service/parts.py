"""Stored parts that flows use: node definitions and scripts. A draft is worked on, published under the next number, and
one of the published versions may be active."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from perdure.dialects.known import DIALECTS
from perdure.engine.library import MAX_VERSION, Library
from perdure.engine.offloop import off_loop
from perdure.errors import Conflict, DocumentInvalid, DraftChanged, InvalidInput, NotFound
from perdure.model.canonical import canonical
from perdure.model.problems import Problem
from perdure.model.references import NODE, SCRIPT, WORDS, Reference, Word
from perdure.model.values import Json, check_json, decode_json, digest, encode_json
from perdure.nodes.scripts import check_script
from perdure.ports.definitions import Active, Definitions, Draft, Summary, Version
from perdure.programs.flow.nodetypes import Catalogue
from perdure.service.merging import merged

KINDS = (NODE, SCRIPT)
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
T = TypeVar("T")


class StoredPart(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a part, or its draft."""

    namespace: str
    kind: str
    id: str
    version: int | None
    """None: the draft."""
    document: Json
    hash: str
    at: int
    """When it was published, or saved."""
    etag: str | None = None
    note: str | None = None


class PartService:
    def __init__(self, definitions: Definitions, catalogue: Catalogue, library: Library) -> None:
        self._definitions = definitions
        self._catalogue = catalogue
        self._library = library

    def validate(self, kind: str, document: Any) -> list[Problem]:
        """Every mistake at once."""
        for dialect in DIALECTS:
            problems = dialect.part_problems(kind, document, self._catalogue)
            if problems is not None:
                return problems or _problems_of_script(kind, document)
        raise AssertionError("the native dialect takes every part")

    async def create(self, namespace: str, kind: str, id: str, document: Any) -> StoredPart:
        """A first draft. Raises Conflict if there is one."""
        try:
            return await self.save(namespace, kind, id, document, if_etag="")
        except DraftChanged as there:
            raise Conflict(f"there is a draft of the {kind} {id!r} already", remedy="update it") from there

    async def update(self, namespace: str, kind: str, id: str, changes: Any, if_etag: str | None = None) -> StoredPart:
        """Fields that are given replace those of the draft; the others stay. A node definition keeps its type."""
        while True:
            draft = await self._draft(namespace, kind, id)
            document = merged(draft.document, changes)
            if kind == NODE and document.get("type") != draft.document.get("type"):
                raise InvalidInput(
                    f"a node definition keeps its type, {draft.document.get('type')!r}",
                    pointer="/type",
                    remedy="make another node definition",
                )
            try:
                return await self.save(namespace, kind, id, document, if_etag or draft.etag)
            except DraftChanged:
                if if_etag is not None:
                    raise  # otherwise the changes are merged into what somebody else has saved meanwhile

    async def save(self, namespace: str, kind: str, id: str, document: Any, if_etag: str | None = None) -> StoredPart:
        """The draft as a whole."""
        part = _part(kind, id)
        await self._check(kind, id, document)
        draft = await self._definitions.save_draft(namespace, part, kind, document, if_etag)
        self._library.forget_parts(namespace)
        return _of_draft(draft)

    async def publish(self, namespace: str, kind: str, id: str, note: str | None = None) -> StoredPart:
        """The draft as the next version; the same content again is the same version."""
        draft = await self._draft(namespace, kind, id)
        await self._check(kind, id, draft.document)
        version = await self._definitions.publish(
            namespace, draft.id, kind, draft.document, hash_of(draft.document), note
        )
        self._library.forget_parts(namespace)
        return _of_version(version)

    async def deploy(self, namespace: str, kind: str, id: str, document: Any, note: str | None = None) -> StoredPart:
        """Save, publish and activate in one go, whatever the draft was."""
        document = decode_json(encode_json(document))
        draft = await self.save(namespace, kind, id, document)
        version = await self._definitions.publish(namespace, _part(kind, id), kind, document, draft.hash, note)
        await self.activate(namespace, kind, id, version.version)
        return _of_version(version)

    async def activate(self, namespace: str, kind: str, id: str, version: int) -> Active:
        active = await self._definitions.activate(namespace, _part(kind, id), version)
        self._library.forget_parts(namespace)
        return active

    async def get(self, namespace: str, kind: str, id: str, version: int | Word = "LATEST") -> StoredPart:
        part = _part(kind, id)
        missing = f"the {kind} {id!r} has no {version if version in WORDS else f'version {version}'}"
        if version == "SNAPSHOT":
            return _of_draft(await self._draft(namespace, kind, id))
        if version == "ACTIVE":
            return _of_version(_found(await self._definitions.active(namespace, part), missing).version)
        number = None if version == "LATEST" else check_number(version)
        return _of_version(_found(await self._definitions.version(namespace, part, number), missing))

    async def versions(self, namespace: str, kind: str, id: str) -> Sequence[StoredPart]:
        return [_of_version(each) for each in await self._definitions.versions(namespace, _part(kind, id))]

    async def list(self, namespace: str, kind: str, after: str = "", limit: int = 100) -> Sequence[Summary]:
        _check_kind(kind)
        found = await self._definitions.list(namespace, f"{kind}:{after}" if after else "", limit, kind)
        return [msgspec.structs.replace(each, id=_name(each.id)) for each in found]

    async def _draft(self, namespace: str, kind: str, id: str) -> Draft:
        missing = f"the {kind} {id!r} has no draft"
        return _found(await self._definitions.draft(namespace, _part(kind, id)), missing)

    async def _check(self, kind: str, id: str, document: Any) -> None:
        check_json(document)
        if isinstance(document, dict) and document.get("id") not in (None, id):
            raise InvalidInput(f"the document calls itself {document['id']!r}, not {id!r}", pointer="/id")
        found = await off_loop(document, self.validate, kind, document)
        errors = [problem for problem in found if problem.is_error]
        if errors:
            count = "1 problem" if len(errors) == 1 else f"{len(errors)} problems"
            raise DocumentInvalid(f"the {kind} has {count}", [problem.as_dict() for problem in errors])


def _problems_of_script(kind: str, document: Any) -> list[Problem]:
    if kind != SCRIPT:
        return []
    return check_script(document["script"], document.get("language", "python"), "/script")[1]


def hash_of(document: Json) -> str:
    """Comments count: they are versioned with the rest."""
    return digest(canonical(document))


def check_number(version: Any) -> int:
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= MAX_VERSION:
        raise InvalidInput(
            f"{version!r} is no version",
            pointer="/version",
            expected=f"a whole number from 1 to {MAX_VERSION}, LATEST, ACTIVE or SNAPSHOT",
        )
    return version


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise InvalidInput(f"there are no stored parts of kind {kind!r}", pointer="/kind", expected="node or script")


def _part(kind: str, id: str) -> str:
    _check_kind(kind)
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise InvalidInput("not an id", pointer="/id", expected="letters, digits, dot, underscore, hyphen; at most 128")
    return Reference(kind, id).part


def _name(part: str) -> str:
    return part.partition(":")[2]


def _of_draft(draft: Draft) -> StoredPart:
    return StoredPart(
        namespace=draft.namespace,
        kind=draft.kind,
        id=_name(draft.id),
        version=None,
        document=draft.document,
        hash=hash_of(draft.document),
        at=draft.updated_at,
        etag=draft.etag,
    )


def _of_version(version: Version) -> StoredPart:
    return StoredPart(
        namespace=version.namespace,
        kind=version.kind,
        id=_name(version.id),
        version=version.version,
        document=version.document,
        hash=version.hash,
        at=version.created_at,
        note=version.note,
    )


def _found(value: T | None, text: str) -> T:
    if value is None:
        raise NotFound(text)
    return value
