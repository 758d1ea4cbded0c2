"""From the pieces of a template to statements: blocks, their scopes, and templates by name."""

from __future__ import annotations

from typing import Final, NoReturn

from perdure.errors import ExpressionLimit
from perdure.expressions.gotemplate.pipelines import Pipelines, Scope
from perdure.expressions.gotemplate.syntax import (
    Body,
    Branch,
    Call,
    Definition,
    Include,
    Leave,
    Output,
    Pipeline,
    Plain,
    Range,
    Set,
    Statement,
)
from perdure.expressions.gotemplate.tokens import Action, Text, split
from perdure.expressions.limits import Limits
from perdure.expressions.paths import as_step
from perdure.expressions.places import nearest, placed
from perdure.expressions.tokens import wrong

#: The name of the whole, which no other template can have.
MAIN: Final = ""

#: What these write is HTML already.
_ESCAPERS: Final = frozenset({"html"})
_BLOCKS: Final = frozenset({"if", "with", "range", "define", "block"})


class Parser:
    """Reads one template, and those that are defined in it."""

    def __init__(self, source: str, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.pieces = split(source, limits)
        self.at = 0
        self.depth = 0
        self.loops = 0
        self.scope = Scope()
        self.definitions: dict[str, Definition] = {}
        self.includes: list[Include] = []

    def parse(self) -> dict[str, Definition]:
        """All templates by name."""
        body, closing = self._body()
        if closing is not None:
            self._fail(f"{self._shown(closing)} closes nothing", closing)
        self.definitions[MAIN] = Definition(body, self.scope.slots)
        for each in self.includes:
            if each.name not in self.definitions or each.name == MAIN:
                meant = nearest(each.name, self.definitions)
                remedy = f"did you mean {meant!r}?" if meant else f'define it: {{{{define "{each.name}"}}}}…{{{{end}}}}'
                raise wrong(f"there is no template {each.name!r}", self.source, each.start, each.end, remedy)
        return self.definitions

    # -- bodies -----------------------------------------------------------------------------------------------------

    def _body(self) -> tuple[Body, Action | None]:
        """Statements up to an `else` or `end` that is not theirs, which is given too; None at the end of the text."""
        body = Body()
        visible = len(self.scope.visible)
        closing: Action | None = None
        while self.at < len(self.pieces):
            piece = self.pieces[self.at]
            self.at += 1
            if isinstance(piece, Action) and piece.path is None and self._word(piece) in {"else", "end"}:
                closing = piece
                break
            statement = piece if isinstance(piece, Text) else self._statement(piece)
            if statement is not None:
                body.statements.append(statement)
                body.weight += 1 + _weight(statement)
        del self.scope.visible[visible:]
        return body, closing

    def _block(self, opening: Action) -> tuple[Body, Action]:
        """A body that must be closed."""
        self.depth += 1
        if self.depth > self.limits.depth:
            fault = ExpressionLimit(f"blocks are nested deeper than {self.limits.depth}")
            raise placed(fault, self.source, opening.start, opening.end)
        body, closing = self._body()
        if closing is None:
            self._fail(f"{self._shown(opening)} is not closed: {{{{end}}}} is missing", opening)
        self.depth -= 1
        return body, closing

    def _word(self, action: Action) -> str | None:
        first = action.tokens[0]
        return str(first.value) if first.kind == "name" else None

    def _statement(self, action: Action) -> Statement | None:
        if action.path is not None:
            keys = tuple(as_step(each) for each in action.path.split("."))
            return Plain(keys, self.source[action.start : action.end], action.start)
        reading = Pipelines(self.source, action, self.scope, self.limits)
        word = self._word(action)
        if word in _BLOCKS or word in {"template", "break", "continue"}:
            reading.at = 1
        match word:
            case "if" | "with":
                return self._branch(action, reading)
            case "range":
                return self._range(action, reading)
            case "define":
                self._define(action, reading)
                return None
            case "block":
                return self._named_block(action, reading)
            case "template":
                return self._include(action, reading, self._name(reading, "template"))
            case "break" | "continue":
                reading.end()
                if not self.loops:
                    self._fail(f"{self._shown(action)} stands outside of a range", action)
                return Leave(all=word == "break")
            case _:
                return self._output(reading)

    def _output(self, reading: Pipelines) -> Statement:
        pipeline = reading.whole("")
        if pipeline.slots:
            return Set(pipeline)
        value = pipeline.value
        return Output(pipeline, isinstance(value, Call) and value.function.name in _ESCAPERS)

    # -- blocks -----------------------------------------------------------------------------------------------------

    def _branch(self, opening: Action, reading: Pipelines) -> Branch:
        visible = len(self.scope.visible)
        cases: list[tuple[Pipeline, bool, Body]] = []
        otherwise = Body()
        word = self._word(opening) or ""
        while True:
            pipeline = reading.whole(word)
            body, closing = self._block(opening)
            cases.append((pipeline, word == "with", body))
            if self._word(closing) == "end":
                self._alone(closing)
                break
            reading = Pipelines(self.source, closing, self.scope, self.limits)
            reading.at = 1
            word = str(reading.token.value)
            if reading.token.kind == "name" and word in {"if", "with"}:
                reading.at = 2
                continue
            otherwise = self._otherwise(opening, closing)
            break
        del self.scope.visible[visible:]
        return Branch(cases, otherwise)

    def _otherwise(self, opening: Action, closing: Action) -> Body:
        """What stands behind the last `else`."""
        self._alone(closing)
        body, closing = self._block(opening)
        if self._word(closing) != "end":
            self._fail("a second else: {{end}} is expected", closing)
        self._alone(closing)
        return body

    def _range(self, opening: Action, reading: Pipelines) -> Range:
        visible = len(self.scope.visible)
        pipeline = reading.whole("range", most=2)
        self.loops += 1
        body, closing = self._block(opening)
        self.loops -= 1
        otherwise = Body()
        if self._word(closing) == "else":
            otherwise = self._otherwise(opening, closing)
        else:
            self._alone(closing)
        del self.scope.visible[visible:]
        return Range(pipeline, body, otherwise)

    def _alone(self, closing: Action) -> None:
        """`{{else}}` and `{{end}}` hold nothing else."""
        if len(closing.tokens) > 2:
            token = closing.tokens[1]
            message = f"{self._shown(closing)} holds more than {self._word(closing)}"
            raise wrong(message, self.source, token.start, max(token.end, token.start + 1))

    # -- templates by name ------------------------------------------------------------------------------------------

    def _name(self, reading: Pipelines, keyword: str) -> str:
        token = reading.token
        if token.kind != "text":
            reading.fail("a name in quotes is missing", remedy=f'for example {{{{{keyword} "header"}}}}')
        reading.apart(token)
        if token.value == MAIN:
            reading.fail("a name is not empty")
        reading.at += 1
        return str(token.value)

    def _include(self, action: Action, reading: Pipelines, name: str) -> Include:
        pipeline = None if reading.token.kind == "end" else reading.whole("template", most=0)
        include = Include(name, pipeline, action.start, action.end)
        self.includes.append(include)
        return include

    def _define(self, opening: Action, reading: Pipelines) -> None:
        if self.depth:
            self._fail("define stands inside of nothing", opening)
        name = self._name(reading, "define")
        reading.end()
        self._definition(name, opening)

    def _named_block(self, opening: Action, reading: Pipelines) -> Include:
        """`{{block "name" pipeline}}…{{end}}`: defines a template and includes it on the spot."""
        name = self._name(reading, "block")
        if reading.token.kind == "end":
            reading.fail("the data of the block is missing", remedy=f'for example {{{{block "{name}" .}}}}')
        include = self._include(opening, reading, name)
        self._definition(name, opening)
        return include

    def _definition(self, name: str, opening: Action) -> None:
        """Its variables and loops are its own."""
        if name in self.definitions:
            self._fail(f"there are two templates {name!r}", opening)
        outer, self.scope = self.scope, Scope()
        loops, self.loops = self.loops, 0
        self.definitions[name] = Definition(Body(), 0)  # so that a block inside it cannot have the same name
        body, closing = self._block(opening)
        if self._word(closing) != "end":
            self._fail("there is nothing to choose from here", closing)
        self._alone(closing)
        self.definitions[name] = Definition(body, self.scope.slots)
        self.scope, self.loops = outer, loops

    def _shown(self, action: Action) -> str:
        words = " ".join(self.source[action.start : action.end].split())
        return words if len(words) <= 40 else f"{words[:37]}..."

    def _fail(self, message: str, action: Action, remedy: str | None = None) -> NoReturn:
        raise wrong(message, self.source, action.start, action.end, remedy)


def _weight(statement: Statement) -> int:
    match statement:
        case Branch():
            return statement.otherwise.weight + sum(body.weight for _, _, body in statement.cases)
        case Range():
            return statement.body.weight + statement.otherwise.weight
        case _:
            return 0
