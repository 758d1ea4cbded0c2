"""`{{ }}`: Mustache, as its specification has it, over JSON only.

Variables, sections, inverted sections, comments, partials, changed delimiters and the rules about lines that hold
nothing but a tag are those of the core specification; its files can be run by `tests/expressions/test_mustache.py`. A
name is looked up in dicts and lists and nowhere else; there are no lambdas, and what a value holds is never rendered
again.

Why not a library: those that exist walk Python attributes or call what they find, render without a budget, do not know
where an error is, cannot keep the text of a placeholder whose value is missing, and cannot hold `${ }` in a section.

This module reads text to parts; `rendering` writes them out. `${ }` is found here too, because a text may mix both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NoReturn

from perdure.errors import ExpressionLimit, ExpressionSyntax
from perdure.expressions.expression import Expression
from perdure.expressions.limits import Limits
from perdure.expressions.paths import as_step
from perdure.expressions.places import placed
from perdure.expressions.tokens import scan, wrong

_LINE_END: Final = re.compile(r"[ \t]*(?:\r?\n|$)")
_LABEL: Final = re.compile(r"\.|[^\s.{}()\[\]<>|\"'`=;,\\]+(?:\.[^\s.{}()\[\]<>|\"'`=;,\\]+)*")
_STANDALONE: Final = frozenset("#^/!>=")


@dataclass(slots=True, eq=False, repr=False)
class Part:
    """A piece of a text. `literal` is how it is spelled, `start` where."""

    literal: str
    start: int


@dataclass(slots=True, eq=False, repr=False)
class Plain(Part):
    """Text that stands for itself (`literal` is its spelling, which differs where it was escaped)."""

    text: str


@dataclass(slots=True, eq=False, repr=False)
class Hole(Part):
    """`${ … }`"""

    expression: Expression


@dataclass(slots=True, eq=False, repr=False)
class Variable(Part):
    """`{{a.b}}`, or unescaped: `{{{a.b}}}`, `{{&a.b}}`"""

    path: tuple[str | int, ...]
    raw: bool


@dataclass(slots=True, eq=False, repr=False)
class Section(Part):
    """`{{#a}}…{{/a}}`, or inverted: `{{^a}}…{{/a}}`"""

    path: tuple[str | int, ...]
    inverted: bool
    parts: list[Part] = field(default_factory=list)


@dataclass(slots=True, eq=False, repr=False)
class Partial(Part):
    """`{{>name}}`, each line indented like the tag"""

    name: str
    indent: str


class Reader:
    """Reads one text. `expression` compiles what stands in `${ }` (it is given the text and its place), or gives None
    to leave it as it is. `lenient` leaves a placeholder that is not closed as it is, too."""

    def __init__(
        self, source: str, limits: Limits, expression: Callable[[str, int], Expression | None], *, lenient: bool
    ) -> None:
        self.source = source
        self.limits = limits
        self.expression = expression
        self.lenient = lenient
        self.open, self.close = "{{", "}}"
        self.at = 0
        self.placeholders = 0
        self.root: list[Part] = []
        self.stack: list[Section] = []

    @property
    def parts(self) -> list[Part]:
        return self.stack[-1].parts if self.stack else self.root

    def read(self, *, mustache: bool = True) -> list[Part]:
        """The parts of the text. Without `mustache` only `${ }` is looked for."""
        while True:
            hole = self._next_hole()
            tag = self.source.find(self.open, self.at) if mustache else -1
            if hole < 0 and tag < 0:
                break
            if tag < 0 or 0 <= hole < tag:
                self._hole(hole)
            else:
                self._tag(tag)
        self._plain(len(self.source))
        if self.stack:
            left = self.stack[-1]
            self._fail(f"the section {left.literal} is not closed", left.start, left.start + len(left.literal))
        return self.root

    def _fail(self, message: str, start: int, end: int, remedy: str | None = None) -> NoReturn:
        raise wrong(message, self.source, start, end, remedy)

    def _plain(self, until: int) -> None:
        if until > self.at:
            text = self.source[self.at : until]
            self.parts.append(Plain(text, self.at, text))
        self.at = until

    def _count(self, start: int) -> None:
        self.placeholders += 1
        if self.placeholders > self.limits.placeholders:
            fault = ExpressionLimit(f"there are more than {self.limits.placeholders:,} placeholders")
            raise placed(fault, self.source, start, start + 2)

    # -- ${ } -------------------------------------------------------------------------------------------------------

    def _next_hole(self) -> int:
        """The next `${`. Before a Mustache tag, as in `${{price}}`, the dollar sign is a dollar sign."""
        at = self.at
        while (at := self.source.find("${", at)) >= 0 and self.source.startswith(self.open, at + 1):
            at += 2
        return at

    def _hole(self, start: int) -> None:
        if start > self.at and self.source[start - 1] == "$":
            self._plain(start - 1)
            self.parts.append(Plain("$${", start - 1, "${"))
            self.at = start + 2
            return None
        self._plain(start)
        self._count(start)
        try:
            _, end = scan(self.source, self.limits, start + 2, embedded=True)
        except ExpressionSyntax:
            if not self.lenient:
                raise
            return self._plain(len(self.source))  # nobody knows where it was meant to end
        literal = self.source[start : end + 1]
        expression = self.expression(self.source[start + 2 : end], start + 2)
        self.parts.append(Plain(literal, start, literal) if expression is None else Hole(literal, start, expression))
        self.at = end + 1
        return None

    # -- {{ }} ------------------------------------------------------------------------------------------------------

    def _tag(self, start: int) -> None:
        inside = start + len(self.open)
        sigil = self.source[inside : inside + 1]
        closing = {"{": "}" + self.close, "=": "=" + self.close}.get(sigil, self.close)
        stop = self.source.find(closing, inside)
        if stop < 0:
            self._fail(f"the tag is not closed: {closing} is missing", start, len(self.source))
        self._count(start)
        end = stop + len(closing)
        body = self.source[inside:stop] if sigil not in "#^/!>={&" or not sigil else self.source[inside + 1 : stop]
        literal = self.source[start:end]
        indent = ""
        if sigil and sigil in _STANDALONE:
            indent, end = self._alone(start, end)
        else:
            self._plain(start)
        self.at = end
        match sigil:
            case "#" | "^":
                self._section(literal, start, body, inverted=sigil == "^")
            case "/":
                self._end(literal, start, body)
            case "!":
                pass
            case ">":
                self.parts.append(Partial(literal, start, self._label(body, start, literal), indent))
            case "=":
                self._delimiters(literal, start, body)
            case _:
                path = self._path(body, start, literal)
                self.parts.append(Variable(literal, start, path, sigil != "" and sigil in "{&"))

    def _alone(self, start: int, end: int) -> tuple[str, int]:
        """A tag alone on its line takes the whole line with it. Gives its indentation and where to go on."""
        begin = max(self.source.rfind("\n", 0, start) + 1, 0)
        before = self.source[begin:start]
        rest = _LINE_END.match(self.source, end)
        if begin >= self.at and rest is not None and not before.strip(" \t"):
            self._plain(begin)
            return before, rest.end()
        self._plain(start)
        return "", end

    def _section(self, literal: str, start: int, body: str, *, inverted: bool) -> None:
        if len(self.stack) >= self.limits.sections:
            fault = ExpressionLimit(f"sections are nested deeper than {self.limits.sections}")
            raise placed(fault, self.source, start, start + len(literal))
        section = Section(literal, start, self._path(body, start, literal), inverted)
        self.parts.append(section)
        self.stack.append(section)

    def _end(self, literal: str, start: int, body: str) -> None:
        path = self._path(body, start, literal)
        if not self.stack or self.stack[-1].path != path:
            expected = f"{self.stack[-1].literal} is open" if self.stack else "no section is open"
            self._fail(f"{literal} closes nothing: {expected}", start, start + len(literal))
        self.stack.pop()

    def _delimiters(self, literal: str, start: int, body: str) -> None:
        words = body.split()
        if len(words) != 2 or any("=" in word or "${" in word for word in words):
            self._fail("two delimiters are expected, without =", start, start + len(literal))
        self.open, self.close = words

    def _label(self, body: str, start: int, literal: str) -> str:
        label = body.strip()
        if not _LABEL.fullmatch(label):
            remedy = "use ${ } for expressions; {{ }} takes names such as order.customer.name"
            self._fail(f"{label!r} is not a name", start, start + len(literal), remedy)
        return label

    def _path(self, body: str, start: int, literal: str) -> tuple[str | int, ...]:
        label = self._label(body, start, literal)
        return () if label == "." else tuple(as_step(each) for each in label.split("."))
