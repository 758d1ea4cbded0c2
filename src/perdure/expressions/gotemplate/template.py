"""A Go template: compiled once per source, rendered as often as you like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from perdure.errors import ExpressionError, ExpressionLimit, ExpressionSyntax
from perdure.expressions.gotemplate.functions import FUNCTIONS
from perdure.expressions.gotemplate.parser import Parser
from perdure.expressions.gotemplate.reading import reads_of
from perdure.expressions.gotemplate.rendering import Rendering
from perdure.expressions.gotemplate.tokens import Action, split
from perdure.expressions.limits import DEFAULT_LIMITS, Limits, Meter
from perdure.expressions.places import line_and_column, placed
from perdure.expressions.rendering import Escape
from perdure.expressions.values import Json

CACHE_SIZE: Final = 1_024

_TELLING: Final = re.compile(
    r"\{\{(?:-(?=\s))?\s*(?:"
    r"(?:if|range|with|else|define|template|block)\s+[^\s}]"  # what Mustache would take for a name with blanks in it
    rf"|(?:{'|'.join(FUNCTIONS)})\s+[^\s}}|-]"
    r"|\$|\.\w|\(|/\*"
    r")"
)
_ACTION: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_FOREIGN: Final = re.compile(r"\$\{[^{}\s]")


class GoTemplate:
    """A compiled template. Made by `compile_go_template`; immutable and safe to share between threads."""

    __slots__ = ("_definitions", "_escape", "_limits", "reads", "source")

    source: str
    #: Names that it may read of its data, with the constant keys that follow. Those of items count too.
    reads: frozenset[tuple[str | int, ...]]

    def __init__(self, source: str, escape: Escape, limits: Limits) -> None:
        self.source = source
        self._definitions = Parser(source, limits).parse()
        self.reads = frozenset(reads_of(self._definitions.values()))
        self._escape: Escape = escape
        self._limits = limits

    def render(self, data: Json, meter: Meter | None = None) -> str:
        """The text for this data. Raises `ExpressionFailed` or `ExpressionLimit`, with line, column and snippet."""
        try:
            return Rendering(self.source, self._definitions, self._escape, self._limits, meter).render(data)
        except RecursionError:
            raise _too_deep(self.source) from None
        except ExpressionError as fault:
            raise placed(fault, self.source, 0, 1) from None

    def __repr__(self) -> str:
        return f"GoTemplate({self.source!r})"


def is_go_template(text: str) -> bool:
    """Whether a text with `{{ }}` in it is written for Go's text/template rather than in Mustache.

    It is, if an action begins with a keyword, a variable, a field (`.x`), a comment, or a function and its argument.
    `{{a.b}}` alone is the same in both.
    """
    return _TELLING.search(text) is not None


class Foreign(NamedTuple):
    """A placeholder as other templates have it, in a Go template."""

    path: str | None
    """Of `{{a.b}}`, which is filled in if it has a value; `${ }` never is."""
    line: int
    column: int


def foreign_placeholders(source: str) -> Iterator[Foreign]:
    """Of a template that compiles. Of each kind the first, for one shows how the others are meant."""
    actions = [each for each in split(source, DEFAULT_LIMITS) if isinstance(each, Action)]
    bare = next((each for each in actions if each.path is not None), None)
    if bare is not None:
        yield Foreign(bare.path, *line_and_column(source, bare.start))
    found = _FOREIGN.search(_ACTION.sub(lambda action: " " * len(action[0]), source))
    if found is not None:
        yield Foreign(None, *line_and_column(source, found.start()))


def compile_go_template(source: str, *, escape: Escape = "none", limits: Limits = DEFAULT_LIMITS) -> GoTemplate:
    """The template that `source` spells; the last 1,024 short ones are kept."""
    if not isinstance(source, str):
        raise ExpressionSyntax(f"a template is text, not {type(source).__name__}", line=1, column=1)
    return _compiled(source, escape, limits) if len(source) <= limits.source else _made(source, escape, limits)


def _made(source: str, escape: Escape, limits: Limits) -> GoTemplate:
    try:
        return GoTemplate(source, escape, limits)
    except RecursionError:
        raise _too_deep(source) from None


def _too_deep(source: str) -> ExpressionLimit:
    """Our own limits come first, unless the caller has used up most of the stack."""
    return placed(ExpressionLimit("the template, or a value that it compares, is nested too deeply"), source, 0, 1)


@lru_cache(maxsize=CACHE_SIZE)
def _compiled(source: Any, escape: Escape, limits: Limits) -> GoTemplate:
    return _made(source, escape, limits)
