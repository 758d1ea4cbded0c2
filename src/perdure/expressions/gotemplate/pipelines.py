"""The pipelines of actions: operands, calls, variables."""

from __future__ import annotations

from typing import NoReturn

from perdure.errors import ExpressionLimit, ExpressionSyntax
from perdure.expressions.gotemplate.functions import FUNCTIONS, Function
from perdure.expressions.gotemplate.syntax import Call, Constant, Dot, Member, Pipeline, Value, Variable
from perdure.expressions.gotemplate.tokens import Action, Token
from perdure.expressions.limits import Limits
from perdure.expressions.paths import as_step
from perdure.expressions.places import nearest, placed

_CONSTANTS = {"true": True, "false": False, "nil": None}


class Scope:
    """The variables of one template, each with its place in the frame."""

    def __init__(self) -> None:
        self.visible: list[tuple[str, int]] = [("$", 0)]
        self.slots = 1

    def declare(self, name: str) -> int:
        self.visible.append((name, self.slots))
        self.slots += 1
        return self.slots - 1

    def find(self, name: str) -> int | None:
        return next((slot for each, slot in reversed(self.visible) if each == name), None)


class Pipelines:
    """Reads the tokens of one action."""

    def __init__(self, source: str, action: Action, scope: Scope, limits: Limits) -> None:
        self.source = source
        self.action = action
        self.scope = scope
        self.limits = limits
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.action.tokens[self.at]

    def fail(self, message: str, token: Token | None = None, remedy: str | None = None) -> NoReturn:
        token = token or self.token
        fault = ExpressionSyntax(message, remedy=remedy)
        raise placed(fault, self.source, token.start, max(token.end, token.start + 1))

    def sees(self, op: str) -> bool:
        return self.token.kind == "op" and self.token.value == op

    def took(self, op: str) -> bool:
        if not self.sees(op):
            return False
        self.at += 1
        return True

    def apart(self, token: Token) -> None:
        """What stands side by side is separated by blanks; only a bracket may follow a name at once."""
        before = self.action.tokens[self.at - 1] if self.at else None
        if before is None or token.spaced or token.kind == "end" or (before.kind == "op" and before.value != ")"):
            return
        if not (before.kind == "name" and token.kind == "op" and token.value == "("):
            self.fail("a blank is missing before this", token)

    def end(self) -> None:
        if self.token.kind != "end":
            self.fail(f"{self._shown(self.token)} is not expected here", remedy="arguments are separated by blanks")

    def whole(self, keyword: str, most: int = 1) -> Pipeline:
        """The pipeline that fills the rest of the action; `most` variables may be set by it."""
        if self.token.kind == "end":
            self.fail(f"a value is missing behind {keyword}" if keyword else "the action is empty")
        start = self.token.start
        names, declared = self._targets(most)
        value = self._pipeline()
        self.end()
        slots = [self._slot(each, declared) for each in names]
        return Pipeline(value, slots, start, self.token.start)

    # -- variables --------------------------------------------------------------------------------------------------

    def _targets(self, most: int) -> tuple[list[Token], bool]:
        """`$i, $v :=`, if that is how it begins."""
        tokens = self.action.tokens
        names: list[Token] = []
        at = self.at
        while tokens[at].kind == "variable":
            names.append(tokens[at])
            at += 1
            if tokens[at].kind != "op" or tokens[at].value != ",":
                break
            at += 1
        sign = tokens[at]
        if not names or sign.kind != "op" or sign.value not in {":=", "="}:
            if len(names) > 1:
                self.fail(":= is missing behind the variables", sign)
            return [], False
        if len(names) > most:
            remedy = "only range sets two variables" if most == 1 else "range sets one or two variables"
            self.fail("these are too many variables", names[most], remedy)
        for each in names:
            if each.value == "$":
                self.fail("only variables with a name can be set", each)
        self.at = at + 1
        return names, sign.value == ":="

    def _slot(self, token: Token, declared: bool) -> int:
        if declared:
            return self.scope.declare(token.value)
        return self._known(token)

    def _known(self, token: Token) -> int:
        found = self.scope.find(token.value)
        if found is None:
            meant = nearest(token.value, [name for name, _ in self.scope.visible])
            remedy = (
                f"did you mean {meant}?" if meant else f"declare it with {token.value} := …, in this block or around it"
            )
            self.fail(f"there is no variable {token.value}", token, remedy)
        return found

    # -- values -----------------------------------------------------------------------------------------------------

    def _pipeline(self) -> Value:
        start = self.token
        value = self._command(None)
        while self.took("|"):
            value = self._command(value)
        if isinstance(value, Constant) and value.value is None:
            self.fail("nil is no value of its own", start)
        return value

    def _command(self, piped: Value | None) -> Value:
        """One operand, or a function and its arguments, of which the last may come through the pipe."""
        first = self.token
        if first.kind == "name" and first.value not in _CONSTANTS:
            function = self._function(first)
            self.at += 1
            arguments: list[Value] = []
            while not (self.token.kind == "end" or self.sees("|") or self.sees(")")):
                arguments.append(self._operand())
            if piped is not None:
                arguments.append(piped)
            return self._call(function, arguments, first)
        if first.kind == "end":
            self.fail("a value is missing behind |" if piped is not None else "a value is missing")
        value = self._operand()
        if piped is not None:
            self.fail("only a function takes what comes through |", first)
        if not (self.token.kind == "end" or self.sees("|") or self.sees(")")):
            self._no_argument()
        return value

    def _no_argument(self) -> NoReturn:
        token = self.token
        if token.kind == "op":
            self.fail(f"{self._shown(token)} is not expected here")
        self.fail("only functions take arguments", token, "functions are written first: eq .a .b")

    def _call(self, function: Function, arguments: list[Value], name: Token) -> Call:
        count = len(arguments)
        if count < function.least or (function.most is not None and count > function.most):
            wanted = str(function.least) if function.least == function.most else f"at least {function.least}"
            if function.most is not None and count > function.most:
                wanted = f"at most {function.most}" if function.least != function.most else wanted
            plural = "" if wanted.endswith(" 1") or wanted == "1" else "s"
            self.fail(f"{function.name} takes {wanted} argument{plural}, not {count}", name)
        return Call(function, arguments, name.start, self.action.tokens[self.at - 1].end)

    def _function(self, token: Token) -> Function:
        found = FUNCTIONS.get(token.value)
        if found is None:
            meant = nearest(token.value, FUNCTIONS)
            remedy = f"did you mean {meant}?" if meant else f"a value of the data is written .{token.value}"
            self.fail(f"there is no function {token.value!r}", token, remedy)
        return found

    def _operand(self) -> Value:
        token = self.token
        self.apart(token)
        value = self._term(token)
        keys: list[str | int] = []
        while self.token.kind == "field" and not self.token.spaced:
            keys.append(as_step(self.token.value))
            self.at += 1
        if self.token.kind == "dot" and not self.token.spaced:
            self.fail("a name is missing behind the dot")
        if not keys:
            return value
        if isinstance(value, Constant):
            self.fail("a constant has no parts", token)
        if token.kind == "dot":
            self.fail("one dot is enough", token)
        if isinstance(value, Member):
            keys = [*value.keys, *keys]
            value = value.of
        return Member(value, tuple(keys), token.start, self.action.tokens[self.at - 1].end)

    def _term(self, token: Token) -> Value:
        self.at += 1
        match token.kind:
            case "number" | "text":
                return Constant(token.value)
            case "dot":
                return Dot()
            case "field":
                return Member(Dot(), (as_step(token.value),), token.start, token.end)
            case "variable":
                return Variable(self._known(token))
            case "name" if token.value in _CONSTANTS:
                return Constant(_CONSTANTS[token.value])
            case "name":
                return self._call(self._function(token), [], token)
            case "op" if token.value == "(":
                return self._parentheses(token)
            case _:
                return self.fail(f"{self._shown(token)} is not expected here", token)

    def _parentheses(self, token: Token) -> Value:
        self.depth += 1
        if self.depth > self.limits.depth:
            fault = ExpressionLimit(f"brackets are nested deeper than {self.limits.depth}")
            raise placed(fault, self.source, token.start, token.end)
        value = self._pipeline()
        if not self.took(")"):
            self.fail("the bracket is not closed: a ) is missing", token)
        self.depth -= 1
        return value

    def _shown(self, token: Token) -> str:
        return "the end of the action" if token.kind == "end" else repr(self.source[token.start : token.end])
