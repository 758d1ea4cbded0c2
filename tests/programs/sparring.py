"""A run in the kernel and the same run in the reference interpreter, told the same things and compared after each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from perdure.kernel.outlook import next_wake
from perdure.kernel.state import Activation
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.documents import FlowDocument
from perdure.model.failures import Failure
from perdure.model.statuses import Phase
from tests.kernel.rig import Rig
from tests.programs.reference.interpreter import Reference

MOST_TURNS = 120


class Sparring:
    def __init__(self, document: dict[str, Any], choices: list[int]) -> None:
        self.rig = Rig(FlowDocument.model_validate(document), input=1, started=False)
        self.reference = Reference(document)
        self.choices: Iterator[int] = iter(choices)
        self.done: list[str] = []
        self._tell(self.rig.begin, "start", 1)

    def run(self) -> None:
        while self.rig.state.final is None and len(self.done) < MOST_TURNS:
            self.turn()
        self.compare_history()

    # -- one turn ---------------------------------------------------------------------------------

    def pick(self, count: int) -> int:
        return next(self.choices, 0) % count

    def turn(self) -> None:
        state = self.rig.state
        live = sorted(state.activations.values(), key=state.activation_key)
        answerable = [act for act in live if act.phase in (Phase.EXECUTING, Phase.CANCELLING, Phase.CHILD)]
        chance = self.pick(80) if len(self.done) < 60 else 0
        if chance == 77 and state.closing is None:
            self._tell(c.Cancel(), "cancel")
        elif chance in (75, 76) and state.closing is None and state.suspended is None:
            self._tell(c.Suspend(), "suspend")
        elif state.suspended is not None and (chance > 60 or not answerable):
            self._tell(c.Resume(), "resume")
        elif chance in (73, 74):
            self._signal()
        elif next_wake(state) is not None and (chance > 50 or not answerable):
            self.rig.now = max(self.rig.now, next_wake(state) or 0)
            self._tell(c.FireTimers(), "timers")
        elif answerable:
            self._answer(answerable[self.pick(len(answerable))])
        else:
            self._signal()

    def _signal(self) -> None:
        waiting = sorted(self.rig.state.waiters)
        name = waiting[self.pick(len(waiting))] if waiting else "go"
        payload = self.pick(3)
        self._tell(c.Signal(name, payload), "signal", name, payload)

    def _answer(self, act: Activation) -> None:
        key = self.rig.state.activation_key(act)
        if act.phase is Phase.CHILD:
            self._end_child(key, act)
        elif act.phase is Phase.CANCELLING and self.pick(2):
            unknown = bool(self.pick(2))
            self._tell(c.CancelDone(act.id, unknown), "stop", key, unknown)
        elif self.pick(7) == 6:
            code, retryable = ("BROKEN", "TIMEOUT")[self.pick(2)], bool(self.pick(2))
            failure = Failure(code, "it broke", retryable)
            self._tell(c.Fail(act.id, act.attempt, failure), "fail", key, failure.as_dict())
        else:
            output, outcome = self.pick(3), (None, "a", "b")[self.pick(3)]
            variables = {"x": output} if self.pick(4) == 0 else {}
            report = c.Complete(act.id, act.attempt, output, outcome, variables)
            self._tell(report, "complete", key, output, outcome, variables)

    def _end_child(self, key: str, act: Activation) -> None:
        assert act.child is not None
        status = ("COMPLETED", "COMPLETED", "FAILED", "CANCELLED")[self.pick(4)]
        assert act.child_of is not None
        definition, ways = act.child_of[0], {"COMPLETED": "", "FAILED": "failed", "CANCELLED": "was cancelled"}
        told = {
            "code": "CHILD_FAILED",
            "message": f"child flow {definition!r} (run {act.child}) {ways[status]}",
            "retryable": status != "CANCELLED",
            "details": {"run": act.child, "status": status, "failure": None, "definition": definition},
        }
        if status == "CANCELLED":
            del told["retryable"]
        output = self.pick(3)
        self._tell(c.ChildEnded(act.id, act.child, status, output), "child", key, status, output, told)

    def _tell(self, command: c.Command, what: str, *details: Any) -> None:
        self.done.append(f"{what} {details}")
        self.rig.tell(command)
        self.reference.tell(what, *details, now=self.rig.now)
        self.compare()

    # -- comparing --------------------------------------------------------------------------------

    def compare(self) -> None:
        state, reference = self.rig.state, self.reference
        alive = {state.activation_key(act): str(act.phase) for act in state.activations.values()}
        self._same("alive", alive, {act.key(): act.phase for act in reference.live})
        self._same("final status", state.final, reference.final)
        self._same("shared data", state.body.vars, reference.vars)
        self._same(
            "signals", [signal.payload for signal in state.signals.values()], [value for _, value in reference.signals]
        )
        if state.closing is None:
            self._same("outputs", state.body.scopes[0].outputs, reference.root.outputs)
        else:
            self._same("result", state.closing.output, reference.output)
            told = state.closing.failure.code if state.closing.failure else None
            self._same("failure", told, reference.failure["code"] if reference.failure else None)

    def compare_history(self) -> None:
        ran, skipped, undone = history_of(self.rig.events)
        self._same("what ran", ran, self.reference.ran)
        self._same("what was skipped", skipped, self.reference.skipped)
        self._same("what was undone", undone, len(self.reference.undone))

    def _same(self, what: str, kernel: Any, reference: Any) -> None:
        assert kernel == reference, f"{what}: kernel {kernel}, reference {reference}; after {self.done}"


def history_of(events: list[e.Event]) -> tuple[Counter[tuple[str, ...]], Counter[tuple[str, ...]], int]:
    """What ran and what was skipped, by path; how many were undone."""
    ran: Counter[tuple[str, ...]] = Counter()
    skipped: Counter[tuple[str, ...]] = Counter()
    paths: dict[int, tuple[str, ...]] = {0: ()}
    acts: dict[int, e.ActivationScheduled] = {}
    undone = 0
    for event in events:
        match event:
            case e.ActivationScheduled():
                acts[event.id] = event
                if not event.detached:
                    ran[*paths[event.scope], event.node] += 1
            case e.NodeEvaluated():
                ran[*paths[event.scope], event.node] += 1
            case e.NodeSkipped():
                skipped[*paths[event.scope], event.node, event.reason] += 1
            case e.IterationStarted():
                loop = acts[event.activation]
                step = f"{loop.node}.{event.index}" + (f"@{loop.visit}" if loop.visit > 1 else "")
                paths[event.scope] = (*paths[loop.scope], step)
            case e.ActivationCompleted(id=id):
                undone += acts[id].undo is not None
    return ran, skipped, undone
