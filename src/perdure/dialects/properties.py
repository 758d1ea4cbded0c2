"""Java `.properties` files, as `java.util.Properties` reads them: one key and value per logical line.

`#` and `!` begin comments; a backslash at the end goes on with the next line, whose leading blanks do not count; key
and value are parted by the first `=`, `:` or blank; `\\t \\n \\r \\f \\uXXXX` and `\\` before any other character are
escapes. A key that stands twice has its last value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from perdure.errors import InvalidInput

_BLANKS = " \t\f"
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_SURROGATES = re.compile("[\ud800-\udfff]")


class Property(NamedTuple):
    key: str
    value: str
    line: int
    """Where it begins, from 1."""


def parse_properties(text: str) -> dict[str, str]:
    """Raises InvalidInput with the line for a `\\u` that four hexadecimal digits do not follow."""
    return {each.key: each.value for each in read_properties(text)}


def read_properties(text: str) -> Iterator[Property]:
    """In the order of the file, repeated keys too."""
    if not isinstance(text, str):
        raise InvalidInput("properties are text", pointer="/text", expected="the text of a .properties file")
    for number, line in _logical_lines(text.removeprefix("\ufeff")):
        key, rest = _split(line)
        yield Property(_unescaped(key, number), _unescaped(rest, number), number)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    begun: list[str] = []
    first = 0
    for number, raw in enumerate(_LINE_ENDS.split(text), start=1):
        line = raw.lstrip(_BLANKS)
        if not begun:
            if not line or line[0] in "#!":
                continue
            first = number
        goes_on = _ends_in_backslash(line)
        begun.append(line[:-1] if goes_on else line)
        if not goes_on:
            yield first, "".join(begun)
            begun = []
    if begun:
        yield first, "".join(begun)


def _ends_in_backslash(line: str) -> bool:
    """One that is not itself escaped."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    end = 0
    while end < len(line) and line[end] not in f"=:{_BLANKS}":
        end += 2 if line[end] == "\\" else 1
    key, rest = line[:end], line[end:].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    return key, rest


def _unescaped(text: str, line: int) -> str:
    if "\\" not in text:
        return text
    found: list[str] = []
    at = 0
    while at < len(text):
        if text[at] != "\\":
            found.append(text[at])
            at += 1
            continue
        sign = text[at + 1 : at + 2]
        if sign == "u":
            digits = text[at + 2 : at + 6]
            if not re.fullmatch("[0-9A-Fa-f]{4}", digits):
                raise InvalidInput(
                    f"line {line}: \\u{digits} is no character", expected="\\u and four hexadecimal digits", line=line
                )
            found.append(chr(int(digits, 16)))
            at += 6
        else:
            found.append(_ESCAPES.get(sign, sign))
            at += 2
    return _paired("".join(found))


def _paired(text: str) -> str:
    """Java writes characters beyond the first plane as two escapes; half of such a pair is no character at all."""
    if not _SURROGATES.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
