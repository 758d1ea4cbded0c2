"""The status that people see, and the reason why a run is not further on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from perdure.kernel.outlook import explain
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.policies import SECOND, Limits
from perdure.model.statuses import FINAL, OPEN, Status
from perdure.model.times import iso
from tests.kernel.catalogue import flow
from tests.kernel.every_scenario import SCENARIOS
from tests.kernel.rig import Rig

STEP: dict[str, Any] = {"a": "step"}
SLEEP: dict[str, Any] = {"z": {"type": "sleep", "us": 50}}
SIGNAL: dict[str, Any] = {"w": {"type": "signal", "name": "go"}}
CHILD: dict[str, Any] = {"k": "call"}


def _rig(*parts: dict[str, Any], **limits: int) -> Rig:
    nodes: dict[str, Any] = {"s": "start"}
    for part in parts:
        nodes |= part
    return Rig(flow(nodes, " ".join(f"s>{id}" for id in nodes if id != "s")), limits=Limits(**limits))


def _told(rig: Rig, *commands: c.Command) -> Rig:
    for command in commands:
        rig.tell(command)
    return rig


CASES: list[tuple[Status, Callable[[], Rig]]] = [
    (Status.QUEUED, lambda: Rig(flow({"s": "start"}), started=False)),
    (Status.RUNNING, lambda: _rig(STEP)),
    (Status.RUNNING, lambda: _rig(STEP, SIGNAL, SLEEP)),
    (Status.RUNNING, lambda: _told(_rig(STEP), c.Cancel())),
    (Status.WAITING, lambda: _rig(SIGNAL)),
    (Status.WAITING, lambda: _rig(CHILD)),
    (Status.WAITING, lambda: _rig(SIGNAL, SLEEP)),
    (Status.WAITING, lambda: _rig({"l": {"type": "loop", "items": [], "add": "more"}})),
    (Status.SLEEPING, lambda: _rig(SLEEP)),
    (Status.SUSPENDED, lambda: _told(_rig(STEP), c.Suspend())),
    (Status.COMPLETED, _rig),
    (Status.FAILED, lambda: _rig({"f": "refuse"})),
    (Status.CANCELLED, lambda: _told(_rig(SLEEP), c.Cancel())),
    (Status.TIMED_OUT, lambda: _told(_rig(STEP, active_time=0), c.FireTimers(), c.CancelDone(2))),
]


@pytest.mark.parametrize(("status", "make"), CASES, ids=[f"{i}-{status}" for i, (status, _) in enumerate(CASES)])
def test_a_run_has_the_status_that_follows_from_its_state(status: Status, make: Callable[[], Rig]) -> None:
    rig = make()
    assert rig.status is status
    assert (rig.reasons == []) == status.is_final


def test_every_status_can_be_reached() -> None:
    assert {status for status, _ in CASES} == set(Status) == FINAL | OPEN


def test_a_pause_between_attempts_is_sleeping() -> None:
    rig = Rig(flow({"s": "start", "a": {"type": "step", "retry": {"attempts": 2}}}, "s>a"))
    rig.fail("a", retryable=True)
    assert rig.status is Status.SLEEPING


def test_a_run_whose_turn_was_cut_short_is_running() -> None:
    nodes = {"s": "start"} | {f"z{i}": {"type": "sleep", "us": 50} for i in range(300)}
    rig = Rig(flow(nodes, " ".join(f"s>z{i}" for i in range(300))), limits=Limits(activations=1000))
    assert rig.status is Status.RUNNING
    rig.tell(c.Proceed())
    assert rig.status is Status.SLEEPING


# -- why it is not moving ----------------------------------------------------------------------------------------------


def _only(rig: Rig) -> Any:
    (reason,) = rig.reasons
    return reason


def test_it_waits_for_a_worker() -> None:
    assert _only(Rig(flow({"s": "start"}), started=False)).kind == "queued"


def test_a_node_is_executing() -> None:
    reason = _only(_rig(STEP))
    assert (reason.kind, reason.node, reason.text) == ("executing", "a", "a is executing (attempt 1)")


def test_a_node_waits_for_its_next_attempt() -> None:
    rig = Rig(flow({"s": "start", "a": {"type": "step", "retry": {"attempts": 2, "initial": 7}}}, "s>a"))
    rig.fail("a", retryable=True)
    reason = _only(rig)
    assert (reason.kind, reason.node, reason.due) == ("retrying", "a", rig.now + 7 * SECOND)


@pytest.mark.parametrize(
    ("pause", "said"), [(0.5, "0.5 s"), (7, "7 s"), (12, "12 s"), (119, "119 s"), (300, "5 min"), (9000, "2 h")]
)
def test_a_node_that_is_tried_again_says_what_failed_and_when_it_is_due(pause: float, said: str) -> None:
    retry = {"attempts": 2, "initial": pause, "maximum": "3h"}
    rig = Rig(flow({"s": "start", "a": {"type": "step", "retry": retry}}, "s>a"))
    rig.fail("a", code="PAYMENT_DOWN", retryable=True)
    failure = rig.of(e.ActivationFailed)[0].failure
    due = rig.now + int(pause * SECOND)
    (reason,) = explain(rig.kernel.program, rig.state, rig.now)
    assert reason.text == f"a failed with PAYMENT_DOWN: {failure.message}; attempt 2 is due at {iso(due)} (in {said})"
    assert _only(rig).text.endswith(f"attempt 2 is due at {iso(due)}")
    (late,) = explain(rig.kernel.program, rig.state, due)
    assert late.text.endswith(f"attempt 2 is due since {iso(due)}")
    again = rig.kernel.restore(rig.kernel.snapshot(rig.state))
    assert explain(rig.kernel.program, again, rig.now) == [reason]


def test_a_node_sleeps_until() -> None:
    rig = _rig(SLEEP)
    reason = _only(rig)
    assert (reason.kind, reason.node, reason.due) == ("sleeping", "z", rig.now + 50)


def test_a_node_waits_for_a_signal() -> None:
    reason = _only(_rig({"w": {"type": "signal", "name": "go", "us": 9}}))
    assert (reason.kind, reason.subject) == ("signal", "go")
    assert reason.due is not None
    assert "'go'" in reason.text


def test_a_node_waits_for_a_child() -> None:
    rig = _rig(CHILD)
    assert (_only(rig).kind, _only(rig).subject) == ("child", rig.live("k").child)


def test_a_loop_waits_for_its_iterations() -> None:
    nodes = {"s": "start", "l": {"type": "loop", "count": 1}, "w": {"type": "signal", "name": "go", "parent": "l"}}
    rig = Rig(flow(nodes, "s>l"))
    assert [reason.kind for reason in rig.reasons] == ["loop", "signal"]


def test_a_loop_waits_for_items() -> None:
    rig = _rig({"l": {"type": "loop", "items": [], "add": "more"}})
    reason = rig.reasons[-1]
    assert (reason.kind, reason.node, reason.subject) == ("items", "l", "more")
    rig.signal("more")
    assert rig.status is Status.COMPLETED


def test_a_handler_was_told_to_stop() -> None:
    rig = _told(_rig(STEP), c.Cancel())
    assert [reason.kind for reason in rig.reasons] == ["closing", "cancelling"]
    assert rig.reasons[0].text == "winding up as CANCELLED"


def test_somebody_suspended_it() -> None:
    rig = _told(_rig(SLEEP), c.Suspend("maintenance"))
    assert rig.reasons[0].text == "suspended: maintenance"
    assert _told(_rig(SLEEP), c.Suspend()).reasons[0].text == "suspended"


def test_a_node_waits_for_a_mutex() -> None:
    rig = _rig({"a": {"type": "step", "mutex": "m"}, "b": {"type": "step", "mutex": "m"}})
    held = next(reason for reason in rig.reasons if reason.node == "b")
    assert (held.kind, held.subject) == ("mutex", "m")


def test_a_node_waits_for_a_milestone() -> None:
    rig = _rig({"a": "step", "b": {"type": "step", "milestone": {"after": "a"}}})
    held = next(reason for reason in rig.reasons if reason.node == "b")
    assert (held.kind, held.subject) == ("milestone", "a")


def test_a_node_waits_for_a_free_place() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "b": "step"}, "s>a s>b", max_parallel=1))
    held = next(reason for reason in rig.reasons if reason.node == "b")
    assert held.kind == "slot"


def test_a_node_waits_for_its_layer() -> None:
    nodes = {"s": "start", "a": "step", "b": "pass", "d": "step"}
    rig = Rig(flow(nodes, "s>a s>b b>d", barrier="layer"))
    held = next(reason for reason in rig.reasons if reason.node == "d")
    assert (held.kind, held.text) == ("layer", "d waits until everything before it has ended")


def test_a_node_waits_for_the_next_turn() -> None:
    nodes = {"s": "start"} | {f"z{i}": {"type": "sleep", "us": 50} for i in range(300)}
    rig = Rig(flow(nodes, " ".join(f"s>z{i}" for i in range(300))), limits=Limits(activations=1000))
    assert [reason.kind for reason in rig.reasons if reason.node == "z299"] == ["ready"]


def test_every_reason_is_a_sentence_about_something() -> None:
    for make in SCENARIOS.values():
        rig = make()
        assert all(reason.text and reason.kind for reason in rig.reasons)
        assert bool([each for each in rig.reasons if each.kind != "not undone"]) == (rig.state.final is None)
