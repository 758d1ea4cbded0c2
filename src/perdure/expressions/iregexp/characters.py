"""Which characters one place of a pattern takes, and the alphabet that all places of a pattern share."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_CATEGORIES: Final = (
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
    "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
)  # fmt: skip
#: What may stand in \p{…}: a category, or the letter of a group of them. Halves of surrogate pairs are no characters.
PROPERTIES: Final = frozenset(_CATEGORIES) - {"Cs"} | frozenset("LMNPZSC")


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """Ranges (both ends included) and categories, or everything but these."""

    ranges: tuple[tuple[int, int], ...]
    categories: frozenset[str] = frozenset()
    negated: bool = False

    @staticmethod
    def of(character: str) -> CharacterSet:
        return CharacterSet(((ord(character), ord(character)),))


def categories(name: str, *, negated: bool) -> frozenset[str]:
    """The two-letter categories that `\\p{name}` means, or that `\\P{name}` means."""
    return frozenset(each for each in _CATEGORIES if each.startswith(name) is not negated)


#: `.` is everything but the ends of lines.
ANY: Final = CharacterSet(((10, 10), (13, 13)), negated=True)


class Alphabet:
    """From a character to the places of a pattern that take it, as a number whose bits are the places.

    The ranges of all sets are cut at all their ends, so that one look-up finds every place at once. It does not matter
    how many sets there are: a pattern of a thousand classes reads a character as fast as a pattern of one.
    """

    def __init__(self, places: Iterable[tuple[CharacterSet, int]]) -> None:
        changes: defaultdict[int, int] = defaultdict(int)
        self._by_category: defaultdict[str, int] = defaultdict(int)
        self._negated = 0
        for characters, bits in places:
            for low, high in _apart(characters.ranges):
                changes[low] ^= bits
                changes[high + 1] ^= bits
            for category in characters.categories:
                self._by_category[category] |= bits
            if characters.negated:
                self._negated |= bits
        self._starts = sorted(changes)
        self._by_range = [0]
        for start in self._starts:
            self._by_range.append(self._by_range[-1] ^ changes[start])

    def places(self, character: str) -> int:
        found = self._by_range[bisect_right(self._starts, ord(character))]
        if self._by_category:
            found |= self._by_category.get(unicodedata.category(character), 0)
        return found ^ self._negated


def _apart(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same characters in ranges that neither meet nor overlap: each end then switches its set on or off."""
    apart: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if apart and low <= apart[-1][1] + 1:
            apart[-1] = (apart[-1][0], max(high, apart[-1][1]))
        else:
            apart.append((low, high))
    return apart
