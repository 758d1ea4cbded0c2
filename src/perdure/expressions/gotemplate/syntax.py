"""What a template consists of. Variables are numbered when it is compiled: `slot` is a place in the frame."""

from __future__ import annotations

from dataclasses import dataclass, field

from perdure.expressions.gotemplate.functions import Function
from perdure.expressions.gotemplate.tokens import Text

# -- values -------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False, repr=False)
class Constant:
    value: bool | int | float | str | None


@dataclass(slots=True, eq=False, repr=False)
class Dot:
    """`.`"""


@dataclass(slots=True, eq=False, repr=False)
class Variable:
    """`$x`; slot 0 is `$`, the data that the template was given"""

    slot: int


@dataclass(slots=True, eq=False, repr=False)
class Member:
    """`of.key.key`"""

    of: Value
    keys: tuple[str | int, ...]
    start: int
    end: int


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """`function argument …`, or `argument | function`"""

    function: Function
    arguments: list[Value]
    start: int
    end: int


Value = Constant | Dot | Variable | Member | Call


@dataclass(slots=True, eq=False, repr=False)
class Pipeline:
    """A value, and the variables that it is put into: none, one, or for `range` two."""

    value: Value
    slots: list[int]
    start: int
    end: int


# -- statements ---------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False, repr=False)
class Output:
    """`{{pipeline}}`. `safe` is one that has been escaped already."""

    pipeline: Pipeline
    safe: bool


@dataclass(slots=True, eq=False, repr=False)
class Plain:
    """`{{a.b}}` without a dot in front: a value found by its name, or the text of the action if it is not there"""

    keys: tuple[str | int, ...]
    literal: str
    start: int


@dataclass(slots=True, eq=False, repr=False)
class Set:
    """`{{$x := pipeline}}`, `{{$x = pipeline}}`"""

    pipeline: Pipeline


@dataclass(slots=True, eq=False, repr=False)
class Branch:
    """`{{if}}…{{else if}}…{{else}}…{{end}}`; with `rebinds` the same of `with`, whose value becomes the dot"""

    cases: list[tuple[Pipeline, bool, Body]]
    otherwise: Body


@dataclass(slots=True, eq=False, repr=False)
class Range:
    """`{{range}}…{{else}}…{{end}}`"""

    pipeline: Pipeline
    body: Body
    otherwise: Body


@dataclass(slots=True, eq=False, repr=False)
class Include:
    """`{{template "name" pipeline}}`"""

    name: str
    pipeline: Pipeline | None
    start: int
    end: int


@dataclass(slots=True, eq=False, repr=False)
class Leave:
    """`{{break}}`, `{{continue}}`"""

    all: bool


Statement = Text | Output | Plain | Set | Branch | Range | Include | Leave


@dataclass(slots=True, eq=False, repr=False)
class Body:
    """Statements. `weight` is how many there are, those inside of others included."""

    statements: list[Statement] = field(default_factory=list)
    weight: int = 0


@dataclass(slots=True, eq=False, repr=False)
class Definition:
    """A template by its name; `slots` is how many variables it has."""

    body: Body
    slots: int
