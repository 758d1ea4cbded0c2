"""Number literals."""

from __future__ import annotations

import re
from typing import Final

from perdure.dialects.groovy import limits
from perdure.dialects.groovy.refusals import Place, Refusals
from perdure.dialects.groovy.tokens import Number

NUMBER: Final = re.compile(
    r"""0[xX][0-9a-fA-F_]+ [lLgGiI]?
      | 0[bB][01_]+ [lLgGiI]?
      | [0-9][0-9_]* (?: \.[0-9][0-9_]* )? (?: [eE][+-]?[0-9]+ )? [lLgGiIdDfF]?
      | \.[0-9][0-9_]* (?: [eE][+-]?[0-9]+ )? [gGdDfF]?""",
    re.VERBOSE,
)
ZERO: Final = Number("integer", "0")


def read_number(text: str, place: Place, refusals: Refusals) -> Number:
    digits = text.replace("_", "")
    if len(digits) > limits.NUMBER_CHARACTERS:
        refusals.limit(place, "a number this long", f"use at most {limits.NUMBER_CHARACTERS} digits")
        return ZERO
    if digits[:2].lower() in {"0x", "0b"}:
        return _prefixed(digits, place, refusals)
    suffix = digits[-1].lower() if digits[-1].isalpha() else ""
    digits = digits.removesuffix(digits[-1]) if suffix else digits
    if suffix in {"d", "f"}:
        return _floating(digits, "float", place, refusals)
    if not digits.isdigit():
        if suffix in {"l", "i"}:
            refusals.syntax(place, f"`{text}` is not a number", "leave out the L or the fraction")
        return _floating(digits, "decimal", place, refusals)
    if digits[0] == "0" and digits.strip("0"):
        refusals.unsupported(place, "an octal number", "write it in decimal; a number does not begin with 0")
    return Number("integer", digits.lstrip("0") or "0")


def _prefixed(digits: str, place: Place, refusals: Refusals) -> Number:
    base = 16 if digits[1] in "xX" else 2
    body = digits[2:].rstrip("lLgGiI")
    if not body:
        refusals.syntax(place, f"`{digits}` is not a number")
        return ZERO
    return Number("integer", str(int(body, base)))


def _floating(digits: str, kind: str, place: Place, refusals: Refusals) -> Number:
    exponent = re.search(r"[eE]([+-]?[0-9]+)$", digits)
    if exponent and abs(int(exponent.group(1))) > limits.EXPONENT:
        refusals.limit(place, "an exponent this large", f"use one between -{limits.EXPONENT} and {limits.EXPONENT}")
        return ZERO
    text = f"0{digits}" if digits.startswith(".") else digits
    if kind == "decimal":
        return Number("decimal", text)
    value = float(text)
    if value - value != 0:  # infinite
        refusals.limit(place, "a number this large", "a double goes up to 1.8e308")
        return ZERO
    return Number("float", repr(value))
