"""Endless runs: the log rolls over by itself, or the flow continues as new; the run stays the same run."""

from __future__ import annotations

import itertools
from typing import Any

from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.policies import SECOND, Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig, kinds

# -- rolling over ------------------------------------------------------------------------------------------------------


def _endless(generation_events: int) -> Rig:
    nodes = {"s": "start", "m": {"type": "pass", "join": "any"}, "a": "step"}
    return Rig(flow(nodes, "s>m m>a a>m"), limits=Limits(generation_events=generation_events))


def test_a_long_log_rolls_over_and_asks_for_a_snapshot() -> None:
    rig = _endless(10)
    while rig.state.generation == 1:
        assert rig.last.must_snapshot is False
        rig.complete("a")
    assert rig.last.must_snapshot is True
    assert kinds(rig.last.events)[-1] == "RolledOver"
    assert 10 <= rig.state.seq - 1 < 15


def test_the_next_generation_is_as_long_as_the_first() -> None:
    rig = _endless(10)
    for _ in range(30):
        rig.complete("a")
    places = [place for place, event in enumerate(rig.events) if isinstance(event, e.RolledOver)]
    assert len(places) > 5
    assert all(10 <= later - earlier < 15 for earlier, later in itertools.pairwise(places))
    assert [event.generation for event in rig.of(e.RolledOver)] == list(range(2, len(places) + 2))


def test_rolling_over_keeps_activations_timers_and_signals_as_they_are() -> None:
    nodes = {"s": "start", "a": "step", "z": {"type": "sleep", "us": 50}, "w": {"type": "signal", "name": "go"}}
    rig = Rig(flow(nodes, "s>a s>z s>w"), limits=Limits(generation_events=1))
    assert rig.state.generation == 2
    key = rig.state.activation_key(rig.live("a"))
    rig.signal("later", 1)
    rig.tell(c.Heartbeat(rig.live("a").id, 1))
    assert rig.state.generation == 4
    assert rig.state.activation_key(rig.live("a")) == key
    assert [each.node for each in rig.state.activations.values()] == ["a", "z", "w"]
    assert len(rig.state.timers) == len(rig.state.signals) == 1
    rig.wake()
    rig.signal("go")
    rig.complete("a")
    assert rig.state.final == "COMPLETED"


def test_sequence_numbers_go_on_over_generations() -> None:
    rig = _endless(10)
    for _ in range(20):
        rig.complete("a")
    assert rig.state.seq == len(rig.events)


def test_an_ended_run_does_not_roll_over() -> None:
    rig = Rig(flow({"s": "start", "e": "end"}, "s>e"), limits=Limits(generation_events=1))
    assert rig.of(e.RolledOver) == []


def test_a_turn_that_changes_nothing_does_not_roll_over() -> None:
    rig = _endless(4)
    before = rig.state.generation
    assert rig.tell(c.FireTimers()) == []
    assert rig.state.generation == before


# -- continuing as new -------------------------------------------------------------------------------------------------


def _again(nodes: dict[str, Any], edges: str, **settings: Any) -> Rig:
    return Rig(flow({"s": "start", **nodes}, edges, **settings), input={"round": 1})


def test_a_run_continues_with_new_input_and_fresh_data() -> None:
    rig = _again(
        {"v": {"type": "set", "seen": True}, "a": "step", "g": {"type": "again", "input": {"round": 2}}}, "s>v v>a a>g"
    )
    rig.complete("a", "old")
    assert rig.state.generation == 2
    assert rig.state.input == {"round": 2}
    assert rig.last.must_snapshot is True
    assert rig.executing == ["a"]
    assert set(rig.state.body.scopes[0].outputs) == {"s", "v"}


def test_keys_of_the_next_generation_differ_from_those_of_the_one_before() -> None:
    nodes = {"a": "step", "l": {"type": "loop", "count": 1}, "b": {"type": "step", "parent": "l"}, "g": "again"}
    rig = _again(nodes, "s>a a>l l>g")
    keys = set()
    for _ in range(3):
        keys.add(rig.state.activation_key(rig.live("a")))
        rig.complete("a")
        keys.add(rig.state.activation_key(rig.live("b")))
        rig.complete("b")
    assert len(keys) == 6


def test_pending_signals_are_carried_over() -> None:
    rig = _again({"a": "step", "w": {"type": "signal", "name": "go"}, "g": "again"}, "s>a a>w w>g")
    rig.signal("go", 1)
    rig.signal("go", 2)
    rig.complete("a")
    assert rig.state.generation == 2
    assert [signal.payload for signal in rig.state.signals.values()] == [2]


def test_what_still_lives_is_withdrawn_first() -> None:
    rig = _again({"a": "step", "b": "step", "g": "again"}, "s>a s>b a>g")
    rig.complete("a")
    assert rig.state.generation == 1
    rig.stopped("b")
    assert rig.state.generation == 2
    assert rig.executing == ["a", "b"]


def test_a_run_that_waits_to_continue_can_still_be_cancelled() -> None:
    rig = _again({"a": "step", "b": "step", "g": "again"}, "s>a s>b a>g")
    rig.complete("a")
    rig.tell(c.Cancel("enough"))
    rig.stopped("b")
    assert rig.state.final == "CANCELLED"


def test_completion_nodes_run_only_at_the_very_end() -> None:
    nodes = {"c": {"type": "choose", "outcome": "stop"}, "a": "step", "g": "again", "n": "json"}
    rig = _again(nodes, "s>a a>g:more", after=["n"])
    rig.tell(c.Complete(rig.live("a").id, 1, None, "more"))
    assert "n" not in rig.begun
    rig.tell(c.Complete(rig.live("a").id, 1, None, "stop"))
    assert rig.begun[-1] == "n"
    assert rig.state.final == "COMPLETED"


def test_a_generation_that_ends_in_the_turn_in_which_it_began_is_wound_up_in_that_turn() -> None:
    nodes = {"a": "step", "g": {"type": "again", "input": 2}, "n": "json"}
    rig = _again(nodes, "s>a:never s>g", whens={"s>g": "input != 2"}, after=["n"])
    assert rig.state.final == "COMPLETED"
    assert rig.state.generation == 2


def test_a_flow_that_continues_for_ever_without_waiting_gives_up_the_turn() -> None:
    rig = Rig(flow({"s": "start", "g": "again"}, "s>g"), checked=False)
    assert rig.state.final is None
    assert len(rig.last.events) < 2000
    before = rig.state.generation
    rig.tell(c.Proceed())
    assert rig.state.generation > before


def test_a_failed_next_generation_is_retried_where_it_failed() -> None:
    rig = _again({"a": "step", "b": "step", "g": "again"}, "s>a a>b b>g")
    for _ in range(2):
        rig.complete("a")
        rig.complete("b")
    rig.complete("a")
    rig.fail("b")
    rig.tell(c.RetryRun())
    assert rig.executing == ["b"]


def test_what_was_completed_in_an_earlier_generation_is_not_undone() -> None:
    rig = _again({"a": {"type": "step", "compensate": "u"}, "b": "step", "g": "again", "u": "step"}, "s>a a>b b>g")
    rig.complete("a", "first")
    rig.complete("b")
    rig.complete("a", "second")
    rig.fail("b")
    assert rig.live("u").input["output"] == "second"
    rig.complete("u")
    assert rig.state.final == "FAILED"


def test_the_limits_of_a_run_go_on_counting_over_its_generations() -> None:
    nodes = {"s": "start", "a": "step", "g": "again"}
    rig = Rig(flow(nodes, "s>a a>g"), limits=Limits(activations=8))
    for _ in range(2):
        rig.complete("a")
    assert rig.state.generation == 3
    rig.complete("a")
    assert (rig.state.final, rig.failure.code) == ("FAILED", "LIMIT_ACTIVATIONS")


def test_active_time_goes_on_counting_over_generations() -> None:
    nodes = {"s": "start", "a": "step", "g": "again"}
    rig = Rig(flow(nodes, "s>a a>g"), limits=Limits(active_time=3 * SECOND))
    rig.tell(c.FireTimers(), after=2 * SECOND)
    rig.complete("a")
    assert rig.state.generation == 2
    rig.tell(c.FireTimers(), after=2 * SECOND)
    rig.stopped("a")
    assert (rig.state.final, rig.failure.code) == ("TIMED_OUT", "LIMIT_ACTIVE_TIME")
