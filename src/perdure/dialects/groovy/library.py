"""Which functions of the prelude a script needs, and their source.

The modules of the prelude are read as text: each function, constant and import is one definition, and the names that it
reads lead to the others that it needs. They always come out in the same order, whatever the order in which a script
asks for them, so the same script gives the same Python.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

MODULES: Final = (
    "failures", "dates", "text", "numbers", "comparing", "operators", "access", "conversions", "iterating", "lists",
    "maps", "strings", "patterns", "formatting", "mathematics", "results",
)  # fmt: skip
DATE_MAKERS: Final = frozenset({"now", "date_of"})
"""Without one of these no value can be a date."""

JSON_KEEPERS: Final = frozenset(
    {
        "cast_int", "cast_list", "cast_map", "cast_text", "compare", "contains", "contains_key", "ends_with", "equal",
        "get_or_default", "is_between", "is_empty", "is_in", "item_at", "java_text", "joined", "joined_text",
        "length_of", "lower", "minus", "numbers_from", "pieces", "plus", "portion", "prop", "replaced", "safe_prop",
        "same_ignoring_case", "size_of", "spread_prop", "starts_with", "substring", "text", "times", "to_integer",
        "to_json", "tokens", "trimmed", "upper",
    }
)  # fmt: skip
"""Given JSON, these give JSON. A script that uses no others has a result that needs no conversion, and these are the
ones of which rules and addresses are made, the scripts that run most often. None of them puts one value into another:
a list that holds itself must meet the conversion, where it is an error."""

_PACKAGE: Final = "perdure.dialects.groovy.prelude"


class Definition(NamedTuple):
    source: str
    reads: frozenset[str]
    module: str | None = None
    """For an import: where the name comes from; empty if it is a module itself."""


def prelude_for(names: Collection[str]) -> str:
    """Imports and functions, as Python text. Empty if nothing is needed."""
    known = definitions(dates=not DATE_MAKERS.isdisjoint(names))
    needed: set[str] = set()
    waiting = [name for name in names if name in known]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting.extend(known[name].reads)
    imported: dict[str, list[str]] = {}
    for name in sorted(needed):
        module = known[name].module
        if module is not None:
            imported.setdefault(module, []).append(name)
    imports = [_import_line(module, imported[module]) for module in sorted(imported)]
    rest = [each.source for name, each in known.items() if name in needed and each.module is None]
    return "\n\n".join(["\n".join(imports), *rest] if imports else rest)


def _import_line(module: str, names: list[str]) -> str:
    return f"from {module} import {', '.join(names)}" if module else f"import {', '.join(names)}"


@cache
def definitions(*, dates: bool) -> dict[str, Definition]:
    """Every name that the prelude defines, in order."""
    found: dict[str, Definition] = {}
    for module in MODULES:
        source = resources.files(_PACKAGE).joinpath(f"{module}.py").read_text(encoding="utf-8")
        for statement in ast.parse(source).body:
            for name, definition in _defined(statement, dates=dates):
                if definition.module is None and name in found:
                    raise AssertionError(f"the prelude defines {name} twice")
                found[name] = definition
    names = frozenset(found)
    return {name: each._replace(reads=each.reads & names - {name}) for name, each in found.items()}


def _defined(statement: ast.stmt, *, dates: bool) -> Iterator[tuple[str, Definition]]:
    match statement:
        case ast.FunctionDef(name=name):
            plain = ast.fix_missing_locations(_Plain(dates=dates).visit(statement))
            yield name, Definition(ast.unparse(plain), _reads(plain))
        case ast.Assign(targets=[ast.Name(id=name)]):
            yield name, Definition(ast.unparse(statement), _reads(statement))
        case ast.Import(names=[ast.alias(name=module)]):
            yield module, Definition("", frozenset(), "")
        case ast.ImportFrom(module=str(module), names=aliases) if not module.startswith(("perdure", "typing", "__")):
            for alias in aliases:
                yield alias.name, Definition("", frozenset(), module)


class _Plain(ast.NodeTransformer):
    """Without annotations and docstrings, which are for readers; and without dates, if there are none."""

    def __init__(self, *, dates: bool) -> None:
        self._dates = dates

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        for argument in [*node.args.args, *([node.args.vararg] if node.args.vararg else [])]:
            argument.annotation = None
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return node if node.value is None else ast.Assign([node.target], node.value)

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        return node if self._dates or not _asks_for_date(node.test) else node.orelse


def _asks_for_date(test: ast.expr) -> bool:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_asks_for_date(value) for value in values)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="datetime")]):
            return True
        case _:
            return False


def _reads(statement: ast.stmt) -> frozenset[str]:
    """The names that come from outside: those that are read and not bound anywhere inside."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
    return frozenset(_read(names)) - bound


def _read(names: Iterable[ast.Name]) -> Iterator[str]:
    for node in names:
        if isinstance(node.ctx, ast.Load):
            yield node.id
