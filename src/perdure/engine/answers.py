"""Commands on their way to a run, and what may come back besides an answer."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Any, TypeAlias

from perdure.errors import NotInstalled
from perdure.model.commands import Command
from perdure.ports.journal import Outcome

Answer: TypeAlias = asyncio.Future[bool]
"""Gets True if the command changed something, False if it had been answered before, or the refusal."""

Letter: TypeAlias = tuple[Command, Answer | None, int]
"""A command, who waits for its answer, and the inbox row that it came in (0: none)."""


class Reply(StrEnum):
    DECIDED = "decided"
    UNCHANGED = "unchanged"
    """It had been answered before, or came too late to matter."""
    ACCEPTED = "accepted"
    """Durable in the inbox of a run that another worker owns."""


class OwnershipLost(Exception):
    """Nothing of the command was recorded, and this worker cannot record it: ask the run's new owner."""


class HandedBack(Exception):
    """Nothing of the command was recorded, and this worker does not have what the run needs: leave it in its inbox."""

    def __init__(self, why: NotInstalled) -> None:
        super().__init__(why.message)
        self.why = why


class StartRefused(Exception):
    """The store did not take the run: its key is in use, its definition has moved on, or its id exists."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.verdict.value)
        self.outcome = outcome


def give(answer: Answer, said: Any) -> None:
    if answer.done():
        return  # whoever asked has gone
    if isinstance(said, BaseException):
        answer.set_exception(said)
    else:
        answer.set_result(said)
