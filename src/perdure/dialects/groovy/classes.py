"""What a script may ask of a class: constructors, static methods, constants; and which exceptions are which."""

from __future__ import annotations

from typing import Final, NamedTuple

from perdure.dialects.groovy.types import known_type


class Static(NamedTuple):
    function: str
    least: int
    most: int


STATIC_METHODS: Final[dict[tuple[str, str], Static]] = {
    ("Math", "max"): Static("larger", 2, 2),
    ("Math", "min"): Static("smaller", 2, 2),
    ("Math", "abs"): Static("absolute", 1, 1),
    ("Math", "round"): Static("nearest", 1, 1),
    ("Math", "floor"): Static("floor_of", 1, 1),
    ("Math", "ceil"): Static("ceiling_of", 1, 1),
    ("Math", "pow"): Static("power_of", 2, 2),
    ("Math", "sqrt"): Static("root_of", 1, 1),
    ("Integer", "parseInt"): Static("as_int", 1, 1),
    ("Integer", "valueOf"): Static("as_int", 1, 1),
    ("Long", "parseLong"): Static("as_int", 1, 1),
    ("Long", "valueOf"): Static("as_int", 1, 1),
    ("Double", "parseDouble"): Static("as_double", 1, 1),
    ("Double", "valueOf"): Static("as_double", 1, 1),
    ("Float", "parseFloat"): Static("as_double", 1, 1),
    ("Boolean", "parseBoolean"): Static("parsed_boolean", 1, 1),
    ("Boolean", "valueOf"): Static("parsed_boolean", 1, 1),
    ("BigDecimal", "valueOf"): Static("new_decimal", 1, 1),
    ("String", "valueOf"): Static("java_text", 1, 1),
    ("String", "format"): Static("formatted", 1, 50),
    ("String", "join"): Static("joined_by", 2, 2),
    ("Objects", "equals"): Static("equal", 2, 2),
    ("Objects", "toString"): Static("text", 1, 1),
    ("JsonOutput", "toJson"): Static("to_json", 1, 1),
}
"""Called with all arguments in order."""

INLINE_METHODS: Final[dict[tuple[str, str], str]] = {
    ("System", "currentTimeMillis"): "millis(now())",
    ("Collections", "emptyList"): "[]",
    ("Collections", "emptyMap"): "{}",
}
"""Without arguments: what stands there instead. The names in it are functions of the prelude."""

CONSTANTS: Final[dict[tuple[str, str], object]] = {
    ("Integer", "MAX_VALUE"): 2**31 - 1,
    ("Integer", "MIN_VALUE"): -(2**31),
    ("Long", "MAX_VALUE"): 2**63 - 1,
    ("Long", "MIN_VALUE"): -(2**63),
    ("Boolean", "TRUE"): True,
    ("Boolean", "FALSE"): False,
    **{
        (owner, f"{prefix}{mode}"): f"ROUND_{mode}"
        for owner, prefix in (("RoundingMode", ""), ("BigDecimal", "ROUND_"))
        for mode in ("UP", "DOWN", "CEILING", "FLOOR", "HALF_UP", "HALF_DOWN", "HALF_EVEN")
    },
}
"""Rounding modes have their names in Python's decimal module."""

DECIMALS: Final[dict[tuple[str, str], str]] = {("BigDecimal", "ZERO"): "0", ("BigDecimal", "ONE"): "1"}

CLASSES: Final = frozenset(owner for owner, _ in [*STATIC_METHODS, *INLINE_METHODS, *CONSTANTS]) | {"Arrays", "Date"}

COLLECTIONS: Final = {
    "ArrayList": "[]",
    "LinkedList": "[]",
    "HashMap": "{}",
    "LinkedHashMap": "{}",
}
"""`new ArrayList()`; with an argument it is a copy."""

_PROCESS: Final = "a script starts nothing; do this in a node of the flow"
_FILES: Final = "a script opens nothing; do this in a node of the flow"

REFUSED_CLASSES: Final[dict[str, str]] = {
    **dict.fromkeys(("Thread", "Runnable", "Timer", "ProcessBuilder", "Runtime", "GroovyShell", "Eval"), _PROCESS),
    **dict.fromkeys(("File", "FileReader", "FileWriter", "URL", "Socket", "Paths", "Files", "Path"), _FILES),
    **dict.fromkeys(("HashSet", "LinkedHashSet", "TreeSet", "Set"), "use a list and unique()"),
    **dict.fromkeys(("StringBuilder", "StringBuffer", "StringWriter"), "collect into a list and join() it, or use +="),
    **dict.fromkeys(("Pattern", "Matcher"), "use split, contains, startsWith, endsWith or matches('…')"),
    **dict.fromkeys(
        ("LocalDate", "LocalDateTime", "Instant", "ZonedDateTime", "Calendar", "DateTimeFormatter", "Duration"),
        "use new Date(), .time and .format('…')",
    ),
    "UUID": "a run must be repeatable; pass the id in, or use the run's",
    "Random": "a run must be repeatable; pass the number in",
    "Optional": "use ?. and ?:",
    "Collectors": "use collect, findAll, any, every, sum, sort or join",
    "TreeMap": "use a map and sort()",
    "System": "only System.currentTimeMillis() is there",
    "XmlSlurper": "ask for JSON",
}

_CHILDREN: Final[dict[str, tuple[str, ...]]] = {
    "RuntimeException": (
        "ArithmeticException", "ClassCastException", "GroovyRuntimeException", "IllegalArgumentException",
        "IllegalStateException", "IndexOutOfBoundsException", "JsonException", "NoSuchElementException",
        "NullPointerException", "UnsupportedOperationException",
    ),
    "GroovyRuntimeException": ("MissingMethodException", "MissingPropertyException"),
    "ClassCastException": ("GroovyCastException",),
    "IllegalArgumentException": (
        "NumberFormatException", "IllegalFormatConversionException", "MissingFormatArgumentException",
    ),
    "IndexOutOfBoundsException": ("ArrayIndexOutOfBoundsException", "StringIndexOutOfBoundsException"),
}  # fmt: skip

CATCHES_ALL: Final = frozenset({"Exception", "Throwable"})


def caught_kinds(name: str) -> list[str]:
    """The exceptions that `catch (name e)` catches: itself and its descendants, so far as scripts can meet them."""
    found = [name]
    for kind in found:
        found.extend(_CHILDREN.get(kind, ()))
    return found


def is_exception(name: str) -> bool:
    return name.endswith(("Exception", "Error")) or name == "Throwable"


def class_named(name: str) -> str | None:
    """The simple name of a class that has static methods or constants; None if this names none."""
    simple = known_type(name)
    return simple if simple in CLASSES else None
