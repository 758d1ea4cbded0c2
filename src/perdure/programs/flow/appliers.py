"""The flow program's part of evolve: what each event does to tokens, data and scopes. Loops: `loop_appliers.py`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import UNSET

from perdure.kernel.evolve import SCOPE
from perdure.kernel.program import ProgramApplier
from perdure.kernel.state import ROOT, Activation, RunState, Undo
from perdure.model import events as e
from perdure.model.failures import UNKNOWN_OUTCOMES
from perdure.model.values import Json
from perdure.programs.flow import gates, tokens
from perdure.programs.flow.graph import Graph, Node
from perdure.programs.flow.loop_appliers import LoopAppliers
from perdure.programs.flow.people import PeopleAppliers, sent_by
from perdure.programs.flow.routing import FAILURE, Router, told_of
from perdure.programs.flow.scopes import drain, forget_loop, is_given_up
from perdure.programs.flow.state import FlowScope, FlowState


class FlowAppliers:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.router = Router(graph)
        self.table: Mapping[type[e.Event], ProgramApplier] = {
            e.RunStarted: self.run_started,
            e.RunContinued: self.run_continued,
            e.ActivationScheduled: self.activation_scheduled,
            e.ActivationCompleted: self.activation_completed,
            e.NodeEvaluated: self.node_evaluated,
            e.ActivationFailed: self.activation_failed,
            e.ActivationCancelling: self.activation_cancelling,
            e.ActivationCancelled: self.activation_cancelled,
            e.NodeSkipped: self.node_skipped,
            **PeopleAppliers(self.router).table,
            **LoopAppliers(self.router).table,
        }

    # -- the run ----------------------------------------------------------------------------------

    def run_started(self, state: RunState, event: Any, at: int, _: Activation | None) -> None:
        state.body = FlowState()
        tokens.open_scope(self.graph, state.body, FlowScope(ROOT), self.graph.root, state.input)

    def run_continued(self, state: RunState, event: Any, at: int, _: Activation | None) -> None:
        """Visits are counted on, so that no activation has the key of one of an earlier generation."""
        before: FlowState = state.body
        state.body = FlowState()
        root = FlowScope(ROOT, visits=before.scopes[ROOT].visits)
        tokens.open_scope(self.graph, state.body, root, self.graph.root, state.input)

    # -- nodes that begin and complete ------------------------------------------------------------

    def activation_scheduled(
        self, state: RunState, event: e.ActivationScheduled, at: int, activation: Activation | None
    ) -> None:
        assert activation is not None
        flow: FlowState = state.body
        node = self.graph.by_id[event.node]
        if event.detached:
            flow.scopes[event.scope].visits[node.index] = event.visit
            return
        scope = flow.scopes[event.scope]
        scope.active[activation.id] = True
        activation.input = gates.take(flow, node, event.scope).input
        self._begin(flow, scope, node, event.visit)

    def _begin(self, flow: FlowState, scope: FlowScope, node: Node, visit: int) -> None:
        scope.visits[node.index] = visit
        if node.followers:
            gates.passes(self.graph, flow, scope, node, completed=False)

    def activation_completed(
        self, state: RunState, event: e.ActivationCompleted, at: int, activation: Activation | None
    ) -> None:
        assert activation is not None
        flow: FlowState = state.body
        node = self.graph.by_id[activation.node]
        scope = flow.scopes[activation.scope]
        if activation.detached:
            if activation.demanded:
                scope.outputs[node.stored_as] = event.output
            return
        scope.active.pop(activation.id, None)
        if node.compensate is not None:
            self._remember_undo(state, activation, node, event.output)
        if activation.id in flow.loops and forget_loop(flow, activation.id).satisfied:
            self.router.vanish(flow, scope, node)
            return
        self._complete(flow, scope, node, activation.visit, event.output, event, sent_by(activation))
        if event.beside is not None:
            scope.outputs |= {f"{node.stored_as}:{name}": value for name, value in event.beside.items()}

    def node_evaluated(self, state: RunState, event: e.NodeEvaluated, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        node = self.graph.by_id[event.node]
        scope = flow.scopes[event.scope]
        entry = gates.take(flow, node, event.scope)
        self._begin(flow, scope, node, event.visit)
        self._complete(flow, scope, node, event.visit, entry.input if event.output is UNSET else event.output, event)

    def _complete(
        self,
        flow: FlowState,
        scope: FlowScope,
        node: Node,
        visit: int,
        output: Json,
        event: Any,
        sent: Collection[int] = (),
    ) -> None:
        if event.vars:
            flow.vars = {**flow.vars, **event.vars}
        self.router.hand_on(flow, scope, node, visit, output, event.outcome, event.taken, sent)
        self.router.leave(flow, scope, node)

    def _remember_undo(self, state: RunState, activation: Activation, node: Node, output: Json) -> None:
        assert node.compensate is not None
        undo = Undo(
            activation.id,
            node.id,
            state.activation_key(activation),
            node.compensate,
            activation.input,
            output,
            state.seq,
            node.compensate_on_cancel,
        )
        state.scopes[activation.scope].undo.append(undo)

    # -- nodes that fail, are taken back or skipped -----------------------------------------------

    def activation_failed(
        self, state: RunState, event: e.ActivationFailed, at: int, activation: Activation | None
    ) -> None:
        assert activation is not None
        if not event.final or activation.detached:
            return
        flow: FlowState = state.body
        node = self.graph.by_id[activation.node]
        if node.compensate is not None and event.failure.code in UNKNOWN_OUTCOMES:
            self._remember_undo(state, activation, node, None)
        if activation.id in flow.loops:
            forget_loop(flow, activation.id)
        if event.outcome is None:
            return  # the run fails and keeps its tokens for a retry
        scope = flow.scopes[activation.scope]
        scope.active.pop(activation.id, None)
        if event.outcome == SCOPE:
            if node.mutex is not None:
                gates.release_mutex(flow, node.mutex)
            return  # the scope is being given up with all its tokens
        if node.race is not None:
            self.router.win(scope, node, activation.visit)
        told = told_of(node, activation, event.failure, event.output)
        scope.outputs[node.stored_as] = told
        self.router.route(flow, scope, node, told, event.outcome, event.taken, sent_by(activation))
        if event.outcome == FAILURE:
            assert self.graph.on_failure is not None
            gates.make_ready(flow, scope, self.graph.on_failure, True, told)
        self.router.leave(flow, scope, node)

    def activation_cancelling(
        self, state: RunState, event: e.ActivationCancelling, at: int, activation: Activation | None
    ) -> None:
        """Taken back while the run goes on: its tokens die now, so that those of a later round come after them."""
        assert activation is not None
        flow: FlowState = state.body
        if activation.withdrawn and not activation.detached and not is_given_up(state, activation.scope):
            self.router.die(flow, flow.scopes[activation.scope], self.graph.by_id[activation.node])

    def activation_cancelled(
        self, state: RunState, event: e.ActivationCancelled, at: int, activation: Activation | None
    ) -> None:
        assert activation is not None
        flow: FlowState = state.body
        node = self.graph.by_id[activation.node]
        if event.unknown and node.compensate is not None and not activation.detached:
            self._remember_undo(state, activation, node, None)
        scope = flow.scopes.get(activation.scope)
        if activation.detached or scope is None or (state.closing is not None and not activation.withdrawn):
            return  # the run is ending; its tokens stay as they are
        scope.active.pop(activation.id, None)
        if is_given_up(state, activation.scope):
            if node.mutex is not None:
                gates.release_mutex(flow, node.mutex)
            drain(state, activation.scope)
            return
        satisfied = activation.id in flow.loops and forget_loop(flow, activation.id).satisfied
        if not (activation.withdrawn or satisfied):
            self.router.die(flow, scope, node, sent_by(activation))
        self.router.vanish(flow, scope, node)

    def node_skipped(self, state: RunState, event: e.NodeSkipped, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        node = self.graph.by_id[event.node]
        scope = flow.scopes[event.scope]
        has_mutex = self._take_skipped(flow, scope, node, event.reason)
        scope.visits[node.index] = event.visit
        if event.reason == "condition":
            scope.outputs[node.stored_as] = None
            if node.followers:
                gates.passes(self.graph, flow, scope, node, completed=True)
            self.router.route(flow, scope, node, None, None, None)
        else:
            for edge in node.outs:
                tokens.send(flow, scope, edge, False, None)
        if has_mutex:
            assert node.mutex is not None
            gates.release_mutex(flow, node.mutex)
        tokens.leave(self.graph, flow, scope, node)

    def _take_skipped(self, flow: FlowState, scope: FlowScope, node: Node, reason: str) -> bool:
        """Takes the entry of a skipped node from where it is; whether it had its mutex."""
        if reason not in ("withdrawn", gates.TOO_LATE):
            return gates.take(flow, node, scope.id).live and node.mutex is not None
        is_live = reason == "withdrawn"
        if gates.take_ready(flow, node, scope.id, is_live):
            return is_live and node.mutex is not None
        if not gates.take_held(flow, node, scope.id):
            tokens.break_off(flow, scope, node)
            gates.take_ready(flow, node, scope.id, False)
        return False
