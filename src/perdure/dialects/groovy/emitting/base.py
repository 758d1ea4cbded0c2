"""What all layers share: where we are, which functions of the prelude are used, what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from perdure.dialects.groovy import limits
from perdure.dialects.groovy.emitting.lines import Lines
from perdure.dialects.groovy.emitting.names import BINDINGS, Function, Scope, Variable
from perdure.dialects.groovy.refusals import Place, Refusals
from perdure.dialects.groovy.syntax import Assign, Expression, Name, Node, Property, walk

NOTHING = "None"
"""What is written in place of something refused; the script is not going to run."""


class Base:
    def __init__(self, refusals: Refusals, statements: Sequence[Node]) -> None:
        self.refusals = refusals
        self.used: set[str] = set()
        self.read: set[str] = set()
        self.unset: set[str] = set()
        """Variables of the script that only a closure sets: Python must hear of them at the top."""
        self.script = Function(None)
        self.root = Scope(self.script, None)
        self.scope = self.root
        self.methods: dict[str, Variable] = {}
        self.blocks = 0
        self._temporaries = 0
        self._functions = 0
        for name in sorted(BINDINGS | _assigned_names(statements)):
            self.root.declare(name, "g_")

    # Provided by the layers above.
    def expression(self, node: Expression) -> str:
        raise NotImplementedError

    def condition(self, node: Expression) -> str:
        raise NotImplementedError

    @property
    def function(self) -> Function:
        return self.scope.function

    @property
    def lines(self) -> Lines:
        return self.function.lines

    def call(self, function: str, *arguments: str) -> str:
        """A call of a function of the prelude."""
        self.used.add(function)
        return f"{function}({', '.join(arguments)})"

    def refuse(self, place: Place, construct: str, remedy: str) -> str:
        self.refusals.unsupported(place, construct, remedy)
        return NOTHING

    def wrong(self, place: Place, message: str, remedy: str | None = None) -> str:
        self.refusals.syntax(place, message, remedy)
        return NOTHING

    def too_many(self, place: Place, what: str, count: int, remedy: str) -> bool:
        """Refuses what the sandbox would not take."""
        if count <= limits.CHAIN_LENGTH:
            return False
        self.refusals.limit(place, f"more than {limits.CHAIN_LENGTH} {what}", remedy)
        return True

    def temporary(self) -> str:
        self._temporaries += 1
        return f"t_{self._temporaries}"

    def new_function(self) -> str:
        self._functions += 1
        return f"f_{self._functions}"

    @contextmanager
    def block(self, place: Place, *, counts: bool = True) -> Iterator[Lines]:
        """A block of its own: its variables end with it, its lines are put where the caller wants them."""
        self.blocks += counts
        if self.blocks > limits.BLOCK_DEPTH:
            told = f"more than {limits.BLOCK_DEPTH} blocks inside one another"
            self.refusals.limit(place, told, "make the inner ones a method of their own")
        outside, before = self.scope, self.function.lines
        self.scope = Scope(outside.function, outside)
        inside = self.function.lines = Lines()
        try:
            yield inside
        finally:
            self.blocks -= counts
            self.scope = outside
            self.function.lines = before

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Inside another function."""
        outside, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = outside

    def lookup(self, name: str) -> Variable | None:
        """The variable of that name, if there is one: declared, given to the script, or set somewhere without def."""
        found = self.scope.find(name)
        if found is not None and name in BINDINGS and found is self.root.variables.get(name):
            self.read.add(name)
        return found

    def is_free(self, name: str) -> bool:
        """Whether a declaration may use the name. One that is given to the script may be hidden."""
        found = self.scope.find(name)
        return found is None or found is self.root.variables.get(name)

    def unknown(self, node: Name) -> str:
        if not self.refusals.has_syntax:  # otherwise it may stand in what could not be read
            known = ", ".join(sorted(BINDINGS))
            self.refusals.unknown(node, node.name, f"a variable that is declared, or {known}")
        return NOTHING


def _assigned_names(statements: Sequence[Node]) -> set[str]:
    """The names that are set without def anywhere. Groovy keeps such variables for the whole script. (`x += 1` sets
    nothing that was not there before.)"""
    found: set[str] = set()
    for node in walk(*statements):
        if isinstance(node, Assign) and node.op == "=" and isinstance(node.target, Name):
            found.add(node.target.name)
    return found


def dotted(node: Expression) -> str | None:
    """`java.util.Date` as it is written; None if this is more than names and dots."""
    names: list[str] = []
    while isinstance(node, Property) and node.access == ".":
        names.append(node.name)
        node = node.of
    if not isinstance(node, Name):
        return None
    return ".".join([node.name, *reversed(names)])
