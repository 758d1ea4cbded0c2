"""Look-ups of a namespace: set, changed, imported. Each change is a new version; runs that have begun keep theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from perdure.dialects.properties import parse_properties
from perdure.engine.library import Library
from perdure.errors import Conflict, InvalidInput, NotFound, TooMuch
from perdure.model.canonical import canonical
from perdure.model.lookups import MAX_KEY, MAX_KEYS
from perdure.model.problems import pointed
from perdure.model.references import ALL_LOOKUPS, LOOKUPS
from perdure.model.values import check_json, check_name, decode_json, digest, encode_json
from perdure.ports.definitions import Definitions, Version

PREFIX = "global."
"""Of keys that are look-ups, in a file of properties."""
LABEL = "version"
_TRIES = 16


class Lookups(msgspec.Struct, frozen=True):
    version: int
    """0: nobody has set any yet."""
    values: dict[str, Any]
    label: str | None = None
    """What whoever set them calls this state of them."""
    at: int | None = None


class LookupService:
    def __init__(self, definitions: Definitions, library: Library) -> None:
        self._definitions = definitions
        self._library = library

    async def get(self, namespace: str, version: int | None = None) -> Lookups:
        """The newest, or those of a version."""
        found = await self._definitions.version(namespace, ALL_LOOKUPS.part, version)
        if found is None:
            if version is not None:
                raise NotFound(f"there is no version {version} of the look-ups", namespace=namespace)
            return Lookups(0, {})
        return _of(found)

    async def versions(self, namespace: str) -> Sequence[Lookups]:
        return [_of(each) for each in await self._definitions.versions(namespace, ALL_LOOKUPS.part)]

    async def put(self, namespace: str, values: dict[str, Any], *, label: str | None = None) -> Lookups:
        """These and no others. The same again is the same version."""
        return await self._publish(namespace, values, label, None)

    async def patch(self, namespace: str, changes: dict[str, Any], *, label: str | None = None) -> Lookups:
        """These are set, those that are null are removed, all others stay."""
        check_json(changes, "/values")
        if not isinstance(changes, dict):
            raise InvalidInput("look-ups are an object", pointer="/values", expected="an object")
        for _ in range(_TRIES):
            before = await self.get(namespace)
            values = {key: value for key, value in {**before.values, **changes}.items() if value is not None}
            try:
                return await self._publish(namespace, values, before.label if label is None else label, before.version)
            except Conflict:  # somebody else has changed others meanwhile
                continue
        raise Conflict("the look-ups change faster than they can be changed", remedy="try again")

    async def _publish(self, namespace: str, values: Any, label: str | None, if_newest: int | None) -> Lookups:
        _check(values)
        if label is not None:
            check_name(label, "/label")
        document = decode_json(encode_json({"values": values, "label": label}))
        hash = digest(canonical(document))
        part = ALL_LOOKUPS.part
        version = await self._definitions.publish(namespace, part, LOOKUPS, document, hash, label, if_newest)
        self._library.forget_parts(namespace)
        return _of(version)

    async def import_properties(self, namespace: str, text: str, *, prefix: str = PREFIX) -> Lookups:
        """From a file of Java properties: keys that begin with `prefix`, without it. Its `version` is the label."""
        found = parse_properties(text)
        values = {key.removeprefix(prefix): value for key, value in found.items() if key.startswith(prefix)}
        if not values:  # more likely the wrong file than the wish to have no look-ups at all
            raise InvalidInput(
                f"none of the {len(found)} keys of the file begins with {prefix!r}",
                pointer="/text",
                expected=f"{prefix}some.key=value",
                remedy="name the prefix that its keys have, or remove all look-ups with an empty set",
            )
        return await self.put(namespace, values, label=found.get(LABEL))


def _check(values: Any) -> None:
    check_json(values, "/values")
    if not isinstance(values, dict):
        raise InvalidInput("look-ups are an object", pointer="/values", expected="an object")
    if len(values) > MAX_KEYS:
        raise TooMuch(f"{len(values)} look-ups", pointer="/values", limit=MAX_KEYS, expected=f"at most {MAX_KEYS} keys")
    for key in values:
        if not key or len(key) > MAX_KEY:
            raise InvalidInput(
                "the key of a look-up is empty or too long",
                pointer=pointed("/values", key),
                expected=f"1 to {MAX_KEY} characters",
            )


def _of(version: Version) -> Lookups:
    return Lookups(version.version, version.document["values"], version.document.get("label"), version.created_at)
