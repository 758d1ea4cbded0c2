"""A Python script as the body of one function, each line where it was.

The text itself is changed, in as few places as possible: written anew from its tree it would lose its lines, and an
error could not be told where it happened.
"""

from __future__ import annotations

import ast
from typing import Final

from perdure.nodes.scripts.names import Names
from perdure.nodes.scripts.program import PARAMETERS, PREFIX
from perdure.nodes.scripts.reading import Become, Readings

RESULT: Final = "result"
"""The variable whose value is the script's, if it neither returns nor ends with an expression."""

_OF_TEXTS: Final = (
    f'def {PREFIX}_text(*parts): return "".join(parts)',
    f"{PREFIX}_format, {PREFIX}_repr, {PREFIX}_str = format, repr, str",
)
_CONVERSIONS: Final = {ord("s"): "str", ord("r"): "repr", ord("a"): "repr"}


def rewritten(source: str, tree: ast.Module, found: Readings, names: Names) -> tuple[list[str], int]:
    """The lines of the program, and how many of them stand above the first of the script."""
    edits = _Edits(source)
    in_texts = _continued(tree)
    dotted = sorted({node.attr for node, become in found.attributes.items() if become is Become.EITHER})
    unreliable = _inside_texts(tree, found, edits)
    for node, become in found.attributes.items():
        if node not in unreliable:
            edits.attribute(node, become)
    last = tree.body[-1]
    closing: list[str] = []
    if isinstance(last, ast.Expr):
        edits.insert(edits.offset(last.lineno, last.col_offset), "return ", first=True)
    elif RESULT in names.script.bound:
        closing = [f" return {RESULT}"]
    above = [
        f"def {PREFIX}_dot_{name}(it): return it[{name!r}] if isinstance(it, dict) and {name!r} in it else it.{name}"
        for name in dotted
    ]
    if unreliable:
        above += _OF_TEXTS
    above.append(f"def {PREFIX}_script({PARAMETERS if names.parameters else ''}):")
    lines = edits.applied().split("\n")
    body = [line if number in in_texts else f" {line}" for number, line in enumerate(lines, 1)]
    return [*above, *body, *closing], len(above)


def _continued(tree: ast.Module) -> set[int]:
    """Lines that begin inside a text: a blank more would become a part of it."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }


class _Edits:
    """Changes of a text, at places as the parser counts them: in bytes."""

    def __init__(self, source: str) -> None:
        self._bytes = source.encode()
        self._starts = [0]
        for line in self._bytes.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._inserted: list[tuple[int, int, int, str]] = []
        self._replaced: list[tuple[int, int, str]] = []

    def offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def begin(self, node: ast.expr) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def insert(self, at: int, text: str, *, first: bool = False, width: int = 0) -> None:
        """Of several at one place, the one around the longest expression comes first."""
        self._inserted.append((at, 0 if first else 1, -width, text))

    def replace(self, start: int, end: int, text: str) -> None:
        self._replaced.append((start, end, text))

    def attribute(self, node: ast.Attribute, become: Become) -> None:
        start, end = self.end(node.value), self.end(node)
        dot = self._dot(start, end)
        between = self._bytes[dot + 1 : end].decode()
        kept = between[: len(between) - len(between.lstrip())] if "#" not in between else "\n" * between.count("\n")
        self.replace(dot, dot + 1, "")
        key = f"[{node.attr!r}]" if become is Become.KEY else ")"
        self.replace(dot + 1, end, kept + key)
        if become is Become.EITHER:
            self.insert(self.begin(node), f"{PREFIX}_dot_{node.attr}(", width=end - self.begin(node))

    def _dot(self, start: int, end: int) -> int:
        """Where the dot is: there may be brackets, line ends and comments before it."""
        at = start
        while self._bytes[at : at + 1] != b".":
            at = self._bytes.index(b"\n", at, end) if self._bytes[at : at + 1] == b"#" else at + 1
        return at

    def applied(self) -> str:
        changes = [(at, order, width, at, text) for at, order, width, text in self._inserted]
        changes += [(start, 2, 0, end, text) for start, end, text in self._replaced]
        parts, done = [], 0
        for start, _, _, end, text in sorted(changes):
            parts += [self._bytes[done:start].decode(), text]
            done = end
        return "".join([*parts, self._bytes[done:].decode()])


# -- texts with values in them ---------------------------------------------------------------------------------------


def _inside_texts(tree: ast.Module, found: Readings, edits: _Edits) -> set[ast.Attribute]:
    """Attributes inside f-strings, whose places Python 3.11 does not know. Such a text is written anew."""
    inside: set[ast.Attribute] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):
            attributes = [each for each in ast.walk(node) if isinstance(each, ast.Attribute)]
            changed = [each for each in attributes if each in found.attributes]
            if changed:
                inside.update(changed)
                height = (node.end_lineno or node.lineno) - node.lineno
                text = ast.unparse(_Spelled(found).visit(node))
                edits.replace(edits.begin(node), edits.end(node), f"({text}{chr(10) * height})")
        else:
            waiting.extend(ast.iter_child_nodes(node))
    return inside


class _Spelled(ast.NodeTransformer):
    def __init__(self, found: Readings) -> None:
        self._attributes = found.attributes

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.visit(node.value)
        become = self._attributes.get(node)
        if become is Become.KEY:
            return ast.Subscript(value, ast.Constant(node.attr), node.ctx)
        if become is Become.EITHER:
            return _call(f"{PREFIX}_dot_{node.attr}", value)
        return ast.Attribute(value, node.attr, node.ctx)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return _call(f"{PREFIX}_text", *(self.visit(part) for part in node.values))

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        value: ast.expr = self.visit(node.value)
        if node.conversion in _CONVERSIONS:
            value = _call(f"{PREFIX}_{_CONVERSIONS[node.conversion]}", value)
        spec: ast.expr = self.visit(node.format_spec) if node.format_spec is not None else ast.Constant("")
        return _call(f"{PREFIX}_format", value, spec)


def _call(function: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])
