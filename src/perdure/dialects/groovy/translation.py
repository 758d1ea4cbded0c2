"""A script of Groovy as Python for the sandbox, or all the reasons why not."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from perdure.dialects.groovy import limits
from perdure.dialects.groovy.emitting.script import write
from perdure.dialects.groovy.lexer import tokenize
from perdure.dialects.groovy.parsing import parse
from perdure.dialects.groovy.refusals import Refusals
from perdure.dialects.groovy.tokens import Token
from perdure.errors import DocumentInvalid
from perdure.model.problems import Problem


class Translation(msgspec.Struct, frozen=True):
    python: str
    """Complete. Its last line is an expression: the result of the script, as JSON."""
    names: frozenset[str]
    """The bindings that it reads. Each must be given as a variable of that name."""
    lines: list[int]
    """For each line of the Python, the line of the Groovy that it comes from; 0 if it comes from none."""

    def groovy_line(self, python_lines: Iterable[int]) -> int | None:
        """Where in the script something happened. Takes the lines of a traceback, the innermost last, from 1."""
        found = [self.lines[line - 1] for line in python_lines if 0 < line <= len(self.lines)]
        return next((line for line in reversed(found) if line), None)


def check_groovy(source: str, pointer: str = "") -> tuple[Translation | None, list[Problem]]:
    """The translation, if there is one, and everything that a human must change first. Never raises."""
    refusals = Refusals(pointer)
    if len(source) > limits.SOURCE_CHARACTERS:
        told = f"the script has {len(source):,} characters; {limits.SOURCE_CHARACTERS:,} are allowed"
        refusals.limit(_BEGINNING, told, "divide it into several nodes")
        return None, refusals.problems
    tokens = tokenize(source, refusals)
    if tokens is None:
        return None, refusals.problems
    written = write(parse(tokens, refusals), refusals)
    if written is None:
        return None, refusals.problems
    return Translation(written.python, written.names, written.lines), []


def translate(source: str, pointer: str = "") -> Translation:
    """The translation. Raises DocumentInvalid with all problems."""
    translation, problems = check_groovy(source, pointer)
    if translation is None:
        many = f"{len(problems)} problems" if len(problems) > 1 else "a problem"
        told = f"the Groovy script has {many}: {problems[0]}"
        raise DocumentInvalid(told, [problem.as_dict() for problem in problems], pointer=pointer or None)
    return translation


_BEGINNING = Token("op", "", 1, 1, 0, 0)
