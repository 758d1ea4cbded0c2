"""The characters of a query: blanks, names, numbers and text, by the grammar of RFC 9535."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from perdure.errors import ExpressionLimit, ExpressionSyntax
from perdure.expressions.limits import INTEGER_BITS, INTEGER_DIGITS, Limits
from perdure.expressions.places import placed

#: Blanks may stand between the parts of a query, never before or behind it.
_BLANKS: Final = frozenset(" \t\n\r")
#: Whole numbers in brackets are those that every JSON implementation can tell apart.
LARGEST: Final = 2**53 - 1

_NAME: Final = re.compile(r"[A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff][0-9A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff]*")
_WORD: Final = re.compile(r"[a-z][a-z0-9_]*")
_INTEGER: Final = re.compile(r"-?[0-9]+")
_NUMBER: Final = re.compile(r"(-?[0-9]+)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_PLAIN: Final = {quote: re.compile(rf"[^\x00-\x1f\\{quote}\ud800-\udfff]*") for quote in "'\""}
_HEX: Final = re.compile(r"\\u([0-9A-Fa-f]{4})")
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "/": "/", "\\": "\\"}


class Reader:
    """Reads characters, and knows where it is."""

    def __init__(self, source: str, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.at = 0
        self.depth = 0
        self.parts = 0

    # -- errors and limits ------------------------------------------------------------------------------------------

    def fail(
        self,
        message: str,
        start: int | None = None,
        end: int | None = None,
        *,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> NoReturn:
        start = self.at if start is None else start
        fault = ExpressionSyntax(message, expected=expected, remedy=remedy)
        raise placed(fault, self.source, start, max(start + 1, end or 0))

    def unexpected(self, expected: str, remedy: str | None = None) -> NoReturn:
        if self.at >= len(self.source):
            self.fail("the query ends too early", expected=expected, remedy=remedy)
        self.fail(f"{self.source[self.at]!r} is not expected here", expected=expected, remedy=remedy)

    def count(self, start: int) -> None:
        self.parts += 1
        if self.parts > self.limits.nodes:
            fault = ExpressionLimit(f"the query has more than {self.limits.nodes:,} parts")
            raise placed(fault, self.source, start, start + 1)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > self.limits.depth:
            fault = ExpressionLimit(f"the query is nested deeper than {self.limits.depth} levels")
            raise placed(fault, self.source, self.at, self.at + 1)

    # -- characters -------------------------------------------------------------------------------------------------

    def blanks(self) -> bool:
        """Goes past blanks; tells whether there were any."""
        start = self.at
        while self.source[self.at : self.at + 1] in _BLANKS:
            self.at += 1
        return self.at > start

    def sees(self, text: str) -> bool:
        return self.source.startswith(text, self.at)

    def took(self, text: str) -> bool:
        if not self.sees(text):
            return False
        self.at += len(text)
        return True

    def name(self) -> str | None:
        """`key` in `.key`"""
        return self._taken(_NAME)

    def word(self) -> str | None:
        """The name of a function, or true, false, null."""
        return self._taken(_WORD)

    def _taken(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.source, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    # -- numbers ----------------------------------------------------------------------------------------------------

    def integer(self) -> int | None:
        """An index, or a bound of a slice."""
        start = self.at
        text = self._taken(_INTEGER)
        if text is None:
            if self.sees("-"):
                self.fail("a number is missing behind the sign", expected="a whole number")
            return None
        if text == "-0":
            self.fail("-0 is not an index", start, self.at, expected="0")
        self._no_leading_zero(text, start)
        if len(text) > 17 or not -LARGEST <= int(text) <= LARGEST:
            expected = f"a whole number from {-LARGEST} to {LARGEST}"
            self.fail("the number is too large", start, self.at, expected=expected)
        return int(text)

    def number(self) -> int | float:
        """A number as JSON writes it."""
        start = self.at
        found = _NUMBER.match(self.source, start)
        if found is None:
            self.fail("a number is missing behind the sign", expected="a number")
        self.at = found.end()
        whole, fraction, exponent = found.groups()
        self._no_leading_zero(whole, start)
        if fraction is None and exponent is None:
            if len(whole) > INTEGER_DIGITS:
                fault = ExpressionLimit(f"an integer has at most {INTEGER_BITS:,} bits")
                raise placed(fault, self.source, start, self.at)
            return int(whole)
        value = float(found.group())
        if value - value != 0:  # true of the infinities only
            self.fail("the number is too large for a float", start, self.at)
        return value

    def _no_leading_zero(self, text: str, start: int) -> None:
        digits = text.removeprefix("-")
        if digits[0] == "0" and len(digits) > 1:
            self.fail("a number does not begin with 0", start, self.at)

    # -- text -------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """`'text'` or `"text"`"""
        start = self.at
        quote = self.source[start]
        pieces: list[str] = []
        self.at += 1
        while True:
            plain = self._taken(_PLAIN[quote])
            pieces.append(plain or "")
            if self.took(quote):
                return "".join(pieces)
            if self.at >= len(self.source):
                self.fail("the text is not closed: a quote is missing", start, self.at, expected=quote)
            pieces.append(self._escape(quote))

    def _escape(self, quote: str) -> str:
        start = self.at
        if not self.sees("\\"):
            code = f"U+{ord(self.source[start]):04X}"
            self.fail(f"{code} cannot stand in text", remedy=f"write \\u{ord(self.source[start]):04x}")
        sign = self.source[start + 1 : start + 2]
        if sign == "u":
            return self._unicode()
        if sign != quote and sign not in _ESCAPES:
            remedy = "this quote needs no backslash here" if sign and sign in "'\"" else "write \\\\ for a backslash"
            self.fail(f"\\{sign} is not an escape", start, start + 2, remedy=remedy)
        self.at += 2
        return _ESCAPES.get(sign, sign)

    def _unicode(self) -> str:
        """`\\u00e9`, or two of them for one character beyond U+FFFF."""
        start = self.at
        high = self._code()
        if high is None:
            self.fail("this is not an escape", start, start + 2, expected="four hexadecimal digits behind \\u")
        if not 0xD800 <= high <= 0xDFFF:
            return chr(high)
        low = self._code() if high < 0xDC00 else None
        if low is None or not 0xDC00 <= low <= 0xDFFF:
            self.fail("half of a surrogate pair is not a character", start, start + 6, expected="two \\u escapes")
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))

    def _code(self) -> int | None:
        found = _HEX.match(self.source, self.at)
        if found is None:
            return None
        self.at = found.end()
        return int(found[1], 16)
