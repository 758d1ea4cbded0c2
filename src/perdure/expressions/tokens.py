"""From text to tokens.

The language has its own tokens rather than Python's because people paste `&&`, `||`, `!`, `===`, `??`, `?.`, `?:` and
`a ? b : c`, because a name is a JSON key exactly as it is written (Python would turn a full-width `os` into `os`), and
because every token keeps its place in the original text.

`scan` also finds the end of a placeholder: it stops at the first `}` that closes nothing, so braces and quotes inside
an expression need no escape.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, NamedTuple

from perdure.errors import ExpressionLimit, ExpressionSyntax
from perdure.expressions.limits import INTEGER_BITS, INTEGER_DIGITS, Limits
from perdure.expressions.places import placed

Kind = Literal["number", "text", "name", "op", "end"]


class Token(NamedTuple):
    kind: Kind
    value: Any  # the number, the unescaped text, the name or the operator; None at the end
    start: int
    end: int


_PIECE: Final = re.compile(
    r"""(?P<space>[\s]+)
      | (?P<number>[0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)? | \.[0-9]+(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[^\W0-9]\w*)
      | (?P<text>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
      | (?P<op>\$\{ | ===|!==|=~|!~|\*\*|//|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?![0-9])|\?: | [-+*/%<>()\[\]{},:.?!=])""",
    re.VERBOSE | re.DOTALL,
)
_DIGITS: Final = re.compile(r"[0-9]+")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF: Final = re.compile("[\ud800-\udfff]")
_ESCAPES: Final = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0",
    "\\": "\\", "'": "'", '"': '"', "/": "/", "$": "$", "\n": "",
}  # fmt: skip

#: Words that stand between or before values, so that a dot after them begins a number.
OPERATOR_WORDS: Final = frozenset({"and", "or", "not", "in", "is", "if", "else", "for"})

_HINTS: Final = {
    "`": "text is written in single or double quotes",
    ";": "an expression is one value; there are no statements",
    "|": "for «or» write `or` or `||`; functions are called as f(x) or x.f()",
    "&": "for «and» write `and` or `&&`",
    "~": "bit operators are not available",
    "^": "bit operators are not available; a power is written **",
    "#": "there are no comments in expressions",
    "@": "`@` has no meaning here",
    "\\": "a backslash belongs inside quotes",
}


def scan(source: str, limits: Limits, start: int = 0, *, embedded: bool = False) -> tuple[list[Token], int]:
    """The tokens from `start`, ended by an `end` token, and the place where they end.

    `embedded` means that the expression stands in a longer text and ends before the `}` that closes it.
    """
    tokens: list[Token] = []
    braces = 0
    at = start
    while at < len(source):
        if at - start > limits.source:
            message = f"the expression is longer than {limits.source:,} characters"
            raise placed(ExpressionLimit(message), source, start, start + 1)
        found = _piece(source, at, tokens)
        kind, text = found.lastgroup, found.group()
        at = found.end()
        match kind:
            case "space":
                continue
            case "number":
                tokens.append(Token("number", _number(source, found.start(), text), found.start(), at))
            case "name":
                tokens.append(Token("name", _name(source, found.start(), text), found.start(), at))
            case "text":
                tokens.append(Token("text", _unescaped(source, found.start(), text), found.start(), at))
            case _:
                if text in {"{", "${"}:
                    braces += 1
                elif text == "}":
                    braces -= 1
                    if embedded and braces < 0:
                        at = found.start()
                        break
                tokens.append(Token("op", text, found.start(), at))
    else:
        if embedded:
            raise wrong("the placeholder is not closed: a } is missing", source, max(start - 2, 0), len(source))
    tokens.append(Token("end", None, at, at))
    return tokens, at


def wrong(message: str, source: str, start: int, end: int, remedy: str | None = None) -> ExpressionSyntax:
    """A syntax error at a place."""
    return placed(ExpressionSyntax(message, remedy=remedy), source, start, end)


def _piece(source: str, at: int, tokens: list[Token]) -> re.Match[str]:
    """The next piece of text. After a value a dot is a path, so `items.0.1` has indexes and no fraction in it."""
    if tokens:
        last = tokens[-1]
        if last.kind == "op" and last.value in {".", "?."} and (digits := _DIGITS.match(source, at)):
            return _require(_PIECE.fullmatch(source, at, digits.end()))
        if source[at] == "." and _ends_a_value(last):
            return _require(_PIECE.match(source, at, at + 1))
    found = _PIECE.match(source, at)
    if found is None:
        raise _strange(source, at)
    return found


def _require(found: re.Match[str] | None) -> re.Match[str]:
    if found is None:  # the patterns make this impossible
        raise AssertionError("a digit or a dot is always a piece")
    return found


def _ends_a_value(token: Token) -> bool:
    if token.kind == "name":
        return token.value not in OPERATOR_WORDS
    return token.kind != "op" or token.value in {")", "]", "}"}


def _strange(source: str, at: int) -> ExpressionSyntax:
    character = source[at]
    if character in {"'", '"'}:
        return wrong("the text is not closed: a quote is missing", source, at, len(source))
    remedy = _HINTS.get(source[at : at + 2]) or _HINTS.get(character)
    name = repr(character) if character.isprintable() else f"U+{ord(character):04X}"
    return wrong(f"{name} has no meaning here", source, at, at + 1, remedy)


def _name(source: str, at: int, text: str) -> str:
    if not text.isidentifier():
        raise wrong(f"{text!r} is not a name", source, at, at + len(text))
    return text


def _number(source: str, at: int, text: str) -> int | float:
    end = at + len(text)
    if source[end : end + 1].isalnum() or source[end : end + 1] == "_":
        raise wrong("this is not a number", source, at, end + 1, "numbers are written 12, 1_000, 1.5 or 1e3")
    digits = text.replace("_", "")
    if not digits.isdigit():
        value = float(digits)
        if value - value != 0:
            raise wrong("the number is too large for a float", source, at, end)
        return value
    if len(digits) > INTEGER_DIGITS:
        raise placed(ExpressionLimit(f"an integer has at most {INTEGER_BITS:,} bits"), source, at, end)
    if digits[0] == "0" and len(digits) > 1:
        raise wrong("a number does not begin with 0", source, at, end)
    return int(digits)


def _unescaped(source: str, at: int, quoted: str) -> str:
    body = quoted[1:-1]
    if "\\" in body:
        body = _ESCAPE.sub(lambda found: _escape(source, at, found), body)
        body = _PAIR.sub(_joined, body)
        if _HALF.search(body):
            raise wrong("half of a surrogate pair is not a character", source, at, at + len(quoted))
    return body


def _joined(pair: re.Match[str]) -> str:
    """Two \\u escapes that are one character in JSON."""
    high, low = map(ord, pair.group())
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _escape(source: str, at: int, found: re.Match[str]) -> str:
    code = found.group(1)
    if len(code) > 1:
        return chr(int(code[1:], 16))
    if code not in _ESCAPES:
        start = at + 1 + found.start()
        raise wrong(f"\\{code} is not an escape", source, start, start + 2, "write \\\\ for a backslash")
    return _ESCAPES[code]
