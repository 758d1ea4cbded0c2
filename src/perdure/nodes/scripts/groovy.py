"""Groovy scripts: what their translation reads, and the program that it is."""

from __future__ import annotations

import ast
import re
from typing import Final

from perdure.dialects.groovy import Translation
from perdure.nodes.scripts.program import HEAD_LINES
from perdure.nodes.scripts.written import Written

_READERS: Final = frozenset({"prop", "safe_prop"})
"""Functions of the prelude that look up constant keys, one after the other."""
_BEGINNING: Final = "def script("
"""What comes before it is the prelude: longer than most scripts, and without bindings."""


def written(source: str, translation: Translation) -> Written:
    *lines, call = translation.python.rstrip("\n").split("\n")
    names = {name: _place(source, name) for name in sorted(translation.names)}
    origins = [0] * HEAD_LINES + list(translation.lines[: len(lines)])
    return Written("\n".join(lines), call, (), names, _reads(translation), origins)


def _place(source: str, name: str) -> tuple[int, int]:
    found = re.search(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", source)
    if found is None:
        return 1, 1
    return source.count("\n", 0, found.start()) + 1, found.start() - source.rfind("\n", 0, found.start())


def _reads(translation: Translation) -> frozenset[tuple[str | int, ...]]:
    """A binding is the parameter `g_…` of the script. Where it is not asked for a constant key, all of it is read."""
    script = ast.parse(_BEGINNING + translation.python.rpartition(f"\n{_BEGINNING}")[2])
    parameters = {f"g_{name}": name for name in translation.names}
    found: set[tuple[str | int, ...]] = set()
    asked: set[int] = set()
    for node in ast.walk(script):
        match node:
            case ast.Call(func=ast.Name(id=reader), args=[ast.Name(id=parameter) as value, *keys]) if (
                reader in _READERS and parameter in parameters
            ):
                asked.add(id(value))
                path: list[str | int] = [parameters[parameter]]
                for key in keys:
                    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                        break
                    path.append(key.value)
                found.add(tuple(path))
    for node in ast.walk(script):
        if isinstance(node, ast.Name) and node.id in parameters and id(node) not in asked:
            found.add((parameters[node.id],))
    return frozenset(found | {(name,) for name in translation.names if not any(each[0] == name for each in found)})
