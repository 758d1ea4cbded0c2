"""From tokens to the tree. One class, in layers: each file adds what it is named after."""

from __future__ import annotations

from perdure.dialects.groovy.parsing.statements import Parser
from perdure.dialects.groovy.refusals import Refusals
from perdure.dialects.groovy.syntax import Statement
from perdure.dialects.groovy.tokens import Token


def parse(tokens: list[Token], refusals: Refusals) -> list[Statement]:
    """The statements of a script. What cannot be read is noted and left out."""
    return Parser(tokens, refusals).script()


__all__ = ["parse"]
