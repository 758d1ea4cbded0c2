"""The flow program: what a drawn or written flow does next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET

from perdure.errors import PerdureError
from perdure.kernel.decide import check_data
from perdure.kernel.packing import Unpacker, pack
from perdure.kernel.program import SEMANTICS, Work
from perdure.kernel.sizes import measured
from perdure.kernel.state import ROOT, Activation, RunState, Undo
from perdure.kernel.turn import Turn
from perdure.kernel.winding import close_run, fail_run
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.failures import Failure, failure_from
from perdure.model.policies import Limits, Retry
from perdure.model.statuses import Phase
from perdure.model.values import Json
from perdure.model.waits import AnyWait
from perdure.programs.flow import beside, directives, gates, loops
from perdure.programs.flow.appliers import FlowAppliers
from perdure.programs.flow.choosing import Moment, care_of, choose
from perdure.programs.flow.environment import environment
from perdure.programs.flow.gates import kept_back
from perdure.programs.flow.graph import Graph, Node
from perdure.programs.flow.keeping import kept
from perdure.programs.flow.nodetypes import (
    Directive,
    Done,
    Execute,
    NodeKind,
    Refuse,
    Sleep,
)
from perdure.programs.flow.people import remind
from perdure.programs.flow.state import FlowState, Ready
from perdure.programs.flow.withdrawing import withdraw_region, withdraw_rest, withdraw_rivals, withdraw_scope

_unpack = Unpacker(FlowState)


class FlowProgram:
    name = "flow"
    semantics = SEMANTICS

    def __init__(self, graph: Graph, lookups: Mapping[str, Any] | None = None) -> None:
        """`lookups`: those that all runs of this program have pinned."""
        self.graph = graph
        graph.lookups = lookups or {}
        self.appliers = FlowAppliers(graph).table

    # -- going on ---------------------------------------------------------------------------------

    def advance(self, turn: Turn) -> None:
        state = turn.state
        flow: FlowState = state.body
        limit = self.graph.max_parallel
        while state.closing is None and state.final is None:
            ready = flow.ready
            if ready and turn.budget > 0 and (limit is None or state.executing < limit or not ready[0].live):
                self._take_up(turn, flow, ready[0])
            elif flow.hungry and turn.budget > 0 and loops.feed(self, turn, flow):
                continue
            elif flow.quiet and turn.is_tired:
                return  # a loop may have to be asked whether it has enough
            elif flow.quiet:
                self._finish_scope(turn, flow, next(iter(flow.quiet)))
            elif (flow.drained_scopes or flow.drained or state.compensating) and loops.finish_given_up(
                self, turn, flow
            ):
                continue
            elif not (flow.held and self._free_stuck(turn, flow)):
                return

    def _free_stuck(self, turn: Turn, flow: FlowState) -> bool:
        """Nothing moves but nodes that wait for milestones, perhaps for one another: the first waits in vain."""
        state = turn.state
        is_busy = state.executing or state.waiting or state.timers or flow.ready
        if is_busy or any(loop.open_ended or loop.is_loading() for loop in flow.loops.values()):
            return False
        entry = next((entries[0] for key, entries in flow.held.items() if key.startswith(gates.MILESTONE)), None)
        if entry is None:
            return False
        visit = flow.scopes[entry.scope].visits.get(entry.node, 0) + 1
        turn.emit(e.NodeSkipped(self.graph.nodes[entry.node].id, entry.scope, visit, gates.TOO_LATE))
        return True

    def _finish_scope(self, turn: Turn, flow: FlowState, scope: int) -> None:
        if scope != ROOT:
            loops.end_iteration(self, turn, flow, scope, None)
        elif self.graph.after or (self.graph.on_demand and turn.state.activations):
            close_run(turn, "COMPLETED", output=flow.scopes[ROOT].result)
        else:
            turn.emit(e.RunCompleted(flow.scopes[ROOT].result))

    def _take_up(self, turn: Turn, flow: FlowState, entry: Ready) -> None:
        state, node, scope = turn.state, self.graph.nodes[entry.node], flow.scopes[entry.scope]
        visit = scope.visits.get(node.index, 0) + 1
        if not entry.live:
            turn.emit(e.NodeSkipped(node.id, entry.scope, visit, entry.reason))
            return
        turn.budget -= 1
        if state.activation_total >= state.limits.activations:
            limit = state.limits.activations
            fail_run(
                turn, Failure("LIMIT_ACTIVATIONS", f"the run would need more than {limit} activations", node=node.id)
            )
            return
        if node.race is not None and visit in scope.won.get(node.race, ()):
            turn.emit(e.NodeSkipped(node.id, entry.scope, visit, "withdrawn"))
            return
        moment = Moment(self.graph, turn, scope, entry.input, turn.at, node)
        is_skipped, taken, size = False, None, 0
        directive: Directive
        try:
            is_skipped = node.condition is not None and not moment.evaluate(node.condition)
            directive = Done() if is_skipped else node.type.plan(node.prepared, moment)
            if type(directive) is Done and not is_skipped:
                output = entry.input if directive.output is UNSET else directive.output
                size = 0 if directive.output is UNSET else measured(output)
                taken = choose(self.graph, turn, scope, node, output, directive.outcome)
        except PerdureError as problem:
            directive = Refuse(failure_from(problem, node.id))
        if is_skipped:
            turn.emit(e.NodeSkipped(node.id, entry.scope, visit, "condition"))
        elif type(directive) is Done:
            self._evaluate(turn, node, entry, visit, directive, taken, size)
        else:
            self._schedule(turn, node, entry, visit, directive)

    def _schedule(self, turn: Turn, node: Node, entry: Ready, visit: int, directive: Directive) -> None:
        state = turn.state
        config = directive.config if type(directive) is Execute else None
        turn.emit(e.ActivationScheduled(state.next_activation, node.id, entry.scope, visit, config))
        activation = state.activations[state.next_activation - 1]
        if node.join.cancel_rest:
            withdraw_rest(self, turn, node, entry.scope)
        self.carry_out(turn, node, activation, directive)

    def _evaluate(
        self, turn: Turn, node: Node, entry: Ready, visit: int, done: Done, taken: list[int] | None, size: int
    ) -> None:
        state = turn.state
        if node.join.cancel_rest:
            withdraw_rest(self, turn, node, entry.scope)
        turn.emit(
            e.NodeEvaluated(
                state.next_activation, node.id, entry.scope, visit, done.output, done.outcome, taken, done.vars, size
            )
        )
        if done.message is not None:
            turn.emit(e.MessagePublished(done.message.type, done.message.payload, done.message.key))
        self.take_effect(turn, node, entry.scope, visit)
        if done.terminate:
            if entry.scope == ROOT:
                close_run(turn, "COMPLETED", output=entry.input if done.output is UNSET else done.output)
            else:
                withdraw_scope(self, turn, node, entry.scope)
        check_data(turn, node.id)

    # -- directives -------------------------------------------------------------------------------

    def carry_out(self, turn: Turn, node: Node, activation: Activation, directive: Directive) -> None:
        directives.carry_out(self, turn, node, activation, directive)

    def launch(self, turn: Turn, activation: Activation) -> None:
        node = self.graph.by_id[activation.node]
        if node.type.kind is not NodeKind.INLINE:
            turn.execute(activation.id)
            return
        flow: FlowState = turn.state.body
        scope = flow.scopes[activation.scope]
        moment = Moment(self.graph, turn, scope, activation.input, turn.at, node)
        try:
            directive = node.type.plan(node.prepared, moment)
        except PerdureError as problem:
            directive = Refuse(failure_from(problem, node.id))
        self.carry_out(turn, node, activation, directive)

    # -- results ----------------------------------------------------------------------------------

    def completed(
        self,
        turn: Turn,
        activation: Activation,
        output: Json,
        outcome: str | None,
        variables: dict[str, Any] | None,
        size: int,
        beside: dict[str, Any] | None = None,
        cached: bool = False,
    ) -> None:
        node = self.graph.by_id[activation.node]
        if activation.detached:
            turn.emit(e.ActivationCompleted(activation.id, output))
            return
        flow: FlowState = turn.state.body
        is_chosen = activation.phase is Phase.EXECUTING and node.type.kind is not NodeKind.INLINE  # by a handler
        if outcome is not None and is_chosen and not node.declares(outcome):
            undeclared = Failure("OUTCOME_UNDECLARED", f"it chose {outcome!r}, which it does not declare", node=node.id)
            self.failed(turn, activation, undeclared, output)
            return
        try:
            taken = choose(self.graph, turn, flow.scopes[activation.scope], node, output, outcome)
        except PerdureError as problem:
            self.failed(turn, activation, failure_from(problem, node.id), output)
            return
        turn.emit(e.ActivationCompleted(activation.id, output, outcome, taken, variables, size, beside, cached))
        self.take_effect(turn, node, activation.scope, activation.visit)
        check_data(turn, node.id)

    def satisfied(self, turn: Turn, activation: Activation, output: Json, size: int) -> None:
        """A loop has its result, though not all that it has begun has ended."""
        node = self.graph.by_id[activation.node]
        scope = turn.state.body.scopes[activation.scope]
        try:
            taken = choose(self.graph, turn, scope, node, output, None)
        except PerdureError as problem:
            wrong = failure_from(problem, node.id)
            loops.close(self, turn, activation, wrong, reason=wrong.message)
            return
        turn.emit(e.LoopSatisfied(activation.id, output, taken, size))
        self.take_effect(turn, node, activation.scope, activation.visit)
        check_data(turn, node.id)

    def take_effect(self, turn: Turn, node: Node, scope: int, visit: int) -> None:
        """The node has its result: its rivals and its region are withdrawn."""
        if node.race is not None:
            withdraw_rivals(self, turn, node, scope, visit)
        if node.cancels:
            withdraw_region(self, turn, node, scope)

    def failed(self, turn: Turn, activation: Activation, failure: Failure, output: Json) -> None:
        """Its own edges first, then the scopes around it, then the document's failure node, then the run."""
        state, node = turn.state, self.graph.by_id[activation.node]
        care = care_of(self.graph, turn, activation, failure, output)
        if care is not None:
            outcome, taken = care
            if state.errors_in_a_row >= state.limits.max_errors:
                turn.emit(e.ActivationFailed(activation.id, activation.attempt, failure, output=output))
                many = Failure(
                    "TOO_MANY_ERRORS",
                    f"more than {state.limits.max_errors} errors in a row",
                    node=node.id,
                    details={"first": (state.first_error or failure).as_dict(), "last": failure.as_dict()},
                )
                fail_run(turn, many, activation.id)
                return
            turn.emit(
                e.ActivationFailed(
                    activation.id, activation.attempt, failure, outcome=outcome, taken=taken, output=output
                )
            )
            if node.race is not None:
                withdraw_rivals(self, turn, node, activation.scope, activation.visit)
        elif activation.scope == ROOT:
            turn.emit(e.ActivationFailed(activation.id, activation.attempt, failure, output=output))
            fail_run(turn, failure, activation.id)
        else:
            loops.item_failed(self, turn, activation, failure, output)

    def is_handled(self, turn: Turn, activation: Activation, failure: Failure) -> bool:
        return care_of(self.graph, turn, activation, failure, None) is not None

    def timed_out(self, turn: Turn, activation: Activation) -> None:
        if activation.id in turn.state.body.loops:
            return  # its pause is over
        if activation.phase is Phase.SLEEPING:
            self.completed(turn, activation, activation.output, None, None, 0)
            return
        if activation.phase is Phase.PERSON:
            late = Failure("TASK_TIMEOUT", "nobody answered in time", node=activation.node)
        else:
            told = f"the signal {activation.signal!r} did not come in time"
            late = Failure("SIGNAL_TIMEOUT", told, node=activation.node)
        self.failed(turn, activation, late, None)

    # -- waits and people -------------------------------------------------------------------------

    def wait(self, turn: Turn, activation: Activation, wait: AnyWait) -> None:
        node = self.graph.by_id[activation.node]
        if activation.detached and not isinstance(wait, Sleep):
            beside.refuse(turn, node, activation)
        else:
            self.carry_out(turn, node, activation, wait)

    def has_acted(self, state: RunState, activation: Activation) -> bool:
        is_effect = self.graph.by_id[activation.node].type.kind is NodeKind.EFFECT
        return is_effect and activation.phase in (Phase.SLEEPING, Phase.SIGNAL, Phase.PERSON)

    def reminded(self, turn: Turn, activation: Activation, kind: str) -> None:
        remind(self.graph, turn, activation, kind)

    # -- beside the graph -------------------------------------------------------------------------

    def undo(self, turn: Turn, entry: Undo, scope: int) -> None:
        beside.undo(self, turn, entry, scope)

    def start_completion_node(self, turn: Turn, number: int) -> bool:
        return beside.complete(self, turn, number)

    def demanded(self, turn: Turn, node: str, parameters: Json, request: str | None, content: int) -> None:
        beside.demand(self, turn, node, parameters, request, content)

    def compensation(self, state: RunState) -> str:
        return self.graph.compensation

    # -- what the kernel asks ---------------------------------------------------------------------

    def signalled(self, turn: Turn) -> None:
        loops.take_signals(self, turn, turn.state.body)

    def loses_signal(self, state: RunState, name: str) -> bool:
        return self.graph.triggers.loses(name)

    def choice(self, turn: Turn, activation: Activation) -> Callable[[Json], bool] | None:
        node = self.graph.by_id[activation.node]
        if node.type.accepts is None:
            return None
        scope = turn.state.body.scopes[activation.scope]
        moment = Moment(self.graph, turn, scope, activation.input, turn.at, node)
        return partial(node.type.accepts, node.prepared, moment)

    def items_loaded(self, turn: Turn, activation: Activation, command: c.ItemsLoaded) -> None:
        loops.loaded(self, turn, activation, command)

    def wanted(self, state: RunState, activation: Activation) -> tuple[str, int, int] | None:
        return loops.wanted(state.body, activation)

    def is_waiting(self, state: RunState) -> bool:
        flow: FlowState = state.body
        return bool(flow.idle)

    def kept_back(self, state: RunState) -> Iterator[tuple[str, str, str | None]]:
        if state.body is not None:
            yield from kept_back(self.graph, state)

    def has_ready(self, state: RunState) -> bool:
        flow: FlowState = state.body
        if flow.quiet:
            return True
        if flow.ready:
            limit = self.graph.max_parallel
            return limit is None or state.executing < limit
        return bool(flow.hungry)

    def limited(self, limits: Limits) -> Limits:
        return self.graph.limited(limits)

    def check_input(self, input: Json) -> None:
        self.graph.check_input(input)

    def attributes(self, input: Json) -> dict[str, Any]:
        return self.graph.attributes(input) if self.graph.attributes is not None else {}

    def work(self, state: RunState, activation: Activation) -> Work:
        node = self.graph.by_id[activation.node]
        if activation.config is None and node.type.reads is None and node.cache is None:
            return node.work
        bindings = None
        if node.type.reads is not None:
            scope = state.body.scopes[activation.scope]
            bindings = environment(self.graph, state, scope, activation.input, node.type.reads(node.prepared), node)
        config, written = (node.config, None) if activation.config is None else (activation.config, node.config)
        work = Work(
            type=node.type.name,
            config=config,
            timeout=node.timeout,
            queue=node.queue,
            written=written,
            bindings=bindings,
        )
        if node.cache is not None and not activation.detached:
            scope = state.body.scopes[activation.scope]
            env = environment(self.graph, state, scope, activation.input, node.cache.reads, node)
            work = msgspec.structs.replace(work, kept=kept(node, state, activation, work, env))
        return work

    def retry_policy(self, state: RunState, activation: Activation) -> Retry:
        return self.graph.by_id[activation.node].retry

    def is_at_most_once(self, state: RunState, activation: Activation) -> bool:
        return self.graph.by_id[activation.node].at_most_once

    def shared_data(self, state: RunState) -> dict[str, Any]:
        flow: FlowState = state.body
        return flow.vars

    def encode(self, body: Any) -> bytes:
        return pack(body)

    def decode(self, data: bytes) -> FlowState:
        return _unpack(data)
