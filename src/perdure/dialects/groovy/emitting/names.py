"""Variables: which one a name means, what it is called in Python, and which function owns it.

A Python name is used again only when the earlier variable of that name is out of sight. That is safe because closures
cannot outlive the block they stand in: they are called at once or through a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from perdure.dialects.groovy.emitting.lines import Lines
from perdure.dialects.groovy.syntax import Statement

BINDINGS: Final = frozenset(
    {"_global", "_enum_store", "_thread", "_response", "_metadata", "input", "response", "vars"}
)

Kind = Literal["value", "function", "JsonSlurper", "SimpleDateFormat"]


@dataclass(slots=True)
class Variable:
    name: str
    python: str
    owner: Function
    kind: Kind = "value"
    coercion: str | None = None
    """What an assignment does to the value, because of the declared type."""
    arities: range = range(0)
    """Of a function: how many arguments it takes."""
    parameters: int = 0
    """Of a function: how many parameters it has."""


@dataclass(slots=True)
class Loop:
    """Where `break` and `continue` lead. A switch takes `break` away from the loop around it."""

    is_switch: bool = False
    advance: list[Statement] = field(default_factory=list)
    """What a counting loop does before it goes round again."""
    scope: Scope | None = None
    """Where that was written: the body may have hidden a name."""


@dataclass(slots=True)
class Function:
    """A Python function that is being written."""

    outer: Function | None
    lines: Lines = field(default_factory=Lines)
    nonlocals: set[str] = field(default_factory=set)
    loops: list[Loop] = field(default_factory=list)

    @property
    def depth(self) -> int:
        return 0 if self.outer is None else self.outer.depth + 1


@dataclass(slots=True)
class Scope:
    function: Function
    outer: Scope | None
    variables: dict[str, Variable] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def find(self, name: str) -> Variable | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.outer
        return None

    def is_taken(self, python: str) -> bool:
        """Whether a variable that is in sight has this Python name."""
        scope: Scope | None = self
        while scope is not None:
            if python in scope.taken:
                return True
            scope = scope.outer
        return False

    def declare(self, name: str, prefix: str = "v_", *, shadows: bool = False) -> Variable:
        """A new variable. `shadows`: a parameter may have the Python name of a variable outside that it hides."""
        safe = prefix + re.sub(r"[^A-Za-z0-9_]", "_", name)
        python = safe
        number = 1
        while not shadows and self.is_taken(python):
            number += 1
            python = f"{safe}_{number}"
        variable = Variable(name, python, self.function)
        self.variables[name] = variable
        self.taken.add(python)
        return variable
