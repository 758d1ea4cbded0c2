"""Named documents: one mutable draft, immutable numbered versions, and which version is active.

Flows and the parts that they use (`script:greeting`, `node:charge`, `lookups:all`) are kept alike and apart: before a
part's name stands its kind and a colon, which no flow has in its id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from perdure.errors import Conflict
from perdure.model.references import BETWEEN, Reference
from perdure.model.values import Json


class Draft(msgspec.Struct, frozen=True):
    namespace: str
    id: str
    kind: str
    document: Json
    etag: str
    updated_at: int


class Version(msgspec.Struct, frozen=True):
    namespace: str
    id: str
    kind: str
    version: int
    hash: str
    document: Json
    note: str | None
    created_at: int


class Linked(Version, frozen=True):
    """A version whose document is complete."""

    pins: dict[str, int] | None = None
    """None: it uses nothing that could ever be another version."""
    uses: tuple[Reference, ...] = ()
    """What the pins are about."""
    lookups: Mapping[str, Any] | None = None
    is_new: bool = False
    """Put together for runs that begin: nobody has checked yet that these parts go together."""


def as_it_is(version: Version) -> Linked:
    return Linked(**{name: getattr(version, name) for name in Version.__struct_fields__})


class Summary(msgspec.Struct, frozen=True):
    id: str
    kind: str
    name: str | None
    latest: int | None
    active: int | None
    has_draft: bool
    updated_at: int


class Active(msgspec.Struct, frozen=True):
    version: Version
    revision: int
    """Grows with each activation of the definition."""


class Definitions(Protocol):
    async def save_draft(self, namespace: str, id: str, kind: str, document: Json, if_etag: str | None = None) -> Draft:
        """Raises DraftChanged if `if_etag` is given and is not the draft's ('' = there must be no draft)."""
        ...

    async def draft(self, namespace: str, id: str) -> Draft | None: ...

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
        """The next version; if the newest version has the same hash, that one. Raises Conflict if `if_newest` is given
        and another version is the newest (0: there must be none)."""
        ...

    async def activate(self, namespace: str, id: str, version: int) -> Active:
        """Raises NotFound for a version that does not exist."""
        ...

    async def version(self, namespace: str, id: str, version: int | None = None) -> Version | None:
        """That version; without a number the newest."""
        ...

    async def active(self, namespace: str, id: str) -> Active | None: ...

    async def versions(self, namespace: str, id: str) -> Sequence[Version]:
        """In order of their numbers (2 before 10)."""
        ...

    async def list(
        self, namespace: str, after: str = "", limit: int = 100, kind: str | None = None
    ) -> Sequence[Summary]:
        """In order of ids, those greater than `after`: flows; or the parts whose ids begin with `kind` and a colon."""
        ...


class Linking(Protocol):
    async def link_now(self, version: Version) -> Linked:
        """With the parts that it uses, as they are at this moment. Raises NotFound."""
        ...


def span(after: str, kind: str | None) -> tuple[str, str | None]:
    """Between which two ids those lie that `list` is asked for; None: flows, wherever they end."""
    if kind is None:
        return after, None
    return max(after, f"{kind}{BETWEEN}"), f"{kind}{chr(ord(BETWEEN) + 1)}"


def newer(id: str, newest: int) -> Conflict:
    return Conflict(f"the newest version of {id} is {newest}", remedy="read it, and decide again", newest=newest)
