"""What an activation may wait for, as a value: a moment, a signal, a person.

A node type's `plan` may ask for a wait at once; a handler may answer with one instead of a result. Either way the
activation then waits and holds no worker. Handlers' answers travel as JSON on some runtimes, so these are tagged.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from perdure.model.values import Json

REMINDER, ESCALATION = "reminder", "escalation"
"""Outcomes of edges that are taken while a task is open."""
ANSWERED = "answered"
"""The outcome of a task that was answered, unless the answer itself says another."""


class Wait(msgspec.Struct, frozen=True, tag=True, tag_field="wait", omit_defaults=True, gc=False):
    pass


class Sleep(Wait, frozen=True):
    """Until that moment; then the activation completes with this output."""

    until: int
    output: Json = None


class AwaitSignal(Wait, frozen=True):
    name: str
    until: int | None = None
    mode: str = "persistent"
    """`transient`: signals that came before do not count."""


class Reminders(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """When the edges with the outcome `reminder` are taken, in microseconds after the task was opened."""

    after: int
    every: int | None = None
    count: int = 1
    """How many there are at most."""


class Ask(Wait, frozen=True):
    """Opens a task for a person. The answer is checked against the view before it is accepted; the activation then
    completes with `{"selectedOptions": …}`."""

    view: dict[str, Any]
    """As `model.views` builds it."""
    until: int | None = None
    """The moment after which the task fails with TASK_TIMEOUT."""
    reminders: Reminders | None = None
    escalate_after: int | None = None
    """Microseconds after which the edges with the outcome `escalation` are taken."""
    details: dict[str, Any] | None = None
    """What else is told about the task: title, assignees, disposition …"""
    decided_by: str | None = None
    """The widget whose value says the outcome …"""
    outcomes: dict[str, str] | None = None
    """… by this table; without it, the outcome is `answered`."""


AnyWait: TypeAlias = Sleep | AwaitSignal | Ask
