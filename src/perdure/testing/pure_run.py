"""One run inside a `PureRunner`: its state, its log, and the comparison of the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from perdure.errors import InvariantBroken
from perdure.kernel.kernel import Kernel
from perdure.kernel.outlook import active_deadline, next_wake, outstanding, status_of
from perdure.kernel.program import Work
from perdure.kernel.state import Activation, RunState
from perdure.kernel.turn import Turn
from perdure.model import commands as c
from perdure.model import effects as f
from perdure.model import events as e
from perdure.model.codec import CODEC, decode_events, encode_events
from perdure.model.failures import Failure
from perdure.model.statuses import Status
from perdure.model.values import Json


class PureContext:
    """What a step sees: the names that the engine's context has."""

    def __init__(self, run: PureRun, activation: Activation, work: Work, now: int) -> None:
        self.run_id = run.id
        self.definition = run.state.definition
        self.namespace = "default"
        self.node_id = activation.node
        self.activation_id = activation.id
        self.attempt = activation.attempt
        self.key = run.state.activation_key(activation)
        self.input = activation.input
        self.config = work.config
        self.scheduled_at = activation.scheduled_at
        self.bindings = self.shared_bindings = dict(work.bindings or {})
        self.thread = run.state.thread
        self.last_heartbeat = activation.heartbeat
        self.is_cancelled = False
        self._now = now
        self.vars: Mapping[str, Any] = MappingProxyType(dict(run.state.body.vars))

    def now(self) -> int:
        return self._now

    def __repr__(self) -> str:
        return f"<{self.key} attempt {self.attempt}>"


class PureRun:
    """The run and what became of it."""

    def __init__(self, id: str, definition: str, kernel: Kernel) -> None:
        self.id = id
        self.definition = definition
        self.kernel = kernel
        self.state: RunState = kernel.new(id)
        self.turns: list[tuple[int, list[e.Event]]] = []
        """(time, events) of every turn."""
        self._shadow: RunState = kernel.new(id)
        self._under_way: list[f.AnyEffect] = []

    # -- what became of it --------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        return status_of(self.kernel.program, self.state)

    @property
    def output(self) -> Json:
        return self.state.closing.output if self.state.closing is not None else None

    @property
    def failure(self) -> Failure | None:
        return self.state.closing.failure if self.state.closing is not None else None

    @property
    def events(self) -> list[e.Event]:
        return [event for _, events in self.turns for event in events]

    @property
    def trace(self) -> list[str]:
        """Ids of the nodes in the order in which they began."""
        return [event.node for event in self.events if isinstance(event, e.NodeEvaluated | e.ActivationScheduled)]

    @property
    def completed(self) -> list[str]:
        """Ids of the nodes in the order in which they completed."""
        names: dict[int, str] = {}
        found = []
        for event in self.events:
            if isinstance(event, e.ActivationScheduled):
                names[event.id] = event.node
            elif isinstance(event, e.NodeEvaluated):
                found.append(event.node)
            elif isinstance(event, e.ActivationCompleted):
                found.append(names[event.id])
        return found

    @property
    def skipped(self) -> list[str]:
        return [event.node for event in self.events if isinstance(event, e.NodeSkipped)]

    @property
    def outputs(self) -> dict[str, Json]:
        """Outputs by node id, of the root scope."""
        return dict(self.state.body.scopes[0].outputs)

    @property
    def vars(self) -> dict[str, Json]:
        return dict(self.state.body.vars)

    @property
    def messages(self) -> list[e.MessagePublished]:
        return [event for event in self.events if isinstance(event, e.MessagePublished)]

    def of(self, kind: type[e.Event]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    # -- turns --------------------------------------------------------------------------------

    def turn(self, now: int, commands: Sequence[c.Command], restart: bool) -> Turn:
        if restart and self.turns:
            self.state = self.kernel.restore(self.kernel.snapshot(self.state))
        turn = self.kernel.turn(self.state, now)
        for command in commands:
            self.kernel.handle(turn, command)
        self.kernel.finish(turn)
        if turn.events:
            stored = encode_events(turn.events)
            self.turns.append((turn.at, decode_events(stored.data, CODEC, stored.refs, stored.blobs)))
            self.kernel.replay(self._shadow, self.turns[-1][1], turn.at)
        return turn

    def next_wake(self) -> int | None:
        wakes = [at for at in (next_wake(self.state), active_deadline(self.state)) if at is not None]
        return min(wakes, default=None)

    def issued(self, effect: f.AnyEffect) -> None:
        self._under_way.append(effect)

    def answered(self, command: c.Command) -> None:
        """The world has done what was asked of it."""
        self._under_way = [effect for effect in self._under_way if not _answers(command, effect)]

    # -- checks --------------------------------------------------------------------------------

    def check(self) -> None:
        """The replayed state is the state; what is under way is what is outstanding."""
        if self.kernel.snapshot(self._shadow) != self.kernel.snapshot(self.state):
            raise InvariantBroken(f"{self.id}: replaying the events gives another state: {self._difference()}")
        wanted = outstanding(self.kernel.program, self.state)
        missing = [effect for effect in wanted if effect not in self._under_way]
        if missing:
            raise InvariantBroken(f"{self.id}: outstanding but never asked for: {missing}")

    def check_from_the_beginning(self) -> None:
        """A state replayed from nothing, in one go, is the state."""
        state = self.kernel.new(self.id)
        for at, events in self.turns:
            self.kernel.replay(state, events, at)
        if self.kernel.snapshot(state) != self.kernel.snapshot(self.state):
            raise InvariantBroken(f"{self.id}: replaying the whole log gives another state")
        again = self.kernel.restore(self.kernel.snapshot(self.state))
        if self.kernel.snapshot(again) != self.kernel.snapshot(self.state):
            raise InvariantBroken(f"{self.id}: the snapshot gives another state")

    def _difference(self) -> str:
        names = [*RunState.__struct_fields__]
        parts = [(name, getattr(self._shadow, name), getattr(self.state, name)) for name in names]
        return "; ".join(f"{name}: replayed {a!r}, live {b!r}" for name, a, b in parts if a != b)[:4000]


def _answers(command: c.Command, effect: f.AnyEffect) -> bool:
    match command, effect:
        case (c.Complete() | c.Fail(), f.Execute()):
            return command.activation == effect.activation
        case (c.CancelDone(), f.StopHandler() | f.Execute()):
            return command.activation == effect.activation
        case (c.ItemsLoaded(), f.LoadItems()):
            return command.activation == effect.activation and command.offset == effect.offset
        case (c.ChildEnded(), f.StartChild()):
            return command.status != "STARTED" and command.activation == effect.activation
        case (c.Proceed(), f.Continue()):
            return True
        case _:
            return False
