"""Operators, constants and displays.

Python's own operators are used only where they mean exactly what ours mean: `and`, `or`, `not`, conditionals, and
comparisons with constants that Python does not mix up (it thinks that 1 is True).
"""

from __future__ import annotations

import ast
from typing import Final

from perdure.errors import ExpressionError
from perdure.expressions import gval, syntax
from perdure.expressions.emit import pieces
from perdure.expressions.emit.emitter import Emitter, emits
from perdure.expressions.emit.paths import is_plain, tolerant
from perdure.expressions.syntax import Node
from perdure.expressions.tokens import wrong

HELPERS: Final = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floordiv", "%": "mod", "**": "power",
    "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "same", "!=": "differ", "in": "within", "not in": "without",
}  # fmt: skip


@emits(syntax.Constant)
def constant(_: Emitter, node: syntax.Constant) -> ast.expr:
    return pieces.constant(node.value)


@emits(syntax.ListOf)
def list_of(to: Emitter, node: syntax.ListOf) -> ast.expr:
    to.builds = True
    return pieces.list_([to.emit(each) for each in node.items])


@emits(syntax.ObjectOf)
def object_of(to: Emitter, node: syntax.ObjectOf) -> ast.expr:
    to.builds = True
    return pieces.dict_([(text_key(to, key), to.emit(value)) for key, value in node.pairs])


def text_key(to: Emitter, node: Node) -> ast.expr:
    if isinstance(node, syntax.Constant) and isinstance(node.value, str):
        return to.emit(node)
    return pieces.call("text_key", [to.emit(node)], to.spot(node))


@emits(syntax.Unary)
def unary(to: Emitter, node: syntax.Unary) -> ast.expr:
    if node.op == "not":
        return pieces.negation(to.emit(node.of))
    return pieces.call("negative" if node.op == "-" else "positive", [to.emit(node.of)], to.spot(node))


@emits(syntax.Binary)
def binary(to: Emitter, node: syntax.Binary) -> ast.expr:
    spine: list[syntax.Binary] = []
    left: Node = node
    while isinstance(left, syntax.Binary):  # a + b + c + … leans to the left: a loop where recursion would go deep
        spine.append(left)
        left = left.left
    to.builds = to.builds or any(each.op in {"+", "*"} for each in spine)
    found = to.emit(left)
    for each in reversed(spine):
        found = to.metered(helper(to, each.op, each), [found, to.emit(each.right)], each)
    return found


@emits(syntax.Logic)
def logic(to: Emitter, node: syntax.Logic) -> ast.expr:
    parts = [to.emit(each) for each in node.parts]
    return pieces.every(parts) if node.op == "and" else pieces.either(parts)


@emits(syntax.Choose)
def choose(to: Emitter, node: syntax.Choose) -> ast.expr:
    return pieces.choice(to.emit(node.test), to.emit(node.then), to.emit(node.otherwise))


@emits(syntax.Coalesce)
def coalesce(to: Emitter, node: syntax.Coalesce) -> ast.expr:
    how = "filled" if node.op == "??" else "truthy"
    return first_of(to, how, node.parts[:-1], to.emit(node.parts[-1]))


def first_of(to: Emitter, how: str, parts: list[Node], otherwise: ast.expr) -> ast.expr:
    """`(filled(a) or filled(b) or (c,))[0]`: c is evaluated only when it is needed, and nothing twice."""
    tried = [tolerant(to, how, each) for each in parts]
    return pieces.subscript(pieces.either([*tried, pieces.tuple_([otherwise])]), 0)


@emits(syntax.Compare)
def compare(to: Emitter, node: syntax.Compare) -> ast.expr:
    pairs = list(zip(node.operands, node.ops, node.operands[1:], strict=False))
    if len(pairs) == 1:
        return _pair(to, node, *pairs[0])
    if all(is_plain(each) for each in node.operands[1:-1]):
        return pieces.every([_pair(to, node, *each) for each in pairs])
    for op in node.ops:
        helper(to, op, node)
    return to.metered(
        "g_chain" if to.missing == "gval" else "chain",
        [pieces.constant(tuple(node.ops)), *(to.emit(each) for each in node.operands)],
        node,
    )


def _pair(to: Emitter, node: Node, left: Node, op: str, right: Node) -> ast.expr:
    if op in {"==", "!="}:
        if isinstance(left, syntax.Constant) and not isinstance(right, syntax.Constant):
            left, right = right, left
        both = isinstance(left, syntax.Constant)  # Python would warn about «1 is True»
        if not both and isinstance(right, syntax.Constant) and (right.value is None or isinstance(right.value, bool)):
            found = tolerant(to, "reach", left) if right.value is None else to.emit(left)
            return pieces.comparison(found, ast.Is() if op == "==" else ast.IsNot(), pieces.constant(right.value))
        if _unmistakable(right):
            return pieces.comparison(to.emit(left), ast.Eq() if op == "==" else ast.NotEq(), to.emit(right))
    if op in {"in", "not in"} and isinstance(right, syntax.ListOf) and all(_unmistakable(each) for each in right.items):
        options = tuple(each.value for each in right.items if isinstance(each, syntax.Constant))
        return pieces.comparison(to.emit(left), ast.In() if op == "in" else ast.NotIn(), pieces.constant(options))
    if op in _PATTERNS and isinstance(right, syntax.Constant) and isinstance(right.value, str):
        check_pattern(to, right, right.value)
    return to.metered(helper(to, op, node), [to.emit(left), to.emit(right)], node)


_PATTERNS: Final = ("=~", "!~")
_NO_PATTERNS = "regular expressions are not available; use contains, starts_with or ends_with"


def helper(to: Emitter, op: str, node: Node) -> str:
    """The function that does what the operator means here."""
    if to.missing == "gval" and op in gval.HELPERS:
        return f"g_{gval.HELPERS[op].__name__}"
    if op in _PATTERNS:
        to.problems.append(wrong(f"{op!r} has no meaning here", to.source, node.start, node.end, _NO_PATTERNS))
        return "same"
    return HELPERS[op]


def check_pattern(to: Emitter, node: Node, source: str) -> None:
    try:
        gval.pattern(source)
    except ExpressionError as fault:
        told = f"this regular expression cannot be used: {fault.message}"
        to.problems.append(wrong(told, to.source, node.start, node.end, fault.remedy))


def _unmistakable(node: Node) -> bool:
    """A constant of which Python's equality is ours: 1 == True in Python, and 0 == False."""
    if not isinstance(node, syntax.Constant) or isinstance(node.value, bool):
        return False
    return node.value is None or isinstance(node.value, str) or node.value not in {0, 1}
