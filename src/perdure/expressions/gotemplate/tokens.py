"""From a template to its pieces: text, and actions with their tokens.

The tokens are those of Go's text/template. Two things are allowed that Go refuses, because neither can mean anything
else: hyphens inside of names, and numbers as steps of a path (`.orders.0.line-total`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from perdure.errors import ExpressionLimit
from perdure.expressions.limits import Limits
from perdure.expressions.places import placed
from perdure.expressions.tokens import wrong

Kind = Literal["name", "field", "variable", "dot", "number", "text", "op", "end"]


class Token(NamedTuple):
    kind: Kind
    value: Any  # the name without its sign, the number, the unquoted text, the operator; None of a dot and of the end
    start: int
    end: int
    spaced: bool  # whether a blank stands before it: `.a .b` are two values, `.a.b` is one


@dataclass(slots=True, eq=False, repr=False)
class Text:
    """What stands between actions, already trimmed where `{{-` or `-}}` said so."""

    text: str


@dataclass(slots=True, eq=False, repr=False)
class Action:
    """`{{ … }}`. `path` is what stands in it if that is nothing but a name, or names with dots between them."""

    tokens: list[Token]
    path: str | None
    start: int
    end: int


_BLANKS: Final = " \t\r\n"
_NAME: Final = r"\w+(?:-+\w+)*"
_PIECE: Final = re.compile(
    rf"""(?P<close>[ \t\r\n]+-\}}\}} | \}}\}})
      | (?P<blank>[ \t\r\n]+)
      | (?P<number>[+-]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+
                         |[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9][0-9_]*(?:[eE][+-]?[0-9]+)?))
      | (?P<name>(?!\d){_NAME})
      | \.(?P<field>{_NAME})
      | (?P<dot>\.)
      | \$(?P<variable>\w*)
      | (?P<text>"(?:[^"\\\n]|\\[^\n])*" | `[^`]*` | '(?:[^'\\\n]|\\[^\n]+?)')
      | (?P<op>:=|[=|(),])""",
    re.VERBOSE,
)
_STEP: Final = re.compile(rf"\.({_NAME})")
_PATH: Final = re.compile(rf"[ \t\r\n]*((?!\d){_NAME}(?:\.{_NAME})*)(?=[ \t\r\n]*(?:[ \t\r\n]-)?\}}\}})")
#: Alone in an action these are not the name of a value. Functions are: none of the others can do without an argument.
_WORDS: Final = frozenset({
    "if", "range", "with", "else", "end", "define", "template", "block", "break", "continue",
    "nil", "true", "false", "print", "println",
})  # fmt: skip
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_ESCAPES: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"',
}  # fmt: skip
_HINTS: Final = {
    "#": "this is a Go template, in which sections are written {{range .items}}…{{end}} or {{if .item}}…{{end}}",
    "^": "this is a Go template, in which this is written {{if not .item}}…{{end}}",
    "/": "comments are written {{/* … */}}; a section ends with {{end}}",
    "{": "two braces are enough",
    "&": "values are not escaped unless the template is HTML; «and» is written: and .a .b",
    ">": 'other templates are included by {{template "name" .}}; «greater» is written: gt .a .b',
    "<": "«less» is written: lt .a .b",
    "[": "an item is written: index .items 0",
    "!": "«not» is written: not .a; comments are written {{/* … */}}",
    "+": "a sum is written: add .a .b",
    "*": "a product is written: mul .a .b",
    "-": "a difference is written: sub .a .b",
}


def split(source: str, limits: Limits) -> list[Text | Action]:
    """The pieces of a template. Comments leave none."""
    pieces: list[Text | Action] = []
    at = count = 0
    trim = False
    while True:
        start = source.find("{{", at)
        text = source[at:] if start < 0 else source[at:start]
        text = text.lstrip(_BLANKS) if trim else text
        inside = start + 2
        if start >= 0 and source.startswith("-", inside) and source[inside + 1 : inside + 2] in {" ", "\t", "\r", "\n"}:
            text = text.rstrip(_BLANKS)
            inside += 1
        if text:
            pieces.append(Text(text))
        if start < 0:
            return pieces
        count += 1
        if count > limits.placeholders:
            fault = ExpressionLimit(f"there are more than {limits.placeholders:,} actions")
            raise placed(fault, source, start, start + 2)
        at = _comment(source, start, inside)
        if at < 0:
            action = _action(source, start, inside, limits)
            pieces.append(action)
            at = action.end
        trim = source.startswith("-", at - 3)


def _comment(source: str, start: int, inside: int) -> int:
    """Where the comment that may begin here has ended, or -1."""
    begin = inside
    while source[begin : begin + 1] in {" ", "\t", "\r", "\n"}:
        begin += 1
    if not source.startswith("/*", begin):
        return -1
    end = source.find("*/", begin + 2)
    if end < 0:
        raise wrong("the comment is not closed: */ is missing", source, start, begin + 2)
    close = re.compile(r"[ \t\r\n]*(?:[ \t\r\n]-)?\}\}").match(source, end + 2)
    if close is None:
        raise wrong("a comment ends with */}}", source, end, end + 2)
    return close.end()


def _action(source: str, start: int, inside: int, limits: Limits) -> Action:
    tokens: list[Token] = []
    at = inside
    spaced = False
    while True:
        if at - start > limits.source:
            fault = ExpressionLimit(f"the action is longer than {limits.source:,} characters")
            raise placed(fault, source, start, start + 2)
        found = _step(source, at, tokens, spaced) or _PIECE.match(source, at)
        if found is None:
            raise _strange(source, at, start)
        at = found.end()
        kind = found.lastgroup or "field"
        if kind == "close":
            tokens.append(Token("end", None, found.start(), at, spaced))
            break
        if kind == "blank":
            spaced = True
            continue
        tokens.append(_token(source, found, kind, spaced))
        spaced = False
    path = _PATH.match(source, inside)
    alone = path is not None and path.group(1) not in _WORDS
    return Action(tokens, path.group(1) if path and alone else None, start, at)


def _step(source: str, at: int, tokens: list[Token], spaced: bool) -> re.Match[str] | None:
    """A dot right behind a value goes on with its path, so that `.items.0` has an index and no fraction in it."""
    if not tokens or spaced:
        return None
    last = tokens[-1]
    ends_a_value = last.kind in {"name", "field", "variable"} or (last.kind == "op" and last.value == ")")
    return _STEP.match(source, at) if ends_a_value else None


def _token(source: str, found: re.Match[str], kind: str, spaced: bool) -> Token:
    start, end = found.start(), found.end()
    match kind:
        case "number":
            return Token("number", _number(source, start, end), start, end, spaced)
        case "text":
            value = _unquoted(source, start, end)
            return Token("number" if source[start] == "'" else "text", value, start, end, spaced)
        case "name":
            return Token("name", found.group(), start, end, spaced)
        case "variable":
            return Token("variable", found.group(), start, end, spaced)
        case "dot":
            return Token("dot", None, start, end, spaced)
        case "op":
            return Token("op", found.group(), start, end, spaced)
        case _:
            return Token("field", found.group()[1:], start, end, spaced)


def _strange(source: str, at: int, start: int) -> Exception:
    if at >= len(source) or source.startswith("{{", at):
        return wrong("the action is not closed: }} is missing", source, start, start + 2)
    sign = source[at]
    if sign in {'"', "'", "`"}:
        return wrong("the text is not closed: a quote is missing", source, at, at + 1)
    name = repr(sign) if sign.isprintable() else f"U+{ord(sign):04X}"
    return wrong(f"{name} has no meaning here", source, at, at + 1, _HINTS.get(sign))


def _number(source: str, start: int, end: int) -> int | float:
    text = source[start:end].replace("_", "")
    following = source[end : end + 1]
    if following.isalnum() or following in {"_", "."}:
        raise wrong("this is not a number", source, start, end + 1)
    digits = text.lstrip("+-").lower()
    sign = -1 if text[0] == "-" else 1
    try:
        if digits[:2] in {"0x", "0b", "0o"}:
            value: int | float = int(digits, 0)
        elif digits.isdigit():
            value = int(digits, 8 if digits[0] == "0" and len(digits) > 1 else 10) if len(digits) < 64 else 2**64
        else:
            value = float(digits)
    except ValueError:
        raise wrong("this is not a number", source, start, end) from None
    if value - value != 0 or (isinstance(value, int) and value >= 2**64):
        raise wrong("the number is too large", source, start, end)
    return sign * value


def _unquoted(source: str, start: int, end: int) -> str | int:
    """The text in quotes; of a character in single quotes, its number."""
    quote, body = source[start], source[start + 1 : end - 1]
    if quote == "`":
        return body.replace("\r", "")

    def escape(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        number = int(code, 16) if code else int(found[4], 8) if found[4] else -1
        if 0 <= number < 0xD800 or 0xDFFF < number <= 0x10FFFF:
            return chr(number)
        if number < 0 and found[5] in _ESCAPES and found[5] != ("'" if quote == '"' else '"'):
            return _ESCAPES[found[5]]
        at = start + 1 + found.start()
        raise wrong(f"{found.group()} is not an escape", source, at, at + len(found.group()))

    text = _ESCAPE.sub(escape, body)
    if quote == '"':
        return text
    if len(text) != 1:
        raise wrong("one character stands in single quotes", source, start, end, "text is written in double quotes")
    return ord(text)
