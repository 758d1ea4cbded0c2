"""The flow program's part of evolve: what each event does to tokens, data, scopes and loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from perdure.kernel.evolve import SCOPE, is_within
from perdure.kernel.program import ProgramApplier
from perdure.kernel.state import ROOT, Activation, RunState, Undo
from perdure.model import events as e
from perdure.model.values import Json, encode_json
from perdure.programs.flow import tokens
from perdure.programs.flow.graph import Edge, Graph, Node
from perdure.programs.flow.state import FlowScope, FlowState, LoopState, Ready

FAILURE = "failure"
"""The outcome of a failure that leads to the document's `on_failure` node."""


class FlowAppliers:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.table: Mapping[type[e.Event], ProgramApplier] = {
            e.RunStarted: self.run_started,
            e.RunContinued: self.run_continued,
            e.ActivationScheduled: self.activation_scheduled,
            e.ActivationCompleted: self.activation_completed,
            e.NodeEvaluated: self.node_evaluated,
            e.ActivationFailed: self.activation_failed,
            e.ActivationCancelled: self.activation_cancelled,
            e.NodeSkipped: self.node_skipped,
            e.LoopStarted: self.loop_started,
            e.IterationStarted: self.iteration_started,
            e.IterationEnded: self.iteration_ended,
            e.ScopeClosing: self.scope_closing,
            e.LoopClosing: self.loop_closing,
            e.ItemsAdded: self.items_added,
            e.ItemsClosed: self.items_closed,
            e.AccumulatorSpilled: self.accumulator_spilled,
        }

    # -- the run ----------------------------------------------------------------------------------

    def run_started(self, state: RunState, event: Any, at: int, _: Activation | None) -> None:
        state.body = FlowState()
        tokens.open_scope(self.graph, state.body, FlowScope(ROOT), self.graph.root, state.input)

    run_continued = run_started

    # -- nodes ------------------------------------------------------------------------------------

    def activation_scheduled(
        self, state: RunState, event: e.ActivationScheduled, at: int, activation: Activation | None
    ) -> None:
        assert activation is not None
        flow: FlowState = state.body
        node = self.graph.by_id[event.node]
        if event.detached:
            flow.scopes[event.scope].visits[node.index] = event.visit
            return
        entry = take_ready(flow, node, event.scope)
        activation.input = entry.input
        self._begin(flow, flow.scopes[event.scope], node, event.visit)

    def _begin(self, flow: FlowState, scope: FlowScope, node: Node, visit: int) -> None:
        scope.visits[node.index] = visit
        if node.milestones:
            flow.won[f"begun:{scope.id}:{node.id}"] = True
            tokens.release_milestones(self.graph, flow, scope, node)

    def activation_completed(
        self, state: RunState, event: e.ActivationCompleted, at: int, activation: Activation | None
    ) -> None:
        assert activation is not None
        if activation.detached:
            return
        flow: FlowState = state.body
        node = self.graph.by_id[activation.node]
        if activation.id in flow.loops:
            self._forget_loop(flow, activation.id)
        if node.compensate is not None:
            self._remember_undo(state, activation, node, event.output)
        if node.race is not None:
            flow.won[f"{activation.scope}:{node.race}:{activation.visit}"] = True
        self._complete(flow, flow.scopes[activation.scope], node, event.output, event)

    def node_evaluated(self, state: RunState, event: e.NodeEvaluated, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        node = self.graph.by_id[event.node]
        scope = flow.scopes[event.scope]
        entry = take_ready(flow, node, event.scope)
        self._begin(flow, scope, node, event.visit)
        self._complete(flow, scope, node, entry.input if event.output is UNSET else event.output, event)

    def _complete(self, flow: FlowState, scope: FlowScope, node: Node, output: Json, event: Any) -> None:
        scope.outputs[node.id] = output
        if event.vars:
            flow.vars = {**flow.vars, **event.vars}
        if self.graph.uses_trace:
            flow.trace.append(node.id)
        if node.milestones:
            tokens.release_milestones(self.graph, flow, scope, node)
        if node.is_end or not (node.outs or scope.has_end):
            scope.result, scope.has_end = output, node.is_end
        edge = node.only_edge
        if edge is not None:
            tokens.send(flow, scope, edge, True, output)
        else:
            self._route(flow, scope, node, output, event.outcome, event.taken)
        self._leave(flow, scope, node)

    def _route(
        self, flow: FlowState, scope: FlowScope, node: Node, value: Json, outcome: str | None, taken: list[int] | None
    ) -> None:
        for place, edge in enumerate(node.outs):
            live = place in taken if taken is not None else is_candidate(edge, outcome)
            for _ in range(edge.tokens if live else 1):
                tokens.send(flow, scope, edge, live, value)

    def _leave(self, flow: FlowState, scope: FlowScope, node: Node) -> None:
        if node.mutex is not None:
            tokens.release_mutex(self.graph, flow, node.mutex)
        tokens.leave(self.graph, flow, scope, node)

    def activation_failed(
        self, state: RunState, event: e.ActivationFailed, at: int, activation: Activation | None
    ) -> None:
        assert activation is not None
        if not event.final or event.outcome is None or activation.detached:
            return  # it will be tried again, or the run fails and keeps its tokens for a retry
        flow: FlowState = state.body
        node = self.graph.by_id[activation.node]
        if activation.id in flow.loops:
            self._forget_loop(flow, activation.id)
        if event.outcome == SCOPE:
            if node.mutex is not None:
                tokens.release_mutex(self.graph, flow, node.mutex)
            return  # the scope is being given up with all its tokens
        scope = flow.scopes[activation.scope]
        told = {"error": event.failure.as_dict(), "node": node.id, "input": activation.input, "output": event.output}
        scope.outputs[node.id] = told
        self._route(flow, scope, node, told, event.outcome, event.taken)
        if event.outcome == FAILURE:
            assert self.graph.on_failure is not None
            tokens.make_ready(flow, scope, self.graph.on_failure, True, told)
        self._leave(flow, scope, node)

    def activation_cancelled(
        self, state: RunState, event: e.ActivationCancelled, at: int, activation: Activation | None
    ) -> None:
        assert activation is not None
        flow: FlowState = state.body
        node = self.graph.by_id[activation.node]
        if event.unknown and node.compensate is not None and not activation.detached:
            self._remember_undo(state, activation, node, None)
        if state.closing is not None or activation.detached:
            return  # the run is ending; its tokens stay as they are
        if self._is_given_up(state, flow, activation.scope):
            if node.mutex is not None:
                tokens.release_mutex(self.graph, flow, node.mutex)
            return
        if activation.id in flow.loops:
            self._forget_loop(flow, activation.id)
        self._die(flow, flow.scopes[activation.scope], node)

    def _is_given_up(self, state: RunState, flow: FlowState, scope: int) -> bool:
        at: int | None = scope
        while at is not None:
            if at in state.closing_scopes:
                return True
            loop = state.scopes[at].loop
            if loop is not None and loop in flow.loops and flow.loops[loop].closing:
                return True
            at = state.scopes[at].parent
        return False

    def _die(self, flow: FlowState, scope: FlowScope, node: Node) -> None:
        for edge in node.outs:
            tokens.send(flow, scope, edge, False, None)
        self._leave(flow, scope, node)

    def node_skipped(self, state: RunState, event: e.NodeSkipped, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        node = self.graph.by_id[event.node]
        scope = flow.scopes[event.scope]
        entry = take_ready(flow, node, event.scope)
        held = node.mutex is not None and entry.live
        scope.visits[node.index] = event.visit
        if event.reason == "condition":
            scope.outputs[node.id] = None
            for edge in node.outs:
                tokens.send(flow, scope, edge, edge.outcome is None, None)
        else:
            for edge in node.outs:
                tokens.send(flow, scope, edge, False, None)
        if held:
            assert node.mutex is not None
            tokens.release_mutex(self.graph, flow, node.mutex)
        tokens.leave(self.graph, flow, scope, node)

    def _remember_undo(self, state: RunState, activation: Activation, node: Node, output: Json) -> None:
        assert node.compensate is not None
        undo = Undo(activation.id, node.id, state.activation_key(activation), node.compensate, activation.input, output)
        state.scopes[activation.scope].undo.append(undo)

    # -- loops ------------------------------------------------------------------------------------

    def loop_started(self, state: RunState, event: e.LoopStarted, at: int, activation: Activation | None) -> None:
        assert activation is not None
        flow: FlowState = state.body
        node = self.graph.by_id[activation.node]
        assert node.loop is not None
        flow.loops[activation.id] = LoopState(
            activation.id,
            node.index,
            activation.scope,
            total=event.total,
            items=event.items,
            numbers=event.range,
            chunks=event.chunks,
            concurrency=event.concurrency,
            need=event.need,
            open_ended=node.loop.add_signal is not None,
        )
        flow.scopes[activation.scope].loops[activation.id] = True
        self._weigh(flow, flow.loops[activation.id])

    def _weigh(self, flow: FlowState, loop: LoopState) -> None:
        """Marks whether the loop can go on by itself."""
        if loop.is_hungry():
            flow.hungry[loop.activation] = True
        else:
            flow.hungry.pop(loop.activation, None)

    def iteration_started(
        self, state: RunState, event: e.IterationStarted, at: int, activation: Activation | None
    ) -> None:
        assert activation is not None
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        if loop.chunks is not None:
            item = loop.buffer[event.index - loop.buffer_first]
        elif loop.numbers is not None:
            item = loop.numbers[0] + loop.numbers[1] * event.index
        else:
            assert loop.items is not None
            item = loop.items[event.index]
        loop.next = event.index + 1
        loop.running[event.scope] = event.index
        node = self.graph.nodes[loop.node]
        assert node.body is not None
        assert node.loop is not None
        scope = FlowScope(event.scope, loop.activation, loop.node, activation.scope, event.index, item)
        tokens.open_scope(self.graph, flow, scope, node.body, {node.loop.index: event.index, node.loop.item: item})
        self._weigh(flow, loop)

    def iteration_ended(self, state: RunState, event: e.IterationEnded, at: int, activation: Activation | None) -> None:
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        options = self.graph.nodes[loop.node].loop
        assert options is not None
        scope = flow.scopes[event.scope]
        index = loop.running.pop(event.scope)
        self._drop_scopes(flow, event.scope)
        if event.failure is None:
            loop.count += 1
            loop.finished[index] = (True, scope.result)
        else:
            loop.failed += 1
            loop.finished[index] = (options.on_item_failure == "null", None)
        while loop.appended in loop.finished:
            counts, value = loop.finished.pop(loop.appended)
            loop.appended += 1
            if not counts:
                continue
            loop.last = value
            if options.accumulate == "all":
                loop.results.append(value)
                loop.result_bytes += len(encode_json(value)) + 1
        self._weigh(flow, loop)

    def scope_closing(self, state: RunState, event: e.ScopeClosing, at: int, _: Activation | None) -> None:
        self._purge(state, state.body, event.scope)

    def loop_closing(self, state: RunState, event: e.LoopClosing, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        loop.closing, loop.closing_failure, loop.cancelled = True, event.failure, event.cancelled
        for scope in loop.running:
            self._purge(state, flow, scope)
        flow.given_up[event.activation] = True
        self._weigh(flow, loop)

    def items_added(self, state: RunState, event: e.ItemsAdded, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        if loop.chunks is not None:
            loop.buffer, loop.buffer_first = event.items, loop.next
            loop.chunk += 1
        else:
            loop.items = [*(loop.items or []), *event.items]
            loop.total = len(loop.items)
        self._weigh(flow, loop)

    def items_closed(self, state: RunState, event: e.ItemsClosed, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        loop.open_ended = False
        self._weigh(flow, loop)

    def accumulator_spilled(self, state: RunState, event: e.AccumulatorSpilled, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        loop.spilled = [*loop.spilled, event.chunk]
        loop.spilled_bytes += event.chunk.size
        loop.results, loop.result_bytes = [], 0

    def _purge(self, state: RunState, flow: FlowState, scope: int) -> None:
        """Forgets what was ready or held in a scope that is being given up."""
        gone = [entry for entry in flow.ready if is_within(state, entry.scope, scope)]
        flow.ready = [entry for entry in flow.ready if not is_within(state, entry.scope, scope)]
        for key in list(flow.held):
            flow.held[key] = [entry for entry in flow.held[key] if not is_within(state, entry.scope, scope)]
            if not flow.held[key]:
                del flow.held[key]
        for entry in gone:
            mutex = self.graph.nodes[entry.node].mutex
            if mutex is not None and entry.live:
                tokens.release_mutex(self.graph, flow, mutex)
        for id in list(flow.quiet):
            if is_within(state, id, scope):
                del flow.quiet[id]

    def _forget_loop(self, flow: FlowState, activation: int) -> None:
        loop = flow.loops.pop(activation)
        flow.hungry.pop(activation, None)
        flow.given_up.pop(activation, None)
        flow.scopes[loop.scope].loops.pop(activation, None)
        for scope in list(loop.running):
            self._drop_scopes(flow, scope)

    def _drop_scopes(self, flow: FlowState, scope: int) -> None:
        """Removes a scope and the loops that live in it."""
        for inner in list(flow.scopes[scope].loops):
            self._forget_loop(flow, inner)
        del flow.scopes[scope]
        flow.quiet.pop(scope, None)


def take_ready(flow: FlowState, node: Node, scope: int) -> Ready:
    ready = flow.ready
    for place, entry in enumerate(ready):
        if entry.node == node.index and entry.scope == scope:
            del ready[place]
            return entry
    raise KeyError(f"{node.id} is not ready in scope {scope}")


def is_candidate(edge: Edge, outcome: str | None) -> bool:
    """Whether the edge may be taken with this outcome. Failures follow only the edges that ask for them."""
    if outcome in ("error", "timeout", FAILURE):
        return edge.outcome == outcome
    return edge.outcome is None or edge.outcome == outcome
