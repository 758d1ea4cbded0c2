"""How much work a JSON Schema can make of one value: a bound that is known before any value is seen.

A validator evaluates a subschema once for every way that leads to it, so two kilobytes of `anyOf` and `$ref` can mean a
billion evaluations. The *width* of a schema bounds how many of them one place of the value can get; references are
followed, branches for the same place add up, different properties do not. A recursive schema must go down in the value
with each round, and by one way only for each key: by two, the work would double with every level of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from perdure.model.problems import pointed

WIDEST = 20_000
"""Evaluations of subschemas that one place of a value may get."""
_CROSSINGS = 2  # from one recursion into another for the same place: each one is a factor of the depth of the value

_LISTS = ("allOf", "anyOf", "oneOf")
_HERE = ("not", "if", "then", "else")
_ANY_KEY = ("additionalProperties", "unevaluatedProperties")
_ANY_ITEM = ("items", "additionalItems", "unevaluatedItems", "contains")


class Costly(NamedTuple):
    pointer: str
    message: str
    remedy: str


class _Edge(NamedTuple):
    target: int
    key: str | None
    """None: the same place of the value. Else which part of it: `.name`, `.*`, `#3` or `#*`."""
    but: frozenset[str] = frozenset()
    """Names that `.*` does not mean."""


class _TooCostly(Exception):
    def __init__(self, node: int, message: str, remedy: str) -> None:
        super().__init__(message)
        self.costly = (node, message, remedy)


def why_costly(schema: Any) -> Costly | None:
    """What makes the schema too expensive; None for one that is not."""
    survey = _Survey(schema)
    try:
        survey.read()
        survey.weigh()
    except _TooCostly as refused:
        node, message, remedy = refused.costly
        return Costly(survey.pointers[node], message, remedy)
    except RecursionError:
        return Costly("", "its references lead too deep", "Nest subschemas and references less deeply.")
    return None


class _Survey:
    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.numbers: dict[int, int] = {}
        self.pointers: list[str] = []
        self.edges: list[list[_Edge]] = []
        self.anchors: dict[str, tuple[dict[str, Any], str]] = {}

    # -- reading ------------------------------------------------------------------------------------

    def read(self) -> None:
        self._find_anchors(self.schema, "")
        waiting: list[tuple[dict[str, Any], str]] = []
        self._number(self.schema, "", waiting)
        while waiting:
            part, pointer = waiting.pop()
            own = self.edges[self.numbers[id(part)]]
            for inner, place, key, but in self._parts(part, pointer):
                target = self._number(inner, place, waiting)
                if target is not None:
                    own.append(_Edge(target, key, but))

    def _number(self, part: Any, pointer: str, waiting: list[tuple[dict[str, Any], str]]) -> int | None:
        if not isinstance(part, dict):
            return None
        number = self.numbers.get(id(part))
        if number is None:
            number = self.numbers[id(part)] = len(self.edges)
            self.edges.append([])
            self.pointers.append(pointer)
            waiting.append((part, pointer))
        return number

    def _find_anchors(self, part: Any, pointer: str) -> None:
        if isinstance(part, dict):
            for word, sign in (("$anchor", "#"), ("$dynamicAnchor", "#"), ("$id", "")):
                if isinstance(part.get(word), str):
                    self.anchors.setdefault(sign + part[word], (part, pointer))
        inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, value in inner:
            self._find_anchors(value, pointed(pointer, key))

    def _parts(self, part: dict[str, Any], pointer: str) -> Iterator[tuple[Any, str, str | None, frozenset[str]]]:
        """Subschemas with their place in the schema and in the value."""
        none: frozenset[str] = frozenset()
        for word in ("$ref", "$dynamicRef", "$recursiveRef"):
            found = self._resolved(part.get(word))
            if found is not None:
                yield *found, None, none
        for word in _LISTS:
            for number, each in enumerate(_listed(part.get(word))):
                yield each, pointed(pointer, word, number), None, none
        for word in _HERE:
            yield part.get(word), pointed(pointer, word), None, none
        for word in ("dependentSchemas", "dependencies"):
            for name, each in _named(part.get(word)).items():
                yield each, pointed(pointer, word, name), None, none
        properties = _named(part.get("properties"))
        for name, each in properties.items():
            yield each, pointed(pointer, "properties", name), f".{name}", none
        for name, each in _named(part.get("patternProperties")).items():
            yield each, pointed(pointer, "patternProperties", name), ".*", none
        for word in _ANY_KEY:
            yield part.get(word), pointed(pointer, word), ".*", frozenset(f".{name}" for name in properties)
        first = _listed(part.get("prefixItems")) or _listed(part.get("items"))
        for number, each in enumerate(first):
            word = "prefixItems" if "prefixItems" in part else "items"
            yield each, pointed(pointer, word, number), f"#{number}", none
        for word in _ANY_ITEM:
            but = none if word == "contains" else frozenset(f"#{number}" for number in range(len(first)))
            yield part.get(word), pointed(pointer, word), "#*", but

    def _resolved(self, reference: Any) -> tuple[Any, str] | None:
        if not isinstance(reference, str):
            return None
        base, _, fragment = reference.partition("#")
        found, pointer = self.anchors.get(base, (None, "")) if base else (self.schema, "")
        if found is None:  # in words of its own, or one that the validator knows, or that it will refuse
            return self.anchors.get(reference)
        if fragment and not fragment.startswith("/"):
            return self.anchors.get("#" + fragment)
        for step in fragment.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict):
                found = found.get(key)
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                return None
            pointer = pointed(pointer, key)
        return found, pointer

    # -- weighing -----------------------------------------------------------------------------------

    def weigh(self) -> None:
        component = _components(self.edges)
        members: dict[int, list[int]] = {}
        for node, number in enumerate(component):
            members.setdefault(number, []).append(node)
        width: dict[int, int] = {}
        crossings: dict[int, int] = {}
        leads: dict[int, bool] = {}  # to a recursion, or is one
        for number in sorted(members):  # what is referred to comes first
            nodes = members[number]
            inner = [(node, edge) for node in nodes for edge in self.edges[node] if component[edge.target] == number]
            if inner:
                self._check_going_down(nodes, component)
            outer = [[edge for edge in self.edges[node] if component[edge.target] != number] for node in nodes]
            width[number] = sum(1 + _width([(e, width[component[e.target]]) for e in each]) for each in outer)
            if width[number] > WIDEST:
                raise _TooCostly(
                    nodes[0],
                    f"one value could need more than {WIDEST:,} evaluations here",
                    "Refer to each subschema from fewer branches of anyOf, allOf and oneOf.",
                )
            beyond = [component[edge.target] for each in outer for edge in each]
            leads[number] = bool(inner) or any(leads[each] for each in beyond)
            crossings[number] = max((crossings[each] for each in beyond), default=0)
            if inner and any(leads[each] for each in beyond):
                crossings[number] += self._branches_out(nodes, component, leads)
                if crossings[number] > _CROSSINGS:
                    raise _TooCostly(nodes[0], "recursions for the same place lead into one another", _ONE_WAY)

    def _check_going_down(self, nodes: list[int], component: list[int]) -> None:
        number = component[nodes[0]]
        for node in nodes:
            ways = self._ways_down(node, lambda target: component[target] == number)
            for at, (one, times) in enumerate(ways):
                if times > 1 or any(_overlap(one, other) for other, _ in ways[at + 1 :]):
                    told = "the schema comes back to itself along two branches for the same part of a value"
                    raise _TooCostly(node, told, _ONE_WAY)

    def _branches_out(self, nodes: list[int], component: list[int], leads: dict[int, bool]) -> bool:
        """Whether a part of a value that leads back also leads into another recursion."""
        number = component[nodes[0]]
        for node in nodes:
            ways = [edge for edge, _ in self._ways_down(node, lambda target: leads[component[target]])]
            own = [edge for edge in ways if component[edge.target] == number]
            if any(component[edge.target] != number and any(_overlap(edge, each) for each in own) for edge in ways):
                return True
        return False

    def _ways_down(self, node: int, wanted: Callable[[int], bool]) -> list[tuple[_Edge, int]]:
        """The steps into the value from here, through whatever looks at the same place, and how many ways each has."""
        found: dict[_Edge, int] = {}
        on_the_way: set[int] = set()

        def walk(at: int, spent: int) -> None:
            if at in on_the_way:
                raise _TooCostly(at, "the schema refers to itself for the same value", _GO_DOWN)
            on_the_way.add(at)
            for edge in self.edges[at]:
                if not wanted(edge.target):
                    continue
                if edge.key is not None:
                    found[edge] = found.get(edge, 0) + 1
                elif spent < WIDEST:
                    walk(edge.target, spent + 1)
            on_the_way.discard(at)
            if sum(found.values()) > WIDEST:
                raise _TooCostly(at, "the schema comes back to itself along very many branches", _ONE_WAY)

        walk(node, 0)
        return list(found.items())


_GO_DOWN = "Refer to it from a property or an item."
_ONE_WAY = "Let one branch alone lead back, and tell the kinds of value apart inside of it."


def _width(edges: list[tuple[_Edge, int]]) -> int:
    """Branches for the same place add up. Of different properties, a place of the value is only one."""
    by_key: dict[str, int] = {}
    here = anything = 0
    for edge, width in edges:
        if edge.key is None:
            here += width
        elif edge.key.endswith("*"):
            anything += width
        else:
            by_key[edge.key] = max(by_key.get(edge.key, 0), width)
    return here + anything + max(by_key.values(), default=0)


def _overlap(one: _Edge, other: _Edge) -> bool:
    """Whether there is a part of a value that both speak of."""
    if one.key is None or other.key is None or one.key[0] != other.key[0]:
        return False
    if one.key == other.key:
        return True
    if other.key.endswith("*"):
        one, other = other, one
    return one.key is not None and one.key[1:] == "*" and other.key not in one.but


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _named(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _components(edges: list[list[_Edge]]) -> list[int]:
    """The number of the strong component of each node; those that are led to have lower numbers (Tarjan, no stack of
    Python's)."""
    order: list[int] = [0] * len(edges)
    low = [0] * len(edges)
    found = [-1] * len(edges)
    stack: list[int] = []
    clock = components = 0
    for root in range(len(edges)):
        if order[root]:
            continue
        work = [(root, iter(edges[root]))]
        clock += 1
        order[root] = low[root] = clock
        stack.append(root)
        while work:
            node, rest = work[-1]
            for edge in rest:
                if not order[edge.target]:
                    clock += 1
                    order[edge.target] = low[edge.target] = clock
                    stack.append(edge.target)
                    work.append((edge.target, iter(edges[edge.target])))
                    break
                if found[edge.target] < 0:
                    low[node] = min(low[node], order[edge.target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    while found[node] < 0:
                        found[stack.pop()] = components
                    components += 1
    return found
