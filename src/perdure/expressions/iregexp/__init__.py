"""Regular expressions as RFC 9485 (I-Regexp) has them, matched in time linear in the text.

    compile_iregexp("[A-Z]{2}-[0-9]{4,6}").match("AB-12345")     # the whole text
    compile_iregexp("(a+)+b").search("a" * 100_000)              # some part of it; this one takes milliseconds

Why not Python's `re`: it tries one way after the other, and a pattern of eight characters can keep it busy for years.
Here all ways are followed at once, so a character costs at most one step for each place of the pattern, and that is
paid for before it is done. There are no groups to refer back to, no greediness and no look-around: a pattern says
which texts it means, and the answer is yes or no.

One thing differs from the letter of the RFC, whose grammar takes `^` and `$` for ordinary characters: they mean the
beginning and the end of the text here, as in the compliance suite of JSONPath and as in every pattern that people
paste. The characters themselves are written `\\^` and `[$]`.

    characters    which characters a part of a pattern takes
    tree, parser  text to a tree
    positions     a tree to its positions: which place of the pattern can follow which
    matching      walking over a text, with the states that are met kept for the next one
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from perdure.expressions.iregexp.matching import Machine
from perdure.expressions.iregexp.parser import Parser
from perdure.expressions.iregexp.positions import Positions
from perdure.expressions.limits import DEFAULT_LIMITS, Limits, Meter
from perdure.expressions.sources import readable

CACHE_SIZE: Final = 128

__all__ = ["IRegexp", "compile_iregexp"]


class IRegexp:
    """A compiled pattern. Made by `compile_iregexp`; safe to share between threads.

    Both methods cost the same for the same text, whatever was matched before. Without a meter, each call has the budget
    of one expression.
    """

    __slots__ = ("_limits", "_search", "_whole", "size", "source")

    source: str
    #: How many places of a text the pattern speaks about, repetitions counted out.
    size: int

    def __init__(self, source: str, positions: Positions, limits: Limits) -> None:
        self.source = source
        self.size = len(positions.follow) - 1
        self._whole = Machine(positions, anywhere=False)
        self._search = Machine(positions, anywhere=True)
        self._limits = limits

    def match(self, text: str, *, meter: Meter | None = None) -> bool:
        """Whether the pattern means the whole text."""
        return self._whole.accepts(text, self._limits.meter() if meter is None else meter)

    def search(self, text: str, *, meter: Meter | None = None) -> bool:
        """Whether the pattern means some part of the text, be it an empty one."""
        return self._search.accepts(text, self._limits.meter() if meter is None else meter)

    def __repr__(self) -> str:
        return f"IRegexp({self.source!r})"


def compile_iregexp(source: str, *, limits: Limits = DEFAULT_LIMITS) -> IRegexp:
    """The pattern that `source` spells; the last 128 are kept."""
    readable(source, "regular expression", limits)
    return _compiled(source, limits)


@lru_cache(maxsize=CACHE_SIZE)
def _compiled(source: str, limits: Limits) -> IRegexp:
    tree = Parser(source, limits).parse()
    return IRegexp(source, Positions(tree), limits)
