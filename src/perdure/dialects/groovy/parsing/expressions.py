"""Operators, by precedence, and what can follow a value: properties, indexes, calls."""

from __future__ import annotations

from typing import Final

from perdure.dialects.groovy.parsing.atoms import Atoms
from perdure.dialects.groovy.refusals import Unreadable, Unsupported
from perdure.dialects.groovy.syntax import (
    Access,
    Assign,
    Binary,
    Call,
    Chain,
    Choose,
    Convert,
    Expression,
    Index,
    InstanceOf,
    Name,
    Property,
    Range,
    Step,
    Type,
    Unary,
)
from perdure.dialects.groovy.tokens import PRIMITIVES, Token
from perdure.dialects.groovy.types import TYPES

PRECEDENCE: Final = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5,
    "==": 6, "!=": 6, "<=>": 6, "=~": 6, "==~": 6, "===": 6, "!==": 6,
    "<": 7, "<=": 7, ">": 7, ">=": 7, "in": 7, "!in": 7, "instanceof": 7, "!instanceof": 7, "as": 7,
    "<<": 8, "..": 8, "..<": 8,
    "+": 9, "-": 9,
    "*": 10, "/": 10, "%": 10,
}  # fmt: skip
ASSIGNMENTS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "**=", "?=", "<<=", "&=", "|=", "^="})
_FLAT: Final = frozenset({"+", "&&", "||"})

_CONTINUES: Final = frozenset({"&&", "||", "?:", "?", "==", "!=", "<=>", "<=", ">=", ".", "?.", "*."})
"""A line that begins with one of these goes on with the line before; no statement begins with them."""

_REFUSED: Final = {
    "=~": ("the operator =~", "regular expressions are refused; use contains, startsWith, endsWith or split"),
    "==~": ("the operator ==~", "regular expressions are refused; use matches('…') with a simple pattern"),
    "===": ("the operator ===", "compare values with =="),
    "!==": ("the operator !==", "compare values with !="),
}


class Expressions(Atoms):
    def expression(self) -> Expression:
        with self.deeper():
            target = self._choice()
            token = self.token
            if token.kind == "op" and token.value in ASSIGNMENTS:
                self.advance()
                self.skip_newlines()
                return Assign(token.line, token.column, target, token.value, self.expression())
            return target

    def _operator(self) -> Token:
        """The operator that stands here, or after a line break that does not end the statement."""
        if self.token.kind == "newline":
            following = self.after_newlines()
            if following.kind == "op" and following.value in _CONTINUES:
                self.skip_newlines()
        return self.token

    def _choice(self) -> Expression:
        test = self._binary(1)
        token = self._operator()
        if token.is_op("?"):
            with self.deeper():
                self.advance()
                self.skip_newlines()
                then = self._choice()
                self.skip_newlines()
                self.expect_op(":", "a choice with ?")
                self.skip_newlines()
                return Choose(token.line, token.column, test, then, self._choice())
        if not token.is_op("?:"):
            return test
        parts = [test]
        while self._operator().is_op("?:"):
            self.advance()
            self.skip_newlines()
            parts.append(self._binary(1))
        rest = self._operator()
        if rest.is_op("?"):
            raise Unreadable(rest, "`?:` and `?` in one", "put brackets around the choice")
        return Chain(token.line, token.column, "?:", parts)

    def _binary(self, least: int) -> Expression:
        left = self._unary()
        while True:
            token = self._operator()
            operator = str(token.value) if token.kind in {"op", "word"} else ""
            precedence = PRECEDENCE.get(operator, 0)
            if precedence < least:
                return left
            self.advance()
            left = self._combined(left, token, precedence)

    def _combined(self, left: Expression, token: Token, precedence: int) -> Expression:
        operator, line, column = token.value, token.line, token.column
        if operator == "as":
            return Convert(line, column, left, self.type("after as"), is_cast=False)
        if operator in {"instanceof", "!instanceof"}:
            return InstanceOf(line, column, left, self.type(f"after {operator}"), operator.startswith("!"))
        if operator == ">" and self.token.is_op(">") and self.token.start == token.end:
            raise Unsupported(token, "the operator >>", "divide with intdiv")
        if operator in _REFUSED:
            self.refusals.unsupported(token, *_REFUSED[operator])
        self.skip_newlines()
        with self.deeper():
            right = self._binary(precedence + 1)
        if operator in {"..", "..<"}:
            return Range(line, column, left, right, operator == "..")
        if operator in _FLAT:
            if isinstance(left, Chain) and left.op == operator:
                left.parts.append(right)
                return left
            return Chain(line, column, operator, [left, right])
        return Binary(line, column, operator, left, right)

    def _unary(self) -> Expression:
        token = self.token
        if token.is_op("-", "+", "!", "~"):
            with self.deeper():
                self.advance()
                return Unary(token.line, token.column, token.value, self._unary())
        if token.is_op("++", "--"):
            with self.deeper():
                self.advance()
                return Step(token.line, token.column, self._unary(), token.value)
        if token.is_op("(") and (cast_to := self._cast()):
            with self.deeper():
                return Convert(token.line, token.column, self._unary(), cast_to, is_cast=True)
        base = self.postfix()
        power = self.token
        if power.is_op("**"):
            with self.deeper():
                self.advance()
                self.skip_newlines()
                return Binary(power.line, power.column, "**", base, self._unary())
        return base

    def _cast(self) -> Type | None:
        """`(int) x`, `(String) x`: a type that we know, in brackets, before something that can be cast."""
        start = self.index
        self.advance()
        found = self.try_type()
        if found and (found.name in PRIMITIVES or found.simple in TYPES) and self.take_op(")"):
            following = self.token
            if (
                following.kind in {"name", "number", "text"}
                or following.is_op("(", "[")
                or following.is_word("true", "false", "null", "new")
            ):
                return found
        self.index = start
        return None

    def postfix(self) -> Expression:
        value = self.atom()
        while True:
            token = self._operator()
            if token.is_op(".", "?.", "*."):
                value = self._member(value, self.advance())
            elif token.is_op("?["):
                self.advance()
                value = self._index(value, self.advance(), safe=True)
            elif token.is_op("["):
                value = self._index(value, self.advance(), safe=False)
            elif token.is_op("(", "{") and isinstance(value, Name):
                value = Call(value.line, value.column, None, ".", value.name, self._call_arguments())
            elif token.is_op("(") and isinstance(value, Call | Property | Index):
                raise Unsupported(token, "calling a value", "give the closure a name with def and call that name")
            elif token.is_op("++", "--"):
                self.advance()
                return Step(token.line, token.column, value, token.value)
            elif token.is_op(".&", "::", ".@"):
                raise Unsupported(token, f"the operator {token.value}", "call the method in a closure: { it.… }")
            else:
                return value

    def _member(self, of: Expression, dot: Token) -> Expression:
        self.skip_newlines()
        token = self.token
        access: Access = dot.value
        if token.kind == "text" and any(not isinstance(part, str) for part in token.value):
            if access == "*.":
                raise Unsupported(token, "a property whose name is computed", "write it as an index: map[name]")
            return Index(token.line, token.column, of, self.atom(), access == "?.")  # map."$name" is map["$name"]
        if token.kind == "text":
            name = "".join(self.advance().value)
        elif token.kind in {"name", "word"}:
            name = str(self.advance().value)
        elif token.is_op("("):
            raise Unsupported(token, "a property whose name is computed", "write it as an index: map[name]")
        else:
            raise Unreadable(token, f"after {dot.value} a name is expected, not {token.shown}")
        if self.token.is_op("(", "{"):
            return Call(token.line, token.column, of, access, name, self._call_arguments())
        return Property(token.line, token.column, of, access, name)

    def _call_arguments(self) -> list[Expression]:
        arguments = self.arguments() if self.token.is_op("(") else []
        while self.token.is_op("{"):
            arguments.append(self.closure())
        return arguments

    def _index(self, of: Expression, opening: Token, *, safe: bool) -> Expression:
        at = self.expression()
        if self.token.is_op(","):
            raise Unsupported(self.token, "several indexes at once", "take them one by one: [list[0], list[2]]")
        self.expect_op("]", "an index")
        return Index(opening.line, opening.column, of, at, safe)

    def embedded(self, tokens: list[Token]) -> Expression:
        """The expression of `${…}`."""
        inner = type(self)(tokens, self.refusals, self.depth)
        inner.skip_newlines()
        if inner.at_end():
            raise Unreadable(inner.token, "`${}` is empty")
        if inner.token.is_op("->"):
            raise Unsupported(inner.token, "a closure in a string", "write ${ value }")
        found = inner.expression()
        inner.skip_newlines()
        if not inner.at_end():
            raise Unreadable(inner.token, f"one value is expected in ${{…}}; {inner.token.shown} follows it")
        return found
