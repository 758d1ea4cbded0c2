"""What an event costs does not grow: neither with the history behind it, nor with the size of the definition.

Costs are counted, not timed: in operations of the Python interpreter.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from perdure.model import commands as c
from perdure.model.policies import Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig

LARGE = Limits(activations=10**9, iterations=10**9, generation_events=10**9, active_time=10**15)


def operations_of(work: Callable[[], Any]) -> int:
    """How many operations the Python interpreter executes."""
    count = 0

    def watch(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def long_run(nodes: dict[str, Any], edges: str, **settings: Any) -> Rig:
    return Rig(flow({"s": "start", **nodes}, edges, **settings), limits=LARGE, checked=False)


def finish_one(rig: Rig) -> None:
    """Completes the activation that has been executing longest, as a runtime would."""
    activation = next(each for each in rig.state.activations.values() if each.phase == "executing")
    turn = rig.kernel.turn(rig.state, rig.now)
    rig.kernel.handle(turn, c.Complete(activation.id, activation.attempt, 1))
    rig.kernel.finish(turn)


def chain(length: int) -> Rig:
    nodes = {f"n{i}": "step" for i in range(length)}
    edges = "s>n0 " + " ".join(f"n{i}>n{i + 1}" for i in range(length - 1))
    return long_run(nodes, edges)


def diamonds(length: int) -> Rig:
    """Splits and joins one after the other, with a branch that is dead."""
    nodes: dict[str, Any] = {"j0": "step"}
    edges = ["s>j0"]
    for i in range(length):
        nodes |= {f"a{i}": "step", f"b{i}": "pass", f"j{i + 1}": "step"}
        edges += [f"j{i}>a{i}", f"j{i}>b{i}:b", f"a{i}>j{i + 1}", f"b{i}>j{i + 1}"]
    return long_run(nodes, " ".join(edges))


def cycle(length: int) -> Rig:
    """The same three nodes, round and round; nodes that are never reached stand beside them."""
    nodes = {"m": {"type": "pass", "join": "any"}, "a": "step", "c": "pass"} | {f"x{i}": "step" for i in range(length)}
    edges = "s>m m>a a>c c>m a>x0:b " + " ".join(f"x{i}>x{i + 1}" for i in range(length - 1))
    return long_run(nodes, edges)


def loop(length: int) -> Rig:
    nodes = {"l": {"type": "loop", "count": 10**6, "accumulate": "none"}, "a": {"type": "step", "parent": "l"}}
    nodes |= {f"x{i}": {"type": "pass", "parent": "l"} for i in range(3)}
    return long_run(nodes, "s>l a>x0 a>x1 x0>x2 x1>x2")


def wide_loop(length: int) -> Rig:
    """Many iterations at once."""
    nodes = {
        "l": {"type": "loop", "count": 10**6, "concurrency": 4 * length, "accumulate": "none"},
        "a": {"type": "step", "parent": "l"},
    }
    rig = long_run(nodes, "s>l")
    while rig.last.effects and len(rig.state.activations) < 4 * length:
        rig.tell(c.Proceed())
    return rig


def many_signals(length: int) -> Rig:
    """Thousands of signals that nobody takes lie about."""
    nodes = {"l": {"type": "loop", "count": 10**6, "accumulate": "none"}, "a": {"type": "step", "parent": "l"}}
    nodes["w"] = {"type": "signal", "name": "go", "parent": "l"}
    rig = long_run(nodes, "s>l a>w")
    for number in range(5 * length):
        rig.signal(f"noise {number % 7}", number)
    for number in range(5 * length):
        rig.signal("go", number)
    return rig


MAKERS = [chain, diamonds, cycle, loop, wide_loop, many_signals]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_an_event_late_in_a_long_history_costs_what_an_early_one_costs(make: Callable[[int], Rig]) -> None:
    rig = make(600)
    for _ in range(20):
        finish_one(rig)
    early = [operations_of(lambda: finish_one(rig)) for _ in range(40)]
    for _ in range(450):
        finish_one(rig)
    late = [operations_of(lambda: finish_one(rig)) for _ in range(40)]
    assert sum(late) <= 1.1 * sum(early)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_an_event_in_a_large_definition_costs_what_it_costs_in_a_small_one(make: Callable[[int], Rig]) -> None:
    costs = []
    for size in (60, 600):
        rig = make(size)
        for _ in range(10):
            finish_one(rig)
        costs.append(sum(operations_of(lambda rig=rig: finish_one(rig)) for _ in range(40)))
    small, large = costs
    assert large <= 1.1 * small


def test_replaying_an_event_costs_the_same_early_and_late() -> None:
    rig = chain(600)
    while rig.state.final is None:
        activation = next(iter(rig.state.activations.values()))
        rig.tell(c.Complete(activation.id, 1, 1))
    state = rig.kernel.new("r")
    costs = [operations_of(lambda at=at, events=events: rig.kernel.replay(state, events, at)) for at, events in rig.log]
    assert sum(costs[500:600]) <= 1.1 * sum(costs[1:101])


def test_cancelling_thousands_of_activations_costs_so_much_for_each() -> None:
    costs = []
    for count in (250, 2500):
        rig = wide_loop(count // 4)
        turn = rig.kernel.turn(rig.state, rig.now)
        costs.append(operations_of(lambda rig=rig, turn=turn: rig.kernel.handle(turn, c.Cancel())) / count)
    assert costs[1] <= 1.1 * costs[0]


@pytest.mark.serial
def test_a_chain_of_8000_takes_no_more_than_120_times_a_chain_of_80() -> None:
    def seconds(rigs: list[Rig], length: int) -> float:
        begun = time.process_time()
        for rig in rigs:
            for _ in range(length):
                finish_one(rig)
        assert all(rig.state.final == "COMPLETED" for rig in rigs)
        return time.process_time() - begun

    ratios = [100 * seconds([chain(8000)], 8000) / seconds([chain(80) for _ in range(100)], 80) for _ in range(3)]
    assert min(ratios) <= 120


@pytest.mark.parametrize("expression", ["nodes.s.output", "_global.s", "vars.x ?? 1", "nodes.n0.output ?? _global.n3"])
def test_an_expression_reads_no_more_of_the_data_than_it_asks_for(expression: str) -> None:
    costs = []
    for size in (60, 600):
        nodes = {f"n{i}": {"type": "expr", "expr": expression} for i in range(size)}
        edges = "s>n0 " + " ".join(f"n{i}>n{i + 1}" for i in range(size - 1)) + f" n{size - 1}>a"
        costs.append(operations_of(lambda nodes=nodes, edges=edges: long_run({**nodes, "a": "step"}, edges)) / size)
    assert costs[1] <= 1.1 * costs[0]
