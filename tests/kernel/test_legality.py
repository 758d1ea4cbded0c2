"""Which command is possible when: the table is the specification, and the kernel behaves as it lists."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from perdure.errors import IllegalCommand
from perdure.kernel.decide import DECIDERS
from perdure.kernel.legality import COMMANDS, Answer, Condition
from perdure.kernel.turn import condition
from perdure.model import commands as c
from perdure.model.failures import Failure
from perdure.model.policies import Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import SECOND, Rig

DOCUMENT = flow(
    {"s": "start", "a": "step", "t": "ask", "e": "end", "d": {"type": "step", "on_demand": True}}, "s>a s>t a>e"
)
A = 2
"""The activation of the step; the start node was the first."""


def _open() -> Rig:
    return Rig(DOCUMENT, limits=Limits(active_time=SECOND))


def _suspended() -> Rig:
    rig = _open()
    rig.tell(c.Suspend("maintenance"))
    return rig


def _closing() -> Rig:
    rig = _open()
    rig.tell(c.Cancel("enough"))
    return rig


def _completed() -> Rig:
    rig = _open()
    rig.answer("t")
    rig.complete("a")
    return rig


def _failed() -> Rig:
    rig = _open()
    rig.fail("a")
    return rig


def _cancelled() -> Rig:
    rig = _closing()
    rig.stopped("a")
    return rig


def _timed_out() -> Rig:
    rig = _open()
    rig.tell(c.FireTimers(), after=SECOND)
    rig.stopped("a")
    return rig


RUNS: dict[Condition, Callable[[], Rig]] = {
    Condition.NEW: lambda: Rig(DOCUMENT, started=False),
    Condition.OPEN: _open,
    Condition.SUSPENDED: _suspended,
    Condition.CLOSING: _closing,
    Condition.COMPLETED: _completed,
    Condition.FAILED: _failed,
    Condition.CANCELLED: _cancelled,
    Condition.TIMED_OUT: _timed_out,
}

EXAMPLES: dict[type[c.Command], c.Command] = {
    c.Start: c.Start("d", 1, "h"),
    c.Complete: c.Complete(A, 1, "done"),
    c.Fail: c.Fail(A, 1, Failure("BROKEN", "it broke")),
    c.CancelDone: c.CancelDone(A),
    c.Heartbeat: c.Heartbeat(A, 1, {"percent": 50}),
    c.RecordSideEffect: c.RecordSideEffect("dice", 4),
    c.SetAttributes: c.SetAttributes({"colour": "red"}),
    c.FireTimers: c.FireTimers(),
    c.Proceed: c.Proceed(),
    c.TakeOver: c.TakeOver(),
    c.ItemsLoaded: c.ItemsLoaded(A, 0, [1]),
    c.ChildEnded: c.ChildEnded(A, "child", "COMPLETED"),
    c.Signal: c.Signal("go"),
    c.Answer: c.Answer({"selectedOptions": {"decision": "yes"}}),
    c.RunNode: c.RunNode("d", {"x": 1}),
    c.Cancel: c.Cancel("enough"),
    c.Suspend: c.Suspend("maintenance"),
    c.Resume: c.Resume(),
    c.RetryRun: c.RetryRun(),
}

CASES = [(command, where) for command, row in COMMANDS.items() for where in row]


def test_every_command_has_a_row_a_decider_and_an_example() -> None:
    every = set(c.Command.__subclasses__())
    assert set(COMMANDS) == every
    assert set(DECIDERS) == every
    assert set(EXAMPLES) == every


def test_every_row_names_every_condition() -> None:
    assert all(set(row) == set(Condition) for row in COMMANDS.values())


@pytest.mark.parametrize("where", Condition)
def test_a_run_can_be_in_each_condition(where: Condition) -> None:
    assert condition(RUNS[where]().state) is where


@pytest.mark.parametrize(("command", "where"), CASES, ids=lambda each: getattr(each, "__name__", str(each)))
def test_a_command_is_answered_as_the_table_says(command: type[c.Command], where: Condition) -> None:
    rig = RUNS[where]()
    before = rig.kernel.snapshot(rig.state)
    answer = COMMANDS[command][where]
    turn = rig.kernel.turn(rig.state, rig.now)
    if answer is Answer.ACCEPT:
        rig.kernel.handle(turn, EXAMPLES[command])
        return
    if answer is Answer.IGNORE:
        assert rig.kernel.handle(turn, EXAMPLES[command]) is False
    else:
        with pytest.raises(IllegalCommand) as refused:
            rig.kernel.handle(turn, EXAMPLES[command])
        assert f"{command.__name__} is not possible: the run is {where.value}" in refused.value.message
        assert refused.value.expected is not None
    assert turn.events == []
    assert rig.kernel.snapshot(rig.state) == before


CHANGES = {
    (c.Complete, Condition.OPEN),
    (c.Complete, Condition.SUSPENDED),
    (c.Complete, Condition.CLOSING),
    (c.Fail, Condition.OPEN),
    (c.Fail, Condition.CLOSING),
    (c.CancelDone, Condition.CLOSING),
    (c.Heartbeat, Condition.OPEN),
    (c.RecordSideEffect, Condition.OPEN),
    (c.SetAttributes, Condition.OPEN),
    (c.TakeOver, Condition.OPEN),
    (c.Signal, Condition.OPEN),
    (c.Signal, Condition.CLOSING),
    (c.Answer, Condition.OPEN),
    (c.Answer, Condition.SUSPENDED),
    (c.RunNode, Condition.OPEN),
    (c.Cancel, Condition.OPEN),
    (c.Cancel, Condition.SUSPENDED),
    (c.Suspend, Condition.OPEN),
    (c.Resume, Condition.SUSPENDED),
    (c.RetryRun, Condition.FAILED),
    (c.RetryRun, Condition.TIMED_OUT),
    (c.Start, Condition.NEW),
}


@pytest.mark.parametrize(("command", "where"), sorted(CHANGES, key=str), ids=lambda each: getattr(each, "__name__", ""))
def test_an_accepted_command_that_means_something_leaves_events(command: type[c.Command], where: Condition) -> None:
    assert RUNS[where]().tell(EXAMPLES[command])


def test_a_refusal_says_in_which_condition_the_command_would_be_possible() -> None:
    with pytest.raises(IllegalCommand) as refused:
        _completed().tell(c.RetryRun())
    assert refused.value.expected == "a run that is FAILED or TIMED_OUT"


def test_a_run_that_was_cancelled_while_suspended_is_closing() -> None:
    rig = _suspended()
    rig.tell(c.Cancel())
    assert condition(rig.state) is Condition.CLOSING
