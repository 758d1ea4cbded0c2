"""What a query consists of. Queries, segments and calls know where in the text they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from perdure.expressions.jsonpath.functions import Function
from perdure.expressions.values import Json

# -- selectors ----------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False, repr=False)
class Name:
    """`['key']`, `.key`"""

    key: str


@dataclass(slots=True, eq=False, repr=False)
class Index:
    """`[3]`, `[-1]`"""

    at: int


@dataclass(slots=True, eq=False, repr=False)
class Slice:
    """`[start:end:step]`"""

    start: int | None
    end: int | None
    step: int | None


@dataclass(slots=True, eq=False, repr=False)
class Wildcard:
    """`[*]`, `.*`"""


@dataclass(slots=True, eq=False, repr=False)
class Filter:
    """`[?test]`. `weight` is how many parts the test has."""

    test: Logical
    weight: int


Selector = Name | Index | Slice | Wildcard | Filter


@dataclass(slots=True, eq=False, repr=False)
class Segment:
    """One step of a query. `plain` is a segment as the grammar wants it in a query that is compared: without blanks."""

    selectors: list[Selector]
    descendant: bool
    plain: bool
    start: int
    end: int

    @property
    def is_singular(self) -> bool:
        return not self.descendant and len(self.selectors) == 1 and isinstance(self.selectors[0], Name | Index)


@dataclass(slots=True, eq=False, repr=False)
class Query:
    """`$…` or, inside of a filter, `@…`"""

    absolute: bool
    segments: list[Segment]
    start: int
    end: int

    @property
    def is_singular(self) -> bool:
        """Whether it finds one value at most, whatever the document is."""
        return all(each.is_singular for each in self.segments)

    @property
    def keys(self) -> tuple[str | int, ...]:
        """Of a singular query: the names and indexes."""
        found = [each.selectors[0] for each in self.segments]
        return tuple(
            each.key if isinstance(each, Name) else each.at for each in found if isinstance(each, Name | Index)
        )


# -- filters ------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False, repr=False)
class Literal:
    """A number, text, true, false or null"""

    value: Json


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """`function(argument, …)`"""

    function: Function
    arguments: list[Argument]
    start: int
    end: int


@dataclass(slots=True, eq=False, repr=False)
class Comparison:
    op: OneOf["==", "!=", "<", "<=", ">", ">="]
    left: Comparable
    right: Comparable


@dataclass(slots=True, eq=False, repr=False)
class Test:
    """A query that finds something, or a function that says yes"""

    of: Query | Call


@dataclass(slots=True, eq=False, repr=False)
class Not:
    of: Logical


@dataclass(slots=True, eq=False, repr=False)
class Both:
    """`a && b && c`"""

    parts: list[Logical]


@dataclass(slots=True, eq=False, repr=False)
class Either:
    """`a || b || c`"""

    parts: list[Logical]


Comparable = Literal | Query | Call
Logical = Comparison | Test | Not | Both | Either
Argument = Literal | Query | Call | Logical
