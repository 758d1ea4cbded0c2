"""The idempotency key that an activation gives to the outside world."""

from __future__ import annotations

from perdure.model import commands as c
from perdure.model.policies import Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig


def _key(rig: Rig, node: str = "a", path: str = "") -> str:
    return rig.state.activation_key(rig.live(node, path))


def test_it_is_run_node_and_visit() -> None:
    assert _key(Rig(flow({"s": "start", "a": "step"}, "s>a"))) == "r/a/1"


def test_it_stays_the_same_over_attempts_takeovers_roll_over_and_a_retry_of_the_run() -> None:
    nodes = {"s": "start", "a": {"type": "step", "retry": {"attempts": 2, "initial": 1}}}
    rig = Rig(flow(nodes, "s>a"), limits=Limits(generation_events=2))
    key = _key(rig)
    rig.fail("a", retryable=True)
    rig.wake()
    assert _key(rig) == key
    rig.tell(c.TakeOver())
    assert _key(rig) == key
    rig.fail("a")
    rig.tell(c.RetryRun())
    assert rig.state.generation > 3
    assert _key(rig) == key


def test_it_differs_by_visit_in_a_cycle() -> None:
    rig = Rig(flow({"s": "start", "m": {"type": "pass", "join": "any"}, "a": "step"}, "s>m m>a a>m"))
    keys = []
    for _ in range(3):
        keys.append(_key(rig))
        rig.complete("a")
    assert keys == ["r/a/1", "r/a/2", "r/a/3"]


def test_it_differs_by_loop_path() -> None:
    nodes = {
        "s": "start",
        "l": {"type": "loop", "count": 2, "concurrency": 2},
        "m": {"type": "loop", "count": 2, "concurrency": 2, "parent": "l"},
        "a": {"type": "step", "parent": "m"},
    }
    rig = Rig(flow(nodes, "s>l"))
    keys = [rig.state.activation_key(each) for each in rig.state.activations.values() if each.node == "a"]
    assert keys == ["r/a/l.0/m.0/1", "r/a/l.0/m.1/1", "r/a/l.1/m.0/1", "r/a/l.1/m.1/1"]


def test_it_differs_when_the_same_loop_is_visited_again() -> None:
    nodes = {
        "s": "start",
        "j": {"type": "pass", "join": "any"},
        "l": {"type": "loop", "count": 1},
        "a": {"type": "step", "parent": "l"},
    }
    rig = Rig(flow(nodes, "s>j j>l l>j"))
    first = _key(rig)
    rig.complete("a")
    assert _key(rig) != first


def test_a_node_skipped_by_its_own_condition_counts_as_a_visit() -> None:
    nodes = {
        "s": "start",
        "m": {"type": "pass", "join": "any"},
        "t": "step",
        "a": {"type": "step", "condition": "nodes.t.output > 1"},
    }
    rig = Rig(flow(nodes, "s>m m>t t>a a>m"))
    rig.complete("t", 1)
    rig.complete("t", 2)
    assert _key(rig) == "r/a/2"


def test_two_activations_of_one_run_never_have_the_same_key() -> None:
    nodes = {
        "s": "start",
        "m": {"type": "pass", "join": "any"},
        "l": {"type": "loop", "count": 2, "concurrency": 2},
        "a": {"type": "step", "parent": "l"},
        "b": "step",
    }
    rig = Rig(flow(nodes, "s>m m>l l>b b>m"))
    seen: dict[str, int] = {}
    for _ in range(40):
        for each in rig.state.activations.values():
            assert seen.setdefault(rig.state.activation_key(each), each.id) == each.id
        each = next(a for a in rig.state.activations.values() if a.phase == "executing")
        rig.tell(c.Complete(each.id, each.attempt))
    assert len(seen) > 40
