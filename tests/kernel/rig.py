"""A run on a test bench: every command is one turn, and after each turn everything that must hold is checked.

- the decision is repeated on a copy read back from a snapshot: same events, same effects, same state, and the copy's
  source is untouched;
- the events go through the codec and are replayed: same state, byte for byte;
- what has been handed out and not been answered is exactly what `outstanding` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.kernel.kernel import Kernel
from perdure.kernel.outlook import Reason, explain, next_wake, outstanding, status_of
from perdure.kernel.state import Activation, RunState
from perdure.kernel.turn import Turn
from perdure.model import commands as c
from perdure.model import effects as fx
from perdure.model import events as e
from perdure.model.codec import CODEC, decode_events, encode_events
from perdure.model.documents import FlowDocument
from perdure.model.events import ParentLink
from perdure.model.failures import Failure
from perdure.model.policies import DEFAULT_LIMITS, Limits
from perdure.model.statuses import Status
from perdure.programs.flow.graph import compile_flow
from perdure.programs.flow.program import FlowProgram
from tests.kernel.catalogue import CATALOGUE

SECOND = 1_000_000
BROKEN = Failure("BROKEN", "the child broke")


class Rig:
    def __init__(
        self,
        document: FlowDocument,
        *,
        input: Any = None,
        limits: Limits = DEFAULT_LIMITS,
        seed: int = 0,
        parent: ParentLink | None = None,
        checked: bool = True,
        started: bool = True,
    ) -> None:
        self.document = document
        self.kernel = Kernel(FlowProgram(compile_flow(document, CATALOGUE)))
        self.state: RunState = self.kernel.new("r")
        self.shadow: RunState = self.kernel.new("r")
        self.now = 1000
        self.turns: list[Turn] = []
        self.log: list[tuple[int, list[e.Event]]] = []
        self.under_way: set[Any] = set()
        self.checked = checked
        self.watchers: list[Callable[[], None]] = []
        self.begin = c.Start("d", 1, "h", input=input, seed=seed, parent=parent, limits=limits)
        if started:
            self.tell(self.begin)

    # -- one turn ------------------------------------------------------------------------------

    def tell(self, *commands: c.Command, after: int = 0) -> list[e.Event]:
        """One turn with these commands, `after` microseconds from now; its events."""
        self.now += after
        before = self.kernel.snapshot(self.state) if self.checked else b""
        turn = self._decide(self.state, commands)
        if self.checked:
            twin = self.kernel.restore(before)
            repeated = self._decide(twin, commands)
            assert repeated.events == turn.events, "the same command on a restored state gives other events"
            assert repeated.effects == turn.effects
            assert repeated.sends == turn.sends
            self.same(twin, "deciding on a restored state")
        self._record(turn)
        if self.checked:
            self.same(self.shadow, "replaying the log")
            assert self.under_way == self.outstanding(), "what was asked for is not what is outstanding"
        for watch in self.watchers:
            watch()
        return turn.events

    def emit(self, *events: e.Event) -> None:
        """One turn with events that another program would decide."""
        turn = self.kernel.turn(self.state, self.now)
        for event in events:
            turn.emit(event)
        self._record(turn)
        self.same(self.shadow, "replaying the log")

    def _decide(self, state: RunState, commands: tuple[c.Command, ...]) -> Turn:
        turn = self.kernel.turn(state, self.now)
        for command in commands:
            self.kernel.handle(turn, command)
        self.kernel.finish(turn)
        return turn

    def _record(self, turn: Turn) -> None:
        self.turns.append(turn)
        if turn.events:
            stored = encode_events(turn.events)
            events = decode_events(stored.data, CODEC, stored.refs, stored.blobs)
            assert events == turn.events, "the codec changes events"
            self.log.append((turn.at, events))
            if self.checked:
                self.kernel.replay(self.shadow, events, turn.at)
        for event in turn.events:
            self._answered(event)
        self.under_way.discard(fx.Continue)
        for effect in turn.effects:
            mark = _mark(effect)
            assert mark not in self.under_way, f"{effect} is asked for twice"
            self.under_way.add(mark)

    def _answered(self, event: e.Event) -> None:
        match event:
            case e.ActivationCompleted(id=id) | e.ActivationFailed(id=id) | e.ActivationCancelled(id=id):
                gone = {id}
            case e.ActivationCancelling(id=id):
                gone = {id}
            case e.ItemsAdded(activation=id) | e.LoopClosing(activation=id):
                gone = {id}
            case e.TaskOpened(activation=id) | e.SignalAwaited(activation=id):
                gone = {id}
            case e.TimerArmed(activation=int(id)):
                gone = {id}
            case _:
                return
        self.under_way = {mark for mark in self.under_way if mark is fx.Continue or mark[1] not in gone}

    def outstanding(self) -> set[Any]:
        found = [_mark(effect) for effect in outstanding(self.kernel.program, self.state)]
        assert len(set(found)) == len(found)
        return set(found)

    def same(self, other: RunState, how: str) -> None:
        if self.kernel.snapshot(other) != self.kernel.snapshot(self.state):
            parts = [(name, getattr(other, name), getattr(self.state, name)) for name in RunState.__struct_fields__]
            differences = [f"{name}: {a!r} instead of {b!r}" for name, a, b in parts if a != b]
            raise AssertionError(f"{how} gives another state: {'; '.join(differences) or 'other bytes'}")

    # -- what handlers and the world say ------------------------------------------------------------------------------

    def live(self, node: str, path: str = "") -> Activation:
        """The only live activation of this node (in the iteration `path`)."""
        found = [
            activation
            for activation in self.state.activations.values()
            if activation.node == node and (not path or self.state.scopes[activation.scope].path == path)
        ]
        assert len(found) == 1, f"{len(found)} live activations of {node}"
        return found[0]

    def complete(self, node: str, output: Any = None, path: str = "", **rest: Any) -> list[e.Event]:
        activation = self.live(node, path)
        return self.tell(c.Complete(activation.id, activation.attempt, output, **rest))

    def fail(self, node: str, code: str = "BROKEN", path: str = "", **rest: Any) -> list[e.Event]:
        activation = self.live(node, path)
        return self.tell(c.Fail(activation.id, activation.attempt, Failure(code, f"{node} broke", **rest)))

    def stopped(self, node: str, unknown: bool = False, path: str = "") -> list[e.Event]:
        return self.tell(c.CancelDone(self.live(node, path).id, unknown))

    def signal(self, name: str, payload: Any = None, id: str | None = None) -> list[e.Event]:
        return self.tell(c.Signal(name, payload, id))

    def answer(self, node: str, decision: str = "yes", path: str = "", **rest: Any) -> list[e.Event]:
        response = {"selectedOptions": {"decision": decision}}
        return self.tell(c.Answer(response, self.live(node, path).id, **rest))

    def waits(self, node: str, then: Any) -> list[e.Event]:
        """The handler answers with a wait."""
        activation = self.live(node)
        return self.tell(c.Complete(activation.id, activation.attempt, then=then))

    def child_ended(
        self, node: str, status: str = "COMPLETED", output: Any = None, failure: Failure | None = BROKEN
    ) -> list[e.Event]:
        activation = self.live(node)
        assert activation.child is not None
        if status not in ("FAILED", "TIMED_OUT"):
            failure = None
        return self.tell(c.ChildEnded(activation.id, activation.child, status, output, failure))

    def wake(self) -> list[e.Event]:
        """Jumps to the next due time and fires."""
        due = next_wake(self.state)
        assert due is not None, "nothing is due"
        return self.tell(c.FireTimers(), after=max(0, due - self.now))

    # -- what became of it ------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        return status_of(self.kernel.program, self.state)

    @property
    def reasons(self) -> list[Reason]:
        return explain(self.kernel.program, self.state)

    @property
    def events(self) -> list[e.Event]:
        return [event for _, events in self.log for event in events]

    def of(self, kind: type[e.Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def begun(self) -> list[str]:
        return [each.node for each in self.events if isinstance(each, e.NodeEvaluated | e.ActivationScheduled)]

    @property
    def skipped(self) -> list[str]:
        return [event.node for event in self.of(e.NodeSkipped)]

    @property
    def output(self) -> Any:
        assert self.state.closing is not None
        return self.state.closing.output

    @property
    def failure(self) -> Failure:
        assert self.state.closing is not None
        assert self.state.closing.failure is not None
        return self.state.closing.failure

    @property
    def last(self) -> Turn:
        return self.turns[-1]

    @property
    def executing(self) -> list[str]:
        return [each.node for each in self.state.activations.values() if each.phase == "executing"]

    def phase(self, node: str) -> str:
        return str(self.live(node).phase)


def _mark(effect: Any) -> Any:
    return fx.Continue if isinstance(effect, fx.Continue) else (type(effect).__name__, effect.activation, str(effect))


def kinds(events: list[e.Event]) -> list[str]:
    return [type(event).__name__ for event in events]
