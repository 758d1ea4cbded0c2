"""Statements, blocks, and finding the way again after something unreadable."""

from __future__ import annotations

from typing import Final

from perdure.dialects.groovy.parsing.control import Control
from perdure.dialects.groovy.refusals import Unreadable, Unsupported, UnsupportedDefinition
from perdure.dialects.groovy.syntax import (
    Arm,
    Assert,
    Break,
    Call,
    Closure,
    Constant,
    Continue,
    Declare,
    DeclareSeveral,
    Evaluate,
    If,
    Method,
    Name,
    Parameter,
    Return,
    Statement,
    Throw,
    Type,
)
from perdure.dialects.groovy.tokens import Token
from perdure.dialects.groovy.types import IMPORTS, known_type

_MODIFIERS: Final = frozenset({"private", "public", "protected", "static", "final"})
_DEFINITIONS: Final = {
    "class": "a class",
    "interface": "an interface",
    "enum": "an enum",
    "trait": "a trait",
    "package": "a package",
    "synchronized": "a synchronized block",
    "abstract": "an abstract class",
    "goto": "goto",
}


class Parser(Control):
    def script(self) -> list[Statement]:
        found: list[Statement] = []
        while self.token.kind != "end":
            found += self._statements()
            self.take_op("}")  # the lexer has seen to it that brackets match; its partner was skipped
        return found

    def block(self) -> list[Statement]:
        """The statements up to `}`; the `{` has been taken."""
        found = self._statements()
        self.expect_op("}", "a block")
        return found

    def case_body(self) -> list[Statement]:
        return self._statements(in_switch=True)

    def _statements(self, *, in_switch: bool = False) -> list[Statement]:
        found: list[Statement] = []
        while True:
            while self.token.kind == "newline" or self.token.is_op(";"):
                self.advance()
            if self.token.kind == "end" or self.token.is_op("}"):
                return found
            if in_switch and self.token.is_word("case", "default"):
                return found
            found += self._one_or_skipped()

    def _one_or_skipped(self) -> list[Statement]:
        start = self.index
        try:
            found = self.statement()
            if not self._at_end_of_statement():
                raise self._left_over()
        except Unreadable as fault:
            fault.note(self.refusals)
            return self._skip_statement(start, looks_inside=fault.looks_inside)
        else:
            return found

    def _at_end_of_statement(self) -> bool:
        token = self.token
        if token.kind in {"newline", "end"} or token.is_op(";", "}"):
            return True
        return self.tokens[self.index - 1].is_op("}")  # `if (x) { … } y = 1`

    def _left_over(self) -> Unreadable:
        before, token = self.tokens[self.index - 1], self.token
        if before.kind == "name" and token.kind in {"name", "text", "number"}:
            return Unsupported(before, "a call without brackets", f"write {before.value}(…)")
        if token.is_op("->"):
            return Unsupported(token, "a lambda with an arrow but no braces", "write { x -> … }")
        if token.is_op(":") and before.kind == "name":
            return Unsupported(before, "a label", "put the loop into a closure and return from it")
        return Unreadable(token, f"{token.shown} is not expected here")

    def _skip_statement(self, start: int, *, looks_inside: bool) -> list[Statement]:
        """To the end of the statement that began at `start`. Its blocks that nobody has looked at yet are the result,
        so that their problems are told too; what was read once is not read again."""
        found: list[Statement] = []
        depth = self._opened_since(start)
        while self.token.kind != "end":
            token, here = self.token, self.index
            if depth <= 0 and (token.kind == "newline" or token.is_op(";", "}")) and here > start:
                break
            if looks_inside and depth <= 0 and token.is_op("{"):
                try:
                    found.append(_block(self.closure()))
                except Unreadable as fault:
                    fault.note(self.refusals)
            if self.index == here:
                self.advance()
            depth += self._opened_since(here)
        return found

    def _opened_since(self, start: int) -> int:
        """How many brackets were opened and not closed between there and here."""
        passed = self.tokens[start : self.index]
        return sum(token.is_op("(", "[", "{") - token.is_op(")", "]", "}") for token in passed)

    def statement(self) -> list[Statement]:
        """Usually one; `def a = 1, b = 2` are two, an import is none."""
        with self.deeper():
            token = self.token
            if token.kind == "word":
                return self._word_statement(token)
            if token.is_op("@"):
                raise Unsupported(token, "an annotation", "leave it out")
            if token.is_op("{"):
                raise Unsupported(token, "a block on its own", "leave out the braces")
            if token.kind == "name" and token.value in {"print", "println"} and self._begins_a_value(self.ahead()):
                return self._print()
            if token.kind == "name" and token.value == "trait" and self.ahead().kind == "name":
                raise UnsupportedDefinition(token, "a trait", "use maps and closures")
            if token.kind == "name" and token.value == "var" and self.ahead().kind == "name":
                self.advance()
                return self._declarations(None)
            return self._typed_declaration() or self._evaluation()

    def _word_statement(self, token: Token) -> list[Statement]:
        if self.is_control(token):
            return [self.control(token)]
        match token.value:
            case "def":
                self.advance()
                return self._declarations(None)
            case "import":
                self._import()
                return []
            case "return":
                self.advance()
                value = None if self._at_end_of_statement() else self.expression()
                return [Return(token.line, token.column, value)]
            case "throw":
                self.advance()
                return [Throw(token.line, token.column, self.expression())]
            case "break" | "continue":
                self.advance()
                if self.token.kind == "name":
                    raise Unsupported(self.token, "a label", "put the loop into a closure and return from it")
                return [(Break if token.value == "break" else Continue)(token.line, token.column)]
            case "assert":
                return [self._assert()]
            case word if word in _MODIFIERS:
                return self._modified()
            case word if word in _DEFINITIONS:
                raise UnsupportedDefinition(token, _DEFINITIONS[word], "use maps and closures")
            case _:
                return self._typed_declaration() or self._evaluation()

    def _modified(self) -> list[Statement]:
        token = self.token
        while self.token.kind == "word" and self.token.value in _MODIFIERS:
            self.advance()
        if self.take_word("def") or (self.token.kind == "name" and self.ahead().is_op("=", "(")):
            return self._declarations(None)
        if self.token.is_word(*_DEFINITIONS):
            raise UnsupportedDefinition(self.token, _DEFINITIONS[self.token.value], "use maps and closures")
        declared = self._typed_declaration()
        if declared is None:
            raise Unreadable(token, f"after `{token.value}` a declaration is expected, not {self.token.shown}")
        return declared

    def _typed_declaration(self) -> list[Statement] | None:
        start = self.index
        declared = self.try_type()
        if declared is not None and self.token.kind == "name":
            after = self.ahead()
            if after.kind in {"newline", "end"} or after.is_op("=", ";", ",", "}", "("):
                return self._declarations(declared)
        self.index = start
        return None

    def _declarations(self, declared: Type | None) -> list[Statement]:
        """`a`, `a = 1`, `a = 1, b = 2`, `(a, b) = list`, or a method: `a(x) { … }`. The type has been taken."""
        if self.token.is_op("("):
            return [self._several()]
        if declared is None:
            declared = self._parameter_type()  # `final String x`
        if self.token.kind == "name" and self.ahead().is_op("("):
            return [self._method()]
        found: list[Statement] = []
        while True:
            name = self.expect_name("a declaration")
            value = None
            if self.take_op("="):
                self.skip_newlines()
                value = self.expression()
            found.append(Declare(name.line, name.column, declared, name.value, value))
            if not self.take_op(","):
                return found
            self.skip_newlines()

    def _several(self) -> Statement:
        opening = self.advance()
        names = self.parameters(")")
        self.expect_op(")", "a declaration of several names")
        self.expect_op("=", "a declaration of several names")
        self.skip_newlines()
        return DeclareSeveral(opening.line, opening.column, names, self.expression())

    def _method(self) -> Statement:
        name = self.advance()
        self.advance()
        parameters: list[Parameter] = self.parameters(")")
        self.expect_op(")", "the parameters of a method")
        if self.token.is_word("throws"):
            while not self.token.is_op("{") and self.token.kind not in {"newline", "end"}:
                self.advance()
        self.skip_newlines()
        self.expect_op("{", "a method")
        return Method(name.line, name.column, name.value, parameters, self.block())

    def _import(self) -> None:
        token = self.advance()
        is_static = self.take_word("static")
        names: list[str] = []
        while self.token.kind in {"name", "word"} or self.token.is_op(".", "*", ".*", "*."):
            names.append(str(self.advance().value))
        name = "".join(names)
        simple = known_type(name)
        harmless = simple in IMPORTS or (simple == "*" and known_type(name) is not None)
        if is_static or not harmless:
            remedy = "only JSON, dates and collections are there; do what it is for in a node of the flow"
            raise Unsupported(token, f"import of {name or 'nothing'}", remedy)

    def _assert(self) -> Statement:
        token = self.advance()
        test = self.expression()
        message = self.expression() if self.take_op(":", ",") else None
        return Assert(token.line, token.column, test, message)

    def _print(self) -> list[Statement]:
        token = self.advance()
        value = self.expression()
        return [Evaluate(token.line, token.column, Call(token.line, token.column, None, ".", token.value, [value]))]

    def _begins_a_value(self, token: Token) -> bool:
        if token.kind in {"name", "text", "number"}:
            return True
        return token.is_word("new", "true", "false", "null") or token.is_op("[")

    def _evaluation(self) -> list[Statement]:
        token = self.token
        value = self.expression()
        if isinstance(value, Name) and self.token.is_op(":"):
            raise Unsupported(token, "a label", "put the loop into a closure and return from it")
        return [Evaluate(token.line, token.column, value)]


def _block(closure: Closure) -> Statement:
    """Statements whose surroundings are unreadable, in a form in which they can be looked at."""
    line, column = closure.line, closure.column
    return If(line, column, [Arm(line, column, Constant(line, column, True), closure.body)], [])
