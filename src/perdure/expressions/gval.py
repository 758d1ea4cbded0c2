"""What the operators do where an expression follows the rules of the Go library gval, for which Yantra's conditions
were written: `compile_expression(source, missing="gval")`.

- A path that leads nowhere is null.
- `+` joins text with whatever is on the other side; the other operators read text as a number where they meet one.
- The remainder has the sign of what is divided, as in Go.
- `=~` and `!~` ask whether a text has a part that a regular expression means. Patterns are Go's as far as RFC 9485 can
  say the same, and matched in linear time; what it cannot say (`\\b`, `(?i)`) is refused.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any, Final

from perdure.errors import ExpressionFailed
from perdure.expressions import operators
from perdure.expressions.iregexp import IRegexp, compile_iregexp
from perdure.expressions.limits import Meter, checked, spend, spend_text
from perdure.expressions.values import Json, is_number, to_text, with_article

_NUMERAL: Final = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?", re.ASCII)


def add(meter: Meter, a: Any, b: Any) -> Json:
    if isinstance(a, str) != isinstance(b, str):
        return operators.add(meter, to_text(a, meter), to_text(b, meter))
    return operators.add(meter, a, b)


def sub(meter: Meter, a: Any, b: Any) -> Json:
    return operators.sub(meter, number(a), number(b))


def mul(meter: Meter, a: Any, b: Any) -> Json:
    return operators.mul(meter, number(a), number(b))


def div(meter: Meter, a: Any, b: Any) -> Json:
    return operators.div(meter, number(a), number(b))


def mod(meter: Meter, a: Any, b: Any) -> Json:
    a, b = number(a), number(b)
    if type(a) is int and type(b) is int:
        found: Any = operators.mod(meter, abs(a), abs(b))
        return -found if a < 0 else found
    return checked(math.fmod(a, b))


def power(meter: Meter, a: Any, b: Any) -> Json:
    return operators.power(meter, number(a), number(b))


def lt(meter: Meter, a: Any, b: Any) -> bool:
    return operators.lt(meter, *_alike(a, b))


def le(meter: Meter, a: Any, b: Any) -> bool:
    return operators.le(meter, *_alike(a, b))


def gt(meter: Meter, a: Any, b: Any) -> bool:
    return operators.gt(meter, *_alike(a, b))


def ge(meter: Meter, a: Any, b: Any) -> bool:
    return operators.ge(meter, *_alike(a, b))


def within(meter: Meter, a: Json, b: Json) -> bool:
    """Nothing is in null, where others have a list; and text may have the digits of a number in it."""
    if isinstance(b, str) and not isinstance(a, str):
        a = to_text(a, meter)
    return b is not None and operators.within(meter, a, b)


def contains(meter: Meter, whole: Json, part: Json) -> bool:
    return within(meter, part, whole)


def without(meter: Meter, a: Json, b: Json) -> bool:
    return not within(meter, a, b)


def matches(meter: Meter, text: Json, source: Json) -> bool:
    if not isinstance(text, str) or not isinstance(source, str):
        odd = text if not isinstance(text, str) else source
        raise ExpressionFailed(f"a pattern and a text are needed, not {with_article(odd)}")
    spend_text(meter, len(source) * 64)
    return pattern(source).search(text, meter=meter)


def unlike(meter: Meter, text: Json, source: Json) -> bool:
    return not matches(meter, text, source)


HELPERS: Final = {
    "+": add, "-": sub, "*": mul, "/": div, "%": mod, "**": power, "<": lt, "<=": le, ">": gt, ">=": ge,
    "in": within, "not in": without, "=~": matches, "!~": unlike,
}  # fmt: skip


def chain(meter: Meter, ops: tuple[str, ...], *operands: Json) -> bool:
    """`a < b < c` where b is not a plain path."""
    table = {**operators.COMPARISONS, **HELPERS}
    spend(meter, len(ops))
    return all(table[op](meter, operands[at], operands[at + 1]) for at, op in enumerate(ops))


def number(value: Any) -> Any:
    """A number, or what the text says."""
    if isinstance(value, str) and _NUMERAL.fullmatch(value.strip()):
        return int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
    return value


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    return (number(a), number(b)) if is_number(a) or is_number(b) else (a, b)


# -- patterns ----------------------------------------------------------------------------------------------------

_PIECE: Final = re.compile(
    r"""(?P<escape>\\.) | (?P<group>\(\?(?::|P<[A-Za-z_]\w*>|<[A-Za-z_]\w*>)) | (?P<lazy>(?<=[*+?}])\?)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_CLASSES: Final = {"d": "0-9", "w": "0-9A-Za-z_", "s": "\\t\\n\\r "}
_KEPT: Final = frozenset("()*+-.?[\\]^nrt{|}pP")
_TAKEN_LITERALLY: Final = frozenset("/@:\"'_#,;=!<>~`%& ")


@lru_cache(maxsize=256)
def pattern(source: str) -> IRegexp:
    """Go's spelling of a regular expression. Raises ExpressionError for what has no counterpart."""
    parts: list[str] = []
    inside, begun = False, 0
    for found in _PIECE.finditer(source):
        text = found.group()
        if found["escape"]:
            parts.append(_escape(text[1], inside=inside))
        elif inside:
            is_first = found.start() == begun or (found.start() == begun + 1 and source[begun] == "^")
            inside = text != "]" or is_first
            parts.append(f"\\{text}" if text == "[" or (text == "]" and is_first) else text)
        elif found["group"]:
            parts.append("(")
        elif not found["lazy"]:
            inside, begun = text == "[", found.end()
            parts.append(text)
    return compile_iregexp("".join(parts))


def _escape(letter: str, *, inside: bool) -> str:
    if letter in _CLASSES:
        return _CLASSES[letter] if inside else f"[{_CLASSES[letter]}]"
    if letter.lower() in _CLASSES and not inside:
        return f"[^{_CLASSES[letter.lower()]}]"
    if letter == "$":
        return "$" if inside else "[$]"
    return letter if letter in _TAKEN_LITERALLY and letter not in _KEPT else "\\" + letter
