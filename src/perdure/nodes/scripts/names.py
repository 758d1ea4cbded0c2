"""Which names a Python script reads from outside, and which are its own.

A name that the script also sets may still be read before: `data = data or {}`. Then it is both, and becomes a
parameter of the function that the script is written as.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

from perdure.nodes.scripts.refusals import BUILTINS

_NEVER = 1 << 62
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class Scope:
    kind: Literal["script", "function", "comprehension", "class"]
    outer: Scope | None
    bound: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)
    """Names that are `nonlocal`."""

    def owner(self, name: str) -> Scope | None:
        """The scope whose variable the name is here, if the script has one."""
        scope: Scope | None = self
        while scope is not None:
            visible = scope.kind != "class" or scope is self
            if visible and name in scope.bound and name not in scope.elsewhere:
                return scope
            scope = scope.outer
        return None


@dataclass(slots=True)
class _Use:
    node: ast.Name
    scope: Scope
    order: int


class Names(ast.NodeVisitor):
    """Visits in the order in which Python evaluates, so that it can tell what is read before it is set."""

    def __init__(self, tree: ast.Module) -> None:
        self.script = Scope("script", None)
        self._scope = self.script
        self._order = 0
        self._blocks = 0
        self._uses: list[_Use] = []
        self._first_set: dict[str, int] = {}
        self._surely_set: dict[str, int] = {}
        self.imported: set[str] = set()
        self.own: set[str] = set()
        """Names that the script gives to something, anywhere."""
        self.has_classes = any(isinstance(node, ast.ClassDef) for node in ast.walk(tree))
        self.bindings: list[ast.Name] = []
        """Where a name is read that only the outside can have set."""
        self.outside: dict[str, tuple[int, int]] = {}
        """Names that are read from outside, with line and column of the first time."""
        self.optional: set[str] = set()
        """Of these, those that the script may have set itself by then."""
        for statement in tree.body:
            self.visit(statement)
        self._resolve()
        self.parameters = tuple(sorted(name for name in self.outside if name in self.script.bound))

    def _resolve(self) -> None:
        for use in self._uses:
            name, owner = use.node.id, use.scope.owner(use.node.id)
            if owner is None:
                if name not in BUILTINS:
                    self.bindings.append(use.node)
                    self._read(use.node)
            elif owner is self.script:
                at_once = use.scope is self.script or use.scope.kind == "comprehension"
                if at_once and use.order < self._first_set[name]:
                    if name not in BUILTINS:
                        self._read(use.node)
                        self.optional.discard(name)
                elif use.order < self._surely_set.get(name, _NEVER) and name not in BUILTINS | self.outside.keys():
                    self.optional.add(name)
                    self._read(use.node)

    def _read(self, node: ast.Name) -> None:
        self.outside.setdefault(node.id, (node.lineno, node.col_offset + 1))

    # -- setting ---------------------------------------------------------------------------------

    def _bind(self, name: str, scope: Scope | None = None) -> None:
        scope = scope or self._scope
        scope.bound.add(name)
        self.own.add(name)
        if scope is self.script:
            self._order += 1
            self._first_set.setdefault(name, self._order)
            if not self._blocks:
                self._surely_set.setdefault(name, self._order)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._order += 1
            self._uses.append(_Use(node, self._scope, self._order))
        else:
            self._bind(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        scope = self._scope
        while scope.kind == "comprehension" and scope.outer is not None:
            scope = scope.outer
        self._bind(node.target.id, scope)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._order += 1
            read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            self._uses.append(_Use(read, self._scope, self._order))
        self.visit(node.value)
        self.visit(node.target)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.imported.add(name)
            self._bind(name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.imported.add(alias.asname or alias.name)
            self._bind(alias.asname or alias.name)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._scope.elsewhere.update(node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
        if node.name is not None:
            self._bind(node.name)
        for statement in node.body:
            self.visit(statement)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.pattern is not None:
            self.visit(node.pattern)
        if node.name is not None:
            self._bind(node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name is not None:
            self._bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.generic_visit(node)
        if node.rest is not None:
            self._bind(node.rest)

    # -- blocks and scopes -----------------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, _COMPREHENSIONS):
            self._comprehension(node)
        elif isinstance(node, ast.For):
            self.visit(node.iter)
            self.visit(node.target)
            self._block([*node.body, *node.orelse])
        elif isinstance(node, ast.With):
            for item in node.items:
                self.visit(item)
            for statement in node.body:
                self.visit(statement)
        elif isinstance(node, ast.If | ast.While):
            self.visit(node.test)
            self._block([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            self._block([*node.body, *node.handlers, *node.orelse])
            for statement in node.finalbody:
                self.visit(statement)
        elif isinstance(node, ast.Match):
            self.visit(node.subject)
            self._block(node.cases)
        else:
            super().visit(node)

    def _block(self, nodes: list[ast.stmt] | list[ast.match_case] | list[ast.AST]) -> None:
        """What may not be reached."""
        self._blocks += 1
        for node in nodes:
            self.visit(node)
        self._blocks -= 1

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        first, *rest = node.generators
        self.visit(first.iter)
        outer, self._scope = self._scope, Scope("comprehension", self._scope)
        self.visit(first.target)
        for test in first.ifs:
            self.visit(test)
        for generator in rest:
            self.visit(generator.iter)
            self.visit(generator.target)
            for test in generator.ifs:
                self.visit(test)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self._scope = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._defaults(node.args)
        self._bind(node.name)
        self._function(node.args, list(node.body))

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._defaults(node.args)
        self._function(node.args, [node.body])

    def _defaults(self, arguments: ast.arguments) -> None:
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if default is not None:
                self.visit(default)

    def _function(self, arguments: ast.arguments, body: list[ast.AST]) -> None:
        outer, self._scope = self._scope, Scope("function", self._scope)
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        named = {each.arg for each in every if each is not None}
        self._scope.bound |= named
        self.own |= named
        for each in body:
            self.visit(each)
        self._scope = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        outer, self._scope = self._scope, Scope("class", self._scope)
        for statement in node.body:
            self.visit(statement)
        self._scope = outer
        self._bind(node.name)
