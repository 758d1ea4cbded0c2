"""Canonical JSON (RFC 8785) and the hash of a document.

Equal documents have equal bytes, whatever the order of their keys, their white space or the spelling of their numbers
(`1`, `1.0` and `1e0` are one number). Positions, labels and comments are no part of the hash (`documents.semantic`).

One extension: integers beyond 2**53, for which the RFC has no opinion, are written exactly, so that two different
ones are never taken for one.
"""

from __future__ import annotations

import math
import re
from typing import Any

from perdure.errors import InvalidInput
from perdure.model.documents import semantic
from perdure.model.values import Json, digest

_ESCAPED = re.compile(r'[\x00-\x1f"\\]')
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def document_hash(document: Json) -> str:
    """The name of what a document does: SHA-256 of its canonical form, without what is only for people's eyes."""
    return digest(canonical(semantic(document)))


def canonical(value: Json) -> bytes:
    """The bytes that RFC 8785 gives. Raises InvalidInput for what is not JSON."""
    parts: list[str] = []
    _write(value, parts)
    try:
        return "".join(parts).encode()
    except UnicodeEncodeError:
        raise InvalidInput("a lone surrogate in a string") from None


def _write(value: Any, parts: list[str]) -> None:
    if isinstance(value, str):
        parts.append(_text(value))
    elif value is None or isinstance(value, bool):
        parts.append({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, int):
        parts.append(str(value))
    elif isinstance(value, float):
        parts.append(number(value))
    elif isinstance(value, dict):
        opening = "{"
        for key in sorted(value, key=_utf16):
            parts += (opening, _text(key), ":")
            _write(value[key], parts)
            opening = ","
        parts.append("}" if value else "{}")
    elif isinstance(value, list | tuple):
        opening = "["
        for item in value:
            parts.append(opening)
            _write(item, parts)
            opening = ","
        parts.append("]" if value else "[]")
    else:
        raise InvalidInput(f"{type(value).__name__} is not a JSON type")


def _utf16(key: Any) -> bytes:
    """The order of the RFC: by UTF-16 code units, in which an emoji comes before U+FB01."""
    if not isinstance(key, str):
        raise InvalidInput(f"the key {key!r} is not a string")
    return key.encode("utf-16-be", "surrogatepass")


def _text(value: str) -> str:
    return '"' + _ESCAPED.sub(_escape, value) + '"'


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}"


def number(value: float) -> str:
    """A float as ECMAScript writes it: the shortest digits that give it back; an exponent from 1e21 and below 1e-6."""
    if not math.isfinite(value):
        raise InvalidInput(f"{value} is not a JSON number", expected="a finite number")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    digits, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = digits.partition(".")
    if fraction == "0":
        fraction = ""
    point = len(whole) + int(exponent or 0)
    figures = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(figures)
    figures = figures.rstrip("0")
    count = len(figures)
    if count <= point <= 21:
        return sign + figures + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{figures[:point]}.{figures[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{figures}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"{sign}{figures[0]}{'.' + figures[1:] if count > 1 else ''}{power}"
