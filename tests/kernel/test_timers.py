"""Durable alarms: never early, in order, once; gone when what they wake is gone."""

from __future__ import annotations

from perdure.kernel.outlook import next_wake
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.policies import SECOND, Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig, kinds


def _sleepers(*durations: int) -> Rig:
    nodes: dict = {"s": "start"} | {f"z{i}": {"type": "sleep", "us": us} for i, us in enumerate(durations)}
    return Rig(flow(nodes, " ".join(f"s>z{i}" for i in range(len(durations)))))


def _many(count: int, us: int = SECOND, **config: object) -> Rig:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": count, "concurrency": count, **config},
        "z": {"type": "sleep", "us": us, "parent": "l"},
    }
    rig = Rig(flow(nodes, "s>l"), limits=Limits(activations=count + 10), checked=False)
    while rig.last.effects:
        rig.tell(c.Proceed())
    return rig


def test_a_sleeper_wakes_at_its_time_and_not_before() -> None:
    rig = _sleepers(50)
    assert rig.tell(c.FireTimers(), after=49) == []
    assert kinds(rig.tell(c.FireTimers(), after=1)) == ["TimerFired", "ActivationCompleted", "RunCompleted"]
    assert rig.output == {"slept": 50}


def test_firing_when_nothing_is_due_changes_nothing() -> None:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"))
    assert rig.tell(c.FireTimers(), after=10) == []


def test_timers_fire_in_the_order_of_their_time_whatever_order_they_were_armed_in() -> None:
    rig = _sleepers(30, 10, 20)
    rig.tell(c.FireTimers(), after=100)
    completed = {event.id: event.node for event in rig.of(e.ActivationScheduled)}
    assert [completed[event.id] for event in rig.of(e.ActivationCompleted)] == ["z1", "z2", "z0"]


def test_timers_of_the_same_time_fire_in_the_order_in_which_they_were_armed() -> None:
    rig = _sleepers(*[5] * 12)
    rig.tell(c.FireTimers(), after=5)
    assert [event.id for event in rig.of(e.TimerFired)] == [event.id for event in rig.of(e.TimerArmed)]


def test_the_next_wake_is_the_earliest_timer() -> None:
    rig = _sleepers(30, 10)
    assert next_wake(rig.state) == rig.now + 10
    rig.wake()
    assert next_wake(rig.state) == rig.now + 20


def test_asking_for_the_next_wake_changes_nothing() -> None:
    rig = _many(100)
    rig.tell(c.Cancel())
    before = rig.kernel.snapshot(rig.state)
    next_wake(rig.state)
    assert rig.kernel.snapshot(rig.state) == before


def test_a_timer_is_gone_when_its_activation_is_withdrawn() -> None:
    rig = _sleepers(50, 60)
    rig.tell(c.Cancel())
    assert rig.state.timers == {}
    assert next_wake(rig.state) is None
    assert rig.state.final == "CANCELLED"


def test_a_signal_that_comes_in_time_takes_its_timer_away() -> None:
    nodes = {"s": "start", "w": {"type": "signal", "name": "go", "us": 50}, "z": {"type": "sleep", "us": 99}}
    rig = Rig(flow(nodes, "s>w w>z"))
    rig.signal("go")
    assert list(rig.state.timers) == [rig.live("z").timer]
    assert rig.tell(c.FireTimers(), after=50) == []


def test_a_retry_timer_is_armed_anew_for_each_attempt() -> None:
    node = {"type": "step", "retry": {"attempts": 5, "initial": 1}}
    rig = Rig(flow({"s": "start", "a": node}, "s>a"))
    dues = []
    for _ in range(3):
        rig.fail("a", retryable=True)
        dues.append(next_wake(rig.state) - rig.now)
        rig.wake()
    assert dues == [SECOND, 2 * SECOND, 4 * SECOND]
    assert rig.state.timers == {}


def test_a_clock_that_goes_back_fires_nothing_early_and_nothing_twice() -> None:
    rig = _sleepers(50, 100)
    rig.tell(c.FireTimers(), after=50)
    rig.now -= 1000
    assert rig.tell(c.FireTimers()) == []
    assert rig.tell(c.FireTimers(), after=1050) != []
    assert len(rig.of(e.TimerFired)) == 2
    assert [at for at, _ in rig.log] == sorted(at for at, _ in rig.log)


def test_all_overdue_timers_fire_after_a_downtime() -> None:
    rig = _sleepers(10, 20, 30)
    rig.tell(c.FireTimers(), after=3600 * SECOND)
    assert rig.state.final == "COMPLETED"


def test_thousands_of_timers_that_are_due_together_fire_in_one_turn() -> None:
    rig = _many(3000)
    assert len(rig.state.timers) == 3000
    rig.wake()
    assert len(rig.of(e.TimerFired)) == 3000
    assert rig.state.timers == {}


def test_timers_that_are_gone_do_not_pile_up() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 2000},
        "w": {"type": "signal", "name": "go", "us": SECOND, "parent": "l"},
    }
    rig = Rig(flow(nodes, "s>l"), checked=False)
    for _ in range(1000):
        rig.signal("go")
    assert len(rig.state.timers) == 1
    assert len(rig.state.timer_heap) <= 64 + 2


def test_an_ended_run_has_no_timer() -> None:
    nodes = {"s": "start", "z": {"type": "sleep", "us": 50}, "e": {"type": "end", "terminate": True}}
    rig = Rig(flow(nodes, "s>z s>e"))
    assert rig.state.final == "COMPLETED"
    assert rig.state.timers == {}
    assert rig.state.timer_heap == []
