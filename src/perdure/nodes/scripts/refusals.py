"""What of Python a script cannot use, said when it is saved instead of when it runs.

None of this keeps a script from harm: the sandbox does. It is here so that authors hear of it in time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from perdure.model.problems import Problem
from perdure.nodes.scripts.limits import FUNCTION_DEPTH, NESTING
from perdure.nodes.scripts.program import PREFIX

if TYPE_CHECKING:
    from perdure.nodes.scripts.names import Names

MODULES: Final = frozenset({
    "base64", "binascii", "bisect", "collections", "copy", "csv", "dataclasses", "datetime", "decimal", "functools",
    "hashlib", "itertools", "json", "math", "random", "re", "time", "typing", "unicodedata",
})  # fmt: skip
"""Modules of the sandbox that compute. It has others, which could only fail."""

BUILTINS: Final = frozenset({
    "abs", "all", "any", "bin", "bool", "bytes", "chr", "complex", "dict", "divmod", "enumerate", "filter", "float",
    "format", "frozenset", "getattr", "hasattr", "hash", "hex", "id", "int", "isinstance", "iter", "len", "list", "map",
    "max", "min", "next", "object", "oct", "ord", "pow", "print", "property", "range", "repr", "reversed", "round",
    "set", "setattr", "slice", "sorted", "str", "sum", "tuple", "type", "zip",
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "Exception", "ImportError", "IndexError",
    "KeyError", "LookupError", "MemoryError", "NameError", "NotImplemented", "NotImplementedError", "OSError",
    "OverflowError", "RecursionError", "RuntimeError", "StopIteration", "SyntaxError", "SystemExit", "TimeoutError",
    "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "ValueError", "ZeroDivisionError",
    "Ellipsis", "__name__",
})  # fmt: skip

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.While)

_CONSTRUCTS: Final[dict[type[ast.AST], tuple[str, str]]] = {
    ast.Yield: ("`yield`", "build a list"),
    ast.YieldFrom: ("`yield`", "build a list"),
    ast.Await: ("`await`", "call plain functions"),
    ast.AsyncFunctionDef: ("`async`", "write a plain function"),
    ast.AsyncFor: ("`async`", "write a plain loop"),
    ast.AsyncWith: ("`async`", "write a plain block"),
    ast.Delete: ("`del`", "use `pop`, or build a new value without it"),
    ast.TryStar: ("`except*`", "use `except`"),
    ast.Global: ("`global`", "variables of the script are `nonlocal` to its functions"),
}


def of(tree: ast.Module) -> Iterator[Problem]:
    """Constructs, modules and depths. Walks without recursion, as nobody has looked yet how deep it is."""
    waiting: list[tuple[ast.AST, int, int, bool]] = [(tree, 0, 0, False)]
    while waiting:
        node, depth, functions, in_loop = waiting.pop()
        if depth > NESTING:
            yield _problem(node, "this is nested too deeply", "divide it into several statements")
            return
        if functions > FUNCTION_DEPTH:
            told = f"more than {FUNCTION_DEPTH} functions inside one another"
            yield _problem(node, told, "define them beside one another")
            return
        yield from _of_node(node, in_loop)
        if isinstance(node, _FUNCTIONS):
            functions, in_loop = functions + 1, False
        elif isinstance(node, ast.ClassDef):
            in_loop = False
        for field, value in ast.iter_fields(node):
            looping = in_loop or (isinstance(node, _LOOPS) and field == "body")
            children = value if isinstance(value, list) else [value]
            waiting += [(each, depth + 1, functions, looping) for each in children if isinstance(each, ast.AST)]


def _of_node(node: ast.AST, in_loop: bool) -> Iterator[Problem]:
    if type(node) in _CONSTRUCTS:
        name, remedy = _CONSTRUCTS[type(node)]
        yield _problem(node, f"scripts cannot use {name}", remedy)
    match node:
        case ast.ClassDef(bases=bases, keywords=keywords) if bases or keywords:
            yield _problem(node, "a class of a script cannot inherit", "write a class of its own, or functions")
        case ast.Break() | ast.Continue() if not in_loop:
            yield _problem(node, f"`{type(node).__name__.lower()}` is not inside a loop", None)
        case ast.Import(names=aliases):
            for alias in aliases:
                yield from _module(node, alias.name)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            if level or any(alias.name == "*" for alias in aliases):
                yield _problem(node, "scripts import names, each by itself, from modules", "`from math import sqrt`")
            else:
                yield from _module(node, module or "")
        case ast.Attribute(attr=attr) if attr.startswith("__") and attr.endswith("__"):
            yield _problem(node, f"scripts cannot use {attr}", "values have no hidden attributes here")
        case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.alias(asname=str(name)) if (
            name.startswith(PREFIX)
        ):
            yield _problem(node, f"names that begin with {PREFIX} are taken", "choose another name")


def _module(node: ast.AST, name: str) -> Iterator[Problem]:
    if name not in MODULES:
        known = f"one of {', '.join(sorted(MODULES))}"
        yield _problem(node, f"scripts have no module {name[:100]!r}", None, known)


def of_names(names: Names) -> Iterator[Problem]:
    """What is a name of Python but not of the sandbox: surely nobody binds it."""
    for name, (line, column) in names.outside.items():
        if name in _UNAVAILABLE and name not in names.optional:
            told = f"scripts have no {name}"
            yield Problem("SCRIPT_NAME", "", told, remedy=_UNAVAILABLE[name], line=line, column=column)


_UNAVAILABLE: Final[dict[str, str | None]] = {
    "open": "files are out of reach; read what the flow passes on",
    "exec": "write the code itself",
    "eval": "write the code itself",
    "compile": "write the code itself",
    "__import__": "use `import`",
    "globals": None,
    "locals": None,
    "dir": None,
    "breakpoint": None,
    "exit": "use `return`",
    "quit": "use `return`",
    "delattr": None,
    "super": None,
    "callable": None,
    "issubclass": "use `isinstance`",
    "classmethod": "write a function",
    "staticmethod": "write a function",
    "bytearray": "use `bytes`",
    "memoryview": "use `bytes`",
}


def _problem(node: ast.AST, told: str, remedy: str | None, expected: str | None = None) -> Problem:
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
    return Problem("SCRIPT_SYNTAX", "", told, remedy=remedy, expected=expected, line=line, column=column)
