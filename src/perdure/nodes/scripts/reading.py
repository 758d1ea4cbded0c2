"""What a Python script asks of its bindings, and what becomes of its attributes.

Bindings are JSON, so `_global.order.id` can only mean `_global["order"]["id"]`, and is written so. What a variable
holds is known when it runs: `order.id` looks for a key in a dict and is an attribute otherwise. Methods that are
called, and names of modules, stay as they are.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum

from perdure.nodes.scripts.names import Names
from perdure.nodes.scripts.refusals import BUILTINS


class Become(Enum):
    KEY = "key"
    """`x.name` is written `x["name"]`."""
    EITHER = "either"
    """`x.name` is written as a call that looks."""


@dataclass(slots=True)
class Readings:
    reads: frozenset[tuple[str | int, ...]] = frozenset()
    attributes: dict[ast.Attribute, Become] = field(default_factory=dict)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)


def readings(tree: ast.Module, names: Names) -> Readings:
    found = Readings()
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr_context | ast.operator | ast.cmpop | ast.boolop | ast.unaryop):
                found.parents[child] = node
    reads: set[tuple[str | int, ...]] = {(name,) for name in names.parameters}
    for name in names.bindings:
        path = _follow(name, found)
        if name.id not in names.parameters:
            reads.add(path)
    found.reads = frozenset(reads)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in found.attributes:
            become = _otherwise(node, names, found)
            if become is not None:
                found.attributes[node] = become
    return found


def _follow(name: ast.Name, found: Readings) -> tuple[str | int, ...]:
    """The constant keys that are asked for one after the other, from the name on."""
    path: list[str | int] = [name.id]
    at: ast.AST = name
    is_json = True
    while True:
        above = found.parents.get(at)
        match above:
            case ast.Attribute(value=value, attr=attr) if value is at:
                call = found.parents.get(above)
                if isinstance(call, ast.Call) and call.func is above:
                    key = _asked_by_get(call, attr)
                    if key is None:
                        break
                    path.append(key)
                    is_json = is_json and len(call.args) == 1
                    at = call
                    continue
                found.attributes[above] = Become.KEY if is_json else _look(above)
                path.append(attr)
            case ast.Subscript(value=value, slice=ast.Constant(value=str(key))) if value is at:
                path.append(key)
            case _:
                break
        at = above
    return tuple(path)


def _asked_by_get(call: ast.Call, method: str) -> str | None:
    """The key of `x.get("key")` and `x.get("key", default)`."""
    if method != "get" or call.keywords or not 1 <= len(call.args) <= 2:
        return None
    key = call.args[0]
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def _otherwise(node: ast.Attribute, names: Names, found: Readings) -> Become | None:
    above = found.parents[node]
    if isinstance(above, ast.Call) and above.func is node:
        return None
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name):
        is_builtin = root.id in BUILTINS and root.id not in names.own
        if is_builtin or root.id in names.imported or root.id == "self":
            return None
    if isinstance(above, ast.pattern):
        return None  # only names can stand there
    if not isinstance(node.ctx, ast.Load):
        return None if names.has_classes else Become.KEY
    return Become.EITHER


def _look(node: ast.Attribute) -> Become:
    return Become.EITHER if isinstance(node.ctx, ast.Load) else Become.KEY
