"""From a query to a Python function that gives what it selects.

No function here calls itself for the depth of a document, and each pays for what it selects before it does. Where
values are, is only kept when somebody wants to know: `places` is then a list beside `values`, and each place is a pair
of the place above it and a key, so that keeping it costs the same at any depth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from perdure.errors import ExpressionError
from perdure.expressions.jsonpath.functions import Run
from perdure.expressions.jsonpath.syntax import Filter, Index, Name, Query, Segment, Selector, Slice, Wildcard
from perdure.expressions.limits import Limits, spend
from perdure.expressions.places import placed
from perdure.expressions.values import MISSING, Json, is_object

Place = tuple[Any, str | int] | None  # the place above, and a key; None is the root
Check = Callable[[Json, Run], bool]


class Nodes:
    """Values, and if they are wanted the places beside them."""

    __slots__ = ("places", "values")

    def __init__(self, values: list[Json], places: list[Place] | None) -> None:
        self.values = values
        self.places = places

    def beside(self) -> Nodes:
        """An empty one of the same kind."""
        return Nodes([], None if self.places is None else [])


#: Nothing is below these.
_LEAVES: Final = frozenset({str, int, float, bool, type(None)})

Select = Callable[[Json, Place, Nodes, Run], None]
Step = Callable[[Nodes, Run], Nodes]
Find = Callable[[Nodes, Run], Nodes]


def walk(value: Json, keys: tuple[str | int, ...]) -> Json:
    """What a query of names and indexes finds, or MISSING."""
    for key in keys:
        if isinstance(key, str):
            if not is_object(value) or key not in value:
                return MISSING
        elif not isinstance(value, list) or not -len(value) <= key < len(value):
            return MISSING
        value = value[key]
    return value


class Selecting:
    """Makes functions of one query. `check` makes one of a filter."""

    def __init__(self, source: str, limits: Limits, check: Callable[[Selecting, Filter], Check]) -> None:
        self.source = source
        self.limits = limits
        self._check = check

    def query(self, query: Query) -> Find:
        steps = [(self._step(each), each.start, each.end) for each in query.segments]
        source = self.source

        def find(nodes: Nodes, run: Run) -> Nodes:
            for step, start, end in steps:
                try:
                    nodes = step(nodes, run)
                except ExpressionError as fault:
                    raise placed(fault, source, start, end) from None
            return nodes

        return find

    def _step(self, segment: Segment) -> Step:
        selects = [self._select(each) for each in segment.selectors]
        count = len(selects)

        def children(nodes: Nodes, run: Run) -> Nodes:
            spend(run.meter, len(nodes.values) * count)
            found = nodes.beside()
            for at, value in enumerate(nodes.values):
                place = None if nodes.places is None else nodes.places[at]
                for select in selects:
                    select(value, place, found, run)
            return found

        if not segment.descendant:
            return children
        return lambda nodes, run: children(_with_descendants(nodes, run), run)

    def _select(self, selector: Selector) -> Select:
        match selector:
            case Name():
                return _name(selector.key)
            case Index():
                return _index(selector.at)
            case Slice():
                return _slice(slice(selector.start, selector.end, selector.step), selector.step == 0)
            case Wildcard():
                return _all
            case Filter():
                return _filter(self._check(self, selector), selector.weight)


# -- one selector, applied to one value ---------------------------------------------------------------------------


def _name(key: str) -> Select:
    def select(value: Json, place: Place, found: Nodes, run: Run) -> None:
        if is_object(value) and key in value:
            found.values.append(value[key])
            if found.places is not None:
                found.places.append((place, key))

    return select


def _index(at: int) -> Select:
    def select(value: Json, place: Place, found: Nodes, run: Run) -> None:
        if isinstance(value, list) and -len(value) <= at < len(value):
            found.values.append(value[at])
            if found.places is not None:
                found.places.append((place, at if at >= 0 else len(value) + at))

    return select


def _slice(bounds: slice, nothing: bool) -> Select:
    """Python's slices have the bounds of the RFC, but for a step of 0, which selects nothing."""

    def select(value: Json, place: Place, found: Nodes, run: Run) -> None:
        if isinstance(value, list) and not nothing:
            indexes = range(*bounds.indices(len(value)))
            spend(run.meter, len(indexes) * run.price)
            found.values.extend(value[bounds])
            if found.places is not None:
                found.places.extend((place, at) for at in indexes)

    return select


def _all(value: Json, place: Place, found: Nodes, run: Run) -> None:
    if isinstance(value, list):
        spend(run.meter, len(value) * run.price)
        found.values.extend(value)
        if found.places is not None:
            found.places.extend((place, at) for at in range(len(value)))
    elif is_object(value):
        spend(run.meter, len(value) * run.price)
        found.values.extend(value.values())
        if found.places is not None:
            found.places.extend((place, key) for key in value)


def _filter(check: Check, weight: int) -> Select:
    def select(value: Json, place: Place, found: Nodes, run: Run) -> None:
        if isinstance(value, list):
            keys: Any = range(len(value))
            values: Any = value
        elif is_object(value):
            keys, values = value, value.values()
        else:
            return
        spend(run.meter, len(values) * (2 * weight + run.price))
        if found.places is None:
            found.values.extend([each for each in values if check(each, run)])
            return
        for key, each in zip(keys, values, strict=True):
            if check(each, run):
                found.values.append(each)
                found.places.append((place, key))

    return select


# -- `..` ---------------------------------------------------------------------------------------------------------


def _with_descendants(nodes: Nodes, run: Run) -> Nodes:
    """The nodes, each followed by all that is below it, from the top down and from the front to the back.

    Values that are neither lists nor objects are left out: nothing can be selected from them.
    """
    found = nodes.beside()
    for at, top in enumerate(nodes.values):
        if type(top) in _LEAVES:
            continue
        if nodes.places is None:
            _descend(top, found.values, run)
        else:
            _descend_with_places(top, nodes.places[at], found, run)
    return found


def _descend(top: Json, found: list[Json], run: Run) -> None:
    rest = [top]
    while rest:
        value = rest.pop()
        parts: Any = value if isinstance(value, list) else value.values()
        found.append(value)
        spend(run.meter, 2 * (1 + len(value) * run.price))
        below = [each for each in parts if type(each) not in _LEAVES]
        below.reverse()
        rest += below


def _descend_with_places(top: Json, place: Place, found: Nodes, run: Run) -> None:
    rest = [(top, place)]
    while rest:
        value, place = rest.pop()
        parts: Any = enumerate(value) if isinstance(value, list) else value.items()
        found.values.append(value)
        if found.places is not None:
            found.places.append(place)
        spend(run.meter, 2 * (1 + len(value) * run.price))
        below = [(each, (place, key)) for key, each in parts if type(each) not in _LEAVES]
        below.reverse()
        rest += below


# -- normalized paths ---------------------------------------------------------------------------------------------

_ESCAPES: Final = str.maketrans(
    {chr(code): f"\\u{code:04x}" for code in range(32)}
    | {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "'": "\\'", "\\": "\\\\"}
)


def normalized(place: Place, run: Run) -> str:
    """`$['a'][0]`"""
    steps: list[str] = []
    while place is not None:
        place, key = place
        steps.append(f"[{key}]" if isinstance(key, int) else f"['{key.translate(_ESCAPES)}']")
    spend(run.meter, len(steps))
    steps.append("$")
    steps.reverse()
    return "".join(steps)
