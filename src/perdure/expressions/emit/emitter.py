"""What emitting one expression keeps track of, and the table of rules, one per kind of node."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, TypeVar

from perdure.errors import ExpressionSyntax
from perdure.expressions.emit import pieces
from perdure.expressions.limits import Limits
from perdure.expressions.syntax import Member, Node

MissingPolicy = Literal["error", "null", "gval"]
"""What a path that leads nowhere is: an error, or null. `gval`: null, and operators as in that library of Go."""
Rule = TypeVar("Rule", bound=Callable[..., ast.expr])

_RULES: Final[dict[type[Node], Callable[[Emitter, Any], ast.expr]]] = {}


def emits(kind: type[Node]) -> Callable[[Rule], Rule]:
    """Enter the rule for one kind of node."""

    def enter(rule: Rule) -> Rule:
        _RULES[kind] = rule
        return rule

    return enter


class Spot(NamedTuple):
    """A place that can fail. For a plain path also how to walk it again."""

    start: int
    at: int  # where the caret points: the key of a path, else the start
    end: int
    root: str | None = None  # a name of the environment
    local: str | None = None  # or a variable of a comprehension
    steps: tuple[str | int, ...] = ()


class Emitter:
    """Emits one expression, noting on the way what it reads, where it can fail and what is wrong with it."""

    def __init__(self, source: str, limits: Limits, missing: MissingPolicy) -> None:
        self.source = source
        self.limits = limits
        self.missing = missing
        self.spots: list[Spot] = []
        self.reads: set[tuple[str | int, ...]] = set()
        self.problems: list[ExpressionSyntax] = []
        self.builds = False  # whether the result may be larger than what it was made from
        self.needs_meter = False
        self.scope: dict[str, str] = {}  # variables of comprehensions, by the names they have in Python
        self.variables = 0
        self.calls = 0  # of functions, so far

    def emit(self, node: Node) -> ast.expr:
        return _RULES[type(node)](self, node)

    def spot(
        self, node: Node, root: str | None = None, local: str | None = None, steps: tuple[str | int, ...] = ()
    ) -> int:
        """Note a place that can fail. Its number becomes the line of what is emitted for it."""
        at = node.end - len(str(node.key)) if isinstance(node, Member) else node.start
        self.spots.append(Spot(node.start, at, node.end, root, local, steps))
        return len(self.spots)

    def metered(self, helper: str, arguments: list[ast.expr], node: Node) -> ast.expr:
        self.needs_meter = True
        line = self.spot(node)
        return pieces.call(helper, [pieces.name("meter", line), *arguments], line)
