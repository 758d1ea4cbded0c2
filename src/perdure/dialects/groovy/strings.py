"""String literals: '…', "…", '''…''', \"\"\"…\"\"\" and /…/, with escapes and interpolation.

The value of a string token is the list of its parts: plain text, and `Embedded` tokens for `${…}` and `$a.b`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from perdure.dialects.groovy.tokens import Embedded

if TYPE_CHECKING:
    from perdure.dialects.groovy.lexer import Lexer

_PLAIN: Final = {
    "'": re.compile(r"[^'\\\r\n]+"),
    "'''": re.compile(r"[^'\\]+"),
    '"': re.compile(r'[^"\\$\r\n]+'),
    '"""': re.compile(r'[^"\\$]+'),
    "/": re.compile(r"[^/\\$]+"),
}
"""The longest piece in which nothing can happen."""

_ESCAPE: Final = re.compile(r"\\(?:u+([0-9a-fA-F]{4})|([0-3]?[0-7]{1,2})|(\r?\n)|([btnfr\\'\"$]))")
_ESCAPES: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "\\": "\\", "'": "'", '"': '"', "$": "$"}
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF: Final = re.compile("[\ud800-\udfff]")
_NAME_BEGINS: Final = re.compile(r"[^\W\d]")


class StringReader:
    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer

    def read(self, start: int, depth: int) -> tuple[list[str | Embedded], int]:
        """The parts of the string that begins here, and where it ends."""
        source = self._lexer.source
        quote = source[start]
        if quote != "/" and source.startswith(quote * 3, start):
            quote *= 3
        pieces: list[str] = []
        parts: list[str | Embedded] = []
        at = start + len(quote)
        while at < len(source):
            if source.startswith(quote, at):
                self._close(pieces, parts, start)
                return parts, at + len(quote)
            if found := _PLAIN[quote].match(source, at):
                pieces.append(found.group().replace("\r\n", "\n").replace("\r", "\n"))
                at = found.end()
            elif source[at] == "\\":
                at = self._escape(at, quote, pieces)
            elif source[at] == "$":
                self._close(pieces, parts, start)
                at = self._dollar(at, quote, pieces, parts, depth)
            elif source[at] in "\r\n":
                break
            else:  # one or two quotes inside a string of three
                pieces.append(source[at])
                at += 1
        if not self._lexer.gave_up:
            self._lexer.refusals.syntax(self._lexer.place(start), f"the string is not closed: {quote} is missing")
        self._close(pieces, parts, start)
        return parts, at

    def _close(self, pieces: list[str], parts: list[str | Embedded], start: int) -> None:
        """What has been read so far becomes one part."""
        text = _PAIR.sub(_joined, "".join(pieces))
        pieces.clear()
        if _HALF.search(text):
            self._lexer.refusals.syntax(self._lexer.place(start), "half of a surrogate pair is not a character")
            text = _HALF.sub("\ufffd", text)
        if text:
            parts.append(text)

    def _escape(self, at: int, quote: str, pieces: list[str]) -> int:
        source = self._lexer.source
        if quote == "/":  # only the slash itself can be escaped; a backslash is a backslash
            slash = source.startswith("\\/", at)
            pieces.append("/" if slash else "\\")
            return at + 2 if slash else at + 1
        found = _ESCAPE.match(source, at)
        if found is None:
            told = f"`{source[at : at + 2]}` is not an escape"
            self._lexer.refusals.syntax(self._lexer.place(at), told, "write \\\\ for a backslash")
            return at + 2
        code, octal, line_break, letter = found.groups()
        if code:
            pieces.append(chr(int(code, 16)))
        elif octal:
            pieces.append(chr(int(octal, 8)))
        elif not line_break:
            pieces.append(_ESCAPES[letter])
        return found.end()

    def _dollar(self, at: int, quote: str, pieces: list[str], parts: list[str | Embedded], depth: int) -> int:
        lexer = self._lexer
        if lexer.source.startswith("{", at + 1):
            tokens, end = lexer.scan(at + 2, embedded=True, depth=depth + 1)
            parts.append(Embedded(tokens))
            return end
        if _NAME_BEGINS.match(lexer.source, at + 1):
            embedded, end = lexer.path(at + 1)
            parts.append(embedded)
            return end
        if quote != "/":
            lexer.refusals.syntax(lexer.place(at), "a $ in a string in double quotes begins a value", "write \\$")
        pieces.append("$")
        return at + 1


def _joined(pair: re.Match[str]) -> str:
    """Two \\u escapes that are one character."""
    high, low = map(ord, pair.group())
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
