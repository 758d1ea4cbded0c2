"""A query: compiled once per source, run as often as you like."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from perdure.errors import ExpressionLimit
from perdure.expressions.jsonpath.filtering import check
from perdure.expressions.jsonpath.functions import Run
from perdure.expressions.jsonpath.parser import Parser
from perdure.expressions.jsonpath.selecting import Nodes, Selecting, normalized, walk
from perdure.expressions.jsonpath.syntax import Index, Name, Query, Slice
from perdure.expressions.limits import DEFAULT_LIMITS, Limits, Meter
from perdure.expressions.places import placed
from perdure.expressions.sources import legible, readable
from perdure.expressions.values import MISSING, Json

CACHE_SIZE: Final = 1_024

#: A query may do the work of this many expressions, because it is asked of whole documents.
_WORK: Final = 4
#: Keeping the place of a value takes several times the memory of keeping the value.
_PRICE_WITH_PLACES: Final = 4


class JsonPath:
    """A compiled query. Made by `compile_jsonpath`; immutable and safe to share between threads.

    A query that is part of something larger may be given the meter of that.
    """

    __slots__ = ("_find", "_keys", "_limits", "is_singular", "names", "source")

    source: str
    #: Whether it finds one value at most, whatever the document is.
    is_singular: bool
    #: The members of the document that it may read, or None if it may read any of them.
    names: frozenset[str] | None

    def __init__(self, source: str, limits: Limits) -> None:
        parser = Parser(source, limits)
        query = parser.parse()
        self.source = source
        self.is_singular = query.is_singular
        self.names = _names(parser.absolute)
        self._limits = limits
        self._keys = query.keys if query.is_singular else None
        self._find = Selecting(source, limits, check).query(query)

    def find(self, value: Json, *, meter: Meter | None = None) -> list[Json]:
        """The values that it finds in `value`, in the order of the RFC. They are parts of `value`, not copies."""
        if self._keys is not None:
            found = walk(value, self._keys)
            return [] if found is MISSING else [found]
        return self._run(Nodes([value], None), self._start(value, meter, 1)).values

    def nodes(self, value: Json, *, meter: Meter | None = None) -> list[tuple[str, Json]]:
        """The same, each with its normalized path."""
        run = self._start(value, meter, _PRICE_WITH_PLACES)
        found = self._run(Nodes([value], [None]), run)
        try:
            return [
                (normalized(place, run), each) for place, each in zip(found.places or (), found.values, strict=True)
            ]
        except ExpressionLimit as fault:
            raise placed(fault, self.source, 0, len(self.source)) from None

    def first(self, value: Json, default: Json = None, *, meter: Meter | None = None) -> Json:
        """The first value that it finds, or `default`."""
        if self._keys is not None:
            found = walk(value, self._keys)
            return default if found is MISSING else found
        values = self.find(value, meter=meter)
        return values[0] if values else default

    def _start(self, value: Json, meter: Meter | None, price: int) -> Run:
        if meter is None:
            meter = [self._limits.steps, self._limits.work * _WORK]
        return Run(value, meter, self._limits, price)

    def _run(self, nodes: Nodes, run: Run) -> Nodes:
        try:
            found = self._find(nodes, run)
        except RecursionError:
            fault = ExpressionLimit("the query, or a value that it compares, is nested too deeply")
            raise placed(fault, self.source, 0, len(self.source)) from None
        if len(found.values) > self._limits.found:
            message = f"the query finds {len(found.values):,} values, more than {self._limits.found:,}"
            raise placed(ExpressionLimit(message), self.source, 0, len(self.source))
        return found

    def __repr__(self) -> str:
        return f"JsonPath({self.source!r})"


def compile_jsonpath(source: str, *, limits: Limits = DEFAULT_LIMITS) -> JsonPath:
    """The query that `source` spells; the last 1,024 are kept."""
    readable(source, "query", limits)
    return _compiled(source, limits)


@lru_cache(maxsize=CACHE_SIZE)
def _compiled(source: str, limits: Limits) -> JsonPath:
    legible(source)
    try:
        return JsonPath(source, limits)
    except RecursionError:
        # The parser's own limit comes first, unless the caller has used up most of the stack.
        raise placed(ExpressionLimit("the query is nested too deeply"), source, 0, 1) from None


def _names(queries: list[Query]) -> frozenset[str] | None:
    """What queries that begin at the root may read of it."""
    found: set[str] = set()
    for query in queries:
        if not query.segments or query.segments[0].descendant:
            return None
        for selector in query.segments[0].selectors:
            if isinstance(selector, Name):
                found.add(selector.key)
            elif not isinstance(selector, Index | Slice):
                return None
    return frozenset(found)
