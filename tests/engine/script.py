"""A small program for the engine's tests: a script is a list of instructions, carried out one after the other.

    {"do": "step", "type": "echo", ...}     run a handler; its output becomes the next one's input
    {"do": "sleep", "seconds": 5}           a timer; without seconds it is due when the run's input says
    {"do": "signal", "name": "go", "seconds": 60}
    {"do": "child", "definition": "other", "wait": True}     with "count" several at once
    {"do": "together", "types": ["a", "b"]} several handlers at once
    {"do": "publish", "type": "t"} · {"do": "label", "values": {...}}

Options of steps: attempts, timeout (seconds), once (at most once), undo (type of the handler that compensates).
"""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.kernel.kernel import Kernel
from perdure.kernel.program import SEMANTICS, Work
from perdure.kernel.state import Activation, RunState, Undo
from perdure.kernel.turn import Turn
from perdure.kernel.winding import close_run, fail_run
from perdure.model import effects as f
from perdure.model import events as e
from perdure.model.failures import Failure
from perdure.model.policies import NO_RETRY, SECOND, Limits, Retry
from perdure.model.statuses import Phase
from perdure.ports.definitions import Version


class Place(msgspec.Struct):
    """Where the script is."""

    next: int = 0
    value: Any = None
    outputs: list[Any] = []
    vars: dict[str, Any] = {}


class Script:
    name = "script"
    semantics = SEMANTICS

    def __init__(self, steps: list[dict[str, Any]]) -> None:
        self.steps = steps
        self.appliers = {
            e.RunStarted: self._started,
            e.ActivationScheduled: self._scheduled,
            e.ActivationCompleted: self._completed,
            e.MessagePublished: self._passed,
            e.AttributesSet: self._passed,
        }

    # -- evolve

    def _started(self, state: RunState, event: Any, at: int, subject: Activation | None) -> None:
        state.body = Place(value=event.input)

    def _scheduled(self, state: RunState, event: Any, at: int, subject: Activation | None) -> None:
        assert subject is not None
        if not event.detached:
            subject.input = state.body.value
            state.body.next = int(event.node.partition("-")[0]) + 1

    def _completed(self, state: RunState, event: Any, at: int, subject: Activation | None) -> None:
        assert subject is not None
        if subject.detached:
            return
        step = self.steps[int(subject.node.partition("-")[0])]
        state.body.value = event.output
        state.body.outputs = [*state.body.outputs, event.output]
        state.body.vars = {**state.body.vars, **(event.vars or {})}
        if "undo" in step:
            key = state.activation_key(subject)
            state.scopes[0].undo.append(
                Undo(subject.id, subject.node, key, step["undo"], subject.input, event.output, on_cancel=True)
            )

    def _passed(self, state: RunState, event: Any, at: int, subject: Activation | None) -> None:
        state.body.next += 1

    # -- decide

    def advance(self, turn: Turn) -> None:
        state = turn.state
        while state.closing is None and not state.activations:
            if state.body.next >= len(self.steps):
                close_run(turn, "COMPLETED", state.body.value)
                return
            self._begin(turn, self.steps[state.body.next], state.body.next)

    def _begin(self, turn: Turn, step: dict[str, Any], place: int) -> None:
        match step["do"]:
            case "publish":
                turn.emit(e.MessagePublished(step["type"], turn.state.body.value))
            case "label":
                turn.emit(e.AttributesSet(step["values"]))
            case "together":
                for number in range(len(step["types"])):
                    self._schedule(turn, f"{place}-{number}")
            case "child" if "count" in step:
                for number in range(step["count"]):
                    self._schedule(turn, f"{place}-{number}")
            case _:
                self._schedule(turn, str(place))

    def _schedule(self, turn: Turn, node: str) -> None:
        id = turn.state.next_activation
        turn.emit(e.ActivationScheduled(id, node))
        self.launch(turn, turn.state.activations[id])

    def launch(self, turn: Turn, activation: Activation) -> None:
        if activation.detached:
            turn.execute(activation.id)
            return
        step = self.steps[int(activation.node.partition("-")[0])]
        match step["do"]:
            case "sleep":
                due = turn.at + int(step["seconds"] * SECOND) if "seconds" in step else turn.state.input
                turn.emit(e.TimerArmed(f"a{activation.id}", due, "sleep", activation.id))
            case "signal":
                turn.emit(e.SignalAwaited(activation.id, step["name"]))
                if "seconds" in step:
                    due = turn.at + int(step["seconds"] * SECOND)
                    turn.emit(e.TimerArmed(f"a{activation.id}", due, "signal", activation.id))
                pending = next((s for s in turn.state.signals.values() if s.name == step["name"]), None)
                if pending is not None:
                    turn.emit(e.SignalConsumed(step["name"], activation.id, pending.number))
                    self.completed(turn, activation, pending.payload, "signal", None)
            case "child":
                child = f"{turn.state.run}.{activation.id}.{activation.key_generation}"
                wait, policy = step.get("wait", True), step.get("policy", "cancel")
                turn.emit(
                    e.ChildRequested(activation.id, child, step["definition"], None, activation.input, wait, policy)
                )
                turn.effects.append(f.StartChild(activation.id, child, step["definition"], None, activation.input))
            case _:
                turn.execute(activation.id)

    def completed(
        self,
        turn: Turn,
        activation: Activation,
        output: Any,
        outcome: str | None,
        variables: Any,
        size: int = 0,
        beside: Any = None,
        cached: bool = False,
    ) -> None:
        if output == "an output that breaks the program":
            turn.emit(e.ActivationCompleted(activation.id, output))
            raise ZeroDivisionError("a bug in the program")
        turn.emit(e.ActivationCompleted(activation.id, output, outcome, None, variables, size))

    def failed(self, turn: Turn, activation: Activation, failure: Failure, output: Any) -> None:
        turn.emit(e.ActivationFailed(activation.id, activation.attempt, failure, output=output))
        fail_run(turn, failure, activation.id)

    def timed_out(self, turn: Turn, activation: Activation) -> None:
        if activation.phase is Phase.SIGNAL:
            self.failed(turn, activation, Failure("SIGNAL_TIMEOUT", "it did not come"), None)
        else:
            self.completed(turn, activation, turn.state.body.value, None, None)

    def _step(self, activation: Activation) -> dict[str, Any]:
        return {} if activation.detached else self.steps[int(activation.node.partition("-")[0])]

    def check_input(self, input: Any) -> None: ...

    def attributes(self, input: Any) -> dict[str, Any]:
        return {}

    def has_acted(self, state: RunState, activation: Activation) -> bool:
        return False

    def limited(self, limits: Limits) -> Limits:
        return limits

    def work(self, state: RunState, activation: Activation) -> Work:
        if activation.detached:
            return Work(type=activation.node)
        step = self._step(activation)
        kind = step["types"][int(activation.node.partition("-")[2])] if step["do"] == "together" else step["type"]
        timeout = int(step["timeout"] * SECOND) if "timeout" in step else None
        return Work(type=kind, config=step.get("config"), timeout=timeout)

    def retry_policy(self, state: RunState, activation: Activation) -> Retry:
        attempts = self._step(activation).get("attempts", 1)
        return Retry(attempts=attempts) if attempts > 1 else NO_RETRY

    def is_at_most_once(self, state: RunState, activation: Activation) -> bool:
        return bool(self._step(activation).get("once"))

    def compensation(self, state: RunState) -> str:
        return "strict"

    def undo(self, turn: Turn, entry: Undo, scope: int) -> None:
        id = turn.state.next_activation
        turn.emit(e.ActivationScheduled(id, entry.handler, undo=entry.activation, detached=True, input=entry.output))
        turn.execute(id)

    def start_completion_node(self, turn: Turn, number: int) -> bool:
        return False

    def signalled(self, turn: Turn) -> None: ...

    def choice(self, turn: Turn, activation: Activation) -> None:
        return None

    def loses_signal(self, state: RunState, name: str) -> bool:
        return False

    def items_loaded(self, turn: Turn, activation: Activation, command: Any) -> None: ...

    def is_waiting(self, state: RunState) -> bool:
        return False

    def kept_back(self, state: RunState) -> tuple[()]:
        return ()

    def has_ready(self, state: RunState) -> bool:
        return False

    def wanted(self, state: RunState, activation: Activation) -> None:
        return None

    def encode(self, body: Any) -> bytes:
        return msgspec.msgpack.encode(body)

    def decode(self, data: bytes) -> Any:
        return msgspec.msgpack.decode(data, type=Place | None)


def compile_script(version: Version) -> Kernel:
    return Kernel(Script(version.document["steps"]))
