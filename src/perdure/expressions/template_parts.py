"""What a compiled template consists of: one part for each place in the JSON value that is not constant."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.errors import ExpressionError
from perdure.expressions.expression import Evaluate
from perdure.expressions.mustache import Hole, Variable
from perdure.expressions.rendering import Escape, Rendering, Text
from perdure.expressions.values import MISSING, Json


class Whole:
    """A string that is one placeholder and nothing else. It keeps the type of its value."""

    __slots__ = ("part", "source")

    def __init__(self, source: str, part: Hole | Variable) -> None:
        self.source = source
        self.part = part

    def direct(self, escape: Escape, pretty: bool) -> Evaluate | None:
        """The function that is all there is to resolving an expression that stands alone."""
        as_it_is = escape == "none" and not pretty
        return self.part.expression.evaluate if as_it_is and isinstance(self.part, Hole) else None

    def resolve(self, to: Rendering) -> Json:
        part = self.part
        found = to.hole(part, self.source) if isinstance(part, Hole) else to.variable(part, [to.env], self.source)
        if found is MISSING:
            if to.mode == "lenient":
                return part.literal
            return None if isinstance(part, Hole) else ""
        if to.pretty or (to.escape != "none" and isinstance(found, str)):
            return to.written(found, part, isinstance(part, Variable) and part.raw)
        return found


class Written:
    """A string that is put together from text and values."""

    __slots__ = ("text",)

    def __init__(self, text: Text) -> None:
        self.text = text

    def resolve(self, to: Rendering) -> Json:
        return to.text(self.text)


class ObjectParts:
    """An object: its dynamic members are resolved, the others taken over as they are."""

    __slots__ = ("parts", "value")

    def __init__(self, value: Mapping[str, Json], parts: dict[str, TemplatePart]) -> None:
        self.value = value
        self.parts = parts

    def resolve(self, to: Rendering) -> Json:
        result = dict(self.value)
        for key, part in self.parts.items():
            try:
                result[key] = part.resolve(to)
            except ExpressionError as fault:
                raise below(fault, key) from None
        return result


class ListParts:
    """A list, likewise."""

    __slots__ = ("parts", "value")

    def __init__(self, value: list[Json], parts: dict[int, TemplatePart]) -> None:
        self.value = value
        self.parts = parts

    def resolve(self, to: Rendering) -> Json:
        result = list(self.value)
        for at, part in self.parts.items():
            try:
                result[at] = part.resolve(to)
            except ExpressionError as fault:
                raise below(fault, str(at)) from None
        return result


TemplatePart = Whole | Written | ObjectParts | ListParts


def pointed(key: str) -> str:
    """A key as a step of a JSON pointer."""
    return f"/{key.replace('~', '~0').replace('/', '~1')}"


def below(fault: ExpressionError, key: str) -> ExpressionError:
    """The same error, whose JSON pointer now begins one level higher."""
    fault.pointer = pointed(key) + (fault.pointer or "")
    return fault
