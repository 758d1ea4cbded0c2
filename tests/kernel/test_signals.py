"""Named inputs: none is lost, each counts once, and what nobody took is still visible at the end."""

from __future__ import annotations

import pytest

from perdure.errors import InvalidInput, KeyReused, TooMuch
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.policies import Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig, kinds


def _waiting(**config: object) -> Rig:
    nodes = {"s": "start", "w": {"type": "signal", "name": "go", **config}, "e": "end", "late": "json"}
    return Rig(flow(nodes, "s>w w>e w>late:timeout"))


def _after_a_step(**config: object) -> Rig:
    nodes = {"s": "start", "a": "step", "w": {"type": "signal", "name": "go", **config}, "e": "end"}
    return Rig(flow(nodes, "s>a a>w w>e"))


def test_a_signal_completes_the_node_that_waits_for_it_with_its_payload() -> None:
    rig = _waiting()
    assert rig.phase("w") == "signal"
    events = rig.signal("go", {"answer": 42})
    assert kinds(events)[:3] == ["SignalReceived", "SignalConsumed", "ActivationCompleted"]
    assert rig.output == {"answer": 42}


def test_a_signal_that_comes_before_anybody_waits_is_kept() -> None:
    rig = _after_a_step()
    rig.signal("go", "early")
    assert [signal.payload for signal in rig.state.signals.values()] == ["early"]
    rig.complete("a")
    assert rig.output == "early"
    assert rig.state.signals == {}


def test_a_signal_of_another_name_is_kept_and_wakes_nobody() -> None:
    rig = _waiting()
    assert kinds(rig.signal("stop")) == ["SignalReceived"]
    assert rig.phase("w") == "signal"


def test_signals_of_one_name_are_consumed_in_the_order_in_which_they_came() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 3},
        "w": {"type": "signal", "name": "go", "parent": "l"},
        "a": "step",
        "e": "end",
    }
    rig = Rig(flow(nodes, "s>a a>l l>e"))
    for payload in ("one", "two", "three"):
        rig.signal("go", payload)
    rig.complete("a")
    assert rig.output["results"] == ["one", "two", "three"]


def test_those_who_wait_for_one_name_are_served_in_the_order_in_which_they_began_to_wait() -> None:
    wait = {"type": "signal", "name": "go"}
    rig = Rig(flow({"s": "start", "v": wait, "w": wait}, "s>v s>w"))
    rig.signal("go", 1)
    assert [each.node for each in rig.state.activations.values()] == ["w"]
    rig.signal("go", 2)
    assert rig.state.final == "COMPLETED"


def test_a_signal_with_an_id_seen_before_changes_nothing() -> None:
    rig = _after_a_step()
    rig.signal("go", {"a": 1, "b": [2]}, id="x")
    assert rig.signal("go", {"b": [2], "a": 1}, id="x") == []
    assert [signal.payload for signal in rig.state.signals.values()] == [{"a": 1, "b": [2]}]


@pytest.mark.parametrize(("name", "payload"), [("go", 2), ("go", None), ("other", 1), ("go", "1"), ("go", [1])])
def test_another_signal_with_an_id_seen_before_is_refused_and_recorded_as_nothing(name: str, payload: object) -> None:
    rig = _after_a_step()
    rig.signal("go", 1, id="x")
    before = rig.state.seq
    with pytest.raises(KeyReused, match="'x'") as refused:
        rig.signal(name, payload, id="x")
    assert (refused.value.status, refused.value.pointer, refused.value.details["signal"]) == (409, "/id", "x")
    assert rig.state.seq == before
    assert [signal.payload for signal in rig.state.signals.values()] == [1]


def test_a_run_remembers_of_a_signal_with_an_id_a_number_and_not_the_payload() -> None:
    rig = _waiting()
    empty = len(rig.kernel.snapshot(rig.state))
    rig.signal("stop", "x" * 100_000, id="a")
    rig.state.signals, rig.state.signals_of = {}, {}
    assert len(rig.kernel.snapshot(rig.state)) - empty < 100


def test_an_id_that_an_older_snapshot_brought_along_is_known_whatever_it_was_used_for() -> None:
    rig = _after_a_step()
    rig.signal("go", 1, id="x")
    rig.state.signal_ids["x"] = 1  # as release 0.1 wrote it: the signal's number
    old = rig.kernel.restore(rig.kernel.snapshot(rig.state))
    turn = rig.kernel.turn(old, rig.now)
    assert rig.kernel.handle(turn, c.Signal("go", 2, "x")) is False
    assert turn.events == []


def test_an_id_is_remembered_after_its_signal_has_been_consumed() -> None:
    nodes = {"s": "start", "v": {"type": "signal", "name": "go"}, "w": {"type": "signal", "name": "go"}}
    rig = Rig(flow(nodes, "s>v v>w"))
    rig.signal("go", 1, id="x")
    assert rig.signal("go", 1, id="x") == []
    assert rig.phase("w") == "signal"


def test_an_endless_run_remembers_the_last_ten_thousand_ids() -> None:
    nodes = {"s": "start", "l": {"type": "loop", "count": 10**9, "accumulate": "none"}}
    nodes["w"] = {"type": "signal", "name": "go", "parent": "l"}
    rig = Rig(flow(nodes, "s>l"), limits=Limits(activations=10**9, iterations=10**9), checked=False)
    for number in range(10_050):
        rig.signal("go", id=f"id {number}")
    assert len(rig.state.signal_ids) == 10_000
    assert rig.signal("go", id="id 60") == []
    assert rig.signal("go", id="id 10049") == []


def test_signals_without_an_id_all_count() -> None:
    rig = _after_a_step()
    rig.signal("go", 1)
    rig.signal("go", 1)
    assert len(rig.state.signals) == 2


def test_a_transient_wait_takes_only_what_comes_after_it_began() -> None:
    rig = _after_a_step(mode="transient")
    rig.signal("go", "before")
    rig.complete("a")
    assert rig.phase("w") == "signal"
    rig.signal("go", "after")
    assert rig.output == "after"


def test_a_signal_that_only_transient_waits_want_is_recorded_and_not_kept_while_nobody_waits() -> None:
    rig = _after_a_step(mode="transient")
    (event,) = rig.signal("go", "before", id="x")
    assert event == e.SignalReceived("go", "before", "x", kept=False)
    assert rig.state.signals == {}
    assert rig.signal("go", "before", id="x") == []
    rig.complete("a")
    assert rig.phase("w") == "signal"
    rig.signal("go", "after")
    assert rig.output == "after"


def test_signals_that_are_not_kept_do_not_fill_the_queue() -> None:
    nodes = {"s": "start", "a": "step", "w": {"type": "signal", "name": "go", "mode": "transient"}}
    rig = Rig(flow(nodes, "s>a a>w"), limits=Limits(pending_signals=2))
    for number in range(5):
        rig.signal("go", number)
    rig.signal("noise")
    assert [signal.name for signal in rig.state.signals.values()] == ["noise"]


def test_a_signal_of_a_name_that_no_node_knows_stays_in_sight() -> None:
    rig = _after_a_step(mode="transient")
    rig.signal("og", "a slip of the pen")
    assert [signal.name for signal in rig.state.signals.values()] == ["og"]


@pytest.mark.parametrize(
    "other",
    [
        {"type": "signal", "name": "go"},
        {"type": "loop", "items": [], "add": "go"},
        {"type": "loop", "items": [1], "close": "go"},
    ],
    ids=["a persistent wait", "a loop that takes items", "a loop that can be closed"],
)
def test_a_signal_that_anybody_else_may_take_later_is_kept(other: dict[str, object]) -> None:
    wait = {"type": "signal", "name": "go", "mode": "transient"}
    rig = Rig(flow({"s": "start", "a": "step", "v": wait, "b": "step", "o": other}, "s>a a>v s>b b>o"))
    rig.signal("go", "early")
    assert [signal.payload for signal in rig.state.signals.values()] == ["early"]


def test_what_comes_while_the_run_is_suspended_is_kept_for_the_transient_waits_that_there_are() -> None:
    wait = {"type": "signal", "name": "go", "mode": "transient"}
    rig = Rig(flow({"s": "start", "v": wait, "w": wait, "a": "step", "x": wait}, "s>v s>w s>a a>x"))
    rig.tell(c.Suspend())
    assert [rig.signal("go", n)[0].kept for n in (1, 2, 3)] == [True, True, False]
    rig.tell(c.Resume())
    assert (rig.state.signals, rig.state.waiters) == ({}, {})
    rig.complete("a")
    assert rig.phase("x") == "signal"
    rig.signal("go", 4)
    assert rig.state.final == "COMPLETED"


def test_what_a_withdrawn_wait_has_left_does_not_stand_in_the_way_of_the_next_one() -> None:
    wait = {"type": "signal", "name": "go", "mode": "transient"}
    rig = Rig(flow({"s": "start", "v": wait, "a": {"type": "step", "cancels": ["v"]}, "w": wait}, "s>v s>a a>w"))
    rig.tell(c.Suspend())
    rig.signal("go", "for v")
    rig.complete("a")
    rig.tell(c.Resume())
    assert rig.phase("w") == "signal"
    rig.signal("go", "for w")
    assert rig.state.final == "COMPLETED"


def test_a_run_that_began_under_older_rules_keeps_every_signal() -> None:
    nodes = {"s": "start", "a": "step", "w": {"type": "signal", "name": "go", "mode": "transient"}}
    rig = Rig(flow(nodes, "s>a a>w"), started=False)
    rig.kernel.program.semantics = 1
    rig.tell(rig.begin)
    rig.signal("go", "before")
    assert len(rig.state.signals) == 1


def test_what_a_transient_wait_passed_over_is_still_there_for_a_persistent_one() -> None:
    nodes = {
        "s": "start",
        "a": "step",
        "v": {"type": "signal", "name": "go", "mode": "transient"},
        "w": {"type": "signal", "name": "go"},
        "e": "end",
    }
    rig = Rig(flow(nodes, "s>a a>v v>w w>e"))
    rig.signal("go", "before")
    rig.complete("a")
    rig.signal("go", "after")
    assert rig.output == "before"


def test_a_transient_wait_does_not_hold_up_one_that_is_persistent() -> None:
    nodes = {
        "s": "start",
        "a": "step",
        "v": {"type": "signal", "name": "go", "mode": "transient"},
        "w": {"type": "signal", "name": "go"},
    }
    rig = Rig(flow(nodes, "s>a a>v a>w"))
    rig.signal("go", "before")
    rig.complete("a")
    assert [each.node for each in rig.state.activations.values()] == ["v"]


def test_a_wait_that_is_over_its_time_follows_the_timeout_edge() -> None:
    rig = _waiting(us=50)
    rig.wake()
    assert "late" in rig.begun
    assert rig.of(e.ActivationFailed)[0].failure.code == "SIGNAL_TIMEOUT"
    assert rig.state.final == "COMPLETED"


def test_a_wait_that_is_over_its_time_fails_the_run_if_no_edge_takes_care_of_it() -> None:
    rig = Rig(flow({"s": "start", "w": {"type": "signal", "name": "go", "us": 50}}, "s>w"))
    rig.wake()
    assert rig.failure.code == "SIGNAL_TIMEOUT"


def test_a_signal_needs_a_name() -> None:
    with pytest.raises(InvalidInput, match="needs a name"):
        _waiting().signal("")


def test_signals_beyond_the_limit_are_refused_and_nothing_is_lost() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"), limits=Limits(pending_signals=3))
    for number in range(3):
        rig.signal("go", number)
    with pytest.raises(TooMuch) as refused:
        rig.signal("go", 3)
    assert refused.value.details["code_of_limit"] == "LIMIT_SIGNALS"
    assert [signal.payload for signal in rig.state.signals.values()] == [0, 1, 2]


def test_a_signal_that_is_larger_than_the_run_may_be_is_refused() -> None:
    nodes = {"s": "start", "w": {"type": "signal", "name": "go"}}
    rig = Rig(flow(nodes, "s>w"), limits=Limits(data=1_000))
    with pytest.raises(TooMuch) as refused:
        rig.signal("go", "x" * 1_000)
    assert (refused.value.pointer, refused.value.details["code_of_limit"]) == ("/payload", "LIMIT_DATA")
    rig.signal("go", "x" * 900)
    assert rig.state.final == "COMPLETED"


def test_signals_that_are_together_larger_than_the_run_may_be_are_refused_until_some_are_consumed() -> None:
    nodes = {"s": "start", "a": "step", "w": {"type": "signal", "name": "go"}, "b": "step"}
    rig = Rig(flow(nodes, "s>a a>w w>b"), limits=Limits(data=1_000))
    rig.signal("go", "x" * 400)
    rig.signal("go", "y" * 400)
    for name in ("go", "other"):
        with pytest.raises(TooMuch, match="waiting to be consumed") as refused:
            rig.signal(name, "z" * 400)
        assert (refused.value.pointer, refused.value.details["code_of_limit"]) == ("/payload", "LIMIT_DATA")
    rig.signal("go", "small change")
    rig.complete("a")
    rig.signal("go", "z" * 400)
    assert [signal.payload for signal in rig.state.signals.values()] == ["y" * 400, "small change", "z" * 400]


def test_what_signals_hold_is_counted_over_generations_and_snapshots() -> None:
    nodes = {"s": "start", "a": "step", "n": "again"}
    rig = Rig(flow(nodes, "s>a a>n"), limits=Limits(data=1_000))
    rig.signal("go", "x" * 700)
    rig.complete("a")
    assert rig.state.generation == 2
    assert rig.kernel.restore(rig.kernel.snapshot(rig.state)).signal_bytes == rig.state.signal_bytes == 702
    with pytest.raises(TooMuch):
        rig.signal("go", "x" * 700)


def test_a_large_signal_is_taken_by_a_waiting_node_even_when_others_are_large() -> None:
    nodes = {"s": "start", "w": {"type": "signal", "name": "go"}}
    rig = Rig(flow(nodes, "s>w"), limits=Limits(data=1_000))
    rig.signal("noise", "x" * 900)
    rig.signal("go", "y" * 900)
    assert rig.state.final == "COMPLETED"


def test_a_repeated_signal_is_no_offence_even_when_there_is_no_room() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"), limits=Limits(pending_signals=1))
    rig.signal("go", id="x")
    assert rig.signal("go", id="x") == []


def test_a_signal_is_taken_by_a_waiting_node_even_when_others_fill_the_queue() -> None:
    nodes = {"s": "start", "w": {"type": "signal", "name": "go"}}
    rig = Rig(flow(nodes, "s>w"), limits=Limits(pending_signals=2))
    rig.signal("noise")
    rig.signal("noise")
    rig.signal("go")
    assert rig.state.final == "COMPLETED"


def test_what_nobody_consumed_is_visible_when_the_run_has_ended() -> None:
    rig = _waiting()
    rig.signal("stop", "please")
    rig.signal("go")
    assert rig.state.final == "COMPLETED"
    assert [(signal.name, signal.payload) for signal in rig.state.signals.values()] == [("stop", "please")]


def test_a_signal_that_comes_while_the_run_is_winding_up_is_recorded_and_wakes_nobody() -> None:
    rig = Rig(flow({"s": "start", "a": "step", "w": {"type": "signal", "name": "go"}}, "s>a s>w"))
    rig.tell(c.Cancel())
    assert kinds(rig.signal("go")) == ["SignalReceived"]
    rig.stopped("a")
    assert len(rig.state.signals) == 1


def test_a_node_that_was_withdrawn_waits_no_more() -> None:
    rig = Rig(
        flow({"s": "start", "w": {"type": "signal", "name": "go"}, "a": {"type": "step", "cancels": ["w"]}}, "s>w s>a")
    )
    rig.complete("a")
    assert rig.state.waiters == {}
    assert rig.state.final == "COMPLETED"
