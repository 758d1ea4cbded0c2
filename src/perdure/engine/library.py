"""From the name of a definition to the rules that run it.

Published versions never change, so a kernel is built once and kept. Which version is active does change; it is
remembered with the revision it was read at, and the store refuses a start that was decided on an outdated one. So
this cache may be stale without anything going wrong: on such a refusal, `forget` and ask again.

A document that uses stored parts is another edition for each set of versions of them (`linking.py`). A start takes
those of the moment; a run that exists takes those that it has recorded.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import msgspec

from perdure.engine.linking import STALE_AFTER, Linker, Links
from perdure.engine.offloop import off_loop
from perdure.errors import NotFound, NotInstalled
from perdure.kernel.kernel import Kernel
from perdure.model.references import FLOW, WORDS, Reference
from perdure.ports.definitions import Definitions, Linked, Version, as_it_is

MAX_VERSION = 2**31 - 1
"""What every store can look for."""
DRAFT = 0
"""The version of a run that was started with the draft of its definition; which draft that was, its pins say."""
Compiler = Callable[[Linked], Kernel]
Pins: TypeAlias = Mapping[str, int]
_Pinned = tuple[str, str, int, tuple[tuple[str, int], ...]]
_Key = tuple[str, str, int | str]
_K = TypeVar("_K")
_NO_LINKERS: Mapping[str, Linker] = {}


class Edition(msgspec.Struct, frozen=True):
    """One published version, ready to run."""

    definition: str
    version: int
    hash: str
    kernel: Kernel
    revision: int | None = None
    """Where the active version was asked for: what the store is to check at the start of a run."""
    pins: dict[str, int] | None = None
    """What a run of it records besides its version …"""
    uses: tuple[Reference, ...] = ()
    """… and what that is about."""
    until: float | None = None
    """From then on (in the loop's time) it is to be asked anew what it uses. None: that cannot change."""


class Library:
    def __init__(
        self,
        definitions: Definitions,
        compilers: Mapping[str, Compiler],
        capacity: int = 1_000,
        linkers: Mapping[str, Linker] = _NO_LINKERS,
    ) -> None:
        self._definitions = definitions
        self._compilers = compilers
        self._capacity = capacity
        self.links = Links(definitions, linkers)
        self._editions: OrderedDict[_Key, Edition] = OrderedDict()
        """Of documents that use nothing that could become another."""
        self._pinned: OrderedDict[_Pinned, Edition] = OrderedDict()
        self._active: OrderedDict[tuple[str, str], Edition] = OrderedDict()
        self._current: OrderedDict[_Key, Edition] = OrderedDict()
        """By a number or a word; to be asked anew before long."""
        self._under_way: dict[Any, asyncio.Future[Edition]] = {}

    # -- for runs that begin -----------------------------------------------------------------------

    def find(self, namespace: str, definition: str, version: int | str | None = None) -> Edition | None:
        """Without waiting, if it is at hand."""
        edition: Edition | None
        if version is None or version == "ACTIVE":
            edition = _look(self._active, (namespace, definition))
        else:
            key = (namespace, definition, version)
            edition = _look(self._editions, key) or _look(self._current, key)
        if edition is not None and edition.until is not None and edition.until <= _now():
            return None
        return edition

    async def get(self, namespace: str, definition: str, version: int | str | None = None) -> Edition:
        """That version; without a number the active one. Raises NotFound, and what the compiler raises."""
        found = self.find(namespace, definition, version)
        if found is not None:
            return found
        if (
            version is not None
            and version not in WORDS
            and not (isinstance(version, int) and 0 < version <= MAX_VERSION)
        ):
            raise NotFound(f"there is no version {version} of {definition!r}", namespace=namespace)
        key = (namespace, definition, version or "ACTIVE")
        return await self._once((key, self.links.changes), lambda: self._read_now(*key))

    def forget(self, namespace: str, definition: str) -> None:
        """Which version is active, newest or drafted is to be asked anew."""
        self._active.pop((namespace, definition), None)
        self._current.pop((namespace, definition, "LATEST"), None)
        self._current.pop((namespace, definition, "SNAPSHOT"), None)
        self.links.forget_flow(namespace, definition)

    def forget_parts(self, namespace: str) -> None:
        """A part that flows may use has changed."""
        self.links.forget(namespace)
        for key in [key for key in self._current if key[0] == namespace]:
            del self._current[key]
        for name in [name for name, edition in self._active.items() if edition.until is not None]:
            if name[0] == namespace:
                del self._active[name]

    # -- for runs that exist -----------------------------------------------------------------------

    async def pinned(self, namespace: str, definition: str, version: int, pins: Pins | None) -> Edition:
        """What a run goes on with for life. Raises NotFound, and what the compiler raises."""
        if not pins and (found := _look(self._editions, (namespace, definition, version))) is not None:
            return found
        key = (namespace, definition, version, _sorted(pins))
        found = _look(self._pinned, key)
        if found is not None:
            return found
        return await self._once(key, lambda: self._read_pinned(key, dict(pins or {})))

    # -- reading -----------------------------------------------------------------------------------

    async def _once(self, key: Any, read: Callable[[], Awaitable[Edition]]) -> Edition:
        """However many ask at the same time, it is read once."""
        under_way = self._under_way.get(key)
        if under_way is None:
            under_way = asyncio.ensure_future(read())
            self._under_way[key] = under_way
            under_way.add_done_callback(lambda done: self._finished(key, done))
        return await asyncio.shield(under_way)

    def _finished(self, key: Any, done: asyncio.Future[Edition]) -> None:
        del self._under_way[key]
        if not done.cancelled():
            done.exception()  # whoever waited has got it

    async def _read_now(self, namespace: str, definition: str, version: int | str) -> Edition:
        asked, changes = _now(), self.links.changes
        match version:
            case "ACTIVE":
                active = await self._definitions.active(namespace, definition)
                if active is None:
                    raise NotFound(
                        f"no active version of the definition {definition!r}",
                        remedy="publish and activate one",
                        namespace=namespace,
                    )
                edition = await self._edition_now(active.version, asked)
                edition = msgspec.structs.replace(edition, revision=active.revision)
                if edition.until is None or self.links.changes == changes:
                    _keep(self._active, (namespace, definition), edition, self._capacity)
                return edition
            case "SNAPSHOT":
                reference = Reference(FLOW, definition, "SNAPSHOT")
                number = await self.links.number(namespace, reference)
                draft = await self._draft(namespace, definition, number)
                edition = await self._edition_now(draft, asked, {reference.pin: number})
            case "LATEST":
                number = await self.links.number(namespace, Reference(FLOW, definition, "LATEST"))
                edition = await self._edition_now(await self._version(namespace, definition, number), asked)
                edition = msgspec.structs.replace(edition, until=asked + STALE_AFTER)
            case _:
                edition = await self._edition_now(await self._version(namespace, definition, int(version)), asked)
        if edition.until is not None and self.links.changes == changes:
            _keep(self._current, (namespace, definition, version), edition, self._capacity)
        return edition

    async def _edition_now(self, version: Version, asked: float, pins: Pins | None = None) -> Edition:
        key = (version.namespace, version.id, version.version)
        if pins is None:
            if (found := _look(self._editions, key)) is not None:
                return found
            if not self.links.uses_parts(version.kind, version.document):
                return await self._ready(self._editions, key, as_it_is(version))
        before = self._active.get(key[:2]) or self._current.get(key)
        if (
            pins is None
            and before is not None
            and before.pins is not None
            and before.version == version.version
            and await self.links.still_stand(version.namespace, before.uses, before.pins)
        ):
            return msgspec.structs.replace(before, revision=None, until=asked + STALE_AFTER)
        linked = await self.links.link_now(version, pins)
        if linked.pins is None:
            return await self._ready(self._editions, key, linked)
        edition = await self._ready(self._pinned, (*key, _sorted(linked.pins)), linked)
        return msgspec.structs.replace(edition, uses=linked.uses, until=asked + STALE_AFTER)

    async def _read_pinned(self, key: _Pinned, pins: dict[str, int]) -> Edition:
        namespace, definition, number, _ = key
        if number == DRAFT:
            reference = Reference(FLOW, definition, "SNAPSHOT")
            version = await self._draft(namespace, definition, pins.get(reference.pin, 0))
        else:
            version = await self._version(namespace, definition, number)
        if not pins and not self.links.uses_parts(version.kind, version.document):
            return await self._ready(self._editions, key[:3], as_it_is(version))
        linked = await self.links.link_pinned(version, pins)
        return await self._ready(self._pinned, key, linked)

    async def _version(self, namespace: str, definition: str, number: int) -> Version:
        found = await self._definitions.version(namespace, definition, number)
        if found is None:
            raise NotFound(f"the definition {definition!r} has no version {number}", namespace=namespace)
        return found

    async def _draft(self, namespace: str, definition: str, number: int) -> Version:
        found = await self.links.version(namespace, Reference(FLOW, definition, "SNAPSHOT"), number)
        return msgspec.structs.replace(found, id=definition, version=DRAFT)

    async def _ready(self, shelf: OrderedDict[_K, Edition], key: _K, linked: Linked) -> Edition:
        edition = shelf.get(key)
        if edition is None:
            compiler = self._compilers.get(linked.kind)
            if compiler is None:
                raise NotInstalled(
                    f"nothing here can run definitions of kind {linked.kind!r}",
                    kind="program",
                    name=linked.kind,
                    definition=linked.id,
                )
            kernel = await off_loop(linked.document, compiler, linked)
            edition = Edition(linked.id, linked.version, linked.hash, kernel, pins=linked.pins, uses=linked.uses)
        _keep(shelf, key, edition, self._capacity)
        return edition


def _now() -> float:
    return asyncio.get_running_loop().time()


def _sorted(pins: Pins | None) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(pins.items())) if pins else ()


def _look(shelf: OrderedDict[_K, Edition], key: _K) -> Edition | None:
    edition = shelf.get(key)
    if edition is not None:
        shelf.move_to_end(key)
    return edition


def _keep(shelf: OrderedDict[_K, Edition], key: _K, edition: Edition, capacity: int) -> None:
    shelf[key] = edition
    shelf.move_to_end(key)
    if len(shelf) > capacity:
        shelf.popitem(last=False)
