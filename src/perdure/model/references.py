"""What a document uses that is stored apart from it: node definitions, scripts, look-ups.

A reference names a version, or says by a word which one is meant: the newest (`LATEST`), the one that is active
(`ACTIVE`) or the draft (`SNAPSHOT`). What a word stands for is found out when a run starts, and the run keeps it: that
is its pins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from perdure.model.values import Json

Word = Literal["LATEST", "ACTIVE", "SNAPSHOT"]
WORDS: tuple[Word, ...] = get_args(Word)
NODE, SCRIPT, LOOKUPS, FLOW = "node", "script", "lookups", "flow"
PART_KINDS = (NODE, SCRIPT, LOOKUPS)
BETWEEN = ":"
"""Between the kind of a part and its name; the id of a flow has none."""
DRAFTS = "draft"
"""Before the id of a series in which drafts are kept that runs have begun with."""


@dataclass(frozen=True, slots=True)
class Reference:
    kind: str
    """`node`, `script` or `lookups` (and `flow`, where a run of a definition's own draft is meant)."""
    id: str
    version: int | Word = "LATEST"
    pointer: str = field(default="", compare=False)
    """Where in the document it stands."""

    @property
    def part(self) -> str:
        """The id under which the part is stored."""
        return f"{self.kind}{BETWEEN}{self.id}"

    @property
    def stored(self) -> str:
        """The id of what is referred to in the store of definitions."""
        return self.id if self.kind == FLOW else self.part

    @property
    def series(self) -> str:
        """The id under which versions of it are found that a run has begun with."""
        return f"{DRAFTS}{BETWEEN}{self.part}" if self.version == "SNAPSHOT" else self.stored

    @property
    def pin(self) -> str:
        """The name under which a run keeps which version it began with."""
        return f"{self.part}@{self.version}"

    def at(self, version: int | Word) -> Reference:
        return Reference(self.kind, self.id, version, self.pointer)

    def __str__(self) -> str:
        return f"the look-ups {self.version}" if self.kind == LOOKUPS else f"the {self.kind} {self.id!r} {self.version}"


Parts: TypeAlias = Mapping[Reference, Json]
"""The content of what a document refers to."""

ALL_LOOKUPS = Reference(LOOKUPS, "all")
"""A namespace has one set of look-ups."""


def reference_in(value: Any, kind: str, pointer: str = "") -> Reference | None:
    """`{"ref": "name", "version": "LATEST"}`, where the version may be left out. None: it is none."""
    if not isinstance(value, dict) or not {"ref"} <= value.keys() <= {"ref", "version"}:
        return None
    ref, version = value["ref"], value.get("version", "LATEST")
    if not isinstance(ref, str) or not (version in WORDS or (type(version) is int and version > 0)):
        return None
    return Reference(kind, ref, version, pointer)
