"""Makes the tables of docs/reference/groovy.md from the tables of the translator."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import made

from perdure.dialects.groovy import limits
from perdure.dialects.groovy.classes import COLLECTIONS, CONSTANTS, DECIMALS, INLINE_METHODS, STATIC_METHODS
from perdure.dialects.groovy.methods import METHODS, Form
from perdure.dialects.groovy.types import TYPES

PAGE = made.REFERENCE / "groovy.md"
PATTERNED = {"split": "()", "replaceAll": "()", "replaceFirst": "()", "matches": "()"}
LIMITS = {
    "SOURCE_CHARACTERS": "characters of a script",
    "EXPRESSION_DEPTH": "levels of one expression",
    "BLOCK_DEPTH": "blocks inside one another",
    "FUNCTION_DEPTH": "closures inside one another",
    "CHAIN_LENGTH": "operands in a row, arguments of a call, arms of an `if`, cases of a `switch`",
    "INTERPOLATION_DEPTH": "strings in `${…}` in strings",
    "NUMBER_CHARACTERS": "digits of a number in the script",
    "EXPONENT": "exponent of a number in the script",
}


def methods() -> Iterator[str]:
    ways = {name: " or ".join(dict.fromkeys(_way(form) for form in forms)) for name, forms in METHODS.items()}
    by_way: dict[str, list[str]] = {}
    for name, way in sorted({**ways, **PATTERNED}.items()):
        by_way.setdefault(way, []).append(f"`{name}`")
    yield from made.table(["called with", "methods"], [[f"`{way}`", ", ".join(names)] for way, names in by_way.items()])


def _way(form: Form) -> str:
    brackets = "()" if form.most or not form.closure else ""
    return f"{brackets} {{ }}".strip() if form.closure else brackets


def classes() -> Iterator[str]:
    members: dict[str, list[str]] = {}
    for owner, name in sorted([*STATIC_METHODS, *INLINE_METHODS, ("Arrays", "asList"), ("Objects", "isNull")]):
        members.setdefault(owner, []).append(f"`{name}()`")
    for owner, name in sorted([*CONSTANTS, *DECIMALS]):
        members.setdefault(owner, []).append(f"`{name}`")
    made_new = ["Date", "BigDecimal", "String", "JsonSlurper", "JsonBuilder", "SimpleDateFormat", *COLLECTIONS]
    named = [name for name in TYPES if name[0].isupper()]
    yield from made.table(
        ["class", "what it has"], ([f"`{owner}`", ", ".join(members[owner])] for owner in sorted(members))
    )
    yield ""
    yield f"With `new`: {_listed(made_new)}."
    yield ""
    yield f"In declarations, casts and `as`: {_listed(named)}, and the primitive types but `char` and `byte`."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def sizes() -> Iterator[str]:
    known = [name for name, value in vars(limits).items() if isinstance(value, int)]
    made.in_words([name for name in known if name not in {"NESTING", "PROBLEMS"}], LIMITS, "limits")
    yield from made.table(["at most", "of"], ([f"{getattr(limits, name):,}", words] for name, words in LIMITS.items()))


PARTS = {"methods": methods, "classes": classes, "limits": sizes}

if __name__ == "__main__":
    sys.exit(made.keep(PAGE, PARTS))
