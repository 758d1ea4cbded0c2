"""The classes that a script may name, and what a declaration, an `as`, a cast or an `instanceof` does with each."""

from __future__ import annotations

from typing import Final, NamedTuple


class Known(NamedTuple):
    """Functions of the prelude; None where nothing is to be done."""

    declare: str | None = None
    """`int x = …` and `(int) …`: a value of another kind is an error."""
    convert: str | None = None
    """`… as int`: strings are read."""
    kind: str | None = None
    """What `instanceof` asks for. None: it cannot be asked."""


_TEXT: Final = Known("cast_text", "cast_text", "text")
_INTEGER: Final = Known("cast_integer", "as_integer", "integer")
_FLOAT: Final = Known("cast_float", "as_float", "float")
_LIST: Final = Known("cast_list", "as_list", "list")
_MAP: Final = Known("cast_map", "cast_map", "map")

TYPES: Final[dict[str, Known]] = {
    "String": _TEXT,
    "GString": _TEXT,
    "CharSequence": _TEXT,
    "int": Known("cast_int", "as_int"),
    "long": Known("cast_int", "as_int"),
    "short": Known("cast_int", "as_int"),
    "Integer": _INTEGER._replace(kind="small integer"),
    "Long": _INTEGER._replace(kind="large integer"),
    "Short": _INTEGER._replace(kind=None),
    "BigInteger": _INTEGER._replace(kind="huge integer"),
    "double": Known("cast_double", "as_double"),
    "float": Known("cast_double", "as_double"),
    "Double": _FLOAT,
    "Float": _FLOAT._replace(kind=None),
    "BigDecimal": Known("cast_decimal", "as_decimal", "decimal"),
    "Number": Known("cast_number", "cast_number", "number"),
    "boolean": Known("bool", "bool"),
    "Boolean": Known("cast_boolean", "cast_boolean", "boolean"),
    "List": _LIST,
    "ArrayList": _LIST,
    "LinkedList": _LIST,
    "Collection": _LIST,
    "Iterable": _LIST,
    "Map": _MAP,
    "HashMap": _MAP,
    "LinkedHashMap": _MAP,
    "Map.Entry": Known(None, None, "entry"),
    "Entry": Known(None, None, "entry"),
    "Date": Known(None, None, "date"),
    "Object": Known(None, None, "object"),
    "JsonSlurper": Known(),
    "JsonSlurperClassic": Known(),
    "SimpleDateFormat": Known(),
    "Closure": Known(),
    "void": Known(),
}
"""`short` and `float` are as wide as `int` and `double` here: JSON knows no narrower ones."""

PACKAGES: Final = frozenset({"java.lang", "java.util", "java.math", "java.text", "groovy.json", "groovy.lang"})

IMPORTS: Final = frozenset(
    {
        "Arrays", "BigDecimal", "BigInteger", "Collections", "JsonBuilder", "JsonOutput", "JsonSlurper",
        "JsonSlurperClassic", "Objects", "RoundingMode", *TYPES,
    }
)  # fmt: skip
"""Importing these does nothing: they are there anyway."""


def known_type(name: str) -> str | None:
    """The simple name of a class that we know, whether or not its package is written before it."""
    package, _, simple = name.rpartition(".")
    if not package or package in PACKAGES:
        return simple
    return "Entry" if name in {"Map.Entry", "java.util.Map.Entry"} else None
