"""Writing out a template: one pass, with limits on what is done, what is written and how deep it goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from perdure.errors import ExpressionError, ExpressionFailed, ExpressionLimit
from perdure.expressions.gotemplate.formatting import Budget, as_json, plain, printed
from perdure.expressions.gotemplate.functions import escaped, is_true
from perdure.expressions.gotemplate.parser import MAIN
from perdure.expressions.gotemplate.syntax import (
    Body,
    Branch,
    Call,
    Constant,
    Definition,
    Dot,
    Include,
    Leave,
    Member,
    Output,
    Pipeline,
    Plain,
    Range,
    Set,
    Statement,
    Value,
    Variable,
)
from perdure.expressions.gotemplate.tokens import Text
from perdure.expressions.limits import Limits, Meter, spend_steps
from perdure.expressions.places import placed
from perdure.expressions.reach import step, walk
from perdure.expressions.rendering import Escape
from perdure.expressions.values import MISSING, Json, is_number, is_object, with_article

#: A template may take as many turns as this many of the longest expressions, as other templates do; but it does less
#: work in each of them, because it has no values to build.
_TURNS: Final = 10
_WORK: Final = 2

Frame = list[Any]
Left = Literal["break", "continue"] | None


class Rendering:
    """One rendering of one template: what has been written, and what may still be spent."""

    def __init__(
        self,
        source: str,
        definitions: dict[str, Definition],
        escape: Escape,
        limits: Limits,
        meter: Meter | None = None,
    ) -> None:
        self.source = source
        self.definitions = definitions
        self.escape: Escape = escape
        self.limits = limits
        self.budget = Budget(limits, [limits.steps * _TURNS, limits.work * _WORK] if meter is None else meter)
        self.left = limits.output
        self.depth = 0
        self.written: list[str] = []

    def render(self, data: Json) -> str:
        self._template(MAIN, data)
        return "".join(self.written)

    def _template(self, name: str, data: Json) -> None:
        definition = self.definitions[name]
        frame: Frame = [MISSING] * definition.slots
        frame[0] = data
        self._body(definition.body, frame, data)

    # -- statements -------------------------------------------------------------------------------------------------

    def _body(self, body: Body, frame: Frame, dot: Json) -> Left:
        """Tells whether a `break` or `continue` was met, which ends every body up to its range."""
        self.depth += 1
        if self.depth > self.limits.depth:
            raise ExpressionLimit(f"blocks and templates are nested deeper than {self.limits.depth}")
        left: Left = None
        for statement in body.statements:
            left = self._statement(statement, frame, dot)
            if left:
                break
        self.depth -= 1
        return left

    def _statement(self, statement: Statement, frame: Frame, dot: Json) -> Left:
        match statement:
            case Text():
                self._put(statement.text)
            case Output():
                self._output(statement, frame, dot)
            case Plain():
                self._plain(statement, frame, dot)
            case Set():
                self._pipeline(statement.pipeline, frame, dot)
            case Branch():
                return self._branch(statement, frame, dot)
            case Range():
                return self._range(statement, frame, dot)
            case Include():
                self._include(statement, frame, dot)
            case Leave():
                return "break" if statement.all else "continue"
        return None

    def _put(self, text: str) -> None:
        self.left -= len(text)
        if self.left < 0:
            raise self.budget.too_long()
        self.written.append(text)

    def _output(self, statement: Output, frame: Frame, dot: Json) -> None:
        pipeline = statement.pipeline
        value = self._pipeline(pipeline, frame, dot)
        try:
            text = printed(value, self.budget)
            self._put(text if statement.safe or self.escape == "none" else escaped(text, self.budget, self.escape))
        except ExpressionError as fault:
            raise placed(fault, self.source, pipeline.start, pipeline.end) from None

    def _plain(self, statement: Plain, frame: Frame, dot: Json) -> None:
        """The value of a name is looked for in the dot, then in the data of the template."""
        keys = statement.keys
        scope = next((each for each in (dot, frame[0]) if step(each, keys[0]) is not MISSING), None)
        value = walk(scope, keys)
        try:
            if value is MISSING:
                self._put(statement.literal)
            elif value is not None:
                nested = isinstance(value, list) or is_object(value)
                text = as_json(value, self.budget, indent=2) if nested else plain(value, self.budget)
                self._put(text if self.escape == "none" else escaped(text, self.budget, self.escape))
        except ExpressionError as fault:
            raise placed(fault, self.source, statement.start, statement.start + len(statement.literal)) from None

    def _branch(self, statement: Branch, frame: Frame, dot: Json) -> Left:
        for pipeline, rebinds, body in statement.cases:
            value = self._pipeline(pipeline, frame, dot)
            if is_true(value):
                return self._body(body, frame, value if rebinds else dot)
        return self._body(statement.otherwise, frame, dot)

    def _range(self, statement: Range, frame: Frame, dot: Json) -> Left:
        pipeline, body = statement.pipeline, statement.body
        keys, items = self._items(pipeline, self._value(pipeline.value, frame, dot), 1 + body.weight // 10)
        for key, item in zip(keys, items, strict=True):
            for slot, value in zip(reversed(pipeline.slots), (item, key), strict=False):
                frame[slot] = value
            if self._body(body, frame, item) == "break":
                break
        if not items:
            return self._body(statement.otherwise, frame, dot)
        return None

    def _items(self, pipeline: Pipeline, value: Json, weight: int) -> tuple[Sequence[Json], Sequence[Json]]:
        """What a range runs over, paid for before the first turn."""
        try:
            if value is None or value is MISSING:
                return [], []
            if is_object(value):
                spend_steps(self.budget.meter, len(value) * weight)
                keys = sorted(value)
                return keys, [value[key] for key in keys]
            if is_number(value) and value == int(value):
                value = range(max(int(value), 0))
            if not isinstance(value, list | range):
                remedy = "`with` and `if` take any value"
                raise ExpressionFailed(
                    f"range runs over lists and objects, not over {with_article(value)}", remedy=remedy
                )
            count = len(value) if isinstance(value, list) else value.stop
            spend_steps(self.budget.meter, count * weight)
            return range(count), value
        except ExpressionError as fault:
            raise placed(fault, self.source, pipeline.start, pipeline.end) from None

    def _include(self, statement: Include, frame: Frame, dot: Json) -> None:
        data = None if statement.pipeline is None else self._pipeline(statement.pipeline, frame, dot)
        try:
            spend_steps(self.budget.meter, 1 + self.definitions[statement.name].body.weight // 10)
            self._template(statement.name, data)
        except ExpressionError as fault:
            raise placed(fault, self.source, statement.start, statement.end) from None

    # -- values -----------------------------------------------------------------------------------------------------

    def _pipeline(self, pipeline: Pipeline, frame: Frame, dot: Json) -> Json:
        value = self._value(pipeline.value, frame, dot)
        for slot in pipeline.slots:
            frame[slot] = value
        return value

    def _value(self, value: Value, frame: Frame, dot: Json) -> Json:
        match value:
            case Constant():
                return value.value
            case Dot():
                return dot
            case Variable():
                return frame[value.slot]
            case Member():
                return self._member(value, self._value(value.of, frame, dot))
            case Call():
                return self._call(value, frame, dot)

    def _member(self, member: Member, of: Json) -> Json:
        for key in member.keys:
            if of is None or of is MISSING:
                return MISSING
            if not is_object(of) and not (isinstance(of, list) and isinstance(key, int)):
                raise self._no_member(member, of, key)
            of = step(of, key)
        return of

    def _no_member(self, member: Member, of: Json, key: str | int) -> ExpressionFailed:
        remedy = "use range, or index .list 0" if isinstance(of, list) else None
        fault = ExpressionFailed(f"{with_article(of)} has no keys, so no {str(key)!r}", remedy=remedy)
        return placed(fault, self.source, member.start, member.end)

    def _call(self, call: Call, frame: Frame, dot: Json) -> Json:
        function = call.function
        if function.lazy:
            value: Json = None
            for argument in call.arguments:
                value = self._value(argument, frame, dot)
                if function.call(value):
                    break
            return value
        arguments = [self._value(each, frame, dot) for each in call.arguments]
        try:
            return function.call(self.budget, *[None if each is MISSING else each for each in arguments])
        except (ExpressionError, OverflowError) as raised:
            fault = raised if isinstance(raised, ExpressionError) else ExpressionFailed("the number is too large")
            raise placed(fault, self.source, call.start, call.end) from None
