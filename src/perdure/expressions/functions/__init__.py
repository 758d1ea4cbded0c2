"""The functions of the language: a closed table.

`f(x, y)` may also be written `x.f(y)`. A name that is called is looked up here and nowhere else, so a variable called
`len` and the function `len` do not meet, and no value of the environment can ever be called.

Every entry carries a summary and examples; the reference page is checked against them and the tests run them.
"""

from __future__ import annotations

from typing import Final

from perdure.expressions.functions import lists, numbers, objects, presence, texts, times
from perdure.expressions.functions.table import Function

GROUPS: Final[dict[str, tuple[Function, ...]]] = {
    "Presence": presence.FUNCTIONS.entries(),
    "Numbers": numbers.FUNCTIONS.entries(),
    "Text": texts.FUNCTIONS.entries(),
    "Lists": lists.FUNCTIONS.entries(),
    "Objects": objects.FUNCTIONS.entries(),
    "Times": times.FUNCTIONS.entries(),
}

#: Other spellings that people bring along from Python, JavaScript, Go and Java.
ALIASES: Final = {
    "strip": "trim",
    "startswith": "starts_with",
    "startsWith": "starts_with",
    "endswith": "ends_with",
    "endsWith": "ends_with",
    "toUpperCase": "upper",
    "toLowerCase": "lower",
    "includes": "contains",
    "length": "len",
    "size": "len",
    "index": "index_of",
    "indexOf": "index_of",
    "toFixed": "fixed",
    "isEmpty": "empty",
    "toString": "str",
    "reverse": "reversed",
    "sort": "sorted",
    "date": "timestamp",
}

TABLE: Final[dict[str, Function]] = {entry.name: entry for group in GROUPS.values() for entry in group}
TABLE.update({alias: TABLE[name] for alias, name in ALIASES.items()})
