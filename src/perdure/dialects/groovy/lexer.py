"""From text to tokens.

Line breaks end statements in Groovy, except inside ( ) and [ ]; the lexer knows in which brackets it is and leaves
those breaks out. What has no meaning is noted and skipped, so that the rest of the script is still looked at. Every
pattern here matches a piece of text in one pass from left to right, so the time is proportional to the length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, NamedTuple

from perdure.dialects.groovy import limits
from perdure.dialects.groovy.numerals import NUMBER, read_number
from perdure.dialects.groovy.refusals import Refusals
from perdure.dialects.groovy.strings import StringReader
from perdure.dialects.groovy.tokens import WORDS, Embedded, Kind, Token

_SPACE: Final = re.compile(r"[ \t\f\v\u00a0\ufeff]+|\\\r?\n")
_COMMENT: Final = re.compile(r"//[^\r\n]*")
_NAME: Final = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_OPERATOR: Final = re.compile(
    r"""\.\.<|\.\.|<=>|===|!==|==~|\*\*=|\*\*|<<=|<<|\?\.|\?:|\?=|\*\.|\.&|\.@|::|->
      |==|=~|!=|<=|>=|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=
      |!instanceof\b|!in\b
      |[-+*/%<>()\[\]{},:;.?!=&|^~@]""",
    re.VERBOSE,
)
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}
_CLOSING: Final = frozenset(")]}")


class Opened(NamedTuple):
    """A bracket that waits for its partner."""

    bracket: str
    line: int
    column: int


def tokenize(source: str, refusals: Refusals) -> list[Token] | None:
    """The tokens, ended by an `end` token; None if the brackets do not match, since then nothing is where it seems."""
    lexer = Lexer(source, refusals)
    tokens, _ = lexer.scan(0, embedded=False, depth=0)
    return tokens if lexer.balanced else None


class Lexer:
    def __init__(self, source: str, refusals: Refusals) -> None:
        self.source = source
        self.refusals = refusals
        self.balanced = True
        self.gave_up = False
        """What follows would be taken for what it is not, so nothing is said about it."""
        self._strings = StringReader(self)
        self._starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", source))]

    def at(self, kind: Kind, value: object, start: int, end: int) -> Token:
        line = bisect_right(self._starts, start)
        return Token(kind, value, line, start - self._starts[line - 1] + 1, start, end)

    def place(self, offset: int) -> Token:
        """Something to point at."""
        return self.at("op", "", offset, offset)

    def scan(self, at: int, *, embedded: bool, depth: int) -> tuple[list[Token], int]:
        """The tokens from here to the end, or to the `}` that closes `${`; and where that is."""
        tokens: list[Token] = []
        opened: list[Opened] = []
        while at < len(self.source):
            if embedded and not opened and self.source[at] == "}":
                tokens.append(self.at("end", "}", at, at))
                return tokens, at + 1
            at = self._step(at, tokens, opened, depth)
        if embedded or opened:
            self.balanced = False
        if not self.gave_up:
            if embedded:
                self.refusals.syntax(self.place(at), "`${` is not closed: a } is missing")
            for bracket in opened:
                told = f"`{bracket.bracket}` is not closed: a {_OPENING[bracket.bracket]} is missing"
                self.refusals.syntax(bracket, told)
        tokens.append(self.at("end", None, at, at))
        return tokens, at

    def _step(self, at: int, tokens: list[Token], opened: list[Opened], depth: int) -> int:
        """One piece of text further."""
        source = self.source
        if found := _SPACE.match(source, at):
            return found.end()
        if source[at] in "\r\n":
            if not (opened and opened[-1].bracket in "(["):
                tokens.append(self.at("newline", "\n", at, at + 1))
            return at + 2 if source.startswith("\r\n", at) else at + 1
        if found := _COMMENT.match(source, at):
            return found.end()
        if source.startswith("/*", at):
            return self._comment(at)
        if found := NUMBER.match(source, at):
            return self._number(found, tokens)
        if found := _NAME.match(source, at):
            name = found.group()
            tokens.append(self.at("word" if name in WORDS else "name", name, at, found.end()))
            return found.end()
        if source[at] in "'\"" or (source[at] == "/" and not ends_a_value(tokens)):
            return self._text(at, tokens, depth)
        if found := _OPERATOR.match(source, at):
            self._operator(found, tokens, opened)
            return found.end()
        return self._strange(at)

    def _comment(self, at: int) -> int:
        end = self.source.find("*/", at + 2)
        if end < 0:
            self.refusals.syntax(self.place(at), "the comment is not closed: */ is missing")
            return len(self.source)
        return end + 2

    def _number(self, found: re.Match[str], tokens: list[Token]) -> int:
        token = self.at("number", None, found.start(), found.end())
        if following := _NAME.match(self.source, found.end()):
            self.refusals.syntax(token, "this is not a number", "numbers are written 12, 12L, 1.5, 1.5d or 1_000")
            return following.end()
        tokens.append(token._replace(value=read_number(found.group(), token, self.refusals)))
        return found.end()

    def _text(self, at: int, tokens: list[Token], depth: int) -> int:
        if depth > limits.INTERPOLATION_DEPTH:
            told = f"strings in strings, more than {limits.INTERPOLATION_DEPTH} deep"
            self.refusals.limit(self.place(at), told, "give the inner string a name of its own with def")
            self.balanced, self.gave_up = False, True
            return len(self.source)
        parts, end = self._strings.read(at, depth)
        tokens.append(self.at("text", parts, at, end))
        return end

    def _operator(self, found: re.Match[str], tokens: list[Token], opened: list[Opened]) -> None:
        token = self.at("op", found.group(), found.start(), found.end())
        if token.value in _OPENING:
            opened.append(Opened(token.value, token.line, token.column))
        elif token.value in _CLOSING:
            if not opened or _OPENING[opened[-1].bracket] != token.value:
                self._mismatch(token, opened)
                return
            opened.pop()
        elif token.value == "?" and self._is_safe_index(found.end(), tokens):
            token = token._replace(value="?[")  # the [ itself follows as the next token
        tokens.append(token)

    def _is_safe_index(self, end: int, tokens: list[Token]) -> bool:
        """`list?[0]`: both touch. `a ? [1] : [2]` is a choice."""
        return bool(self.source.startswith("[", end) and tokens and tokens[-1].end == end - 1 and ends_a_value(tokens))

    def _mismatch(self, token: Token, opened: list[Opened]) -> None:
        self.balanced = False
        if opened:
            open_one = opened.pop()
            where = f"{_OPENING[open_one.bracket]} is expected, for the `{open_one.bracket}` of line {open_one.line}"
            self.refusals.syntax(token, f"`{token.value}` does not fit: {where}")
        else:
            self.refusals.syntax(token, f"`{token.value}` closes nothing")

    def _strange(self, at: int) -> int:
        character = self.source[at]
        name = repr(character) if character.isprintable() else f"U+{ord(character):04X}"
        self.refusals.syntax(self.place(at), f"{name} has no meaning here")
        end = at + 1
        while end < len(self.source) and self.source[end] == character:  # a row of them is one mistake
            end += 1
        return end

    def path(self, at: int) -> tuple[Embedded, int]:
        """`$a.b.c` inside a string: a name and the properties that follow it. `at` is where the name begins."""
        tokens: list[Token] = []
        while found := _PATH_NAME.match(self.source, at):
            name = found.group()
            tokens.append(self.at("word" if name in WORDS and not tokens else "name", name, at, found.end()))
            at = found.end()
            if not (self.source.startswith(".", at) and _PATH_NAME.match(self.source, at + 1)):
                break
            tokens.append(self.at("op", ".", at, at + 1))
            at += 1
        tokens.append(self.at("end", None, at, at))
        return Embedded(tokens), at


_PATH_NAME: Final = re.compile(r"[^\W\d]\w*")
"""Inside a string a $ begins the next value, so it is no part of a name."""


def ends_a_value(tokens: list[Token]) -> bool:
    """Whether a `/` after these divides. Otherwise it begins a string."""
    if not tokens:
        return False
    last = tokens[-1]
    match last.kind:
        case "name" | "number" | "text":
            return True
        case "word":
            return last.value in {"true", "false", "null", "this", "super"}
        case "op":
            return last.value in {")", "]", "}"}
        case _:
            return False
