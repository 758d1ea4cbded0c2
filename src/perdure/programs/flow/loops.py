"""Loops: starting iterations, gathering results, failing and giving up.

A loop is hungry when it can start an iteration or has come to its end; the appliers keep that mark, so nothing is
scanned. Results are gathered in the order of the items whatever order they come in. What has been gathered moves into
blobs in pieces, so a long loop stays small in memory and in the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.errors import PerdureError
from perdure.kernel.evolve import SCOPE
from perdure.kernel.scopes import undoable
from perdure.kernel.signals import first_signal
from perdure.kernel.sizes import counted
from perdure.kernel.state import ROOT, Activation, PendingSignal, RunState, Undo
from perdure.kernel.turn import Turn
from perdure.kernel.winding import compensate, fail_run, withdraw
from perdure.model import commands as c
from perdure.model import effects
from perdure.model import events as e
from perdure.model.failures import Failure, failure_from
from perdure.model.values import digest, encode_json
from perdure.programs.flow.choosing import evaluate_with
from perdure.programs.flow.graph import Node
from perdure.programs.flow.nodetypes import Iterate, LoopOptions
from perdure.programs.flow.scopes import living
from perdure.programs.flow.state import FlowState, LoopState

if TYPE_CHECKING:
    from perdure.programs.flow.program import FlowProgram

SPILL_BYTES = 256 * 1024
"""Gathered results of this size move into a blob."""
CHUNKS = "$chunks"
"""The key under which a list that lives in blobs is handed on as a value."""


def begin(program: FlowProgram, turn: Turn, node: Node, activation: Activation, plan: Iterate) -> None:
    state = turn.state
    depth = _depth(state, activation.scope) + 1
    if plan.items is not None:
        total = len(plan.items)
    elif plan.numbers is not None:
        total = plan.numbers[2]
    else:
        total = sum(chunk.count for chunk in plan.chunks or ())
    limits = state.limits
    if depth > limits.depth:
        program.failed(
            turn, activation, Failure("LIMIT_DEPTH", f"loops are nested deeper than {limits.depth}", node=node.id), None
        )
    elif total > limits.iterations:
        too_many = Failure(
            "LIMIT_ITERATIONS", f"{total} items, more than the {limits.iterations} allowed", node=node.id
        )
        program.failed(turn, activation, too_many, None)
    else:
        numbers = plan.numbers[:2] if plan.numbers is not None else None
        turn.emit(e.LoopStarted(activation.id, total, plan.items, numbers, plan.chunks, plan.concurrency, plan.need))
        take_signals(program, turn, state.body)
        _ask_for_items(turn, activation)


def feed(program: FlowProgram, turn: Turn, flow: FlowState) -> bool:
    """One step of the first hungry loop."""
    id = next(iter(flow.hungry))
    loop, activation = flow.loops[id], turn.state.activations[id]
    node = program.graph.nodes[loop.node]
    limits, options = turn.state.limits, node.loop
    assert options is not None
    if loop.result_bytes + loop.spilled_bytes > limits.accumulator:
        too_large = Failure(
            "LIMIT_ACCUMULATOR", f"the results are larger than {limits.accumulator} bytes", node=node.id
        )
        close(program, turn, activation, too_large, reason=too_large.message)
    elif loop.result_bytes > SPILL_BYTES and not options.yantra:
        _spill(turn, loop, loop.results)
    elif loop.is_over() and loop.satisfied:
        turn.emit(e.ActivationCompleted(id, loop.handed_on))
    elif loop.is_over():
        finish(program, turn, node, activation, loop)
    elif loop.need is not None and loop.count >= loop.need and not loop.satisfied:
        have_enough(program, turn, node, activation, loop)
    elif loop.next >= limits.iterations:
        too_many = Failure("LIMIT_ITERATIONS", f"more than the {limits.iterations} items allowed", node=node.id)
        close(program, turn, activation, too_many, reason=too_many.message)
    elif options.pause and loop.rested < loop.next:
        turn.emit(e.TimerArmed(f"a{id}", turn.at + options.pause, "pause", id))
    else:
        turn.budget -= 1
        turn.emit(e.IterationStarted(id, turn.state.next_scope, loop.next))
        _ask_for_items(turn, activation)
    return True


def end_iteration(program: FlowProgram, turn: Turn, flow: FlowState, scope: int, failure: Failure | None) -> None:
    """One more result, or one less to come: the loop may have enough."""
    id = flow.scopes[scope].loop
    assert id is not None
    loop, result = flow.loops[id], flow.scopes[scope].result
    node = program.graph.nodes[loop.node]
    assert node.loop is not None
    turn.emit(e.IterationEnded(id, scope, failure))
    enough = node.loop.enough
    if enough is None or loop.satisfied or loop.closing:
        return
    activation = turn.state.activations[id]
    try:
        progress = progress_of(node.loop, loop, result)
        is_enough = evaluate_with(program.graph, turn, activation, enough, progress)
    except PerdureError as problem:
        wrong = failure_from(problem, node.id)
        close(program, turn, activation, wrong, reason=wrong.message)
        return
    if is_enough:
        have_enough(program, turn, node, activation, loop)


def progress_of(options: LoopOptions, loop: LoopState, result: Any) -> dict[str, Any]:
    """What the condition `enough` can read besides what everybody can. Results that moved into blobs are not among
    them."""
    return {
        "result": result,
        options.results: all_results(loop),
        options.count: loop.count,
        "failed": loop.failed,
        "total": loop.total,
    }


def have_enough(program: FlowProgram, turn: Turn, node: Node, activation: Activation, loop: LoopState) -> None:
    """The loop has the results that it needs: the rest is withdrawn, or goes on unheeded."""
    options = node.loop
    assert options is not None
    if not loop.running:
        finish(program, turn, node, activation, loop)
    elif options.cancel_rest:
        close(program, turn, activation, None, reason="it has the results that it needs")
    else:
        output, size = result_of(turn, options, loop)
        program.satisfied(turn, activation, output, counted(size))


def finish(program: FlowProgram, turn: Turn, node: Node, activation: Activation, loop: LoopState) -> None:
    options = node.loop
    assert options is not None
    output, size = result_of(turn, options, loop)
    program.completed(turn, activation, output, None, None, counted(size))


def result_of(turn: Turn, options: LoopOptions, loop: LoopState) -> tuple[Any, int]:
    if options.once:
        return loop.last, 0
    if options.yantra:
        return _as_in_yantra(options, loop)
    output: dict[str, Any] = {options.count: loop.count}
    size = loop.result_bytes
    if loop.failed:
        output["failed"] = loop.failed
    results = all_results(loop)
    if options.accumulate == "last":
        output[options.results] = results[-1] if loop.finished and results else loop.last
    elif options.accumulate == "all":
        if loop.spilled:
            if results:
                _spill(turn, loop, results)
            output[options.results] = {
                CHUNKS: [{"blob": k.blob, "count": k.count, "size": k.size} for k in loop.spilled]
            }
            size = 0
        else:
            output[options.results] = results
    return output, size


def _as_in_yantra(options: LoopOptions, loop: LoopState) -> tuple[Any, int]:
    """There all iterations are counted, and a list is given under several names."""
    size = loop.result_bytes
    output: dict[str, Any] = {"iteration_count": loop.next}
    if options.accumulator is None:
        items = loop.items or []
        pairs = [{options.index: index, options.item: item} for index, item in enumerate(items)]
        output |= {"data": pairs, "results": pairs, "items": items}
        size += len(encode_json(items))
    else:
        results = all_results(loop)
        found = results if options.accumulate == "all" else loop.last
        output |= {options.accumulator: found, "accumulated": found, "data": found}
    if loop.failed:
        output["failed"] = loop.failed
    return output, size


def all_results(loop: LoopState) -> list[Any]:
    """What has been gathered, and behind it what waits for the result of an earlier item."""
    if not loop.finished:
        return loop.results
    return [*loop.results, *(value for _, (counts, value) in sorted(loop.finished.items()) if counts)]


def _spill(turn: Turn, loop: LoopState, results: list[Any]) -> None:
    content = encode_json(results)
    name = digest(content)
    turn.blobs[name] = content
    turn.emit(e.AccumulatorSpilled(loop.activation, e.Chunk(name, len(results), len(content))))


# -- items that come later -----------------------------------------------------------------------


def wanted(flow: FlowState, activation: Activation) -> tuple[str, int, int] | None:
    loop = flow.loops.get(activation.id)
    if loop is None or loop.closing or loop.chunks is None or loop.chunk >= len(loop.chunks) or loop.buffered():
        return None
    chunk = loop.chunks[loop.chunk]
    return chunk.blob, loop.chunk, chunk.count


def _ask_for_items(turn: Turn, activation: Activation) -> None:
    request = wanted(turn.state.body, activation)
    if request is not None:
        turn.effects.append(effects.LoadItems(activation.id, *request))


def loaded(program: FlowProgram, turn: Turn, activation: Activation, command: c.ItemsLoaded) -> None:
    request = wanted(turn.state.body, activation)
    if request is not None and command.offset == request[1]:
        turn.emit(e.ItemsAdded(activation.id, command.items))


def take_signals(program: FlowProgram, turn: Turn, flow: FlowState) -> None:
    """Hands pending signals to loops that take items, or their end, from signals."""
    for loop in list(flow.loops.values()):
        options = program.graph.nodes[loop.node].loop
        assert options is not None
        if options.add_signal is not None or options.close_signal is not None:
            while (signal := _next_signal(turn.state, options, loop)) is not None:
                _take_signal(program, turn, turn.state.activations[loop.activation], options, signal)


def _next_signal(state: RunState, options: LoopOptions, loop: LoopState) -> PendingSignal | None:
    """A list that is closed takes no more items; a loop that has its result, or is given up, takes nothing."""
    if loop.closing or loop.satisfied:
        return None
    names = (options.close_signal, options.add_signal if loop.open_ended else None)
    pending = [number for name in names if name is not None and (number := first_signal(state, name)) is not None]
    return state.signals[min(pending)] if pending else None


def _take_signal(
    program: FlowProgram, turn: Turn, activation: Activation, options: LoopOptions, signal: PendingSignal
) -> None:
    turn.emit(e.SignalConsumed(signal.name, activation.id, signal.number))
    if signal.name == options.close_signal:
        turn.emit(e.ItemsClosed(activation.id))
        close(program, turn, activation, None, reason="it was told to finish")
    elif signal.payload is None or signal.payload == []:
        turn.emit(e.ItemsClosed(activation.id))
    else:
        items = signal.payload if isinstance(signal.payload, list) else [signal.payload]
        turn.emit(e.ItemsAdded(activation.id, items))


# -- failing and giving up -----------------------------------------------------------------------


def item_failed(program: FlowProgram, turn: Turn, activation: Activation, failure: Failure, output: Any) -> None:
    """The failure bubbles up until a loop's item policy or an error edge takes care of it; at the root the run
    fails."""
    state = turn.state
    flow: FlowState = state.body
    scope = activation.scope
    while scope:
        loop_id = flow.scopes[scope].loop
        assert loop_id is not None
        around = state.activations[loop_id]
        options = program.graph.by_id[around.node].loop
        assert options is not None
        if options.on_item_failure != "fail" or flow.loops[loop_id].satisfied:
            turn.emit(e.ActivationFailed(activation.id, activation.attempt, failure, outcome=SCOPE, output=output))
            turn.emit(e.ScopeClosing(scope, failure))
            _withdraw_within(turn, flow, scope, failure.message)
            return
        if program.is_handled(turn, around, failure):
            turn.emit(e.ActivationFailed(activation.id, activation.attempt, failure, outcome=SCOPE, output=output))
            close(program, turn, around, failure, reason=failure.message)
            return
        scope = around.scope
    turn.emit(e.ActivationFailed(activation.id, activation.attempt, failure, output=output))
    fail_run(turn, failure, activation.id)


def close(
    program: FlowProgram,
    turn: Turn,
    activation: Activation,
    failure: Failure | None,
    *,
    reason: str,
    cancelled: bool = False,
) -> None:
    """Gives up what runs of a loop; how it ends is decided when nothing lives there any more."""
    flow: FlowState = turn.state.body
    loop = flow.loops[activation.id]
    if loop.closing and (loop.cancelled or not cancelled):
        return
    turn.emit(e.LoopClosing(activation.id, failure, cancelled))
    for scope in list(loop.running):
        _withdraw_within(turn, flow, scope, reason)


def _withdraw_within(turn: Turn, flow: FlowState, scope: int, reason: str) -> None:
    for id in list(living(flow, scope)):
        activation = turn.state.activations.get(id)
        if activation is not None:
            withdraw(turn, activation, reason)


def finish_given_up(program: FlowProgram, turn: Turn, flow: FlowState) -> bool:
    """Ends what is being given up and in which nothing lives any more: undone first, one after the other, in the order
    in which they came to rest. True if something has happened."""
    state = turn.state
    before = len(turn.events)
    begun = state.compensating
    if begun is not None:
        if not compensate(turn, begun.scope, begun.policy, loop=begun.loop):
            return len(turn.events) > before
        scope, id = begun.scope, begun.loop
    elif flow.drained_scopes:
        scope, id = next(iter(flow.drained_scopes)), None
        if not compensate(turn, scope, program.graph.compensation):
            return True
    elif flow.drained:
        scope, id = ROOT, next(iter(flow.drained))
        if not _undo_loop(program, turn, flow.loops[id]):
            return True
    else:
        return False
    if id is not None and id in flow.drained:
        _end_loop(program, turn, flow.loops[id])
    elif id is None and scope in flow.drained_scopes:
        end_iteration(program, turn, flow, scope, state.scopes[scope].closing)
    return True


def _end_loop(program: FlowProgram, turn: Turn, loop: LoopState) -> None:
    activation = turn.state.activations[loop.activation]
    if loop.cancelled:
        turn.emit(e.ActivationCancelled(activation.id, "cancelled"))
    elif loop.closing_failure is not None:
        program.failed(turn, activation, loop.closing_failure, None)
    else:
        finish(program, turn, program.graph.nodes[loop.node], activation, loop)


def _undo_loop(program: FlowProgram, turn: Turn, loop: LoopState) -> bool:
    """A loop that has failed is undone with all its iterations; of one that was taken back, or of its rest when it had
    enough, what failed is undone, and else what declares it. True when that is over."""
    state, id = turn.state, loop.activation
    has_failed, has_enough = loop.closing_failure is not None, not (loop.cancelled or loop.closing_failure)
    failed = [scope for scope in loop.running if state.scopes[scope].closing is not None]
    failures = {entry.activation for scope in failed for entry in undoable(state, scope, None)}

    def is_to_be_undone(entry: Undo) -> bool:
        is_declared = entry.on_cancel and not (has_enough and entry.loop == id)
        return has_failed or is_declared or entry.activation in failures

    return compensate(turn, loop.scope, program.graph.compensation, loop=id, which=is_to_be_undone)


def _depth(state: RunState, scope: int) -> int:
    depth = 0
    while scope:
        depth += 1
        parent = state.scopes[scope].parent
        assert parent is not None
        scope = parent
    return depth
