"""Operators and choices. Python's truth is Groovy's, so conditions come out as they are."""

from __future__ import annotations

from typing import Final

from perdure.dialects.groovy import limits
from perdure.dialects.groovy.emitting.base import NOTHING
from perdure.dialects.groovy.emitting.values import Values
from perdure.dialects.groovy.syntax import (
    Binary,
    Call,
    Chain,
    Choose,
    Constant,
    Convert,
    Expression,
    Fraction,
    Index,
    InstanceOf,
    Name,
    Property,
    Range,
    Type,
    Unary,
)
from perdure.dialects.groovy.types import TYPES, Known, known_type

FUNCTIONS: Final = {
    "+": "plus", "-": "minus", "*": "times", "/": "divide", "%": "remainder", "**": "power", "<<": "left_shift",
}  # fmt: skip
_BITWISE: Final = frozenset({"&", "|", "^"})
_ORDER: Final = frozenset({"<", "<=", ">", ">="})
_COMPARISONS: Final = _ORDER | {"==", "!=", "in", "!in"}
_LOGIC: Final = {"&&": " and ", "||": " or "}


class Operators(Values):
    def binary(self, node: Binary) -> str:
        if node.op in {"==", "!="}:
            return self._equality(node)
        if node.op in {"in", "!in"} and isinstance(node.right, Range):
            found = self.in_range(self.expression(node.left), node.right)
            return found if node.op == "in" else f"(not {found})"
        return self.operation(node.op, self.expression(node.left), self.expression(node.right))

    def in_range(self, value: str, range: Range) -> str:
        """Without making a list of all numbers in between."""
        low, high = self.expression(range.low), self.expression(range.high)
        return self.call("is_between", value, low, high, repr(range.inclusive))

    def operation(self, op: str, left: str, right: str) -> str:
        if op in FUNCTIONS:
            return self.call(FUNCTIONS[op], left, right)
        if op in _BITWISE:
            return self.call("bitwise", repr(op), left, right)
        if op in _ORDER:
            return f"({self.call('compare', left, right)} {op} 0)"
        if op == "<=>":
            return self.call("compare", left, right)
        if op == "in":
            return self.call("is_in", left, right)
        if op == "!in":
            return f"(not {self.call('is_in', left, right)})"
        return NOTHING  # refused by the parser

    def _equality(self, node: Binary) -> str:
        """Where a variable or the like is compared with null, true, false or a text, Python's own comparison says the
        same and reads better. (A literal on both sides would make Python suspicious of `is`.)"""
        left, right = self.expression(node.left), self.expression(node.right)
        negated = node.op == "!="
        for constant, other in ((node.right, node.left), (node.left, node.right)):
            if not isinstance(constant, Constant) or not isinstance(other, Name | Property | Index | Call):
                continue
            if constant.value is None or isinstance(constant.value, bool):
                value = left if other is node.left else right
                return f"({value} is {'not ' if negated else ''}{constant.value})"
            if isinstance(constant.value, str):
                return f"({left} {node.op} {right})"
        found = self.call("equal", left, right)
        return f"(not {found})" if negated else found

    def chain(self, node: Chain) -> str:
        if self.too_many(node, "operands in a row", len(node.parts), "use a list and join, sum, any or every"):
            return NOTHING
        if node.op == "+":
            return self.call("plus", *[self.expression(part) for part in node.parts])
        if node.op == "?:":
            return f"({' or '.join([self.expression(part) for part in node.parts])})"
        found = self._logic(node)
        return found if self.is_boolean(node) else f"bool{found}"

    def _logic(self, node: Chain) -> str:
        return f"({_LOGIC[node.op].join([self.condition(part) for part in node.parts])})"

    def condition(self, node: Expression) -> str:
        """Where only true or false matters."""
        if isinstance(node, Chain) and node.op in _LOGIC and len(node.parts) <= limits.CHAIN_LENGTH:
            return self._logic(node)
        return self.expression(node)

    def is_boolean(self, node: Expression) -> bool:
        """Whether the value is surely true or false, not only as good as that."""
        if isinstance(node, Chain):
            return node.op in _LOGIC and all(self.is_boolean(part) for part in node.parts)
        if isinstance(node, Binary):
            return node.op in _COMPARISONS
        if isinstance(node, Constant):
            return isinstance(node.value, bool)
        return isinstance(node, InstanceOf) or (isinstance(node, Unary) and node.op == "!")

    def unary(self, node: Unary) -> str:
        if node.op == "!":
            return f"(not {self.condition(node.of)})"
        if node.op == "~":
            return self.refuse(node, "the operator ~", "patterns and bit operators are refused")
        if (
            node.op == "-"
            and isinstance(node.of, Constant | Fraction)
            and not isinstance(getattr(node.of, "value", 0), bool | str | None)
        ):
            return f"(-{self.expression(node.of)})"
        return self.call("negative" if node.op == "-" else "positive", self.expression(node.of))

    def choose(self, node: Choose) -> str:
        test = self.condition(node.test)
        return f"({self.expression(node.then)} if {test} else {self.expression(node.otherwise)})"

    def known(self, type: Type) -> Known | None:
        """What is known about a type; None after refusing it."""
        if type.is_array:
            return TYPES["List"]
        simple = known_type(type.name)
        if simple in TYPES:
            return TYPES[simple]
        self.unknown_class(type, type.name)
        return None

    def convert(self, node: Convert) -> str:
        known = self.known(node.type)
        value = self.expression(node.of)
        function = known and (known.declare if node.is_cast else known.convert)
        return self.call(function, value) if function else value

    def instance_of(self, node: InstanceOf) -> str:
        known = self.known(node.type)
        value = self.expression(node.of)
        if known is None:
            return NOTHING
        if known.kind is None:
            return self.refuse(node, f"instanceof {node.type.simple}", "ask for Number, String, Boolean, List or Map")
        found = self.call("instance_of", value, repr(known.kind))
        return f"(not {found})" if node.negated else found
