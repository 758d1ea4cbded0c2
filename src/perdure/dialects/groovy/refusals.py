"""What is refused, collected: a script is told all that a human must change, not only the first thing.

Every refusal has a line and a column, names the construct in the words of a Groovy programmer, and says what to do.
"""

from __future__ import annotations

from typing import Protocol

from perdure.dialects.groovy import limits
from perdure.model.problems import Problem


class Place(Protocol):
    """Whatever stands somewhere in the source: a token or a node of the tree. Both count from 1."""

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...


class Unreadable(Exception):
    """The statement makes no sense from here on. The parser notes it and goes on with the next statement."""

    looks_inside = True
    """Whether a block of this statement that nobody has read yet is worth reading for more problems."""

    def __init__(self, place: Place, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.place = place
        self.message = message
        self.remedy = remedy

    def note(self, refusals: Refusals) -> None:
        refusals.syntax(self.place, self.message, self.remedy)


class Unsupported(Unreadable):
    """It makes sense in Groovy, and its form is such that the rest of the statement is of no use."""

    def __init__(self, place: Place, construct: str, remedy: str) -> None:
        super().__init__(place, construct, remedy)
        self._remedy = remedy

    def note(self, refusals: Refusals) -> None:
        refusals.unsupported(self.place, self.message, self._remedy)


class UnsupportedDefinition(Unsupported):
    """A class or the like: what stands in it makes no sense outside of it."""

    looks_inside = False


class TooDeep(Unreadable):
    def __init__(self, place: Place) -> None:
        super().__init__(place, "this is nested too deeply")

    def note(self, refusals: Refusals) -> None:
        refusals.limit(self.place, self.message, "give the inner parts names of their own with def")


class Refusals:
    def __init__(self, pointer: str) -> None:
        self._pointer = pointer
        self._found: dict[Problem, None] = {}
        self.has_syntax = False
        """Something could not be read, so names that seem to be missing may stand in what was skipped."""

    def __len__(self) -> int:
        return len(self._found)

    @property
    def problems(self) -> list[Problem]:
        """In the order of the source."""
        return sorted(self._found, key=lambda problem: (problem.line or 0, problem.column or 0))[: limits.PROBLEMS]

    def syntax(self, place: Place, message: str, remedy: str | None = None) -> None:
        self.has_syntax = True
        self._note(Problem("GROOVY_SYNTAX", self._pointer, message, None, remedy, place.line, place.column))

    def unsupported(self, place: Place, construct: str, remedy: str) -> None:
        told = f"{construct} cannot be translated"
        self._note(Problem("GROOVY_UNSUPPORTED", self._pointer, told, None, remedy, place.line, place.column))

    def unknown(self, place: Place, name: str, known: str, remedy: str | None = None) -> None:
        told = f"there is no variable named {name}"
        self._note(Problem("GROOVY_NAME_UNKNOWN", self._pointer, told, known, remedy, place.line, place.column))

    def limit(self, place: Place, message: str, remedy: str) -> None:
        self._note(Problem("GROOVY_LIMIT", self._pointer, message, None, remedy, place.line, place.column))

    def _note(self, problem: Problem) -> None:
        if len(self._found) < 10 * limits.PROBLEMS:  # enough to sort, and no more memory than that
            self._found[problem] = None
