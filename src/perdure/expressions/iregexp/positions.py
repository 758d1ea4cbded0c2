"""From a tree to its positions, after Glushkov: each place of a pattern, and which places can follow it.

Sets of places are whole numbers whose bits are the places, so that joining two sets is one operation. Place 0 stands
before the text. There are as many places as the pattern has characters once its repetitions are written out, which
the parser has limited; there are no steps without a character between them, and nothing to be closed over, but for the
edges of the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from perdure.expressions.iregexp.characters import Alphabet, CharacterSet
from perdure.expressions.iregexp.tree import Character, Choice, Edge, Part, Repeat, Row


class Span(NamedTuple):
    """What a part looks like from outside: where it can begin, where it can end, whether it can be empty."""

    first: int
    last: int
    empty: bool


_EMPTY = Span(0, 0, True)


def bits(of: int) -> Iterator[int]:
    while of:
        low = of & -of
        yield low.bit_length() - 1
        of ^= low


def by_fours(follow: list[int]) -> list[dict[str, int]]:
    """What can follow each choice of four neighbouring places, by the hexadecimal digit that spells the choice.

    Where hundreds of places are alive at once, taking four at a time is several times as fast as taking each.
    """
    tables = []
    for start in range(0, len(follow), 4):
        found = [0]
        for each in follow[start : start + 4]:
            found += [each | others for others in found]
        tables.append({f"{digit:x}": after for digit, after in enumerate(found)})
    return tables


class Positions:
    """The places of one pattern."""

    def __init__(self, tree: Part) -> None:
        self.follow: list[int] = [0]
        self._taken: defaultdict[CharacterSet, int] = defaultdict(int)
        self._edges = {"^": 0, "$": 0}
        whole = self._span(tree)
        self.follow[0] = whole.first
        #: The places at which the text may end.
        self.last = whole.last | whole.empty
        self.alphabet = Alphabet(self._taken.items())
        self._by_fours = by_fours(self.follow)

    def after(self, alive: int) -> int:
        """The places that can come next."""
        found = 0
        for table, digit in zip(self._by_fours, f"{alive:x}"[::-1], strict=False):
            if digit != "0":
                found |= table[digit]
        return found

    def at_edge(self, alive: int, edges: str) -> int:
        """The same places, and those that are reached through `^` or `$`, which take no character."""
        mask = 0
        for edge in edges:
            mask |= self._edges[edge]
        fresh = alive if mask else 0
        while fresh:
            fresh = self.after(fresh) & mask & ~alive
            alive |= fresh
        return alive

    def _place(self) -> int:
        self.follow.append(0)
        return 1 << (len(self.follow) - 1)

    def _span(self, part: Part) -> Span:
        match part:
            case Character():
                bit = self._place()
                self._taken[part.characters] |= bit
                return Span(bit, bit, False)
            case Edge():
                bit = self._place()
                self._edges[part.of] |= bit
                return Span(bit, bit, False)
            case Row():
                tail = _EMPTY
                for each in reversed(part.parts):
                    tail = self._joined(self._span(each), tail)
                return tail
            case Choice():
                first = last = 0
                empty = part.empty
                for each in part.parts:
                    span = self._span(each)
                    first, last, empty = first | span.first, last | span.last, empty or span.empty
                return Span(first, last, empty)
            case Repeat():
                return self._repeated(part)

    def _repeated(self, repeat: Repeat) -> Span:
        """From the back: each further copy of what is optional leads into the copies behind it."""
        tail = _EMPTY
        least = repeat.least
        if repeat.most is None:
            span = self._span(repeat.part)
            self._link(span.last, span.first)
            tail = span._replace(empty=span.empty or least == 0)
            least -= 1
        else:
            for _ in range(repeat.most - least):
                tail = self._joined(self._span(repeat.part), tail)._replace(empty=True)
        for _ in range(least):
            tail = self._joined(self._span(repeat.part), tail)
        return tail

    def _joined(self, left: Span, right: Span) -> Span:
        self._link(left.last, right.first)
        return Span(
            left.first | (right.first if left.empty else 0),
            right.last | (left.last if right.empty else 0),
            left.empty and right.empty,
        )

    def _link(self, last: int, first: int) -> None:
        for each in bits(last):
            self.follow[each] |= first
