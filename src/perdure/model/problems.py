"""One mistake in a document: what it is, where, and what would be right.

Codes are stable; people look them up and programs compare them. A `warning` does not keep a document from being saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

Severity = Literal["error", "warning"]
MOST = 1_000
"""Problems of one document that are told."""


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    code: str
    pointer: str
    """RFC 6901: where in the document."""
    message: str
    expected: str | None = None
    remedy: str | None = None
    line: int | None = None
    """Line and column inside the text at the pointer, both from 1; for expressions, templates and unreadable JSON."""
    column: int | None = None
    severity: Severity = "error"

    @property
    def is_error(self) -> bool:
        return self.severity == "error"

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {**found, "severity": self.severity}

    def __str__(self) -> str:
        place = f" (line {self.line}, column {self.column})" if self.line is not None else ""
        expected = f"; expected {self.expected}" if self.expected and "expected" not in self.message else ""
        return f"{self.pointer or '/'}: {self.message}{place}{expected} [{self.code}]"


def pointed(pointer: str, *steps: str | int) -> str:
    """The pointer, some steps further on."""
    for step in steps:
        pointer += f"/{str(step).replace('~', '~0').replace('/', '~1')}"
    return pointer


def ways_to(pointer: str) -> Iterator[str]:
    """The place and those around it, from the inside out."""
    yield pointer
    while pointer:
        pointer = pointer.rpartition("/")[0]
        yield pointer


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """As they stand in the document: /nodes/2 before /nodes/10. The same mistake is named once."""

    def place(problem: Problem) -> list[tuple[int, int, str]]:
        steps = problem.pointer.split("/")[1:]
        return [(0, int(step), "") if step.isdecimal() and step.isascii() else (1, 0, step) for step in steps]

    return sorted(dict.fromkeys(problems), key=place)


def told(problems: Iterable[Problem]) -> list[Problem]:
    """In order, and no more than somebody can read: the first thousand, and how many there are besides. Errors are not
    hidden behind warnings."""
    found = in_order(problems)
    if len(found) <= MOST:
        return found
    errors = [problem for problem in found if problem.is_error]
    warnings = [problem for problem in found if not problem.is_error]
    kept = in_order([*errors, *warnings][:MOST])
    rest = len(found) - MOST
    more = f"{rest:,} more problems at least; these are the first {MOST:,}"
    severity: Severity = "error" if len(errors) > MOST else "warning"
    return [*kept, Problem("PROBLEMS_MORE", "", more, remedy="mend these first", severity=severity)]
