"""The whole script as one function, and what is written around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from perdure.dialects.groovy import limits
from perdure.dialects.groovy.emitting.lines import NO_LINE, Lines, Row, marked
from perdure.dialects.groovy.emitting.names import Scope
from perdure.dialects.groovy.emitting.statements import Statements
from perdure.dialects.groovy.library import JSON_KEEPERS, prelude_for
from perdure.dialects.groovy.methods import Form
from perdure.dialects.groovy.refusals import Refusals
from perdure.dialects.groovy.syntax import (
    Assign,
    Binary,
    Call,
    Chain,
    Choose,
    Closure,
    Constant,
    Convert,
    Expression,
    Fraction,
    Index,
    InstanceOf,
    ListOf,
    MapOf,
    Method,
    Name,
    New,
    Node,
    Property,
    Range,
    Spread,
    Statement,
    Step,
    Text,
    Unary,
    children,
)

_ANY_CLOSURE: Final = Form("each", closure="action")
HEADER: Final = "# Groovy, translated by Perdure: first the functions that it needs, then the script."


class Written(NamedTuple):
    python: str
    names: frozenset[str]
    lines: list[int]


def write(statements: list[Statement], refusals: Refusals) -> Written | None:
    """The script in Python; None if something was refused."""
    if _too_deep(statements, refusals):
        return None
    emitter = Emitter(refusals, statements)
    emitter.emit(statements)
    return None if refusals else emitter.assembled()


class Emitter(Statements):
    def expression(self, node: Expression) -> str:
        text = _WRITERS[type(node)](self, node)
        return text if isinstance(node, Constant | Fraction | Name) else marked(node.line, text)

    def stray_closure(self, node: Closure) -> str:
        self.as_argument(node, _ANY_CLOSURE, "this")
        return self.refuse(node, "a closure as a value", "give it a name with def, or give it to collect, find, each …")

    def emit(self, statements: list[Statement]) -> None:
        methods = [statement for statement in statements if isinstance(statement, Method)]
        for method in methods:
            if method.name in self.methods:
                self.refuse(method, f"two methods named {method.name}", "give them different names")
            else:
                self.announce_method(method)
        for method in methods:
            self.define_method(method)
        self.scope = Scope(self.script, self.root)
        self.body([each for each in statements if not isinstance(each, Method)], gives_value=True)

    def assembled(self) -> Written:
        names = sorted(self.read)
        parameters = [self.root.variables[name].python for name in names]
        result = f"script({', '.join(names)})"
        if not self.used <= JSON_KEEPERS:
            result = self.call("as_json", result)
        whole = Lines()
        for line in [HEADER, *prelude_for(self.used).splitlines(), ""]:
            whole.rows.append(Row(0, NO_LINE, line))
        whole.add(NO_LINE, f"def script({', '.join(parameters)}):")
        for python in sorted(self.unset - set(parameters)):
            whole.block_line(NO_LINE, f"{python} = None")
        if not self.script.lines:
            whole.block_line(NO_LINE, "pass")
        whole.include(self.script.lines)
        whole.rows.append(Row(0, NO_LINE, ""))
        whole.add(NO_LINE, result)
        return Written("\n".join([*whole.written(), ""]), frozenset(names), [row.origin for row in whole.rows])


_WRITERS: Final[dict[type[Expression], Callable[[Emitter, Any], str]]] = {
    Constant: Emitter.constant,
    Fraction: Emitter.fraction,
    Text: Emitter.text,
    Name: Emitter.name,
    ListOf: Emitter.list_of,
    MapOf: Emitter.map_of,
    Spread: Emitter.spread,
    Range: Emitter.range_of,
    Property: Emitter.member,
    Index: Emitter.index,
    Closure: Emitter.stray_closure,
    Call: Emitter.call_of,
    New: Emitter.new,
    Unary: Emitter.unary,
    Binary: Emitter.binary,
    Chain: Emitter.chain,
    Choose: Emitter.choose,
    Convert: Emitter.convert,
    InstanceOf: Emitter.instance_of,
    Assign: Emitter.nested_assign,
    Step: Emitter.nested_step,
}


def _too_deep(statements: list[Statement], refusals: Refusals) -> bool:
    """Whether some expression has more levels than the sandbox or Python's own stack would take."""
    waiting: list[tuple[Node, int]] = [(statement, 0) for statement in statements]
    while waiting:
        node, depth = waiting.pop()
        if depth > limits.EXPRESSION_DEPTH:
            refusals.limit(node, "this is nested too deeply", "give the inner parts names of their own with def")
            return True
        deeper = depth + isinstance(node, Expression)
        waiting.extend((child, deeper) for child in children(node))
    return False
