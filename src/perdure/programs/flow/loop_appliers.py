"""The flow program's part of evolve for loops: iterations, results, items that come later, giving up."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.kernel.program import ProgramApplier
from perdure.kernel.state import Activation, RunState
from perdure.model import events as e
from perdure.model.values import Json, encode_json
from perdure.programs.flow import tokens
from perdure.programs.flow.nodetypes import LoopOptions
from perdure.programs.flow.routing import Router
from perdure.programs.flow.scopes import drain, drop_scope, purge
from perdure.programs.flow.state import FlowScope, FlowState, LoopState


class LoopAppliers:
    def __init__(self, router: Router) -> None:
        self.router = router
        self.graph = router.graph
        self.table: Mapping[type[e.Event], ProgramApplier] = {
            e.LoopStarted: self.loop_started,
            e.IterationStarted: self.iteration_started,
            e.IterationEnded: self.iteration_ended,
            e.TimerArmed: self.timer_armed,
            e.TimerFired: self.timer_fired,
            e.ScopeClosing: self.scope_closing,
            e.LoopClosing: self.loop_closing,
            e.LoopSatisfied: self.loop_satisfied,
            e.ItemsAdded: self.items_added,
            e.ItemsClosed: self.items_closed,
            e.AccumulatorSpilled: self.accumulator_spilled,
        }

    def loop_started(self, state: RunState, event: e.LoopStarted, at: int, activation: Activation | None) -> None:
        assert activation is not None
        flow: FlowState = state.body
        node = self.graph.by_id[activation.node]
        assert node.loop is not None
        loop = LoopState(
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
        flow.loops[activation.id] = loop
        flow.scopes[activation.scope].loops[activation.id] = True
        weigh(flow, loop)

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
        options = node.loop
        input = item if options.once else {options.index: event.index, options.item: item}
        if options.carries and options.accumulator is not None:
            input[options.accumulator] = list(loop.results) if options.accumulate == "all" else loop.last
        tokens.open_scope(self.graph, flow, scope, node.body, input)
        weigh(flow, loop)

    def iteration_ended(self, state: RunState, event: e.IterationEnded, at: int, activation: Activation | None) -> None:
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        options = self._options(loop)
        scope = flow.scopes[event.scope]
        result = scope.result if scope.has_end or not options.only_ends else None
        if options.unwrap and isinstance(result, dict) and "data" in result:
            result = result["data"]
        index = loop.running.pop(event.scope)
        drop_scope(flow, event.scope)
        if event.failure is None:
            loop.count += 1
            loop.finished[index] = (True, result)
        else:
            loop.failed += 1
            loop.finished[index] = (options.on_item_failure == "null", None)
        if loop.satisfied:
            loop.finished = {}
        while loop.appended in loop.finished:
            loop.appended += 1
            gather(loop, options, *loop.finished.pop(loop.appended - 1))
        weigh(flow, loop)

    def timer_armed(self, state: RunState, event: e.TimerArmed, at: int, activation: Activation | None) -> None:
        self._rest(state, activation, resting=True)

    def timer_fired(self, state: RunState, event: e.TimerFired, at: int, activation: Activation | None) -> None:
        self._rest(state, activation, resting=False)

    def _rest(self, state: RunState, activation: Activation | None, *, resting: bool) -> None:
        """Only a loop that pauses before its next iteration has a timer of its own."""
        flow: FlowState | None = state.body
        if activation is not None and flow is not None and activation.id in flow.loops:
            loop = flow.loops[activation.id]
            loop.resting, loop.rested = resting, loop.next
            weigh(flow, loop)

    def _options(self, loop: LoopState) -> LoopOptions:
        options = self.graph.nodes[loop.node].loop
        assert options is not None
        return options

    # -- ending before all items are done ---------------------------------------------------------

    def scope_closing(self, state: RunState, event: e.ScopeClosing, at: int, _: Activation | None) -> None:
        purge(self.graph, state, scope=event.scope)
        drain(state, event.scope)

    def loop_closing(self, state: RunState, event: e.LoopClosing, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        loop.closing, loop.closing_failure, loop.cancelled = True, event.failure, event.cancelled
        self._gather_rest(loop)
        purge(self.graph, state, loop=loop.activation)
        flow.given_up[event.activation] = True
        loop.undrained = sum(state.scopes[scope].alive > 0 for scope in loop.running)
        if not loop.undrained:
            flow.drained[event.activation] = True
        weigh(flow, loop)
        activation = state.activations[event.activation]
        if event.cancelled and not activation.withdrawn:
            activation.withdrawn = True
            if not loop.satisfied:
                self.router.die(flow, flow.scopes[loop.scope], self.graph.nodes[loop.node])

    def loop_satisfied(self, state: RunState, event: e.LoopSatisfied, at: int, activation: Activation | None) -> None:
        assert activation is not None
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        node, scope = self.graph.nodes[loop.node], flow.scopes[loop.scope]
        loop.satisfied, loop.open_ended, loop.handed_on = True, False, event.output
        loop.results, loop.finished, loop.spilled, loop.buffer = [], {}, [], []
        weigh(flow, loop)
        self.router.hand_on(flow, scope, node, activation.visit, event.output, None, event.taken)
        tokens.come_to_rest(self.graph, flow, scope, node)

    def _gather_rest(self, loop: LoopState) -> None:
        """Results that came out of order and wait for earlier ones, which will not come any more."""
        for index in sorted(loop.finished):
            gather(loop, self._options(loop), *loop.finished.pop(index))

    # -- items and results elsewhere --------------------------------------------------------------

    def items_added(self, state: RunState, event: e.ItemsAdded, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        if loop.chunks is not None:
            loop.buffer, loop.buffer_first = event.items, loop.next
            loop.chunk += 1
        else:
            loop.items = [*(loop.items or []), *event.items]
            loop.total = len(loop.items)
        weigh(flow, loop)

    def items_closed(self, state: RunState, event: e.ItemsClosed, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        loop.open_ended = False
        weigh(flow, loop)

    def accumulator_spilled(self, state: RunState, event: e.AccumulatorSpilled, at: int, _: Activation | None) -> None:
        flow: FlowState = state.body
        loop = flow.loops[event.activation]
        loop.spilled = [*loop.spilled, event.chunk]
        loop.spilled_bytes += event.chunk.size
        loop.results, loop.result_bytes = [], 0


def weigh(flow: FlowState, loop: LoopState) -> None:
    """Marks whether the loop can go on by itself."""
    if loop.is_hungry():
        flow.hungry[loop.activation] = True
    else:
        flow.hungry.pop(loop.activation, None)
    if loop.is_idle():
        flow.idle[loop.activation] = True
    else:
        flow.idle.pop(loop.activation, None)


def gather(loop: LoopState, options: LoopOptions, counts: bool, value: Json) -> None:
    if counts and not (options.skip_null and value is None):
        loop.last = value
        if options.accumulate == "all":
            loop.results.append(value)
            loop.result_bytes += len(encode_json(value)) + 1
