"""Every fact that can stand in a run's log, named once.

An event is immutable, says what happened and nothing about what follows from it. Events of one turn share one time
and one transaction, so the time stands on the turn and not on each event (`Recorded`). Applying events is the
kernel's business (`kernel.evolve`); deciding them too (`kernel.decide`). A new field needs a default; any other
change of a stored shape needs an upcaster in `codec.py`.

Seed 003's names for the same facts: WorkflowStarted = RunStarted, StepStarted = ActivationScheduled, StepCompleted =
ActivationCompleted or NodeEvaluated, StepFailed = ActivationFailed, StepSkipped = NodeSkipped, StepRetried =
ActivationRetrying, ChildSpawned = ChildRequested, ChildCompleted = ChildClosed, ContinueAsNew = RunContinued.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, Union

import msgspec
from msgspec import UNSET, UnsetType

from perdure.model import event, task_events
from perdure.model.failures import Failure
from perdure.model.policies import DEFAULT_LIMITS, Limits
from perdure.model.references import Word
from perdure.model.values import Json

Event = event.Event
TaskOpened = task_events.TaskOpened
TaskReminded = task_events.TaskReminded
TaskAnswered = task_events.TaskAnswered
NodeRequested = task_events.NodeRequested

# -- the run -------------------------------------------------------------------------------------


class ParentLink(msgspec.Struct, frozen=True, omit_defaults=True):
    run: str
    activation: int
    depth: int = 1


class RunStarted(Event, frozen=True):
    program: str  # which interpreter: flow, code or lifecycle
    definition: str
    version: int
    hash: str
    semantics: int
    input: Json = None
    seed: int = 0
    trigger: str = "api"
    key: str | None = None
    parent: ParentLink | None = None
    thread: dict[str, Any] | None = None
    """`_thread`: tenant, client, flags; handed on to children."""
    lookups: dict[str, Any] | None = None  # `_enum_store`, where whoever started the run gave it
    limits: Limits = DEFAULT_LIMITS
    pins: dict[str, int] | None = None  # see `model.references`


class RunClosing(Event, frozen=True):
    """The result is fixed; what still runs (draining, compensation, completion nodes) cannot change it."""

    status: str
    output: Json = None
    failure: Failure | None = None
    activation: int | None = None  # which one failed
    reason: str | None = None  # why it was cancelled


class RunCompleted(Event, frozen=True):
    output: Json = None


class RunFailed(Event, frozen=True):
    failure: Failure
    activation: int | None = None


class RunCancelled(Event, frozen=True):
    reason: str | None = None
    failure: Failure | None = None  # if something could not be undone


class RunTimedOut(Event, frozen=True):
    failure: Failure


class RunSuspended(Event, frozen=True):
    reason: str | None = None


class RunResumed(Event, frozen=True):
    pass


class RunRetried(Event, frozen=True):
    """A failed run is opened again; `activations` are executed once more."""

    activations: list[int]
    new_key: bool = False


class RunContinued(Event, frozen=True):
    """The user's `continue_as_new`: same run, fresh program state, new input; signals and timers are carried over."""

    generation: int
    input: Json = None
    output: Json = None


class RolledOver(Event, frozen=True):
    """A new generation begins from the state as it is; a snapshot is stored with this event."""

    generation: int


class AttributesSet(Event, frozen=True):
    values: dict[str, Any]


# -- activations ---------------------------------------------------------------------------------


class ActivationScheduled(Event, frozen=True):
    id: int
    node: str
    scope: int = 0
    visit: int = 1
    config: Json = None
    """The resolved configuration, where the node's has expressions in it."""
    undo: int | None = None
    """The activation that this one compensates."""
    detached: bool = False
    """Runs beside the graph: compensation or a completion node. Its end moves no token."""
    input: Json = None  # only of detached ones; others take it from the tokens that they consume
    """Of detached ones; others consume tokens."""


class ActivationCompleted(Event, frozen=True):
    id: int
    output: Json = None
    outcome: str | None = None
    taken: list[int] | None = None  # positions of the outgoing edges taken, where conditions decided it
    vars: dict[str, Any] | None = None
    size: int = 0
    """What the output adds to the data of the run, in bytes; small change is not counted."""
    beside: dict[str, Any] | None = None  # kept as the outputs of `<node>:<name>`
    cached: bool = False  # nothing was executed: the answer to the same question was still good


class NodeEvaluated(Event, frozen=True):
    """An inline node: scheduled and completed at once, inside the turn."""

    id: int
    node: str
    scope: int = 0
    visit: int = 1
    output: Json | UnsetType = UNSET
    """Unset: the output is the input."""
    outcome: str | None = None
    taken: list[int] | None = None
    vars: dict[str, Any] | None = None
    size: int = 0


class ActivationFailed(Event, frozen=True):
    id: int
    attempt: int
    failure: Failure
    final: bool = True
    outcome: str | None = None
    """`error` or `timeout` when an edge of the node takes care of it."""
    taken: list[int] | None = None
    output: Json = None
    """What the handler had produced before it failed."""


class ActivationRetrying(Event, frozen=True):
    id: int
    attempt: int
    due: int


class ActivationCancelling(Event, frozen=True):
    id: int
    reason: str


class ActivationCancelled(Event, frozen=True):
    id: int
    reason: str
    unknown: bool = False
    """Its effect may or may not have happened."""


class ActivationsRedelivered(Event, frozen=True):
    """A worker died while these were executing; each counts one delivery. For `idle` microseconds nobody owned the run:
    they are no active time."""

    ids: list[int]
    idle: int = 0


class NodeSkipped(Event, frozen=True):
    node: str
    scope: int = 0
    visit: int = 1
    reason: str = "dead"
    """`dead`: no incoming edge was taken. `condition`: its own condition was false; outgoing edges are taken.
    `milestone`: it came too late. `withdrawn`: a join or region cancelled it before it began."""


class HeartbeatRecorded(Event, frozen=True):
    id: int
    details: Json = None


class SideEffectRecorded(Event, frozen=True):
    key: str
    value: Json = None


# -- signals, timers, children, messages ---------------------------------------------------------


class SignalReceived(Event, frozen=True):
    name: str
    payload: Json = None
    id: str | None = None
    kept: bool = True  # False: nobody waited for it, and whoever waits later wants only later ones
    size: int = 0  # bytes of the payload that count


class SignalAwaited(Event, frozen=True):
    activation: int
    name: str
    mode: str = "persistent"


class SignalConsumed(Event, frozen=True):
    name: str
    activation: int
    payload_seq: int
    """Which of the received signals, counted per run from 1."""


class TimerArmed(Event, frozen=True):
    id: str
    due: int
    purpose: str
    """sleep, signal, user …"""
    activation: int | None = None
    output: Json = None
    """What the sleeping activation will have produced when it wakes."""


class TimerFired(Event, frozen=True):
    id: str


class TimerCancelled(Event, frozen=True):
    id: str


class ChildRequested(Event, frozen=True):
    activation: int
    run: str
    definition: str
    version: int | Word | None = None
    input: Json = None
    wait: bool = True
    on_parent_close: str = "cancel"


class ChildClosed(Event, frozen=True):
    activation: int
    run: str
    status: str
    output: Json = None
    failure: Failure | None = None


class MessagePublished(Event, frozen=True):
    """Something for the outside world; the same transaction puts it into the outbox."""

    type: str
    payload: Json = None
    key: str | None = None


# -- loops ---------------------------------------------------------------------------------------


class Chunk(msgspec.Struct, frozen=True):
    """A blob that holds a JSON list, a part of a longer one."""

    blob: str
    count: int
    size: int


class LoopStarted(Event, frozen=True):
    activation: int
    total: int | None = None
    """How many items there are, where that is known."""
    items: list[Any] | None = None
    range: tuple[int, int] | None = None
    """First number and step, where the items are numbers."""
    chunks: list[Chunk] | None = None
    """The blobs that hold the items, where they are many."""
    concurrency: int = 1
    need: int | None = None
    """Results after which the rest is withdrawn."""


class IterationStarted(Event, frozen=True):
    activation: int
    scope: int
    index: int


class IterationEnded(Event, frozen=True):
    activation: int
    scope: int
    failure: Failure | None = None


class ScopeClosing(Event, frozen=True):
    """One iteration failed and its loop goes on without it: what lives in the scope is withdrawn first."""

    scope: int
    failure: Failure


class LoopClosing(Event, frozen=True):
    """All iterations of a loop are withdrawn: it failed, or (no failure) it has all the results that it needs."""

    activation: int
    failure: Failure | None = None
    cancelled: bool = False


class LoopSatisfied(Event, frozen=True):
    """A loop has the results that it needs and hands them on. What it has begun goes on unheeded; it ends with the
    last."""

    activation: int
    output: Json = None
    taken: list[int] | None = None
    size: int = 0


class ItemsAdded(Event, frozen=True):
    activation: int
    items: list[Any]


class ItemsClosed(Event, frozen=True):
    """No further item will be added; what runs is finished, or with `cancel` withdrawn."""

    activation: int
    cancel: bool = False


class AccumulatorSpilled(Event, frozen=True):
    """Results so far were moved into a blob, so that the state stays small."""

    activation: int
    chunk: Chunk


# -- compensation --------------------------------------------------------------------------------


class CompensationStarted(Event, frozen=True):
    scope: int
    policy: str
    order: list[int]  # activations to undo
    failure: Failure | None = None
    loop: int | None = None  # only what its iterations have done is undone


class CompensationEnded(Event, frozen=True):
    scope: int
    undone: list[int]
    failed: list[int]
    loop: int | None = None


class Recorded(msgspec.Struct, frozen=True):
    """An event with its place and time in the log."""

    seq: int
    at: int
    event: Event


if TYPE_CHECKING:
    AnyEvent: TypeAlias = Event
else:  # any of them, as the codec reads them
    AnyEvent = Union[tuple(Event.__subclasses__())]  # noqa: UP007 — every class above, in its order
