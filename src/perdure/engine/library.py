"""From the name of a definition to the rules that run it.

Published versions never change, so a kernel is built once and kept. Which version is active does change; it is
remembered with the revision it was read at, and the store refuses a start that was decided on an outdated one. So
this cache may be stale without anything going wrong: on such a refusal, `forget` and ask again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec

from perdure.errors import NotFound, NotInstalled
from perdure.kernel.kernel import Kernel
from perdure.ports.definitions import Definitions, Version

MAX_VERSION = 2**31 - 1
"""What every store can look for."""
Compiler = Callable[[Version], Kernel]
_Key = tuple[str, str, int]
_K = TypeVar("_K")


class Edition(msgspec.Struct, frozen=True):
    """One published version, ready to run."""

    definition: str
    version: int
    hash: str
    kernel: Kernel
    revision: int | None = None
    """Where the active version was asked for: what the store is to check at the start of a run."""


class Library:
    def __init__(self, definitions: Definitions, compilers: Mapping[str, Compiler], capacity: int = 1_000) -> None:
        self._definitions = definitions
        self._compilers = compilers
        self._capacity = capacity
        self._editions: OrderedDict[_Key, Edition] = OrderedDict()
        self._active: OrderedDict[tuple[str, str], Edition] = OrderedDict()
        self._under_way: dict[_Key | tuple[str, str], asyncio.Future[Edition]] = {}

    def find(self, namespace: str, definition: str, version: int | None = None) -> Edition | None:
        """Without waiting, if it is at hand."""
        if version is None:
            return _look(self._active, (namespace, definition))
        return _look(self._editions, (namespace, definition, version))

    async def get(self, namespace: str, definition: str, version: int | None = None) -> Edition:
        """That version; without a number the active one. Raises NotFound, and what the compiler raises."""
        found = self.find(namespace, definition, version)
        if found is not None:
            return found
        if version is None:
            return await self._once((namespace, definition), lambda: self._read_active(namespace, definition))
        if not 1 <= version <= MAX_VERSION:
            raise NotFound(f"there is no version {version} of {definition!r}", namespace=namespace)
        return await self._once(
            (namespace, definition, version), lambda: self._read_version(namespace, definition, version)
        )

    def forget(self, namespace: str, definition: str) -> None:
        """Which version is active is to be asked anew."""
        self._active.pop((namespace, definition), None)

    def forget_parts(self, namespace: str) -> None:
        """A part that flows may use has changed."""

    async def _once(self, key: _Key | tuple[str, str], read: Callable[[], Awaitable[Edition]]) -> Edition:
        """However many ask at the same time, it is read once."""
        under_way = self._under_way.get(key)
        if under_way is None:
            under_way = asyncio.ensure_future(read())
            self._under_way[key] = under_way
            under_way.add_done_callback(lambda done: self._finished(key, done))
        return await asyncio.shield(under_way)

    def _finished(self, key: _Key | tuple[str, str], done: asyncio.Future[Edition]) -> None:
        del self._under_way[key]
        if not done.cancelled():
            done.exception()  # whoever waited has got it

    async def _read_active(self, namespace: str, definition: str) -> Edition:
        active = await self._definitions.active(namespace, definition)
        if active is None:
            raise NotFound(
                f"no active version of the definition {definition!r}",
                remedy="publish and activate one",
                namespace=namespace,
            )
        edition = self._edition(active.version)
        edition = msgspec.structs.replace(edition, revision=active.revision)
        _keep(self._active, (namespace, definition), edition, self._capacity)
        return edition

    async def _read_version(self, namespace: str, definition: str, version: int) -> Edition:
        found = await self._definitions.version(namespace, definition, version)
        if found is None:
            raise NotFound(f"the definition {definition!r} has no version {version}", namespace=namespace)
        return self._edition(found)

    def _edition(self, version: Version) -> Edition:
        key = (version.namespace, version.id, version.version)
        edition = self._editions.get(key)
        if edition is None:
            compiler = self._compilers.get(version.kind)
            if compiler is None:
                raise NotInstalled(
                    f"nothing here can run definitions of kind {version.kind!r}",
                    kind="program",
                    name=version.kind,
                    definition=version.id,
                )
            edition = Edition(version.id, version.version, version.hash, compiler(version))
        _keep(self._editions, key, edition, self._capacity)
        return edition


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
