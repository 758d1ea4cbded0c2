"""Flows without an engine: kernel, flow program, a virtual clock, and nothing else.

    runner = PureRunner(document, steps={"charge": lambda ctx, amount: {"paid": amount}})
    result = runner.run({"amount": 7}, signals=[(60, "approved", True)])
    result.status, result.output, result.trace

Nothing waits: the clock jumps to whatever is due next. After each turn the events are taken through the codec and
replayed, and the replayed state must be the state that the turn left behind; and what is under way must be exactly
what the state says is outstanding. So every test that uses the runner also tests replay and recovery.

A step is called as the engine calls it (`perdure.authoring.steps`): with `ctx` if it has such a parameter, and with
its arguments by name. It may return a bare value or a `Result`, and raise an `ActivationError`. `lasting(5, step)`
makes it take five seconds. What is due at the same time comes in the order of asking; with `shuffle=seed` in any order,
repeatably.
"""

from __future__ import annotations

import heapq
import inspect
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from perdure.authoring.steps import Step as PythonStep
from perdure.dialects.known import dialect_of
from perdure.engine.handlers import ActivationError, Result
from perdure.engine.reports import completed
from perdure.errors import DocumentInvalid, InvariantBroken, PerdureError
from perdure.kernel.kernel import Kernel
from perdure.model import commands as c
from perdure.model import effects as f
from perdure.model.documents import FlowDocument
from perdure.model.events import ParentLink
from perdure.model.failures import Failure
from perdure.model.policies import DEFAULT_LIMITS, Limits
from perdure.model.values import Json, decode_json, encode_json
from perdure.model.waits import Wait
from perdure.programs.flow.graph import Graph, compile_flow
from perdure.programs.flow.nodetypes import Catalogue
from perdure.programs.flow.program import FlowProgram
from perdure.testing.pure_run import PureContext, PureRun

SECOND = 1_000_000
BEGIN = 1_767_225_600 * SECOND
"""2026-01-01T00:00:00Z, when every pure run begins."""
PATIENCE = 1_000_000
"""Turns after which a run is taken for endless."""

Step = Callable[..., Any]
Document = Mapping[str, Any] | FlowDocument


class lasting:  # noqa: N801 — reads as a word: lasting(5, charge)
    """A step that takes this many virtual seconds."""

    def __init__(self, seconds: float, step: Step) -> None:
        self.seconds = seconds
        self.step = step


class PureRunner:
    """Runs of one flow and of the flows that it calls.

    A document that is a dict is validated first. `children` are further documents by definition name. `handlers` stand
    in for the handlers of node types other than `python`, called with the context. `check` is `turn` (compare after
    each), `end` (once, at the end) or `none`.
    With `restart`, each turn is decided on a state that was just read back from a snapshot.
    """

    def __init__(  # noqa: PLR0913 — every one is an option of a test
        self,
        document: Document,
        *,
        steps: Mapping[str, Step | lasting] | None = None,
        handlers: Mapping[str, Step | lasting] | None = None,
        children: Mapping[str, Document] | None = None,
        catalogue: Catalogue | None = None,
        limits: Limits = DEFAULT_LIMITS,
        seed: int = 0,
        shuffle: int | None = None,
        check: str = "turn",
        restart: bool = False,
    ) -> None:
        if catalogue is None:
            from perdure.nodes.catalogue import builtin_types

            catalogue = builtin_types()
        self.steps = dict(steps or {})
        self.handlers = dict(handlers or {})
        self.limits = limits
        self.seed = seed
        self.check = check
        self.restart = restart
        self.now = BEGIN
        self.blobs: dict[str, bytes] = {}
        self.runs: dict[str, PureRun] = {}
        self.calls: list[PureContext] = []
        """Every call of a step or handler, in order."""
        self._kernels = {
            name: Kernel(FlowProgram(_compiled(each, catalogue)))
            for name, each in {"flow": document, **(children or {})}.items()
        }
        self._agenda: list[tuple[int, float, int, str, c.Command]] = []
        self._order = 0
        self._chance = random.Random(shuffle) if shuffle is not None else None
        self._turns = 0

    # -- the short way --------------------------------------------------------------------------------

    def run(
        self,
        input: Json = None,
        *,
        signals: Iterable[tuple[float, str, Json]] = (),
        cancel_at: float | None = None,
        **start: Any,
    ) -> PureRun:
        """Starts the flow and goes on until nothing can happen any more. Times are seconds after the start."""
        run = self.start(input, **start)
        for seconds, name, payload in signals:
            self.later(seconds, c.Signal(name, payload), run)
        if cancel_at is not None:
            self.later(cancel_at, c.Cancel("cancelled by the test"), run)
        self.go()
        return run

    # -- step by step --------------------------------------------------------------------------------

    def start(self, input: Json = None, *, name: str = "run", definition: str = "flow", **start: Any) -> PureRun:
        """A new run, with its first turn behind it."""
        run = self._new(name, definition)
        begin = c.Start(definition, 1, "pure", input=input, seed=self.seed, limits=self.limits, **start)
        self.tell(run, begin)
        return run

    def tell(self, run: PureRun, *commands: c.Command) -> None:
        """One turn with these commands, now. Raises what the kernel refuses."""
        self._turns += 1
        if self._turns > PATIENCE:
            raise InvariantBroken(f"{PATIENCE} turns and no end")
        turn = run.turn(self.now, commands, restart=self.restart)
        self.blobs.update(turn.blobs)
        for target, command in turn.sends:
            self._plan(self.now, target, command)
        for effect in turn.effects:
            self._carry_out(run, effect)
        if self.check == "turn":
            run.check()

    def signal(self, run: PureRun, name: str, payload: Json = None, id: str | None = None) -> None:
        self.tell(run, c.Signal(name, payload, id))

    def later(self, seconds: float, command: c.Command, run: PureRun) -> None:
        """The command comes in this many seconds after now."""
        self._plan(self.now + round(seconds * SECOND), run.id, command)

    def advance(self, seconds: float) -> None:
        """Lets time pass, with all that is due until then."""
        until = self.now + round(seconds * SECOND)
        self.go(until)
        self.now = until

    def go(self, until: int | None = None) -> None:
        """Goes on while anything is due, the clock jumping; at most to the moment `until`."""
        while (due := self._next_due()) is not None and (until is None or due <= until):
            self.now = max(self.now, due)
            if self._agenda and self._agenda[0][0] <= due:
                _, _, _, target, command = heapq.heappop(self._agenda)
                run = self.runs.get(target)
                if run is not None and not (run.state.is_final and isinstance(command, c.Signal | c.Cancel)):
                    run.answered(command)
                    self.tell(run, command)
            else:
                for run in list(self.runs.values()):
                    wake = run.next_wake()
                    if wake is not None and wake <= due:
                        self.tell(run, c.FireTimers())
        if self.check != "none":
            for run in self.runs.values():
                run.check_from_the_beginning()

    def _next_due(self) -> int | None:
        wakes = [wake for run in self.runs.values() if (wake := run.next_wake()) is not None]
        if self._agenda:
            wakes.append(self._agenda[0][0])
        return min(wakes, default=None)

    # -- effects --------------------------------------------------------------------------------

    def _carry_out(self, run: PureRun, effect: f.AnyEffect) -> None:
        run.issued(effect)
        match effect:
            case f.Execute(activation=id):
                self._execute(run, id)
            case f.StopHandler(activation=id):
                self._agenda = [entry for entry in self._agenda if not _is_report(entry[3], entry[4], run.id, id)]
                heapq.heapify(self._agenda)
                self._plan(self.now, run.id, c.CancelDone(id, unknown=True))
            case f.StartChild():
                self._start_child(run, effect)
            case f.LoadItems(activation=id, blob=blob, offset=offset):
                self._plan(self.now, run.id, c.ItemsLoaded(id, offset, decode_json(self.blobs[blob])))
            case f.Continue():
                self._plan(self.now, run.id, c.Proceed())

    def _execute(self, run: PureRun, id: int) -> None:
        activation = run.state.activations[id]
        work = run.kernel.program.work(run.state, activation)
        context = PureContext(run, activation, work, self.now)
        self.calls.append(context)
        step: Step | lasting | None = self.handlers.get(work.type)
        arguments: dict[str, Any] | None = None
        if step is None and work.type == "python":
            step = self.steps.get(work.config["step"])
            arguments = work.config.get("arguments")
        seconds = 0.0
        if isinstance(step, lasting):
            seconds, step = step.seconds, step.step
        took = round(seconds * SECOND)
        report: c.Command
        if step is None:
            failure = Failure("NODE_UNKNOWN", f"no handler for {work.type} {work.config!r}", node=activation.node)
            report = c.Fail(id, activation.attempt, failure)
        elif work.timeout is not None and took > work.timeout:
            took = work.timeout
            failure = Failure("TIMEOUT", f"took longer than {took / SECOND} s", True, activation.node)
            report = c.Fail(id, activation.attempt, failure)
        else:
            report = _call(step, context, arguments, id, activation.attempt)
        self._plan(self.now + took, run.id, report)

    def _start_child(self, parent: PureRun, effect: f.StartChild) -> None:
        if effect.run not in self.runs:
            depth = parent.state.parent.depth + 1 if parent.state.parent else 1
            if effect.definition not in self._kernels or depth > self.limits.child_depth:
                code = "NOT_FOUND" if effect.definition not in self._kernels else "LIMIT_CHILD_DEPTH"
                failure = Failure(code, f"no child {effect.definition!r} at depth {depth}")
                self._plan(self.now, parent.id, c.ChildEnded(effect.activation, effect.run, "FAILED", failure=failure))
                return
            self._new(effect.run, effect.definition)
            link = ParentLink(parent.id, effect.activation, depth)
            begin = c.Start(
                effect.definition,
                effect.version if isinstance(effect.version, int) else 1,
                "pure",
                input=effect.input,
                parent=link,
            )
            self._plan(self.now, effect.run, begin)
        self._plan(self.now, parent.id, c.ChildEnded(effect.activation, effect.run, "STARTED"))

    def _new(self, id: str, definition: str) -> PureRun:
        run = PureRun(id, definition, self._kernels[definition])
        self.runs[id] = run
        return run

    def _plan(self, at: int, target: str, command: c.Command) -> None:
        self._order += 1
        rank = self._chance.random() if self._chance is not None else 0.0
        heapq.heappush(self._agenda, (at, rank, self._order, target, command))


def _compiled(document: Document, catalogue: Catalogue) -> Graph:
    if isinstance(document, FlowDocument):
        return compile_flow(document, catalogue)
    given = dict(document)
    dialect = dialect_of(given)
    problems = dialect.validate(given, catalogue)
    if any(problem.is_error for problem in problems):
        raise DocumentInvalid("the document has mistakes", [problem.as_dict() for problem in problems])
    return dialect.compile(given, catalogue)


def _is_report(target: str, command: c.Command, run: str, activation: int) -> bool:
    return target == run and isinstance(command, c.Complete | c.Fail) and command.activation == activation


def _call(step: Step, context: PureContext, arguments: dict[str, Any] | None, id: int, attempt: int) -> c.Command:
    try:
        found = PythonStep(step, blocking=False).call(context, arguments)
        if inspect.iscoroutine(found):
            found = _finished(found)
    except ActivationError as fault:
        wait = round(fault.retry_after * SECOND) if fault.retry_after is not None else None
        failure = Failure(fault.code, fault.message, fault.retryable, context.node_id, wait, fault.details)
        return c.Fail(id, attempt, failure, fault.output)
    except PerdureError as fault:
        return c.Fail(id, attempt, Failure(fault.code, fault.message, fault.retryable, context.node_id))
    except Exception as fault:
        failure = Failure("NODE_FAILED", f"{type(fault).__name__}: {fault}", True, context.node_id)
        return c.Fail(id, attempt, failure)
    if isinstance(found, Wait):
        return completed(id, attempt, found)
    result = found if isinstance(found, Result) else Result(found)
    data = encode_json(result.output)
    return c.Complete(id, attempt, decode_json(data), result.outcome, result.vars, len(data), result.beside)


def _finished(coroutine: Any) -> Any:
    """The result of a coroutine that never really waits; giving way to others is no waiting."""
    while True:
        try:
            waits_for = coroutine.send(None)
        except StopIteration as end:
            return end.value
        if waits_for is not None:
            coroutine.close()
            raise InvariantBroken("an asynchronous step waited for something; a pure run has no event loop")
