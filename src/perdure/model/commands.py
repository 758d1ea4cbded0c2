"""Requests to change a run. The kernel answers each with events, with nothing (it had been answered before), or with
a refusal.

Commands from outside (signal, cancel, retry …) may travel through a store's inbox; they are then JSON like events.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from perdure.model.events import ParentLink
from perdure.model.failures import Failure
from perdure.model.policies import DEFAULT_LIMITS, Limits
from perdure.model.values import Json
from perdure.model.waits import AnyWait


class Command(msgspec.Struct, frozen=True, tag=True, tag_field="command", omit_defaults=True, gc=False):
    pass


class Start(Command, frozen=True):
    definition: str
    version: int
    hash: str
    program: str = "flow"
    input: Json = None
    seed: int = 0
    trigger: str = "api"
    key: str | None = None
    parent: ParentLink | None = None
    thread: dict[str, Any] | None = None
    lookups: dict[str, Any] | None = None
    limits: Limits = DEFAULT_LIMITS
    attributes: dict[str, Any] | None = None
    """Search attributes that the run begins with."""
    pins: dict[str, int] | None = None


# -- from handlers -------------------------------------------------------------------------------


class Complete(Command, frozen=True):
    activation: int
    attempt: int
    output: Json = None
    outcome: str | None = None
    vars: dict[str, Any] | None = None
    size: int = 0
    """Length of the output as JSON, measured where it was made."""
    beside: dict[str, Any] | None = None
    """What it has to show besides its output, by name: `httpResponse` …"""
    then: AnyWait | None = None
    """The handler has no result yet: the activation waits for this first."""
    cached: bool = False
    """Nothing was executed: this is the answer of an earlier execution."""


class Fail(Command, frozen=True):
    activation: int
    attempt: int
    failure: Failure
    output: Json = None


class CancelDone(Command, frozen=True):
    """The handler of a withdrawn activation has ended (or never ran here)."""

    activation: int
    unknown: bool = False
    attempt: int | None = None
    """Where it is given, a report about an earlier attempt is not taken for one about this."""


class Heartbeat(Command, frozen=True):
    activation: int
    attempt: int
    details: Json = None


class RecordSideEffect(Command, frozen=True):
    key: str
    value: Json = None


class SetAttributes(Command, frozen=True):
    values: dict[str, Any]


# -- from the runtime ----------------------------------------------------------------------------


class FireTimers(Command, frozen=True):
    """Fires every timer that is due at the time of the turn."""


class Proceed(Command, frozen=True):
    """Go on with work that an earlier turn left ready."""


class TakeOver(Command, frozen=True):
    """A worker has become the owner. `died`: the one before did not hand over. `alive_until`: when it was last known to
    be alive; what was executing then counts as active up to that moment and not beyond."""

    died: bool = True
    alive_until: int | None = None


class ItemsLoaded(Command, frozen=True):
    """Items of a loop whose source is a blob."""

    activation: int
    offset: int
    items: list[Any]


class ChildEnded(Command, frozen=True):
    activation: int
    run: str
    status: str
    """A final status; or STARTED, by which the runtime says that the child exists."""
    output: Json = None
    failure: Failure | None = None


# -- from people and programs --------------------------------------------------------------------


class Signal(Command, frozen=True):
    name: str
    payload: Json = None
    id: str | None = None


class Answer(Command, frozen=True):
    """What a person says to an open task of the run: the one of this activation, or of this node, or the only one."""

    response: Json
    """`{"selectedOptions": {widget: value}}`."""
    activation: int | None = None
    node: str | None = None
    id: str | None = None
    """Of the request: the same again is answered the same."""
    by: str | None = None


class RunNode(Command, frozen=True):
    """Execute a node that is there to be asked for (`on_demand`), beside the graph."""

    node: str
    parameters: Json = None
    id: str | None = None


class Cancel(Command, frozen=True):
    reason: str | None = None


class Suspend(Command, frozen=True):
    reason: str | None = None


class Resume(Command, frozen=True):
    pass


class RetryRun(Command, frozen=True):
    new_key: bool = False


AnyCommand: TypeAlias = (
    Start
    | Complete
    | Fail
    | CancelDone
    | Heartbeat
    | RecordSideEffect
    | SetAttributes
    | FireTimers
    | Proceed
    | TakeOver
    | ItemsLoaded
    | ChildEnded
    | Signal
    | Answer
    | RunNode
    | Cancel
    | Suspend
    | Resume
    | RetryRun
)
