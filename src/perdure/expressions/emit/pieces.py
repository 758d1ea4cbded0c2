"""The Python syntax that expressions are compiled to. What is not made here is never emitted.

There are constants, names (of helpers and of generated variables), subscripts, calls of helpers, `and`, `or`, `not`,
`x if y else z`, `is`, `==`, `in`, list, tuple and dict displays and comprehensions, inside one function with one `try`.
There is no attribute access, no assignment but the meter's, no import, lambda, star, walrus, `await` or `yield`.
"""

from __future__ import annotations

import ast
from types import CodeType, FunctionType
from typing import Any, Final, TypedDict

FILENAME: Final = "<perdure expression>"

_LOAD: Final = ast.Load()
_STORE: Final = ast.Store()


class _Place(TypedDict):
    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int


def _at(line: int) -> _Place:
    return {"lineno": line, "col_offset": 0, "end_lineno": line, "end_col_offset": 0}


def constant(value: Any, line: int = 1) -> ast.expr:
    return ast.Constant(value=value, **_at(line))


def name(word: str, line: int = 1) -> ast.expr:
    return ast.Name(id=word, ctx=_LOAD, **_at(line))


def subscript(of: ast.expr, key: str | int, line: int = 1) -> ast.expr:
    return ast.Subscript(value=of, slice=constant(key, line), ctx=_LOAD, **_at(line))


def call(helper: str, arguments: list[ast.expr], line: int = 1) -> ast.expr:
    return ast.Call(func=name(helper, line), args=arguments, keywords=[], **_at(line))


def every(parts: list[ast.expr]) -> ast.expr:
    return ast.BoolOp(op=ast.And(), values=parts, **_at(1))


def either(parts: list[ast.expr]) -> ast.expr:
    return ast.BoolOp(op=ast.Or(), values=parts, **_at(1))


def negation(of: ast.expr) -> ast.expr:
    return ast.UnaryOp(op=ast.Not(), operand=of, **_at(1))


def choice(test: ast.expr, then: ast.expr, otherwise: ast.expr) -> ast.expr:
    return ast.IfExp(test=test, body=then, orelse=otherwise, **_at(1))


def comparison(left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.expr:
    return ast.Compare(left=left, ops=[op], comparators=[right], **_at(1))


def list_(items: list[ast.expr]) -> ast.expr:
    return ast.List(elts=items, ctx=_LOAD, **_at(1))


def tuple_(items: list[ast.expr]) -> ast.expr:
    return ast.Tuple(elts=items, ctx=_LOAD, **_at(1))


def dict_(pairs: list[tuple[ast.expr, ast.expr]]) -> ast.expr:
    return ast.Dict(keys=[key for key, _ in pairs], values=[value for _, value in pairs], **_at(1))


def clause(variables: list[str], source: ast.expr, conditions: list[ast.expr]) -> ast.comprehension:
    targets: list[ast.expr] = [ast.Name(id=each, ctx=_STORE, **_at(1)) for each in variables]
    target = targets[0] if len(targets) == 1 else ast.Tuple(elts=targets, ctx=_STORE, **_at(1))
    return ast.comprehension(target=target, iter=source, ifs=conditions, is_async=0)


def comprehension(key: ast.expr | None, value: ast.expr, clauses: list[ast.comprehension]) -> ast.expr:
    if key is None:
        return ast.ListComp(elt=value, generators=clauses, **_at(1))
    return ast.DictComp(key=key, value=value, generators=clauses, **_at(1))


def function(body: ast.expr, meter: tuple[int, int], *, metered: bool) -> ast.Module:
    """One function, the middle two lines only if the body asks for the meter:

    def evaluate(env, /, *, site, meter=None):
        if meter is None:
            meter = [steps, work]
        try:
            return <body>
        except FAULTS as fault:
            return explain(site, env, fault)
    """
    start = ast.If(
        test=comparison(name("meter"), ast.Is(), constant(None)),
        body=[
            ast.Assign(
                targets=[ast.Name(id="meter", ctx=_STORE, **_at(1))],
                value=list_([constant(meter[0]), constant(meter[1])]),
                **_at(1),
            )
        ],
        orelse=[],
        **_at(1),
    )
    handler = ast.ExceptHandler(
        type=name("FAULTS"),
        name="fault",
        body=[ast.Return(value=call("explain", [name("site"), name("env"), name("fault")]), **_at(1))],
        **_at(1),
    )
    attempt = ast.Try(body=[ast.Return(value=body, **_at(1))], handlers=[handler], orelse=[], finalbody=[], **_at(1))
    arguments = ast.arguments(
        posonlyargs=[ast.arg(arg="env", **_at(1))],
        args=[],
        kwonlyargs=[ast.arg(arg="site", **_at(1)), ast.arg(arg="meter", **_at(1))],
        kw_defaults=[None, constant(None)],
        defaults=[],
    )
    made = ast.FunctionDef(
        name="evaluate",
        args=arguments,
        body=[start, attempt] if metered else [attempt],
        decorator_list=[],
        **_at(1),
    )
    if "type_params" in ast.FunctionDef._fields:  # Python 3.12 and later insist on it
        made.type_params = []  # type: ignore[attr-defined, unused-ignore]
    return ast.Module(body=[made], type_ignores=[])


def assemble(module: ast.Module, names: dict[str, Any], site: object) -> FunctionType:
    """The function of such a module. The module itself is never run: its one function is taken out of its constants."""
    compiled = compile(module, FILENAME, "exec", dont_inherit=True, optimize=0)
    code = next(each for each in compiled.co_consts if isinstance(each, CodeType))
    made = FunctionType(code, names, "evaluate")
    made.__kwdefaults__ = {"site": site, "meter": None}
    return made
