"""The tree of a script. Every node knows its line and column in the source.

Nodes are neither compared nor shown, so the dataclasses leave that out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

Access = Literal[".", "?.", "*."]


@dataclass(slots=True, eq=False, repr=False)
class Node:
    line: int
    column: int


# Types


@dataclass(slots=True, eq=False, repr=False)
class Type(Node):
    """`String`, `Map<String, Object>`, `int[]`, `java.util.Date`: what stands between < and > does not matter."""

    name: str
    is_array: bool = False

    @property
    def simple(self) -> str:
        return self.name.rpartition(".")[2]


# Expressions


@dataclass(slots=True, eq=False, repr=False)
class Expression(Node):
    pass


@dataclass(slots=True, eq=False, repr=False)
class Constant(Expression):
    """null, true, false, an integer, a plain string."""

    value: bool | int | str | None


@dataclass(slots=True, eq=False, repr=False)
class Fraction(Expression):
    """`1.5` is a decimal, `1.5d` a float."""

    kind: Literal["decimal", "float"]
    text: str


@dataclass(slots=True, eq=False, repr=False)
class Text(Expression):
    """A string with values in it."""

    parts: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Name(Expression):
    name: str


@dataclass(slots=True, eq=False, repr=False)
class Spread(Expression):
    """`*list` inside a list, `*:map` inside a map."""

    of: Expression


@dataclass(slots=True, eq=False, repr=False)
class ListOf(Expression):
    items: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Entry(Node):
    """`key: value` in a map; without a key it is `*:map`."""

    key: Expression | None
    value: Expression


@dataclass(slots=True, eq=False, repr=False)
class MapOf(Expression):
    entries: list[Entry]


@dataclass(slots=True, eq=False, repr=False)
class Range(Expression):
    low: Expression
    high: Expression
    inclusive: bool


@dataclass(slots=True, eq=False, repr=False)
class Property(Expression):
    of: Expression
    access: Access
    name: str


@dataclass(slots=True, eq=False, repr=False)
class Index(Expression):
    of: Expression
    at: Expression
    safe: bool


@dataclass(slots=True, eq=False, repr=False)
class Parameter(Node):
    name: str
    type: Type | None
    default: Expression | None


@dataclass(slots=True, eq=False, repr=False)
class Closure(Expression):
    """Without parameters (None) there is `it`; with an empty list there is none."""

    parameters: list[Parameter] | None
    body: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class Call(Expression):
    """`of.name(arguments)`, or `name(arguments)` without `of`. A closure after the bracket is the last argument."""

    of: Expression | None
    access: Access
    name: str
    arguments: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class New(Expression):
    type: Type
    arguments: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Unary(Expression):
    op: Literal["-", "+", "!", "~"]
    of: Expression


@dataclass(slots=True, eq=False, repr=False)
class Binary(Expression):
    op: str
    left: Expression
    right: Expression


@dataclass(slots=True, eq=False, repr=False)
class Chain(Expression):
    """`a + b + c`, `a && b && c`, `a || b || c`, `a ?: b ?: c`, flat: people write long ones."""

    op: Literal["+", "&&", "||", "?:"]
    parts: list[Expression]


@dataclass(slots=True, eq=False, repr=False)
class Choose(Expression):
    """`test ? then : otherwise`"""

    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(slots=True, eq=False, repr=False)
class Convert(Expression):
    """`of as Type`, or with `is_cast` the stricter `(Type) of`."""

    of: Expression
    type: Type
    is_cast: bool


@dataclass(slots=True, eq=False, repr=False)
class InstanceOf(Expression):
    of: Expression
    type: Type
    negated: bool


@dataclass(slots=True, eq=False, repr=False)
class Assign(Expression):
    """`target op value`; only a statement of its own may be one."""

    target: Expression
    op: str
    value: Expression


@dataclass(slots=True, eq=False, repr=False)
class Step(Expression):
    """`x++`, `--x`; only a statement of its own may be one."""

    target: Expression
    op: Literal["++", "--"]


# Statements


@dataclass(slots=True, eq=False, repr=False)
class Statement(Node):
    pass


@dataclass(slots=True, eq=False, repr=False)
class Evaluate(Statement):
    value: Expression


@dataclass(slots=True, eq=False, repr=False)
class Declare(Statement):
    type: Type | None
    name: str
    value: Expression | None


@dataclass(slots=True, eq=False, repr=False)
class DeclareSeveral(Statement):
    """`def (a, b) = list`"""

    names: list[Parameter]
    value: Expression


@dataclass(slots=True, eq=False, repr=False)
class Method(Statement):
    name: str
    parameters: list[Parameter]
    body: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class Return(Statement):
    value: Expression | None


@dataclass(slots=True, eq=False, repr=False)
class Throw(Statement):
    value: Expression


@dataclass(slots=True, eq=False, repr=False)
class Assert(Statement):
    test: Expression
    message: Expression | None


@dataclass(slots=True, eq=False, repr=False)
class Arm(Node):
    test: Expression
    body: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class If(Statement):
    """Flat: `else if` is another arm, however many there are."""

    arms: list[Arm]
    otherwise: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class While(Statement):
    test: Expression
    body: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class ForEach(Statement):
    variable: Parameter
    items: Expression
    body: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class ForCount(Statement):
    """`for (int i = 0; i < 3; i++)`"""

    begin: list[Statement]
    test: Expression | None
    advance: list[Statement]
    body: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class Break(Statement):
    pass


@dataclass(slots=True, eq=False, repr=False)
class Continue(Statement):
    pass


@dataclass(slots=True, eq=False, repr=False)
class Case(Node):
    """Several labels that share a body; no label is `default`."""

    labels: list[Expression]
    body: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class Switch(Statement):
    subject: Expression
    cases: list[Case]


@dataclass(slots=True, eq=False, repr=False)
class Catch(Node):
    types: list[Type]
    name: str
    body: list[Statement]


@dataclass(slots=True, eq=False, repr=False)
class Try(Statement):
    body: list[Statement]
    catches: list[Catch]
    lastly: list[Statement] | None


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below this one, in the order of the source."""
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, Node):
                    yield item


def walk(*roots: Node) -> Iterator[Node]:
    """All nodes, without recursion: a tree may be deeper than Python's stack before its depth is looked at."""
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(children(node))))
