"""What a pattern consists of. `size` is how many places of a text a part speaks about, repetitions counted out.

A part of size 0 means the empty text and nothing else, and is left out wherever it stands. So each part that is left
has a place of its own, and what a pattern costs is bounded by its size however many brackets it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from perdure.expressions.iregexp.characters import CharacterSet


@dataclass(frozen=True, slots=True)
class Character:
    """One character of a set."""

    characters: CharacterSet
    size: int = 1


@dataclass(frozen=True, slots=True)
class Edge:
    """`^` or `$`: takes no character, and is there only at that edge of the text."""

    of: Literal["^", "$"]
    size: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One part after the other."""

    parts: tuple[Part, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Choice:
    """One part or another; `empty` if nothing at all will do as well."""

    parts: tuple[Part, ...]
    empty: bool
    size: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part several times; `most` is None where there is no end to it."""

    part: Part
    least: int
    most: int | None
    size: int


Part = Character | Edge | Row | Choice | Repeat

NOTHING = Row((), 0)


def row(parts: Sequence[Part]) -> Part:
    kept = tuple(part for part in parts if part.size)
    return kept[0] if len(kept) == 1 else Row(kept, sum(part.size for part in kept))


def choice(parts: Sequence[Part]) -> Part:
    kept = tuple(part for part in parts if part.size)
    if len(parts) == 1:
        return parts[0]
    return Choice(kept, len(kept) < len(parts), sum(part.size for part in kept)) if kept else NOTHING


def repeat(part: Part, least: int, most: int | None) -> Part:
    copies = max(least, 1) if most is None else most
    return Repeat(part, least, most, part.size * copies) if part.size and copies else NOTHING
