"""`printf`: the verbs of Go's fmt.

What a verb cannot write is shown as Go shows it, `%!d(string=hi)`, because a letter with a mistake in it is better than
none. Two verbs take more than in Go, where a number from JSON is always a float: `%d` takes every whole number, and
`%s` takes every value, like `%v`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from perdure.errors import ExpressionFailed
from perdure.expressions.gotemplate.formatting import NIL, SHORT, WRITTEN_OUT, Budget, plain, shortest
from perdure.expressions.limits import spend
from perdure.expressions.values import MISSING, Json, is_number, is_object

_VERB: Final = re.compile(r"%(?P<flags>[-+# 0]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?P<verb>[^\d])?", re.DOTALL)
_INTEGERS: Final = {"d": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_PREFIXES: Final = {"b": "0b", "o": "0", "x": "0x", "X": "0X"}
_FLOATS: Final = frozenset("eEfFgG")
_NAMED: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verb:
    """`%-08.3f`, taken apart."""

    letter: str
    flags: str
    width: int
    precision: int | None

    def padded(self, text: str, *, number: bool = False) -> str:
        if "-" in self.flags:
            return text.ljust(self.width)
        if "0" not in self.flags:
            return text.rjust(self.width)
        sign = text[:1] if number and text[:1] in {"-", "+", " "} else ""
        return sign + text[len(sign) :].rjust(self.width - len(sign), "0")

    def signed(self, text: str) -> str:
        if text.startswith("-"):
            return text
        return f"+{text}" if "+" in self.flags else f" {text}" if " " in self.flags else text


def printf(budget: Budget, pattern: str, values: list[Json]) -> str:
    budget.text(len(pattern))
    written: list[str] = []
    at = used = length = 0
    for found in _VERB.finditer(pattern):
        written.append(pattern[at : found.start()])
        at = found.end()
        letter = found["verb"]
        if letter == "%":
            written.append("%")
        elif letter is None:
            written.append("%!(NOVERB)")
        elif letter in "[*":
            raise ExpressionFailed(f"printf does not know %{letter}", remedy="give the width as a number: %8.2f")
        elif used >= len(values):
            written.append(f"%!{letter}(MISSING)")
        else:
            written.append(_written(_verb(found, budget), values[used], budget))
            used += 1
        length += sum(map(len, written[-2:]))
        budget.fits(length)
    written.append(pattern[at:])
    if used < len(values):
        rest = ", ".join(
            f"{type_name(each)}={plain(each, budget)}" if each is not None else NIL for each in values[used:]
        )
        written.append(f"%!(EXTRA {rest})")
    return "".join(written)


def type_name(value: Json) -> str:
    """The name of a value's type in Go."""
    if value is None or value is MISSING:
        return NIL
    if isinstance(value, list):
        return "[]interface {}"
    names = {bool: "bool", int: "int", float: "float64", str: "string"}
    return names.get(type(value), "map[string]interface {}")


def _verb(found: re.Match[str], budget: Budget) -> Verb:
    sizes = [found["width"] or "0", found["precision"] or "0"]
    if max(map(len, sizes)) > 6:
        raise budget.too_long()
    width, precision = map(int, sizes)
    budget.text(width + precision)
    return Verb(found["verb"], found["flags"], width, None if found["precision"] is None else precision)


def _written(verb: Verb, value: Json, budget: Budget) -> str:
    if verb.letter == "T":
        return verb.padded(type_name(value))
    if isinstance(value, list) or is_object(value):
        return _container(verb, value, budget)
    if isinstance(value, str):
        budget.text(len(value))
        spend(budget.meter, len(value) if verb.letter == "q" else 0)  # which looks at each character
    found = _scalar(verb, value)
    return _wrong(verb, value, budget) if found is None else found


def _container(verb: Verb, value: Json, budget: Budget) -> str:
    """The verb is for the items and keys; the brackets come for nothing."""
    if verb.letter in "vs" and not verb.flags and not verb.width and verb.precision is None:
        return plain(value, budget)
    budget.value(value)
    budget.text(len(value) * (2 + 2 * verb.width))
    if isinstance(value, list):
        return f"[{' '.join(_item(verb, each, budget) for each in value)}]"
    keys = sorted(value)
    return f"map[{' '.join(f'{_item(verb, key, budget)}:{_item(verb, value[key], budget)}' for key in keys)}]"


def _item(verb: Verb, value: Json, budget: Budget) -> str:
    return NIL if value is None else _written(verb, value, budget)


def _wrong(verb: Verb, value: Json, budget: Budget) -> str:
    shown = NIL if value is None else f"{type_name(value)}={plain(value, budget)}"
    return f"%!{verb.letter}({shown})"


def _scalar(verb: Verb, value: Json) -> str | None:
    """None where the verb does not suit the value."""
    letter = verb.letter
    if letter in "vs":
        return _general(verb, value)
    if isinstance(value, bool):
        return verb.padded("true" if value else "false") if letter == "t" else None
    if isinstance(value, str):
        return _text(verb, value)
    if not is_number(value):
        return None
    if letter in _FLOATS:
        return verb.padded(verb.signed(_float(verb, value)), number=True)
    if isinstance(value, float) and not value.is_integer():
        return None
    return _integer(verb, int(value))


def _general(verb: Verb, value: Json) -> str:
    """%v and %s"""
    if isinstance(value, str):
        return verb.padded(value if verb.precision is None else value[: verb.precision])
    if isinstance(value, bool) or not is_number(value):
        return verb.padded(NIL if value is None else "true" if value else "false")
    if isinstance(value, float):
        precise = verb.precision is not None
        text = _float(verb, value, "g") if precise else shortest(value, WRITTEN_OUT)
    else:
        text = str(value)
    return verb.padded(verb.signed(text) if "+" not in verb.flags else text, number=True)


def _text(verb: Verb, value: str) -> str | None:
    if verb.letter == "q":
        return verb.padded(quoted(value if verb.precision is None else value[: verb.precision]))
    if verb.letter in "xX":
        code = value.encode("utf-8", "surrogatepass")
        found = code.hex(" ") if " " in verb.flags else code.hex()
        prefix = "0x" if "#" in verb.flags and value else ""
        return verb.padded((prefix + found).upper() if verb.letter == "X" else prefix + found)
    return None


def _integer(verb: Verb, value: int) -> str | None:
    letter = verb.letter
    if letter in {"c", "q", "U"}:
        if not 0 <= value <= 0x10FFFF or 0xD800 <= value <= 0xDFFF:
            value = 0xFFFD
        if letter == "U":
            shown = f"U+{value:04X}" + (f" '{chr(value)}'" if "#" in verb.flags else "")
            return verb.padded(shown)
        return verb.padded(chr(value) if letter == "c" else f"'{quoted(chr(value), quote=chr(39))[1:-1]}'")
    if letter not in _INTEGERS:
        return None
    digits = format(abs(value), _INTEGERS[letter]).rjust(verb.precision or 0, "0")
    prefix = "0o" if letter == "O" else _PREFIXES.get(letter, "") if "#" in verb.flags else ""
    return verb.padded(verb.signed(f"{'-' if value < 0 else ''}{prefix}{digits}"), number=True)


def _float(verb: Verb, value: float, letter: str | None = None) -> str:
    letter = letter or verb.letter
    if letter in "gG" and verb.precision is None:
        text = shortest(float(value), SHORT)
        return text.upper() if letter == "G" else text
    precision = 6 if verb.precision is None else verb.precision
    return format(float(value), f".{precision}{letter}")


def quoted(text: str, quote: str = '"') -> str:
    """Text in quotes, with escapes for what cannot be seen."""
    written = []
    for each in text:
        if each in _NAMED and each != '"':
            written.append(_NAMED[each])
        elif each == quote:
            written.append(f"\\{quote}")
        elif each.isprintable():
            written.append(each)
        else:
            code = ord(each)
            written.append(f"\\x{code:02x}" if code < 128 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return f"{quote}{''.join(written)}{quote}"
