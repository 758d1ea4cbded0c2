"""What an event costs does not grow with the number of those who live beside it: items of a loop that fail, are undone,
race, cancel one another or wait for the same thing, by the hundred and at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from perdure.model import commands as c
from perdure.model.failures import Failure
from tests.kernel.rig import Rig
from tests.kernel.test_cost import long_run, operations_of

ITEM: dict[str, Any] = {"parent": "l"}
STEP: dict[str, Any] = {"type": "step", **ITEM}
SLEEP: dict[str, Any] = {"type": "sleep", "us": 9, **ITEM}
NESTED: dict[str, Any] = {"m": {"type": "loop", "count": 1, **ITEM}, "a": {"type": "step", "parent": "m"}}
FIRST: dict[str, Any] = {"type": "pass", "join": {"rule": "first", "cancel_rest": True}, **ITEM}


class Crowd(NamedTuple):
    nodes: dict[str, Any]
    answers: str
    """What happens to all who are executing then, one letter a round: c completes, f fails. The last is measured."""
    edges: str = ""
    loop: dict[str, Any] | None = None
    measured: int = 10**9
    """So many answers are measured."""


CROWDS = {
    "items complete": Crowd({"a": STEP}, "c"),
    "items fail and are skipped": Crowd({"a": STEP}, "f", loop={"on": "skip"}),
    "items fail and others stop": Crowd({"a": STEP, "b": STEP}, "f", loop={"on": "skip"}, measured=60),
    "items fail and are undone": Crowd(
        {"a": {**STEP, "compensate": "u"}, "b": STEP, "u": "step"}, "cfc", "a>b", {"on": "skip"}, measured=60
    ),
    "a join cancels the rest": Crowd({"a": STEP, "z": SLEEP, "j": FIRST}, "c", "a>j z>j"),
    "a race is won": Crowd({"a": {**STEP, "race": "r"}, "z": {**SLEEP, "race": "r"}}, "c"),
    "a region is cancelled": Crowd({"a": {**STEP, "cancels": ["z"]}, "z": SLEEP}, "c"),
    "loops are nested": Crowd(NESTED, "c"),
    "nested loops fail": Crowd(NESTED, "f", loop={"on": "skip"}),
    "a loop is given up": Crowd({"a": STEP, "e": "step"}, "f", "l>e:error"),
    "many wait for one mutex": Crowd({"a": {**STEP, "mutex": "m"}}, "c", measured=60),
    "many wait for one signal": Crowd({"a": STEP, "w": {"type": "signal", "name": "go", **ITEM}}, "c"),
    "many attempts": Crowd({"a": {**STEP, "retry": {"attempts": 2}}}, "r"),
}


def _crowd(crowd: Crowd, count: int) -> Rig:
    loop = {"type": "loop", "count": count, "concurrency": count, "accumulate": "none", **(crowd.loop or {})}
    rig = long_run({"l": loop, **crowd.nodes}, f"s>l {crowd.edges}")
    while rig.last.effects and type(rig.last.effects[-1]).__name__ == "Continue":
        rig.tell(c.Proceed())
    return rig


def _answer(rig: Rig, id: int, letter: str) -> None:
    activation = rig.state.activations.get(id)
    if activation is None:
        return
    command: c.Command = c.Complete(id, activation.attempt, 1)
    if letter != "c":
        command = c.Fail(id, activation.attempt, Failure("BROKEN", "it broke", retryable=letter == "r"))
    turn = rig.kernel.turn(rig.state, rig.now)
    rig.kernel.handle(turn, command)
    rig.kernel.finish(turn)


def _answer_round(rig: Rig, letter: str, at_most: int) -> int:
    """Answers for all who execute or were told to stop, and for those who take their places."""
    answered = 0
    while answered < at_most:
        ids = [each.id for each in rig.state.activations.values() if each.phase in ("executing", "cancelling")]
        if not ids or (answered and letter != "c"):
            break
        for id in ids[: at_most - answered]:
            _answer(rig, id, letter)
            answered += 1
    return answered


def _cost(crowd: Crowd, count: int) -> float:
    """Operations per answer in the last round."""
    rig = _crowd(crowd, count)
    for letter in crowd.answers[:-1]:
        for each in list(rig.state.activations.values()):
            if each.phase == "executing":
                _answer(rig, each.id, letter)
    answered = 0

    def measured() -> None:
        nonlocal answered
        answered = _answer_round(rig, crowd.answers[-1], crowd.measured)

    operations = operations_of(measured)
    assert answered >= min(count, crowd.measured) - 1
    return operations / answered


@pytest.mark.parametrize("name", CROWDS)
def test_in_a_crowd_an_event_costs_what_it_costs_among_few(name: str) -> None:
    assert _cost(CROWDS[name], 800) <= 1.2 * _cost(CROWDS[name], 100)
