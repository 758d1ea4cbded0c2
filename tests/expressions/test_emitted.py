"""What is emitted: a closed set of Python syntax, whatever the user writes."""

import ast
from types import CodeType
from typing import Any

import pytest

from perdure.errors import ExpressionError
from perdure.expressions import compile_expression
from perdure.expressions.emit import NAMES, pieces
from perdure.expressions.emit.emitter import Emitter
from perdure.expressions.functions import GROUPS
from perdure.expressions.limits import DEFAULT_LIMITS
from perdure.expressions.parser import parse
from tests.expressions.test_escapes import CORPUS
from tests.expressions.test_limits import BOMBS

ALLOWED = (
    ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.If, ast.Assign, ast.Try, ast.ExceptHandler, ast.Return,
    ast.Constant, ast.Name, ast.Load, ast.Store, ast.Subscript, ast.Call, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp,
    ast.Not, ast.IfExp, ast.Compare, ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.List, ast.Tuple,
    ast.Dict, ast.ListComp, ast.DictComp, ast.comprehension,
)  # fmt: skip
OWN_NAMES = {"env", "meter", "site", "fault"}

SOURCES = [
    *CORPUS,
    *BOMBS,
    *(source for group in GROUPS.values() for entry in group for source, _ in entry.examples),
    "order.total > limit and user.tier in ('gold', 'silver')",
    "{k: [a?.b ?? c ?: d, -e, !f] for k, v in items(g) if 0 < v < len(h) < 9}",
    "a[b][1:2].c(d) if e else f.0",
    "a != 'x' and b != null and c not in ('x', 'y')",
]


def emitted(source: str) -> ast.Module | None:
    to = Emitter(source, DEFAULT_LIMITS, "error")
    try:
        return pieces.function(to.emit(parse(source, DEFAULT_LIMITS)), (1, 1), metered=True)
    except ExpressionError:
        return None


def test_only_a_closed_set_of_syntax_and_names_is_emitted() -> None:
    seen: set[type[ast.AST]] = set()
    for source in SOURCES:
        tree = emitted(source)
        if tree is None:
            continue
        for node in ast.walk(tree):
            assert isinstance(node, ALLOWED), (source, node)
            seen.add(type(node))
            if isinstance(node, ast.Name):
                known = node.id in NAMES or node.id in OWN_NAMES
                assert known or (node.id[0] == "v" and node.id[1:].isdigit()), (source, node.id)
            if isinstance(node, ast.Call):
                assert isinstance(node.func, ast.Name)
                assert node.func.id in NAMES
                assert not node.keywords
            if isinstance(node, ast.Constant):
                assert node.value is None or type(node.value) in {bool, int, float, str, tuple}
            if isinstance(node, ast.comprehension):
                assert not node.is_async
    assert seen == set(ALLOWED), set(ALLOWED) - seen


def codes(code: CodeType) -> list[CodeType]:
    return [code, *(inner for each in code.co_consts if isinstance(each, CodeType) for inner in codes(each))]


def test_compiled_code_names_only_helpers_and_no_attributes() -> None:
    for source in SOURCES:
        try:
            function: Any = compile_expression(source).evaluate
        except ExpressionError:
            continue
        for code in codes(function.__code__):
            assert set(code.co_names) <= NAMES.keys() - {"__builtins__"}


def test_helpers_are_functions_of_ours_and_there_are_no_builtins() -> None:
    assert NAMES["__builtins__"] == {}
    for name, helper in NAMES.items():
        if name not in {"__builtins__", "FAULTS"}:
            assert helper.__module__.startswith("perdure.expressions.")


@pytest.mark.parametrize("source", ["1 is true", "1 == true", "'a' == null", "null == null", "true == false", "1 == 1"])
def test_constants_compare_without_a_warning_of_the_compiler(source: str) -> None:
    """Warnings are errors in these tests; Python warns about `1 is True`."""
    assert compile_expression(source).evaluate({}) in {True, False}
