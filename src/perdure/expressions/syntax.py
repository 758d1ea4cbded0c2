"""The nodes of the language. Each knows where in the text it stands (`start`, `end`, counted in characters).

Nodes are never compared nor shown, and leaving that out halves the time that this module takes to import.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(slots=True, eq=False, repr=False)
class Node:
    start: int
    end: int


@dataclass(slots=True, eq=False, repr=False)
class Constant(Node):
    value: bool | int | float | str | None


@dataclass(slots=True, eq=False, repr=False)
class Name(Node):
    name: str


@dataclass(slots=True, eq=False, repr=False)
class Member(Node):
    """`of.key`, `of?.key`, `of.0`"""

    of: Node
    key: str | int
    optional: bool


@dataclass(slots=True, eq=False, repr=False)
class Index(Node):
    """`of[at]`"""

    of: Node
    at: Node


@dataclass(slots=True, eq=False, repr=False)
class Slice(Node):
    """`of[low:high:step]`"""

    of: Node
    low: Node | None
    high: Node | None
    step: Node | None


@dataclass(slots=True, eq=False, repr=False)
class Unary(Node):
    op: Literal["-", "+", "not"]
    of: Node


@dataclass(slots=True, eq=False, repr=False)
class Binary(Node):
    op: str
    left: Node
    right: Node


@dataclass(slots=True, eq=False, repr=False)
class Logic(Node):
    """`a and b and c`"""

    op: Literal["and", "or"]
    parts: list[Node]


@dataclass(slots=True, eq=False, repr=False)
class Compare(Node):
    """`a < b <= c`: one operator fewer than operands"""

    ops: list[str]
    operands: list[Node]


@dataclass(slots=True, eq=False, repr=False)
class Choose(Node):
    """`then if test else otherwise`, `test ? then : otherwise`"""

    test: Node
    then: Node
    otherwise: Node


@dataclass(slots=True, eq=False, repr=False)
class Coalesce(Node):
    """`a ?? b ?? c`: the first that is there and not null. `a ?: b`: the first that is there and true."""

    op: Literal["??", "?:"]
    parts: list[Node]


@dataclass(slots=True, eq=False, repr=False)
class Call(Node):
    """`name(arguments)`, or `subject.name(arguments)` with the subject as first argument"""

    name: str
    name_start: int
    arguments: list[Node]
    keywords: dict[str, Node]


@dataclass(slots=True, eq=False, repr=False)
class ListOf(Node):
    items: list[Node]


@dataclass(slots=True, eq=False, repr=False)
class ObjectOf(Node):
    pairs: list[tuple[Node, Node]]


@dataclass(slots=True, eq=False, repr=False)
class Clause:
    """`for names in source if … if …`"""

    names: list[str]
    source: Node
    conditions: list[Node]


@dataclass(slots=True, eq=False, repr=False)
class Comprehension(Node):
    """`[value for …]`, or `{key: value for …}`. `weight` is how many nodes stand inside the brackets."""

    key: Node | None
    value: Node
    clauses: list[Clause]
    weight: int
