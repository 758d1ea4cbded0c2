"""The state of a run: everything that its log says, folded.

It is a value owned by whoever holds it: `evolve` moves it forward in place (a copy for each event would make the cost
of an event grow with the state), and nobody else may change it. It is made of plain structs, so a snapshot is its
encoding. It is a tree, so the garbage collector has nothing to find in it (`gc=False`): thousands of sleeping runs are
not searched for cycles again and again.
"""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.model.events import ParentLink
from perdure.model.failures import Failure
from perdure.model.policies import DEFAULT_LIMITS, Limits
from perdure.model.references import Word
from perdure.model.statuses import Phase
from perdure.model.values import Json
from perdure.model.waits import Reminders

ROOT = 0


class Task(msgspec.Struct, omit_defaults=True, gc=False):
    """What a person is asked."""

    view: Json = None
    details: dict[str, Any] | None = None
    opened_at: int = 0
    reminders: Reminders | None = None
    reminded: int = 0
    remind_at: int | None = None
    escalate_at: int | None = None
    decided_by: str | None = None
    outcomes: dict[str, str] | None = None
    sent: dict[int, bool] = {}
    """Outgoing edges that reminders and the escalation have taken already."""


class Activation(msgspec.Struct, omit_defaults=True, gc=False):
    """A live activation. Ended ones leave only what others may still ask for (outputs, undo entries)."""

    id: int
    node: str
    scope: int = ROOT
    visit: int = 1
    phase: Phase = Phase.EXECUTING
    attempt: int = 1
    tries_before: int = 0
    """Attempts that a retry of the run has put behind it: they do not count against the policy."""
    deliveries: int = 1
    input: Json = None
    config: Json = None
    scheduled_at: int = 0
    undo: int | None = None
    undo_key: str | None = None
    """The key of what it undoes."""
    detached: bool = False
    timer: str | None = None
    due: int | None = None
    signal: str | None = None
    since: int = 0
    """Signals up to this number do not count for a transient wait."""
    child: str | None = None
    child_wait: bool = True
    on_parent_close: str = "cancel"
    child_of: tuple[str, int | Word | None, Json] | None = None
    """Definition, version and input of the child that is to be started."""
    output: Json = None
    """What a sleeping activation will have produced when it wakes."""
    heartbeat: Json = None
    cancel_reason: str | None = None
    withdrawn: bool = False
    """Taken back while the run went on; its end changes nothing any more, and no retry takes it up again."""
    task: Task | None = None
    demanded: bool = False
    """Somebody asked for it by name; it runs beside the graph, and not because the run ends."""
    open_scopes: int = 0
    """Iterations of a loop that have not ended."""
    key_generation: int = 0
    """Raised by a retry that asks for a new idempotency key."""
    failure: Failure | None = None
    """Why the attempt before this one failed, without details."""


class Timer(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    due: int
    purpose: str
    activation: int | None = None
    number: int = 0
    """Timers that are due together fire in the order in which they were armed."""


class PendingSignal(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    number: int
    name: str
    payload: Json = None
    size: int = 0


class Undo(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A completed (or possibly completed) activation that can be compensated."""

    activation: int
    node: str
    key: str
    handler: str
    """The node that undoes it."""
    input: Json = None
    output: Json = None
    order: int = 0
    """Its place in the log: what completed last is undone first."""
    on_cancel: bool = False
    """Whether it is undone when it is not a failure but a cancellation that ends its scope."""
    loop: int | None = None
    """It happened in an iteration of this loop that has ended."""


class Scope(msgspec.Struct, omit_defaults=True, gc=False):
    """The root, or one iteration of a loop."""

    id: int
    parent: int | None = None
    path: str = ""
    loop: int | None = None
    """The activation of the loop."""
    undo: list[Undo] = []
    closing: Failure | None = None
    children: dict[int, bool] = {}
    """Iterations of the loops in it."""
    alive: int = 0
    """How many activations live in it or below it; those beside the graph do not count."""


class Compensating(msgspec.Struct, omit_defaults=True, gc=False):
    """An undo that is under way, last entry first."""

    scope: int
    policy: str
    remaining: list[Undo]
    loop: int | None = None
    undone: list[int] = []
    failed: list[int] = []
    failures: dict[int, Failure] = {}
    """Why those that failed did, without details."""


class NotUndone(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What should have been undone, and why it could not."""

    node: str
    key: str
    failure: Failure | None = None


class Closing(msgspec.Struct, omit_defaults=True, gc=False):
    """The run's result is fixed; it is being wound up."""

    status: str
    output: Json = None
    failure: Failure | None = None
    reason: str | None = None
    compensation_over: bool = False
    activation: int | None = None
    after: int = 0
    """How many completion nodes have been started."""
    undone: list[str] = []
    """Nodes that were undone while it was being wound up, in this order."""
    untried: list[str] = []
    """Nodes that were to be undone, had not the undoing of another one failed before."""


class RunState(msgspec.Struct, omit_defaults=True, gc=False):
    run: str
    seq: int = 0
    at: int = 0
    generation: int = 1
    generation_start: int = 0

    program: str = ""
    definition: str = ""
    version: int = 0
    hash: str = ""
    semantics: int = 0
    input: Json = None
    seed: int = 0
    trigger: str = ""
    key: str | None = None
    parent: ParentLink | None = None
    thread: dict[str, Any] | None = None
    lookups: dict[str, Any] | None = None
    limits: Limits = DEFAULT_LIMITS
    pins: dict[str, int] | None = None
    started_at: int = 0

    suspended: str | None = None
    closing: Closing | None = None
    final: str | None = None
    """The final status, once there is one."""
    closed_at: int | None = None
    continued_output: Json = None

    activations: dict[int, Activation] = {}
    next_activation: int = 1
    executing: int = 0
    """How many are EXECUTING or CANCELLING: these count as active time."""
    waiting: int = 0
    """How many wait for a signal, a person or a child."""
    active_since: int = 0
    active_total: int = 0

    scopes: dict[int, Scope] = {}
    next_scope: int = 1
    timers: dict[str, Timer] = {}
    timer_heap: list[tuple[int, int, str]] = []
    """(due, number, id), a heap whose first entry is always alive; others of timers that are gone go later."""
    timer_count: int = 0

    signals: dict[int, PendingSignal] = {}
    """What nobody has consumed yet, by number: in order of arrival."""
    signals_of: dict[str, dict[int, bool]] = {}
    """The same numbers by name."""
    signal_ids: dict[str, int] = {}
    """The last ids of signals, each with a number that tells repetition from reuse (see `kernel.signal_ids`)."""
    signal_count: int = 0
    signal_bytes: int = 0
    """How much there is in all that nobody has consumed yet."""
    waiters: dict[str, dict[int, bool]] = {}
    """Activations by the name of the signal that they wait for, in the order in which they began to wait."""
    asking: dict[str, dict[int, bool]] = {}
    """Open tasks by node, in the order in which they were opened."""
    tasks_opened: int = 0
    answers: dict[int, tuple[str, int]] = {}
    """The last tasks that were answered, by activation: the node, and what tells the answer from others."""
    demands: dict[str, tuple[int, int, int]] = {}
    """Requests for nodes by id, the last of them: content, activation, and the place in the log."""
    attributes: dict[str, Any] = {}
    side_effects: dict[str, Any] = {}

    casualties: dict[int, Activation] = {}
    """What ended because the run failed; a retry takes them up again."""
    compensating: Compensating | None = None
    compensated: bool = False
    """Undoing has begun, so the run cannot be taken up where it failed."""
    not_undone: list[NotUndone] = []
    """The first so many; a loop without an end must not fill the state."""
    not_undone_count: int = 0
    closing_scopes: dict[int, bool] = {}
    """Iterations that have failed and are being wound up."""
    errors_in_a_row: int = 0
    first_error: Failure | None = None
    """Of those in a row, without its details."""
    activation_total: int = 0
    data_bytes: int = 0

    body: Any = None
    """The program's own part."""

    @property
    def is_final(self) -> bool:
        return self.final is not None

    @property
    def depth(self) -> int:
        """How many runs stand above this one."""
        return self.parent.depth if self.parent is not None else 0

    def activation_key(self, activation: Activation) -> str:
        """The idempotency key given to the outside world: the same for every attempt, worker and generation."""
        if activation.undo_key is not None:
            return f"{activation.undo_key}/undo"
        path = self.scopes[activation.scope].path if activation.scope else ""
        key = (
            f"{self.run}/{activation.node}/{path}/{activation.visit}"
            if path
            else f"{self.run}/{activation.node}/{activation.visit}"
        )
        return f"{key}~{activation.key_generation}" if activation.key_generation else key
