"""The functions of RFC 9535, section 2.4, and the types that make a use of them right or wrong.

- A *value* is a JSON value or Nothing (MISSING here), which is what a query that finds nothing amounts to.
- A *logical* is true or false; it cannot be compared, and no value turns into one.
- *Nodes* are what a query finds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from perdure.errors import ExpressionSyntax
from perdure.expressions.iregexp import IRegexp, compile_iregexp
from perdure.expressions.limits import Limits, Meter, spend
from perdure.expressions.values import MISSING, Json, is_object

Type = Literal["value", "logical", "nodes"]

#: What compiling a character, and a place, of a pattern that comes from the document costs, in units of work.
_COMPILING: Final = 120


class Run:
    """One evaluation: the document, and what may still be spent."""

    __slots__ = ("limits", "meter", "patterns", "price", "root")

    def __init__(self, root: Json, meter: Meter, limits: Limits, price: int) -> None:
        self.root = root
        self.meter = meter
        self.limits = limits
        #: What it costs to select one value.
        self.price = price
        #: Those that came from the document so far: each is paid for once, whoever compiled it before.
        self.patterns: dict[str, IRegexp | None] = {}


@dataclass(frozen=True, slots=True)
class Function:
    """What a function takes and gives. `call` gets the run, then its arguments."""

    name: str
    parameters: tuple[Type, ...]
    result: Type
    call: Callable[..., Any]


def _length(run: Run, value: Json) -> Json:
    """The characters of a text, the items of a list, the members of an object; else Nothing."""
    return len(value) if isinstance(value, str | list) or is_object(value) else MISSING


def _count(run: Run, nodes: list[Json]) -> Json:
    return len(nodes)


def _value(run: Run, nodes: list[Json]) -> Json:
    """The one value that was found; Nothing if there are none or several."""
    return nodes[0] if len(nodes) == 1 else MISSING


def _match(run: Run, text: Json, pattern: Json) -> bool:
    regexp = _pattern(run, pattern) if isinstance(text, str) else None
    return regexp is not None and regexp.match(text, meter=run.meter)


def _search(run: Run, text: Json, pattern: Json) -> bool:
    regexp = _pattern(run, pattern) if isinstance(text, str) else None
    return regexp is not None and regexp.search(text, meter=run.meter)


def constant_pattern(source: Json, limits: Limits) -> IRegexp | None:
    """The pattern that a literal spells. What is no pattern matches nothing, says the RFC; that is no error."""
    if not isinstance(source, str):
        return None
    try:
        return compile_iregexp(source, limits=limits)
    except ExpressionSyntax:
        return None


def _pattern(run: Run, pattern: Json) -> IRegexp | None:
    if pattern is None or isinstance(pattern, IRegexp):
        return pattern
    if not isinstance(pattern, str):
        return None
    if pattern not in run.patterns:
        spend(run.meter, _COMPILING * (1 + len(pattern)))
        found = run.patterns[pattern] = constant_pattern(pattern, run.limits)
        if found is not None:
            spend(run.meter, _COMPILING * found.size)
    return run.patterns[pattern]


#: These take a pattern as their second argument; one that is a literal is compiled with the query.
PATTERN_FUNCTIONS: Final = frozenset({"match", "search"})

FUNCTIONS: Final = {
    each.name: each
    for each in (
        Function("length", ("value",), "value", _length),
        Function("count", ("nodes",), "value", _count),
        Function("match", ("value", "value"), "logical", _match),
        Function("search", ("value", "value"), "logical", _search),
        Function("value", ("nodes",), "value", _value),
    )
}
