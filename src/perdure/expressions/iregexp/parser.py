"""From text to a tree, by the grammar of RFC 9485, section 4."""

from __future__ import annotations

from typing import Final, NoReturn

from perdure.errors import ExpressionLimit, ExpressionSyntax
from perdure.expressions.iregexp.characters import ANY, PROPERTIES, CharacterSet, categories
from perdure.expressions.iregexp.tree import Character, Edge, Part, choice, repeat, row
from perdure.expressions.limits import Limits
from perdure.expressions.places import placed

_ESCAPES: Final = {each: each for each in "()*+-.?[\\]^{|}"} | {"n": "\n", "r": "\r", "t": "\t"}
_COUNTS: Final = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_DIGITS: Final = frozenset("0123456789")
_LONGEST_COUNT = 9  # digits; more are refused without being read as a number
_REMEDIES: Final = {
    "d": "write [0-9], or \\p{Nd} for the digits of all scripts",
    "D": "write [^0-9]",
    "w": "write [A-Za-z0-9_], or \\p{L} for letters",
    "W": "write [^A-Za-z0-9_]",
    "s": "write [ \\t\\r\\n]",
    "S": "write [^ \\t\\r\\n]",
    "b": "there are no word boundaries",
    "$": "write [$]",
    "/": "a slash needs no backslash",
}


class Parser:
    """Reads one pattern."""

    def __init__(self, source: str, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.at = 0
        self.depth = 0

    def parse(self) -> Part:
        found = self._branches()
        if self.at < len(self.source):
            self._fail("this ) closes nothing", self.at, remedy="write \\) for the character itself")
        return found

    # -- structure --------------------------------------------------------------------------------------------------

    def _branches(self) -> Part:
        start = self.at
        branches = [self._branch()]
        while self._took("|"):
            branches.append(self._branch())
        return self._sized(choice(branches), start)

    def _branch(self) -> Part:
        start = self.at
        pieces: list[Part] = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            pieces.append(self._piece())
        return self._sized(row(pieces), start)

    def _piece(self) -> Part:
        start = self.at
        atom = self._atom()
        sign = self.source[self.at : self.at + 1]
        if sign in _COUNTS:
            self.at += 1
            least, most = _COUNTS[sign]
        elif sign == "{":
            least, most = self._counts()
        else:
            return atom
        if self.source[self.at : self.at + 1] in {"*", "+", "?", "{"}:
            self._fail("what is repeated already is repeated again", self.at, remedy="put it into brackets: (a+)?")
        return self._sized(repeat(atom, least, most), start)

    def _counts(self) -> tuple[int, int | None]:
        """`{2}`, `{2,}` or `{2,5}`"""
        start = self.at
        self.at += 1
        least = self._count()
        most: int | None = least
        if self._took(","):
            most = None if self.source.startswith("}", self.at) else self._count()
        if not self._took("}"):
            self._fail("this is not a count", start, self.at + 1, expected="{2}, {2,} or {2,5}")
        if most is not None and most < least:
            self._fail("the second count is less than the first", start, self.at)
        return least, most

    def _count(self) -> int:
        start = self.at
        while self.source[self.at : self.at + 1] in _DIGITS:
            self.at += 1
        if self.at == start:
            remedy = "write \\{ for the character itself" if self.source[start - 1] == "{" else None
            self._fail("a number is missing", start, expected="{2}, {2,} or {2,5}", remedy=remedy)
        if self.at - start > _LONGEST_COUNT:
            raise self._limit(f"a count has at most {_LONGEST_COUNT} digits", start)
        return int(self.source[start : self.at])

    def _atom(self) -> Part:
        start = self.at
        sign = self.source[start]
        match sign:
            case "(":
                return self._group()
            case "[":
                return Character(self._class())
            case "\\":
                return Character(self._escape())
            case ".":
                self.at += 1
                return Character(ANY)
            case "^" | "$":
                self.at += 1
                return Edge("^" if sign == "^" else "$")
            case "*" | "+" | "?":
                self._fail(f"{sign} repeats nothing", start, remedy=f"write \\{sign} for the character itself")
            case "{" | "}" | "]":
                self._fail(f"{sign} has no meaning here", start, remedy=f"write \\{sign} for the character itself")
            case _:
                pass
        self.at += 1
        return Character(CharacterSet.of(self._character(sign, start)))

    def _group(self) -> Part:
        start = self.at
        self.depth += 1
        if self.depth > self.limits.depth:
            raise self._limit(f"brackets are nested deeper than {self.limits.depth}", start)
        self.at += 1
        if self.source.startswith("?", self.at):
            self._fail("there are no special groups", self.at, remedy="(…) groups and does nothing else")
        found = self._branches()
        if not self._took(")"):
            self._fail("the bracket is not closed: a ) is missing", start)
        self.depth -= 1
        return found

    # -- characters -------------------------------------------------------------------------------------------------

    def _class(self) -> CharacterSet:
        """`[a-z\\p{Nd}_-]`, `[^…]`"""
        start = self.at
        self.at += 1
        negated = self._took("^")
        ranges: list[tuple[int, int]] = []
        found: set[str] = set()
        if self._took("-"):
            ranges.append((ord("-"), ord("-")))
        while not self.source.startswith("]", self.at):
            if self.at >= len(self.source):
                self._fail("the class is not closed: a ] is missing", start)
            if self.source.startswith("-]", self.at):
                ranges.append((ord("-"), ord("-")))
                self.at += 1
            elif self.source[self.at : self.at + 2] in {"\\p", "\\P"}:
                found |= self._property()
            else:
                ranges.append(self._range())
        if not ranges and not found:
            self._fail("the class is empty", start, self.at + 1, remedy="write \\[ for the character itself")
        self.at += 1
        return CharacterSet(tuple(ranges), frozenset(found), negated)

    def _range(self) -> tuple[int, int]:
        start = self.at
        low = high = self._member()
        if self.source.startswith("-", self.at) and not self.source.startswith("-]", self.at):
            self.at += 1
            if self.at >= len(self.source):
                self._fail("the class is not closed: a ] is missing", start)
            high = self._member()
            if high < low:
                self._fail("the range runs backwards", start, self.at)
        return low, high

    def _member(self) -> int:
        """One character of a class."""
        start = self.at
        sign = self.source[start]
        if sign == "\\":
            if self.source[start : start + 2] in {"\\p", "\\P"}:
                self._fail("a range ends with a character", start, start + 2)
            return self._escape().ranges[0][0]
        if sign in "[]-":
            remedy = "put it first or last, or write \\-" if sign == "-" else f"write \\{sign} for the character itself"
            self._fail(f"{sign} has no meaning here", start, remedy=remedy)
        self.at += 1
        return ord(self._character(sign, start))

    def _escape(self) -> CharacterSet:
        start = self.at
        sign = self.source[start + 1 : start + 2]
        if sign in {"p", "P"}:
            return CharacterSet((), self._property())
        if sign not in _ESCAPES:
            remedy = _REMEDIES.get(sign, "write \\\\ for a backslash")
            self._fail(f"\\{sign} is not an escape", start, start + 2, remedy=remedy)
        self.at += 2
        return CharacterSet.of(_ESCAPES[sign])

    def _property(self) -> frozenset[str]:
        """`\\p{Lu}`, `\\P{N}`"""
        start = self.at
        end = self.source.find("}", start)
        name = self.source[start + 3 : end] if end >= 0 and self.source.startswith("{", start + 2) else ""
        if name not in PROPERTIES:
            expected = "\\p{L}, \\p{Lu} or another category of Unicode"
            self._fail("there is no such category of characters", start, start + 2, expected=expected)
        self.at = end + 1
        return categories(name, negated=self.source[start + 1] == "P")

    # -- the rest ---------------------------------------------------------------------------------------------------

    def _character(self, sign: str, start: int) -> str:
        if "\ud800" <= sign <= "\udfff":
            # Shown without it, because an error must be able to leave the process as UTF-8.
            fault = ExpressionSyntax("half of a surrogate pair is not a character")
            raise placed(fault, self.source[:start], start, start)
        return sign

    def _took(self, sign: str) -> bool:
        if not self.source.startswith(sign, self.at):
            return False
        self.at += 1
        return True

    def _sized(self, part: Part, start: int) -> Part:
        if part.size > self.limits.pattern:
            message = f"the pattern speaks about more than {self.limits.pattern:,} characters"
            raise self._limit(f"{message} when its repetitions are counted out", start)
        return part

    def _limit(self, message: str, start: int) -> ExpressionLimit:
        return placed(ExpressionLimit(message), self.source, start, max(self.at, start + 1))

    def _fail(
        self,
        message: str,
        start: int,
        end: int | None = None,
        *,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> NoReturn:
        fault = ExpressionSyntax(message, expected=expected, remedy=remedy)
        raise placed(fault, self.source, start, start + 1 if end is None else end)
