"""Deciding the commands of one turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.engine.answers import Answer, Letter
from perdure.errors import InvariantBroken, PerdureError
from perdure.kernel.turn import Turn

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun

_ROW = 2


class Bug(Exception):
    """Deciding failed in a way that no command can cause. The state is left between two events."""

    def __init__(self, problem: Exception, offender: Letter | None) -> None:
        super().__init__(str(problem))
        self.problem = problem
        self.offender = offender
        """What was being decided; None: it cannot be said."""


def decide(owned: OwnedRun, turn: Turn, letters: list[Letter]) -> list[tuple[Answer, Any]]:
    """A refusal is an answer too: it may rest on what this turn decided before it, so it waits for the commit like any
    other."""
    answers: list[tuple[Answer, Any]] = []
    decided = _decide_each(owned, turn, letters, answers)
    if decided < len(letters):
        # Expressions have cost so much that the lease must be looked after first.
        owned.mailbox = [*letters[decided:], *owned.mailbox]
        del letters[decided:]
    if owned.mailbox and turn.state.closing is not None:
        # This may be the last turn, and those who sent them were told that they will be decided.
        from_inbox = [letter for letter in owned.mailbox if letter[_ROW]]
        owned.mailbox = [letter for letter in owned.mailbox if not letter[_ROW]]
        letters += from_inbox
        _decide_each(owned, turn, from_inbox, answers)
    try:
        owned.kernel.finish(turn)
    except Exception as problem:
        raise Bug(problem, None) from problem
    return answers


def _decide_each(owned: OwnedRun, turn: Turn, letters: list[Letter], answers: list[tuple[Answer, Any]]) -> int:
    """How many were decided: all, unless the turn has computed enough and is not the run's last."""
    handle = owned.kernel.handle
    said: Any
    for number, letter in enumerate(letters):
        if turn.work < 0 and turn.state.closing is None:
            return number
        command, answer, row = letter
        before = len(turn.events)
        try:
            said = handle(turn, command)
        except PerdureError as refusal:
            if len(turn.events) != before or isinstance(refusal, InvariantBroken):
                raise Bug(refusal, letter) from refusal
            said = refusal
        except Exception as problem:
            raise Bug(problem, letter) from problem
        if row:
            owned.consumed.append(row)
        if answer is not None:
            answers.append((answer, said))
    return len(letters)
