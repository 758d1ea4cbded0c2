"""The facts about tasks for people, and about nodes that somebody asks for by name. A part of `events.py`."""

from __future__ import annotations

from typing import Any

from perdure.model.event import Event
from perdure.model.values import Json
from perdure.model.waits import Reminders


class TaskOpened(Event, frozen=True):
    """A person is asked; the fields are those of `waits.Ask`."""

    activation: int
    view: Json = None
    due: int | None = None
    reminders: Reminders | None = None
    escalate_after: int | None = None
    details: dict[str, Any] | None = None
    decided_by: str | None = None
    outcomes: dict[str, str] | None = None


class TaskReminded(Event, frozen=True):
    """A task is still open and its time for a reminder or for the escalation has come."""

    activation: int
    kind: str = "reminder"
    taken: list[int] | None = None
    """Positions of the outgoing edges taken; only where conditions decided it."""


class TaskAnswered(Event, frozen=True):
    activation: int
    response: Json = None
    by: str | None = None
    request: str | None = None
    content: int = 0
    """Tells a repetition of the request from another one with the same id (see `kernel.signal_ids`)."""


class NodeRequested(Event, frozen=True):
    """Somebody wants this node executed, beside the graph; its activation is scheduled next."""

    node: str
    activation: int
    input: Json = None
    request: str | None = None
    content: int = 0
