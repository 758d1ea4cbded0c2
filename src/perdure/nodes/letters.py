"""Text that people read: mails and chat messages, as templates of either kind.

A text with Go's syntax in it is rendered as such; any other holds `${ }` and `{{ }}` as everywhere, but lists and
objects are written as indented JSON. In a Go template the fields of the node's input stand at the root, after them
those of its `data`, and then the names that all templates read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import msgspec
from pydantic import Field

from perdure.expressions import DEFAULT_LIMITS, Escape, Template, compile_template
from perdure.expressions.gotemplate import GoTemplate, compile_go_template, is_go_template
from perdure.model.values import Json, text_of
from perdure.programs.flow.fields import LETTER
from perdure.programs.flow.nodetypes import Plan

LONGEST = 1024 * 1024
"""Characters of one text."""
LIMITS = replace(DEFAULT_LIMITS, output=LONGEST)

LetterText = Annotated[str, LETTER, Field(max_length=LONGEST)]


class Letter(msgspec.Struct, frozen=True):
    """A compiled text."""

    template: Template | GoTemplate

    def render(self, moment: Plan, more: Mapping[str, Any] | None = None) -> str:
        """`more`: further names, which come before all others."""
        if isinstance(self.template, GoTemplate):
            return moment.render(self.template, {**root(moment, self.template.reads), **(more or {})})
        return str(text_of(moment.resolve(self.template, more)))


def letter(source: str, escape: Escape = "none") -> Letter:
    """Values that are put into it are escaped; the text itself is taken as it is."""
    if is_go_template(source):
        return Letter(compile_go_template(source, escape=escape, limits=LIMITS))
    return Letter(compile_template(source, mode="lenient", escape=escape, limits=LIMITS, pretty=True))


def root(moment: Plan, reads: frozenset[tuple[str | int, ...]]) -> dict[str, Json]:
    """The data of a Go template: what can be read without a name before it."""
    given = moment.input
    own: dict[str, Json] = given if isinstance(given, dict) else {}
    inner = own.get("data")
    lifted: dict[str, Json] = inner if isinstance(inner, dict) else {}
    moment.spend(len(own) + len(lifted))
    return {**moment.gather(reads), **lifted, **own}
