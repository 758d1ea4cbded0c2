"""A flow as a Temporal workflow.

The kernel decides here exactly what it decides in the engine; only the world around it is another one. Temporal's
history is the truth: it holds what came in (results, signals, timers), and replaying the workflow decides everything
else again. The events are a projection, kept in the workflow and shown by a query.

    commands   results of activities and children, signals, cancellation, due timers
    effects    Execute = activity, StopHandler = cancel it and wait, StartChild = child workflow, next wake = one timer

All state is in the instance and the only clock is `workflow.now()`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, TypeVar

import msgspec
from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ActivityError, CancelledError, ChildWorkflowError

from perdure.dialects.known import BY_KIND
from perdure.errors import InvariantBroken, PerdureError
from perdure.kernel.kernel import Kernel
from perdure.kernel.outlook import Reason, active_deadline, explain, next_wake, status_of
from perdure.model import commands as c
from perdure.model import effects as fx
from perdure.model.events import ParentLink, Recorded
from perdure.model.failures import Failure
from perdure.model.policies import ParentClose
from perdure.model.values import Json, decode_json
from perdure.programs.flow.program import FlowProgram
from perdure.temporal import failures
from perdure.temporal.payloads import EXECUTE_NODE, FIND_DEFINITION, FLOW, FlowStart, Found, NodeCall, call_of

CATALOGUE = "perdure_catalogue"
"""The name under which the worker hands the node types into the workflow (see `worker.py`)."""

PENDING_ACTIVITIES = 2_000
"""A Temporal server refuses more of one workflow."""
HEARTBEAT = timedelta(seconds=30)
"""A worker that has been silent for so long is taken for dead, as by the engine's lease."""
PATIENCE = timedelta(seconds=30)
NO_LIMIT = timedelta(days=365)
"""Temporal wants one."""
ONCE = RetryPolicy(maximum_attempts=1)
"""Retries are the kernel's business: it counts, records and paces them."""

_K = TypeVar("_K", int, str)
_Task: TypeAlias = "asyncio.Task[c.Command]"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@workflow.defn(name=FLOW)
class FlowHost:
    @workflow.init
    def __init__(self, begin: Json) -> None:
        start = msgspec.convert(begin, FlowStart)
        # Only what was validated is published. If this fails, the worker is at fault (a node type is missing, say),
        # and Temporal repeats the task until another one takes it.
        catalogue = workflow.extern_functions()[CATALOGUE]()
        self._program = FlowProgram(BY_KIND[start.kind].compile(start.document, catalogue), start.lookups)
        self._kernel = Kernel(self._program)
        self._state = self._kernel.new(start.run)
        self._log: list[Recorded] = []
        self._blobs: dict[str, bytes] = {}
        """Results of long loops that the state refers to."""
        self._mailbox: list[c.Command | Exception] = [start.command]
        self._running: dict[int, _Task] = {}
        """Handlers, by activation."""
        self._slots = asyncio.Semaphore(PENDING_ACTIVITIES)
        self._children: dict[str, _Task] = {}
        self._given_up: list[_Task] = []
        """Children that have been told to stop."""
        self._alarm: asyncio.Task[None] | None = None
        self._wake: int | None = None
        self._cancelled = False

    @workflow.run
    async def run(self, begin: Json) -> Json:
        while self._state.final is None:
            await self._until(lambda: bool(self._mailbox))
            self._take_turn()
        # Temporal drops a request to cancel a child if the parent ends before it is carried out.
        await self._until(lambda: all(child.done() for child in self._given_up))
        closing = self._state.closing
        assert closing is not None
        if self._state.final == "COMPLETED":
            return closing.output
        if self._state.final == "CANCELLED":
            raise CancelledError(closing.reason or "cancelled")
        assert closing.failure is not None
        raise failures.as_error(self._state.final, closing.failure)

    @workflow.signal(dynamic=True)
    def signal(self, name: str, args: Sequence[RawValue]) -> None:
        payload = workflow.payload_converter().from_payload(args[0].payload) if args else None
        self._mailbox.append(c.Signal(name, payload))

    @workflow.query
    def events(self) -> list[Recorded]:
        return self._log

    @workflow.query
    def status(self) -> str:
        return status_of(self._program, self._state)

    @workflow.query
    def why(self) -> list[Reason]:
        """Why the run is not further on."""
        return explain(self._program, self._state, _now())

    # -- turns ------------------------------------------------------------------------------------

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            try:
                await workflow.wait_condition(condition)
            except asyncio.CancelledError:
                reason = workflow.cancellation_reason()
                if reason is None or self._cancelled:
                    raise  # not the user's wish: the workflow is being evicted from the worker's cache
                self._cancelled = True
                self._mailbox.append(c.Cancel(reason or None))

    def _take_turn(self) -> None:
        kernel, state = self._kernel, self._state
        turn = kernel.turn(state, _now())
        before = state.seq
        mail, self._mailbox = self._mailbox, []
        for command in mail:
            if isinstance(command, Exception):
                raise command
            try:
                kernel.handle(turn, command)
            except InvariantBroken:
                raise
            except PerdureError as refusal:
                # Nobody waits for an answer: Temporal has taken the signal before it was decided.
                workflow.logger.warning("%s refused: %s", type(command).__name__, refusal)
        kernel.finish(turn)
        self._log.extend(Recorded(before + number, turn.at, event) for number, event in enumerate(turn.events, 1))
        self._blobs.update(turn.blobs)
        for effect in turn.effects:
            self._carry_out(effect)
        for run, sent in turn.sends:
            if isinstance(sent, c.Cancel) and run in self._children:
                self._given_up.append(self._children[run])
                self._children[run].cancel(sent.reason)
            # That a child has ended its parent hears from Temporal.
        self._set_alarm()

    def _carry_out(self, effect: fx.AnyEffect) -> None:
        match effect:
            case fx.Execute(activation=id):
                self._begin(self._execute(call_of(self._program, self._state, id)), self._running, id, c.CancelDone(id))
            case fx.StopHandler(activation=id):
                if id in self._running:
                    self._running[id].cancel()
                else:
                    self._mailbox.append(c.CancelDone(id, unknown=True))
            case fx.StartChild(run=run):
                never = c.ChildEnded(effect.activation, run, "CANCELLED")
                self._begin(self._run_child(effect), self._children, run, never)
            case fx.LoadItems(activation=id, blob=blob, offset=offset):
                if blob not in self._blobs:
                    raise failures.as_error(
                        "FAILED", Failure("NOT_HERE", "items in blobs cannot be read on Temporal yet")
                    )
                self._mailbox.append(c.ItemsLoaded(id, offset, decode_json(self._blobs[blob])))
            case fx.Continue():
                self._mailbox.append(c.Proceed())

    def _begin(self, work: Coroutine[Any, Any, c.Command], shelf: dict[_K, _Task], key: _K, never: c.Command) -> None:
        """Keeps a task on the shelf while it runs. It leaves a command: its result, or `never` if it never began."""

        def done(task: _Task) -> None:
            if shelf.get(key) is task:
                del shelf[key]
            if task.cancelled():
                self._mailbox.append(never)
            else:
                problem = task.exception()
                assert problem is None or isinstance(problem, Exception)
                self._mailbox.append(problem or task.result())

        shelf[key] = asyncio.create_task(work)
        shelf[key].add_done_callback(done)

    # -- handlers ---------------------------------------------------------------------------------

    async def _execute(self, call: NodeCall) -> c.Command:
        id = call.activation_id
        async with self._slots:
            try:
                answer = await workflow.execute_activity(
                    EXECUTE_NODE,
                    call,
                    schedule_to_close_timeout=self._time_left(),
                    heartbeat_timeout=HEARTBEAT,
                    retry_policy=ONCE,
                    cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                    summary=call.node_id,
                )
            except asyncio.CancelledError:
                return c.CancelDone(id, unknown=True)
            except ActivityError as error:
                if failures.is_out_of_time(error):
                    self._mailbox.append(c.FireTimers())  # which ends the run if that was its limit
                program, state = self._program, self._state
                at_most_once = id in state.activations and program.is_at_most_once(state, state.activations[id])
                return failures.of_activity(error, id, call.attempt, at_most_once)
        return msgspec.convert(answer, c.Complete)

    def _time_left(self) -> timedelta:
        """Of the run's active time. An activity that lasts longer has used it up, whatever else ran meanwhile."""
        deadline = active_deadline(self._state)
        if deadline is None or self._state.closing is not None:
            return NO_LIMIT  # what is undone when a run ends may take its time
        return max(deadline - _now(), 1_000) * _MICROSECOND

    # -- children ---------------------------------------------------------------------------------

    async def _run_child(self, effect: fx.StartChild) -> c.Command:
        state, id, run = self._state, effect.activation, effect.run
        activation = state.activations[id]
        waits = activation.child_wait
        dies = waits and activation.on_parent_close == ParentClose.CANCEL
        depth = 1 + (state.parent.depth if state.parent is not None else 0)
        if depth > state.limits.child_depth:
            return failures.too_deep(id, run, state.limits.child_depth)
        key = state.activation_key(activation)
        try:
            answer = await workflow.execute_activity(
                FIND_DEFINITION, args=[effect.definition, effect.version], start_to_close_timeout=PATIENCE
            )
            found = msgspec.convert(answer, Found)
            command = c.Start(
                found.definition,
                found.version,
                found.hash,
                input=effect.input,
                seed=workflow.random().getrandbits(62),
                trigger="child",
                key=key,
                parent=ParentLink(state.run, id, depth),
                thread=state.thread,
                limits=state.limits,
                pins=found.pins,
            )
            child = await workflow.start_child_workflow(
                FLOW,
                FlowStart(run, found.document, command, found.kind, found.lookups),
                id=run,
                # The kernel says itself when a child is to be cancelled; this is for a parent that was terminated.
                parent_close_policy=workflow.ParentClosePolicy.REQUEST_CANCEL
                if dies
                else workflow.ParentClosePolicy.ABANDON,
                cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_REQUESTED,
                static_summary=f"{found.definition} version {found.version}",
            )
            if not waits:
                return c.ChildEnded(id, run, "STARTED")
            return c.ChildEnded(id, run, "COMPLETED", await child)
        except (ActivityError, ChildWorkflowError) as error:
            return failures.of_child(error, id, run)

    # -- time -------------------------------------------------------------------------------------

    def _set_alarm(self) -> None:
        """One Temporal timer for the earliest of ours; it is left alone as long as that stays the same."""
        wake = next_wake(self._state)
        if wake == self._wake:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._wake = wake
        self._alarm = asyncio.create_task(self._ring(wake)) if wake is not None else None

    async def _ring(self, due: int) -> None:
        while (left := due - _now()) > 0:
            await workflow.sleep(left * _MICROSECOND)
        self._wake = None
        self._mailbox.append(c.FireTimers())


def _now() -> int:
    return (workflow.now() - _EPOCH) // _MICROSECOND
