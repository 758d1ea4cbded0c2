"""Methods of strings."""

from __future__ import annotations

from typing import Any

from perdure.dialects.groovy.prelude.access import out_of_bounds
from perdure.dialects.groovy.prelude.failures import bad_argument, failure, no_method, whole
from perdure.dialects.groovy.prelude.text import text


def string(value: Any, method: str) -> str:
    """The receiver of a method that only strings have."""
    if not isinstance(value, str):
        raise no_method(value, method)
    return value


def argument(value: str, method: str, given: Any) -> str:
    if not isinstance(given, str):
        raise bad_argument(value, method, given)
    return given


def length_of(value: Any) -> int:
    return len(string(value, "length"))


def upper(value: Any) -> str:
    return string(value, "toUpperCase").upper()


def lower(value: Any) -> str:
    return string(value, "toLowerCase").lower()


def trimmed(value: Any) -> str:
    """Java trims everything up to the space, and no other kind of blank."""
    return string(value, "trim").strip("".join([chr(code) for code in range(33)]))


def capitalized(value: Any) -> str:
    source = string(value, "capitalize")
    return source[:1].upper() + source[1:]


def uncapitalized(value: Any) -> str:
    source = string(value, "uncapitalize")
    return source[:1].lower() + source[1:]


def starts_with(value: Any, start: Any) -> bool:
    return string(value, "startsWith").startswith(argument(value, "startsWith", start))


def ends_with(value: Any, end: Any) -> bool:
    return string(value, "endsWith").endswith(argument(value, "endsWith", end))


def same_ignoring_case(value: Any, other: Any) -> bool:
    source = string(value, "equalsIgnoreCase")
    return other is not None and source.lower() == argument(source, "equalsIgnoreCase", other).lower()


def concatenated(value: Any, other: Any) -> str:
    return string(value, "concat") + argument(value, "concat", other)


def replaced(value: Any, old: Any, new: Any) -> str:
    source = string(value, "replace")
    return source.replace(argument(source, "replace", old), argument(source, "replace", new))


def replaced_once(value: Any, old: Any, new: Any) -> str:
    source = string(value, "replaceFirst")
    return source.replace(argument(source, "replaceFirst", old), argument(source, "replaceFirst", new), 1)


def substring(value: Any, begin: Any, end: Any = None) -> str:
    source = string(value, "substring")
    stop = len(source) if end is None else end
    if not 0 <= whole(value, "substring", begin) <= whole(value, "substring", stop) <= len(source):
        raise out_of_bounds(source, str(begin) + ".." + str(stop))
    return source[begin:stop]


def character_at(value: Any, at: Any) -> str:
    return substring(string(value, "charAt"), at, whole(value, "charAt", at) + 1)


def padded_left(value: Any, width: Any, filler: Any = " ") -> str:
    source = string(value, "padLeft")
    return padding(filler, whole(value, "padLeft", width) - len(source)) + source


def padded_right(value: Any, width: Any, filler: Any = " ") -> str:
    source = string(value, "padRight")
    return source + padding(filler, whole(value, "padRight", width) - len(source))


def padding(filler: Any, width: int) -> str:
    missing = max(width, 0)
    return (text(filler) * missing)[:missing]


def tokens(value: Any, separators: Any = " \t\n\r\f") -> list[str]:
    """`tokenize`, and `split()` without an argument: every character separates, and nothing is empty."""
    found = []
    token = ""
    for character in string(value, "tokenize"):
        if character not in text(separators):
            token += character
        elif token:
            found.append(token)
            token = ""
    return [*found, token] if token else found


def pieces(value: Any, separator: str, limit: Any = 0) -> list[str]:
    """`split` at a plain text: empty pieces at the end are left out, unless the limit is negative."""
    source = string(value, "split")
    return without_empty_end(source, source.split(separator) if separator else list(source), limit)


def without_empty_end(source: str, found: list[str], limit: Any) -> list[str]:
    if not source:
        return [source]
    if whole(source, "split", limit) > 0:
        raise failure("UnsupportedOperationException", "split() with a limit above 0")
    while limit == 0 and found and not found[-1]:
        found.pop()
    return found


def lines_of(value: Any) -> list[str]:
    found = string(value, "readLines").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return found if found[-1] else found[:-1]


def is_blank(value: Any) -> bool:
    return not trimmed(string(value, "isBlank"))
