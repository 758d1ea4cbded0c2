"""String.format, with %s %d %f %% and their widths."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from perdure.dialects.groovy.prelude.failures import bad_argument, class_name, failure
from perdure.dialects.groovy.prelude.numbers import is_number, to_places
from perdure.dialects.groovy.prelude.text import text


def formatted(pattern: Any, *values: Any) -> str:
    if not isinstance(pattern, str):
        raise bad_argument("String", "format", pattern)
    found = []
    waiting = list(values)
    at = 0
    while at < len(pattern):
        end = at + 1
        if pattern[at] != "%":
            found.append(pattern[at])
        else:
            while end < len(pattern) and pattern[end] in "-0,+123456789.":
                end += 1
            conversion = pattern[end : end + 1]
            if conversion in ("%", "n"):
                found.append("\n" if conversion == "n" else "%")
            elif not waiting:
                raise failure("MissingFormatArgumentException", "Format specifier '" + pattern[at : end + 1] + "'")
            else:
                found.append(formatted_value(pattern[at + 1 : end], conversion, waiting.pop(0)))
            end += 1
        at = end
    return "".join(found)


def formatted_value(flags: str, conversion: str, value: Any) -> str:
    options = flags.lstrip("-0,+")
    signs = flags[: len(flags) - len(options)]
    width, _, places = options.partition(".")
    if conversion == "s":
        shown = text(value)[: int(places)] if places else text(value)
    elif conversion == "d" and isinstance(value, int) and not isinstance(value, bool):
        shown = format(value, "," if "," in signs else "d")
    elif conversion == "f" and is_number(value) and not isinstance(value, int):
        exact = to_places(value if isinstance(value, Decimal) else Decimal(repr(value)), int(places or "6"))
        shown = format(exact, ",f" if "," in signs else "f")
    else:
        told = "%" + conversion + " does not fit a " + class_name(value)
        raise failure("IllegalFormatConversionException", told)
    if "+" in signs and conversion != "s" and not shown.startswith("-"):
        shown = "+" + shown
    room = int(width or "0")
    if "-" in signs:
        return shown.ljust(room)
    return shown.zfill(room) if "0" in signs else shown.rjust(room)
