"""A script that has been checked and made ready to run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, get_args

import msgspec

from perdure.dialects.groovy import check_groovy
from perdure.errors import DocumentInvalid
from perdure.model.problems import Problem
from perdure.nodes.scripts import groovy, python
from perdure.nodes.scripts.limits import SOURCE_CHARACTERS

Language = Literal["python", "groovy"]
LANGUAGES: tuple[str, ...] = get_args(Language)

Read = tuple[str | int, ...]
"""A name, and the constant keys that follow it."""


class Script(msgspec.Struct, frozen=True):
    source: str
    language: Language
    program: str
    """Python for the sandbox: defines the function that `program.finished` calls."""
    call: str
    parameters: tuple[str, ...]
    """Names that the script both reads and sets."""
    names: Mapping[str, tuple[int, int]]
    """What it reads from outside, each with the line and column where it does so first."""
    reads: frozenset[Read]
    """The same with constant keys, for `NodeType.reads`: no more than this is sent to a worker."""
    lines: tuple[int, ...]
    """For each line of the program the line of the source that it comes from; 0 if it comes from none."""

    def line(self, python_lines: list[int]) -> int | None:
        """Where in the source something happened. Takes the lines of a traceback, the innermost last, from 1."""
        found = [self.lines[line - 1] for line in python_lines if 0 < line <= len(self.lines)]
        return next((line for line in reversed(found) if line), None)


def check_script(source: str, language: str, pointer: str = "") -> tuple[Script | None, list[Problem]]:
    """The script, if it is one, and all that is wrong with it; `pointer` leads to its text. Never raises."""
    if language not in LANGUAGES:
        told = f"there is no script language {language!r}"
        return None, [Problem("SCRIPT_LANGUAGE", pointer, told, expected=f"one of {', '.join(LANGUAGES)}")]
    script, problems = _checked(source, language)
    return script, [msgspec.structs.replace(each, pointer=pointer + each.pointer) for each in problems]


def compile_script(source: str, language: str = "python") -> Script:
    """Raises DocumentInvalid, whose `problems` name line and column of all that is wrong. Remembered."""
    script, problems = check_script(source, language)
    if script is None:
        many = f"{len(problems)} problems" if len(problems) > 1 else "a problem"
        told = f"the script has {many}: {problems[0].message}"
        raise DocumentInvalid(told, [each.as_dict() for each in problems])
    return script


@lru_cache(maxsize=8192)  # between validation and compilation of a long document, it is translated once
def _checked(source: str, language: str) -> tuple[Script | None, tuple[Problem, ...]]:
    if len(source) > SOURCE_CHARACTERS:
        told = f"the script has {len(source):,} characters; {SOURCE_CHARACTERS:,} are allowed"
        problem = Problem("SCRIPT_SYNTAX", "", told, remedy="divide it into several nodes", line=1, column=1)
        return None, (problem,)
    if language == "groovy":
        translation, problems = check_groovy(source)
        if translation is None:
            return None, tuple(problems)
        written = groovy.written(source, translation)
    else:
        found, problems = python.check_python(source)
        if found is None:
            return None, tuple(problems)
        written = found
    script = Script(
        source,
        language,  # type: ignore[arg-type]
        written.program,
        written.call,
        written.parameters,
        written.names,
        written.reads,
        tuple(written.lines),
    )
    return script, ()


def compilations() -> int:
    """How many scripts have been compiled so far, rather than remembered."""
    return _checked.cache_info().misses


def forget_scripts() -> None:
    """For tests that count."""
    _checked.cache_clear()
