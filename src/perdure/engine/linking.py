"""Which version a word stands for now, and documents with the parts in them that they use.

What is newest or active may change in any process at any moment. A start asks the store at most once a second for each
part (and at once after a change in this process), and records what it found: from then on the run is bound to numbers,
which never change. So two workers may for a second start runs with different versions, but no run ever changes.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from perdure.errors import InvalidInput, NotFound
from perdure.model.canonical import canonical
from perdure.model.lookups import nested
from perdure.model.references import ALL_LOOKUPS, FLOW, LOOKUPS, WORDS, Parts, Reference
from perdure.model.values import Json, digest
from perdure.ports.definitions import Definitions, Linked, Version, as_it_is

STALE_AFTER = 1.0
"""Seconds for which it is not asked again what a word stands for."""
_REMEMBERED = 10_000
_DEEPEST = 8
"""Parts that use parts that use parts …"""
NO_LOOKUPS = 0
"""The number of look-ups that nobody has set yet."""

Choose = Callable[[Reference], Awaitable[int]]


class Linker(Protocol):
    """Of a dialect, what linking needs."""

    def references(self, document: Any) -> Sequence[Reference]: ...
    def link(self, document: Any, parts: Parts) -> Any: ...


class Links:
    def __init__(self, definitions: Definitions, linkers: Mapping[str, Linker]) -> None:
        self._definitions = definitions
        self._linkers = linkers
        self._numbers: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()
        self._drafts: OrderedDict[tuple[str, str], tuple[str, int]] = OrderedDict()
        """Which draft stands under which number of its hidden series."""
        self.changes = 0
        """How often something was forgotten: what was read before may be outdated."""

    def forget(self, namespace: str) -> None:
        """Parts have changed."""
        self.changes += 1
        for key in [key for key in self._numbers if key[0] == namespace]:
            del self._numbers[key]

    def forget_flow(self, namespace: str, definition: str) -> None:
        self.changes += 1
        for word in WORDS:
            self._numbers.pop((namespace, Reference(FLOW, definition, word).pin), None)

    def uses_parts(self, kind: str, document: Json) -> bool:
        linker = self._linkers.get(kind)
        return linker is not None and bool(linker.references(document))

    async def link_now(self, version: Version, pins: Mapping[str, int] | None = None) -> Linked:
        """With what words stand for at this moment. `pins` has what was found out already."""
        if not pins and not self.uses_parts(version.kind, version.document):
            return as_it_is(version)
        found: dict[str, int] = dict(pins or {})
        uses: dict[str, Reference] = {}

        async def choose(reference: Reference) -> int:
            if isinstance(reference.version, int):
                return reference.version
            if reference.pin not in found:
                uses[reference.pin] = reference
                found[reference.pin] = await self.number(version.namespace, reference)
            return found[reference.pin]

        linked = await self._link(version, choose, found)
        return msgspec.structs.replace(linked, uses=tuple(uses.values()), is_new=True)

    async def still_stand(self, namespace: str, uses: Sequence[Reference], pins: Mapping[str, int]) -> bool:
        """Whether all these words still stand for what they stood for."""
        return all([await self.number(namespace, each) == pins.get(each.pin) for each in uses])

    async def link_pinned(self, version: Version, pins: Mapping[str, int]) -> Linked:
        """With what words stood for when the run started."""

        async def choose(reference: Reference) -> int:
            number = reference.version if isinstance(reference.version, int) else pins.get(reference.pin)
            if number is None and reference.kind != LOOKUPS:
                raise NotFound(f"the run has not recorded which {reference} it uses", namespace=version.namespace)
            return number or NO_LOOKUPS  # a run that is older than look-ups reads none

        return await self._link(version, choose, pins)

    async def _link(self, version: Version, choose: Choose, pins: Mapping[str, int]) -> Linked:
        linker = self._linkers[version.kind]
        document = version.document
        lookups: Mapping[str, Any] | None = None
        for _ in range(_DEEPEST):
            wanted = [each for each in linker.references(document) if each.kind != LOOKUPS]
            if not wanted:
                break
            parts = {each: await self._content(version.namespace, each, await choose(each)) for each in set(wanted)}
            document = linker.link(document, parts)
        else:
            raise InvalidInput(f"stored parts that use one another more than {_DEEPEST} deep, or in a circle")
        for reference in linker.references(document):  # look-ups: those of the parts count too
            lookups = await self._lookups(version.namespace, await choose(reference))
        fields = {name: getattr(version, name) for name in Version.__struct_fields__}
        return Linked(**{**fields, "document": document}, pins=dict(pins) or None, lookups=lookups)

    async def _lookups(self, namespace: str, number: int) -> Mapping[str, Any]:
        if number == NO_LOOKUPS:
            return {}
        return nested((await self._content(namespace, ALL_LOOKUPS, number))["values"])

    async def _content(self, namespace: str, reference: Reference, number: int) -> Json:
        return (await self.version(namespace, reference, number)).document

    async def version(self, namespace: str, reference: Reference, number: int) -> Version:
        """That one of the versions that the reference may stand for. Raises NotFound."""
        found = await self._definitions.version(namespace, reference.series, number)
        if found is None:
            raise missing(namespace, reference if reference.version == "SNAPSHOT" else reference.at(number))
        return found

    # -- what words stand for ----------------------------------------------------------------------

    async def number(self, namespace: str, reference: Reference) -> int:
        """Raises NotFound."""
        if isinstance(reference.version, int):
            return reference.version
        key = (namespace, reference.pin)
        now = asyncio.get_running_loop().time()
        known = self._numbers.get(key)
        if known is not None and now - known[1] < STALE_AFTER:
            return known[0]
        changes = self.changes
        number = await self._read(namespace, reference)
        if self.changes == changes:  # otherwise it may have been read before the change
            self._numbers[key] = (number, now)
            self._numbers.move_to_end(key)
            if len(self._numbers) > _REMEMBERED:
                self._numbers.popitem(last=False)
        return number

    async def _read(self, namespace: str, reference: Reference) -> int:
        match reference.version:
            case "SNAPSHOT":
                return await self._read_draft(namespace, reference)
            case "ACTIVE":
                active = await self._definitions.active(namespace, reference.stored)
                found = active.version if active is not None else None
            case _:
                found = await self._definitions.version(namespace, reference.stored)
        if found is not None:
            return found.version
        if reference.kind == LOOKUPS:
            return NO_LOOKUPS
        raise missing(namespace, reference)

    async def _read_draft(self, namespace: str, reference: Reference) -> int:
        """A draft changes under its name, so what runs begin with is kept in a series of its own."""
        draft = await self._definitions.draft(namespace, reference.stored)
        if draft is None:
            raise missing(namespace, reference)
        key = (namespace, reference.part)
        known = self._drafts.get(key)
        if known is not None and known[0] == draft.etag:
            return known[1]
        kept = await self._definitions.publish(
            namespace, reference.series, draft.kind, draft.document, digest(canonical(draft.document)), None
        )
        self._drafts[key] = (draft.etag, kept.version)
        if len(self._drafts) > _REMEMBERED:
            self._drafts.popitem(last=False)
        return kept.version


def missing(namespace: str, reference: Reference) -> NotFound:
    what = f"the {reference.kind} {reference.id!r}"
    match reference.version:
        case "SNAPSHOT":
            return NotFound(f"{what} has no draft", remedy="save one", namespace=namespace)
        case "ACTIVE":
            return NotFound(f"{what} has no active version", remedy="activate one", namespace=namespace)
        case "LATEST":
            return NotFound(f"{what} has no published version", remedy="publish one", namespace=namespace)
        case number:
            return NotFound(f"{what} has no version {number}", namespace=namespace)
