"""Text. There are no patterns: a regular expression could take for ever, and nothing here may."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from perdure.errors import ExpressionFailed
from perdure.expressions.functions.numbers import as_size
from perdure.expressions.functions.table import Functions
from perdure.expressions.limits import Meter, spend, spend_text
from perdure.expressions.operators import within
from perdure.expressions.values import Json, is_number, to_text, with_article

FUNCTIONS = Functions()


def as_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ExpressionFailed(f"text is needed, not {with_article(value)}")
    return value


@FUNCTIONS.add(
    "len",
    "How many characters, items or keys.",
    ("len('abc')", "3"),
    ("len(order.items)", "2"),
)
def length(value: Any) -> int:
    if not isinstance(value, str | list | Mapping):
        raise ExpressionFailed(f"{with_article(value)} has no length")
    return len(value)


@FUNCTIONS.add("upper", "In capital letters.", ("user.name.upper()", '"ADA LOVELACE"'))
def upper(meter: Meter, text: Any) -> str:
    spend_text(meter, len(as_text(text)))
    return str(text.upper())


@FUNCTIONS.add("lower", "In small letters.", ("lower('ABC')", '"abc"'))
def lower(meter: Meter, text: Any) -> str:
    spend_text(meter, len(as_text(text)))
    return str(text.lower())


@FUNCTIONS.add("title", "Each word with a capital first letter.", ("title('dear reader')", '"Dear Reader"'))
def title(meter: Meter, text: Any) -> str:
    spend_text(meter, len(as_text(text)) * 4)
    return str(text.title())


@FUNCTIONS.add(
    "trim",
    "Without white space at both ends, or without any of the given characters there.",
    ("trim('  a b ')", '"a b"'),
    ("trim('--a--', '-')", '"a"'),
)
def trim(meter: Meter, text: Any, characters: Any = None) -> str:
    spend_text(meter, len(as_text(text)))
    return str(text.strip() if characters is None else text.strip(as_text(characters)))


@FUNCTIONS.add(
    "split",
    "The parts between the separators; without one, the words.",
    ("'a,b,c'.split(',')", '["a", "b", "c"]'),
    ("split(' two  words ')", '["two", "words"]'),
)
def split(meter: Meter, text: Any, separator: Any = None) -> list[str]:
    spend_text(meter, len(as_text(text)))
    if separator is None:
        spend(meter, len(text) // 2 + 1)
        return list(text.split())
    if not as_text(separator):
        raise ExpressionFailed("the separator is not empty text")
    spend(meter, text.count(separator) + 1)
    return list(text.split(separator))


@FUNCTIONS.add(
    "join",
    "The items as one text with the separator between them; Python's order of arguments works too.",
    ("join(['a', 1, true], '-')", '"a-1-true"'),
    ("', '.join(x.name for x in order.items)", '"Desk, Lamp"'),
)
def join(meter: Meter, items: Any, separator: Any = "") -> str:
    if isinstance(items, str) and isinstance(separator, list):
        items, separator = separator, items
    if not isinstance(items, list):
        raise ExpressionFailed(f"a list is needed to join, not {with_article(items)}")
    spend(meter, len(items) * 8)
    spend_text(meter, len(as_text(separator)) * len(items) + sum(len(each) for each in items if isinstance(each, str)))
    return str(separator.join([_piece(meter, each) for each in items]))


def _piece(meter: Meter, item: Json) -> str:
    if isinstance(item, str | bool) or is_number(item):
        return to_text(item, meter)
    raise ExpressionFailed(f"text and numbers can be joined, not {with_article(item)}", remedy="write str(x)")


@FUNCTIONS.add(
    "replace",
    "Each `old` replaced by `new`.",
    ("replace('a-b-c', '-', '+')", '"a+b+c"'),
)
def replace(meter: Meter, text: Any, old: Any, new: Any) -> str:
    spend_text(meter, len(as_text(text)))
    found = text.count(as_text(old))
    spend_text(meter, len(text) + found * max(0, len(as_text(new)) - len(old)))
    return str(text.replace(old, new))


@FUNCTIONS.add(
    "contains",
    "Whether a text has this part, a list this item, an object this key. The same as `part in whole`.",
    ("contains(user.name, 'Ada')", "true"),
    ("user.roles.contains('admin')", "false"),
)
def contains(meter: Meter, whole: Json, part: Json) -> bool:
    return within(meter, part, whole)


@FUNCTIONS.add("starts_with", "Whether the text begins so.", ("starts_with('abc', 'ab')", "true"))
def starts_with(meter: Meter, text: Any, beginning: Any) -> bool:
    spend_text(meter, len(as_text(beginning)))
    return as_text(text).startswith(as_text(beginning))


@FUNCTIONS.add("ends_with", "Whether the text ends so.", ("'a.csv'.ends_with('.csv')", "true"))
def ends_with(meter: Meter, text: Any, ending: Any) -> bool:
    spend_text(meter, len(as_text(ending)))
    return as_text(text).endswith(as_text(ending))


@FUNCTIONS.add(
    "pad_start",
    "At least `width` characters long, filled up in front.",
    ("pad_start('7', 3, '0')", '"007"'),
)
def pad_start(meter: Meter, text: Any, width: Any, fill: Any = " ") -> str:
    spend_text(meter, _width(text, width, fill))
    return str(text.rjust(width, fill))


@FUNCTIONS.add(
    "pad_end",
    "At least `width` characters long, filled up behind.",
    ("pad_end('a', 3, '.')", '"a.."'),
)
def pad_end(meter: Meter, text: Any, width: Any, fill: Any = " ") -> str:
    spend_text(meter, _width(text, width, fill))
    return str(text.ljust(width, fill))


def _width(text: Any, width: Any, fill: Any) -> int:
    if len(as_text(fill)) != 1:
        raise ExpressionFailed("text is filled up with one character")
    return max(len(as_text(text)), as_size(width, 100_000, "the width"))


@FUNCTIONS.add(
    "url_encode",
    "Safe as a part of an address: everything but letters, digits and -._~ is escaped.",
    ("url_encode('a b/c&d')", '"a%20b%2Fc%26d"'),
)
def url_encode(meter: Meter, text: Any) -> str:
    plain = to_text(text, meter)
    spend_text(meter, len(plain) * 12)
    return quote(plain, safe="")


@FUNCTIONS.add("base64_encode", "The UTF-8 bytes of the text in base 64.", ("base64_encode('héllo')", '"aMOpbGxv"'))
def base64_encode(meter: Meter, text: Any) -> str:
    spend_text(meter, len(as_text(text)) * 4)
    return base64.b64encode(text.encode()).decode()


@FUNCTIONS.add("base64_decode", "The text whose UTF-8 bytes these are.", ("base64_decode('aMOpbGxv')", '"héllo"'))
def base64_decode(meter: Meter, text: Any) -> str:
    spend_text(meter, len(as_text(text)) * 4)
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        raise ExpressionFailed("this is not base 64 of UTF-8 text") from None
