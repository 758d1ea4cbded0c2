"""Statements. `gives_value` is Groovy's rule that the last one is the result, also through if, try and switch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perdure.dialects.groovy import classes
from perdure.dialects.groovy.emitting.assignments import Assignments
from perdure.dialects.groovy.emitting.names import Loop
from perdure.dialects.groovy.syntax import (
    Assert,
    Assign,
    Break,
    Case,
    Catch,
    Continue,
    Declare,
    DeclareSeveral,
    Evaluate,
    Expression,
    ForCount,
    ForEach,
    If,
    ListOf,
    Method,
    New,
    Node,
    Range,
    Return,
    Statement,
    Step,
    Switch,
    Throw,
    Try,
    While,
    walk,
)
from perdure.dialects.groovy.types import known_type

_LONGEST_ADVANCE: Final = 40


class Statements(Assignments):
    def body(self, statements: list[Statement], *, gives_value: bool) -> None:
        for statement in statements[:-1]:
            self.statement(statement, gives_value=False)
        if statements:
            self.statement(statements[-1], gives_value=gives_value)

    def inner(self, place: Node, statements: list[Statement], *, gives_value: bool) -> None:
        """A block below the line that was just written."""
        with self.block(place) as inside:
            self.body(statements, gives_value=gives_value)
            if not inside:
                inside.add(place.line, "pass")
        self.lines.include(inside)

    def statement(self, node: Statement, *, gives_value: bool) -> None:
        match node:
            case Evaluate():
                self._evaluate(node, gives_value=gives_value)
            case Declare() | DeclareSeveral():
                value = self.declare(node) if isinstance(node, Declare) else self.declare_several(node)
                if gives_value:
                    self.lines.add(node.line, f"return {value}")
            case Return():
                self._return(node)
            case If():
                self._if(node, gives_value=gives_value)
            case Try():
                self._try(node, gives_value=gives_value)
            case Switch():
                self._switch(node, gives_value=gives_value)
            case ForEach() | ForCount() | While():
                self._loop(node)
            case Break() | Continue():
                self._leave(node)
            case Throw():
                self._throw(node)
            case Assert():
                self._assert(node)
            case Method():
                self.refuse(node, "a method inside a block", "define it outside of all braces")
            case _:
                raise AssertionError(f"{type(node).__name__} is no statement")

    def _evaluate(self, node: Evaluate, *, gives_value: bool) -> None:
        value = node.value
        if isinstance(value, Assign | Step):
            keep = gives_value
            written = self.assign(value, keep=keep) if isinstance(value, Assign) else self.step(value, keep=keep)
            if gives_value:
                self.lines.add(node.line, f"return {written}")
        else:
            self.lines.add(node.line, "return " if gives_value else "", self.expression(value))

    def _return(self, node: Return) -> None:
        if node.value is None:
            self.lines.add(node.line, "return None")
        elif isinstance(node.value, Assign):
            self.lines.add(node.line, f"return {self.assign(node.value, keep=True)}")
        else:
            self.lines.add(node.line, "return ", self.expression(node.value))

    def _if(self, node: If, *, gives_value: bool) -> None:
        if self.too_many(node, "arms of one if", len(node.arms), "look the value up in a map"):
            return
        # All conditions first: a closure in one of them needs its function before the whole chain.
        tests = [self.condition(arm.test) for arm in node.arms]
        for number, (arm, test) in enumerate(zip(node.arms, tests, strict=True)):
            self.lines.add(arm.line, "if " if number == 0 else "elif ", test, ":")
            self.inner(arm, arm.body, gives_value=gives_value)
        if node.otherwise:
            self.lines.add(node.otherwise[0].line, "else:")
            self.inner(node, node.otherwise, gives_value=gives_value)

    # Loops

    def _loop(self, node: ForEach | ForCount | While) -> None:
        match node:
            case ForEach():
                self._for_each(node)
            case While():
                self.lines.add(node.line, "while ", self.condition(node.test), ":")
                self._round(node, node.body, Loop())
            case ForCount():
                with self.block(node, counts=False) as inside:
                    self._for_count(node)
                self.lines.include(inside, indent=0)

    def _for_each(self, node: ForEach) -> None:
        items = self.expression(node.items)
        if not isinstance(node.items, ListOf | Range):
            items = self.call("items_of", items)
        with self.block(node, counts=False) as inside:
            if not self.is_free(node.variable.name):
                self.wrong(node.variable, f"{node.variable.name} is declared twice", "use another name")
            variable = self.scope.declare(node.variable.name)
            self.lines.add(node.line, f"for {variable.python} in ", items, ":")
            self._round(node, node.body, Loop())
        self.lines.include(inside, indent=0)

    def _for_count(self, node: ForCount) -> None:
        if len(list(walk(*node.advance))) > _LONGEST_ADVANCE:  # it is written again for every continue
            self.refuse(node.advance[0], "a loop that does so much between its rounds", "use while")
            return
        for statement in node.begin:
            self.statement(statement, gives_value=False)
        test = "True" if node.test is None else self.condition(node.test)
        self.lines.add(node.line, "while ", test, ":")
        self._round(node, node.body, Loop(advance=node.advance, scope=self.scope))

    def _round(self, node: Node, statements: list[Statement], loop: Loop) -> None:
        self.function.loops.append(loop)
        with self.block(node) as inside:
            self.body(statements, gives_value=False)
            self._advance(loop)
            if not inside:
                inside.add(node.line, "pass")
        self.lines.include(inside)
        self.function.loops.pop()

    def _advance(self, loop: Loop) -> None:
        if loop.scope is not None:
            with self.within(loop.scope):
                for step in loop.advance:
                    self.statement(step, gives_value=False)

    def _leave(self, node: Break | Continue) -> None:
        word = "break" if isinstance(node, Break) else "continue"
        loops = [loop for loop in self.function.loops if not loop.is_switch]
        if word == "break" and self.function.loops and self.function.loops[-1].is_switch:
            self.refuse(node, "break in the middle of a case", "put the rest of the case into an else")
        elif not loops and not self.refusals.has_syntax:  # otherwise the loop may be what could not be read
            remedy = "in a closure, return goes on with the next element; use for (x in …) or find to stop"
            self.wrong(node, f"{word} is not inside a loop", remedy)
        elif loops:
            if word == "continue":
                self._advance(loops[-1])
            self.lines.add(node.line, word)

    # switch

    def _switch(self, node: Switch, *, gives_value: bool) -> None:
        labels = sum(max(1, len(case.labels)) for case in node.cases)
        if self.too_many(node, "cases of one switch", labels, "look the value up in a map"):
            return
        subject = self.temporary()
        self.lines.add(node.line, f"{subject} = ", self.expression(node.subject))
        tests = [self._labels(subject, case) for case in node.cases]
        self.function.loops.append(Loop(is_switch=True))
        for number, (case, test) in enumerate(zip(node.cases, tests, strict=True)):
            is_last = number == len(node.cases) - 1
            statements = self._case_body(case, is_last=is_last)
            if not case.labels and not is_last:
                self.refuse(case, "default before other cases", "put it last")
            if case.labels:
                self.lines.add(case.line, "if " if number == 0 else "elif ", test, ":")
            else:
                self.lines.add(case.line, "else:" if number else "if True:")
            self.inner(case, statements, gives_value=gives_value)
        self.function.loops.pop()

    def _labels(self, subject: str, case: Case) -> str:
        tests = [self._fits(subject, label) for label in case.labels]
        return f"({' or '.join(tests)})" if len(tests) > 1 else "".join(tests)

    def _fits(self, subject: str, label: Expression) -> str:
        if isinstance(label, Range):
            return self.in_range(subject, label)
        return self.call("is_in", subject, self._label(label))

    def _label(self, label: Expression) -> str:
        if self.is_closure(label):
            return self.refuse(label, "a closure as a case", "use if and else if")
        if self.class_of(label) is not None:
            return self.refuse(label, "a class as a case", "use if and instanceof")
        return self.expression(label)

    def _case_body(self, case: Case, *, is_last: bool) -> list[Statement]:
        """Without the break at its end. What falls through to the next case is refused."""
        for number, statement in enumerate(case.body):
            if isinstance(statement, Break):
                return case.body[:number]
            if isinstance(statement, Return | Throw | Continue):
                return case.body[: number + 1]
        if not is_last and not (case.body and _always_leaves(case.body[-1])):
            remedy = "end it with break, or name both values in one case"
            self.refuse(case, "a case that falls through to the next", remedy)
        return case.body

    # Errors

    def _throw(self, node: Throw) -> None:
        value = node.value
        if isinstance(value, New) and classes.is_exception(known_type(value.type.name) or value.type.simple):
            message = self.call("cast_text", self.expression(value.arguments[0])) if value.arguments else "None"
            self.lines.add(node.line, "raise ", self.call("failure", repr(value.type.simple), message))
        else:
            self.lines.add(node.line, "raise ", self.call("thrown", self.expression(value)))

    def _assert(self, node: Assert) -> None:
        test = self.condition(node.test)
        message = self.call("text", self.expression(node.message)) if node.message else "'the assertion does not hold'"
        self.lines.add(node.line, "if not ", f"({test})", ":")
        with self.block(node) as inside:
            inside.add(node.line, "raise ", self.call("failure", "'AssertionError'", message))
        self.lines.include(inside)

    def _try(self, node: Try, *, gives_value: bool) -> None:
        self.lines.add(node.line, "try:")
        self.inner(node, node.body, gives_value=gives_value)
        if node.catches:
            error = self.temporary()
            self.lines.add(node.catches[0].line, f"except Exception as {error}:")
            with self.block(node) as inside:
                self._catches(node.catches, error, gives_value=gives_value)
            self.lines.include(inside)
        if node.lastly is not None:
            self.lines.add(node.line, "finally:")
            self.inner(node, node.lastly, gives_value=False)

    def _catches(self, catches: Sequence[Catch], error: str, *, gives_value: bool) -> None:
        """The first that fits. If none does, the error goes on."""
        for number, catch in enumerate(catches):
            names = [each.simple for each in catch.types]
            for each in catch.types:
                if not classes.is_exception(each.simple):
                    self.refuse(each, f"catch ({each.simple} …)", "catch Exception")
            if not names or not classes.CATCHES_ALL.isdisjoint(names):
                if number == 0:
                    self._caught(catch, error, gives_value=gives_value)
                else:
                    self.lines.add(catch.line, "else:")
                    self._indented_catch(catch, error, gives_value=gives_value)
                return
            kinds = sorted({kind for name in names for kind in classes.caught_kinds(name)})
            fits = f"{self.call('kind_of', error)} in ({', '.join(map(repr, kinds))},)"
            self.lines.add(catch.line, "if " if number == 0 else "elif ", fits, ":")
            self._indented_catch(catch, error, gives_value=gives_value)
        self.lines.add(catches[-1].line, "else:")
        self.lines.block_line(catches[-1].line, "raise")

    def _indented_catch(self, catch: Catch, error: str, *, gives_value: bool) -> None:
        with self.block(catch, counts=False) as inside:
            self._caught(catch, error, gives_value=gives_value)
        self.lines.include(inside)

    def _caught(self, catch: Catch, error: str, *, gives_value: bool) -> None:
        if not self.is_free(catch.name):
            self.wrong(catch, f"{catch.name} is declared twice", "use another name")
        variable = self.scope.declare(catch.name)
        self.used.add("as_json")  # the exception may be the result
        self.lines.add(catch.line, f"{variable.python} = {error}")
        self.body(catch.body, gives_value=gives_value)


def _always_leaves(statement: Statement) -> bool:
    """An if whose every way ends in return, throw or continue."""
    if isinstance(statement, Return | Throw | Continue):
        return True
    if not isinstance(statement, If) or not statement.otherwise:
        return False
    bodies = [*[arm.body for arm in statement.arms], statement.otherwise]
    return all(body and _always_leaves(body[-1]) for body in bodies)
