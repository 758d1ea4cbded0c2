"""Writing out the parts of a text: one pass, with a limit on what is written and on what it costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote

from perdure.errors import ExpressionError, ExpressionLimit, ValueMissing
from perdure.expressions.expression import Expression, charged
from perdure.expressions.limits import Limits, Meter, spend_steps
from perdure.expressions.mustache import Hole, Part, Partial, Plain, Section, Variable
from perdure.expressions.places import moved, nearest, placed
from perdure.expressions.reach import step, walk
from perdure.expressions.values import MISSING, Env, Json, is_object, to_text

#: What becomes of a value that is not there: an error, the text of its placeholder, or nothing.
Mode = Literal["strict", "lenient", "blank"]
MODES: Final[tuple[Mode, ...]] = ("strict", "lenient", "blank")
Escape = Literal["none", "html", "slack", "url"]

#: What stands for the characters that mean something in the text that values are written into.
ESCAPED: Final[dict[Escape, dict[int, str]]] = {
    "none": {},
    "html": str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}),
    "slack": str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"}),
    "url": {},
}


class Text(NamedTuple):
    """A text that has been read to parts."""

    source: str
    parts: list[Part]


class Rendering:
    """One resolution of one template: what may still be spent and written."""

    def __init__(
        self,
        env: Env,
        mode: Mode,
        escape: Escape,
        limits: Limits,
        partial: Callable[[str, str], Text | None],
        meter: Meter | None = None,
        pretty: bool = False,
    ) -> None:
        self.env = env
        self.mode = mode
        self.escape: Escape = escape
        self.pretty = pretty
        self.limits = limits
        self.partial = partial
        self.meter = limits.wide_meter() if meter is None else meter
        self.left = limits.output
        self.depth = 0
        self.values: dict[int, Json] = {}  # of holes: they do not depend on the section, so each is evaluated once

    # -- values -----------------------------------------------------------------------------------------------------

    def evaluate(self, expression: Expression) -> Json:
        """Like `expression.evaluate`, and its cost also counts for the template."""
        if not expression.metered:
            return expression.evaluate(self.env)
        return charged(expression.evaluate, self.env, self.meter, self.limits)

    def hole(self, part: Hole, source: str) -> Json:
        """The value of `${ }`, or MISSING where that is no error."""
        if id(part) not in self.values:
            try:
                found = self.evaluate(part.expression)
            except ValueMissing as fault:
                if self.mode == "strict":
                    raise moved(fault, source, part.start + 2) from None
                found = MISSING
            except ExpressionError as fault:
                raise moved(fault, source, part.start + 2) from None
            self.values[id(part)] = found
        return self.values[id(part)]

    def variable(self, part: Variable, stack: list[Any], source: str) -> Json:
        """The value of `{{ }}`, or MISSING where that is no error."""
        found = lookup(stack, part.path)
        if found is MISSING and self.mode == "strict":
            raise placed(missing(part.path, self.env), source, part.start, part.start + len(part.literal))
        return found

    # -- text -------------------------------------------------------------------------------------------------------

    def text(self, text: Text) -> str:
        written: list[str] = []
        self._all(text, text.parts, [self.env], written)
        return "".join(written)

    def written(self, value: Json, part: Part, raw: bool = False) -> str:
        """A value inside text. One that is too long is refused before it is converted."""
        if value is MISSING:
            return part.literal if self.mode == "lenient" else ""
        if isinstance(value, str) and len(value) > self.left:
            raise self._too_long()
        found = to_text(value, self.meter, indent=2 if self.pretty else None)
        if raw or self.escape == "none":
            return found
        if self.escape == "url":
            # What a URL begins with says where it leads; what comes later is a part of a part, whatever it holds.
            return found if self.left == self.limits.output else quote(found, safe="", errors="replace")
        return found.translate(ESCAPED[self.escape])

    def put(self, text: str, written: list[str]) -> None:
        self.left -= len(text)
        if self.left < 0:
            raise self._too_long()
        written.append(text)

    def _too_long(self) -> ExpressionLimit:
        return ExpressionLimit(f"the text would be longer than {self.limits.output:,} characters")

    def _all(self, text: Text, parts: list[Part], stack: list[Any], written: list[str]) -> None:
        for part in parts:
            try:
                match part:
                    case Plain():
                        self.put(part.text, written)
                    case Hole():
                        self.put(self.written(self.hole(part, text.source), part), written)
                    case Variable():
                        self.put(self.written(self.variable(part, stack, text.source), part, part.raw), written)
                    case Section():
                        self._section(part, text, stack, written)
                    case Partial():
                        self._partial(part, stack, written)
                    case _:
                        raise AssertionError(part)
            except ExpressionError as fault:
                raise placed(fault, text.source, part.start, part.start + len(part.literal)) from None

    def _section(self, part: Section, text: Text, stack: list[Any], written: list[str]) -> None:
        found = lookup(stack, part.path)
        present = found is not MISSING and (bool(found) or is_object(found))
        if part.inverted:
            if not present:
                self._all(text, part.parts, stack, written)
        elif present:
            scopes = found if isinstance(found, list) else [found]
            spend_steps(self.meter, len(scopes) * (1 + len(part.parts) // 4))
            for scope in scopes:
                stack.append(scope)
                self._all(text, part.parts, stack, written)
                stack.pop()

    def _partial(self, part: Partial, stack: list[Any], written: list[str]) -> None:
        found = self.partial(part.name, part.indent)
        if found is not None:
            self.depth += 1
            if self.depth > self.limits.partials:
                raise ExpressionLimit(f"partials are nested deeper than {self.limits.partials}")
            spend_steps(self.meter, 1)
            self._all(found, found.parts, stack, written)
            self.depth -= 1


def lookup(stack: list[Any], path: tuple[str | int, ...]) -> Any:
    """The first scope, from the inside, that has the first name decides; the rest of the path stays in it."""
    if not path:
        return stack[-1]
    for scope in reversed(stack):
        found = step(scope, path[0])
        if found is not MISSING:
            return walk(found, path[1:])
    return MISSING


def missing(path: tuple[str | int, ...], env: Env) -> ValueMissing:
    """The error about a name of Mustache that leads nowhere."""
    words = [str(each) for each in path]
    found: Any = env
    hint = ""
    for at, key in enumerate(path):
        meant = nearest(words[at], found) if is_object(found) else None
        found = step(found, key)
        if found is MISSING:
            hint = f"; did you mean `{'.'.join([*words[:at], meant])}`?" if meant else ""
            break
    return ValueMissing(f"`{'.'.join(words)}` is missing{hint}", path=".".join(words))
