"""Python scripts: read, checked and written anew as one function, line by line where they were.

The text of a user is only ever parsed here. It is executed in the sandbox and nowhere else.
"""

from __future__ import annotations

import ast
import warnings

import msgspec

from perdure.model.problems import Problem
from perdure.nodes.scripts import refusals, rewriting
from perdure.nodes.scripts.names import Names
from perdure.nodes.scripts.program import HEAD_LINES
from perdure.nodes.scripts.reading import readings
from perdure.nodes.scripts.written import Written


def check_python(source: str) -> tuple[Written | None, list[Problem]]:
    """The program, if the script is one, and all that is wrong with it. Never raises."""
    try:
        return _checked(source)
    except RecursionError:  # whoever asks has used up most of the stack
        return None, [_TOO_DEEP]


def _checked(source: str) -> tuple[Written | None, list[Problem]]:
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    tree, problem = _parsed(source)
    if tree is None:
        assert problem is not None
        return None, [problem]
    names = None
    problems = list(refusals.of(tree))
    if not problems:
        names = Names(tree)
        problems = list(refusals.of_names(names))
    if names is None or problems:
        return None, [_in_characters(each, source) for each in problems]
    found = readings(tree, names)
    lines, above = rewriting.rewritten(source, tree, found, names)
    origins = [0] * (HEAD_LINES + above) + list(range(1, len(lines) - above + 1))
    required = {name: place for name, place in names.outside.items() if name not in names.optional}
    return Written("\n".join(lines), "", names.parameters, required, found.reads, origins), []


_TOO_DEEP = Problem("SCRIPT_SYNTAX", "", "this is nested too deeply", line=1, column=1)


def _in_characters(problem: Problem, source: str) -> Problem:
    """The parser counts columns in bytes."""
    assert problem.line is not None
    assert problem.column is not None
    before = source.split("\n")[problem.line - 1].encode()[: problem.column - 1]
    return msgspec.structs.replace(problem, column=len(before.decode(errors="ignore")) + 1)


def _parsed(source: str) -> tuple[ast.Module | None, Problem | None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of strange escapes in strings: a matter of its author's
            tree = ast.parse(source)
    except SyntaxError as fault:
        line, column = fault.lineno or 1, max(1, fault.offset or 1)
        return None, Problem("SCRIPT_SYNTAX", "", f"this is not Python: {fault.msg}", line=line, column=column)
    except (ValueError, RecursionError, MemoryError, OverflowError) as fault:
        told = str(fault) if isinstance(fault, ValueError) else "it is nested too deeply"
        return None, Problem("SCRIPT_SYNTAX", "", f"this cannot be read: {told}", line=1, column=1)
    if not tree.body:
        told = "the script is empty"
        remedy = "end it with the expression that is its value, or with `return`"
        return None, Problem("SCRIPT_SYNTAX", "", told, remedy=remedy, line=1, column=1)
    return tree, None
