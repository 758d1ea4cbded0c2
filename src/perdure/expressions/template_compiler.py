"""From a JSON value to the parts of a template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from perdure.errors import ExpressionError, ExpressionLimit, ExpressionSyntax
from perdure.expressions.expression import Expression, Problem, check_expression, compile_expression
from perdure.expressions.limits import Limits
from perdure.expressions.mustache import Hole, Part, Partial, Plain, Reader, Section, Variable
from perdure.expressions.places import moved, placed
from perdure.expressions.rendering import Mode, Text
from perdure.expressions.template_parts import ListParts, ObjectParts, TemplatePart, Whole, Written, below, pointed
from perdure.expressions.tokens import wrong
from perdure.expressions.values import Json


class Compiler:
    """Compiles one value, and counts its placeholders over all its strings.

    With `collect` it notes what is wrong with each string in `found` and goes on; else it raises at the first.
    `partials` is None while a partial itself is compiled: what it refers to is checked by the template that uses it.
    """

    def __init__(
        self, mode: Mode, limits: Limits, partials: Mapping[str, str] | None, *, collect: bool = False
    ) -> None:
        self.mode = mode
        self.lenient = mode == "lenient"
        self.limits = limits
        self.partials = partials
        self.collect = collect
        self.found: list[tuple[str, Problem]] = []
        self.pointer = ""
        self.reads: set[tuple[str | int, ...]] = set()
        self.placeholders = 0
        self.visited: set[str] = set()

    def compile(self, value: Json, pointer: str = "", depth: int = 0) -> TemplatePart | None:
        """The part for `value`, or None when nothing in it is dynamic."""
        if isinstance(value, str):
            self.pointer = pointer
            try:
                return self.string(value)
            except ExpressionError as fault:
                if not self.collect or isinstance(fault, ExpressionLimit):
                    raise
                self.found.append((pointer, Problem.of(fault)))
                return None
        if not isinstance(value, Mapping | list):
            return None
        if depth >= self.limits.depth:
            raise ExpressionLimit(f"the template is nested deeper than {self.limits.depth} levels")
        if isinstance(value, list):
            items = {at: self._child(each, str(at), pointer, depth) for at, each in enumerate(value)}
            dynamic = {at: part for at, part in items.items() if part is not None}
            return ListParts(value, dynamic) if dynamic else None
        members = {key: self._child(each, key, pointer, depth) for key, each in value.items()}
        changing = {key: part for key, part in members.items() if part is not None}
        return ObjectParts(value, changing) if changing else None

    def _child(self, value: Json, key: str, pointer: str, depth: int) -> TemplatePart | None:
        if not isinstance(value, str | Mapping | list):
            return None
        try:
            return self.compile(value, pointer + pointed(key) if self.collect else "", depth + 1)
        except ExpressionError as fault:
            raise below(fault, key) from None

    def string(self, source: str) -> TemplatePart | None:
        if "${" not in source and "{{" not in source:
            return None
        text = self.text(source)
        if len(text.parts) == 1:
            only = text.parts[0]
            if isinstance(only, Plain) and only.text == source:
                return None
            if isinstance(only, Hole) or (isinstance(only, Variable) and only.path):
                return Whole(source, only)
        return Written(text)

    def text(self, source: str) -> Text:
        """A text read to its parts, everything that it reads noted."""
        reader = self._reader(source)
        try:
            parts = reader.read()
        except ExpressionSyntax:
            if not self.lenient:
                raise
            reader = self._reader(source)
            parts = reader.read(mustache=False)
        self.placeholders += reader.placeholders
        if self.placeholders > self.limits.placeholders:
            fault = ExpressionLimit(f"there are more than {self.limits.placeholders:,} placeholders")
            raise placed(fault, source, 0, 1)
        self._note(parts, source)
        return Text(source, parts)

    def _reader(self, source: str) -> Reader:
        def expression(text: str, at: int) -> Expression | None:
            if self.collect and (problems := check_expression(text, limits=self.limits)):
                self.found += [(self.pointer, each.moved(text, source, at)) for each in problems]
                return None
            try:
                return compile_expression(text, limits=self.limits)
            except ExpressionSyntax as fault:
                if self.lenient:
                    return None
                raise moved(fault, source, at) from None
            except ExpressionError as fault:
                raise moved(fault, source, at) from None

        return Reader(source, self.limits, expression, lenient=self.lenient)

    def _note(self, parts: Iterable[Part], source: str) -> None:
        for part in parts:
            match part:
                case Hole():
                    self.reads |= part.expression.reads
                case Variable():
                    if part.path:
                        self.reads.add(part.path)
                case Section():
                    if part.path:
                        self.reads.add(part.path)
                    self._note(part.parts, source)
                case Partial():
                    self._note_partial(part, source)
                case _:
                    pass

    def _note_partial(self, part: Partial, source: str) -> None:
        if self.partials is None or part.name in self.visited:
            return
        if part.name in self.partials:
            self.visited.add(part.name)
            self.text(self.partials[part.name])
        elif self.mode == "strict":
            raise wrong(f"there is no partial {part.name!r}", source, part.start, part.start + len(part.literal))
