"""if, for, while, switch, try."""

from __future__ import annotations

from typing import Final

from perdure.dialects.groovy.parsing.expressions import Expressions
from perdure.dialects.groovy.refusals import Unreadable, Unsupported
from perdure.dialects.groovy.syntax import (
    Arm,
    Case,
    Catch,
    Expression,
    ForCount,
    ForEach,
    If,
    Parameter,
    Statement,
    Switch,
    Try,
    Type,
    While,
)
from perdure.dialects.groovy.tokens import Token

_WORDS: Final = frozenset({"if", "for", "while", "do", "switch", "try"})


class Control(Expressions):
    # Provided by the layer above.
    def statement(self) -> list[Statement]:
        raise NotImplementedError

    def case_body(self) -> list[Statement]:
        raise NotImplementedError

    def is_control(self, token: Token) -> bool:
        return token.value in _WORDS

    def control(self, token: Token) -> Statement:
        match token.value:
            case "if":
                return self._if()
            case "for":
                return self._for()
            case "while":
                self.advance()
                return While(token.line, token.column, self._condition("while"), self._body())
            case "switch":
                return self._switch()
            case "try":
                return self._try()
            case _:
                raise Unsupported(token, "do … while", "write while (true) { …; if (!(…)) break }")

    def _condition(self, word: str) -> Expression:
        self.expect_op("(", f"after {word}")
        found = self.expression()
        self.expect_op(")", f"the condition of {word}")
        return found

    def _body(self) -> list[Statement]:
        """A block, or one statement without braces, on this line or the next."""
        self.skip_newlines()
        if self.take_op("{"):
            return self.block()
        if self.take_op(";"):
            return []
        return self.statement()

    def _if(self) -> Statement:
        token = self.advance()
        arms = [Arm(token.line, token.column, self._condition("if"), self._body())]
        while self._take_else():
            other = self.token
            if not self.take_word("if"):
                return If(token.line, token.column, arms, self._body())
            arms.append(Arm(other.line, other.column, self._condition("if"), self._body()))
        return If(token.line, token.column, arms, [])

    def _take_else(self) -> bool:
        """`else` may stand on a later line, and after a semicolon."""
        start = self.index
        self.take_op(";")
        self.skip_newlines()
        if self.take_word("else"):
            return True
        self.index = start
        return False

    def _for(self) -> Statement:
        token = self.advance()
        self.expect_op("(", "after for")
        if (variable := self._loop_variable()) is not None:
            items = self.expression()
            self.expect_op(")", "the head of for")
            return ForEach(token.line, token.column, variable, items, self._body())
        begin = self._steps(";")
        test = None if self.token.is_op(";") else self.expression()
        self.expect_op(";", "the head of for")
        advance = self._steps(")")
        return ForCount(token.line, token.column, begin, test, advance, self._body())

    def _loop_variable(self) -> Parameter | None:
        """`x in`, `String x :`. None if this is a loop that counts; then nothing is taken."""
        start = self.index
        self.take_word("final")
        declared: Type | None = None
        if not self.take_word("def") and not (self.ahead().is_word("in") or self.ahead().is_op(":")):
            if self.token.kind == "name" and self.token.value == "var":
                self.advance()
            else:
                declared = self.try_type()
        name = self.token
        if name.kind == "name" and (self.ahead().is_word("in") or self.ahead().is_op(":")):
            self.index += 2
            return Parameter(name.line, name.column, name.value, declared, None)
        self.index = start
        return None

    def _steps(self, closing: str) -> list[Statement]:
        found: list[Statement] = []
        while not self.token.is_op(closing):
            found += self.statement()
            if not self.take_op(","):
                break
        self.expect_op(closing, "the head of for")
        return found

    def _switch(self) -> Statement:
        token = self.advance()
        subject = self._condition("switch")
        self.skip_newlines()
        self.expect_op("{", "after switch")
        cases: list[Case] = []
        while True:
            while self.token.kind == "newline" or self.token.is_op(";"):
                self.advance()
            if self.take_op("}"):
                return Switch(token.line, token.column, subject, cases)
            cases.append(self._case())

    def _case(self) -> Case:
        first = self.token
        if not first.is_word("case", "default"):
            raise Unreadable(first, f"case or default is expected in a switch, not {first.shown}")
        labels: list[Expression] = []
        has_default = False
        while self.token.is_word("case", "default"):
            if self.advance().value == "case":
                labels.append(self.expression())
            else:
                has_default = True
            if self.token.is_op("->"):
                raise Unsupported(self.token, "case with an arrow", "write case …: …; break")
            self.expect_op(":", "after a case")
            self.skip_newlines()
        return Case(first.line, first.column, [] if has_default else labels, self.case_body())

    def _try(self) -> Statement:
        token = self.advance()
        if self.token.is_op("("):
            raise Unsupported(token, "try with resources", "a script opens no files or connections")
        body = self._braces("try")
        catches: list[Catch] = []
        while self._follows("catch"):
            catches.append(self._catch())
        lastly = self._braces("finally") if self._follows("finally") and self.advance() else None
        if not catches and lastly is None:
            raise Unreadable(token, "try has neither catch nor finally")
        return Try(token.line, token.column, body, catches, lastly)

    def _follows(self, word: str) -> bool:
        if self.after_newlines().is_word(word):
            self.skip_newlines()
            return True
        return False

    def _catch(self) -> Catch:
        token = self.advance()
        self.expect_op("(", "after catch")
        types: list[Type] = []
        self.take_word("final")
        if not self.ahead().is_op(")"):
            types.append(self.type("in catch"))
            while self.take_op("|"):
                types.append(self.type("in catch"))
        name = self.expect_name("in catch")
        self.expect_op(")", "the head of catch")
        return Catch(token.line, token.column, types, name.value, self._braces("catch"))

    def _braces(self, word: str) -> list[Statement]:
        self.skip_newlines()
        self.expect_op("{", f"after {word}")
        return self.block()
