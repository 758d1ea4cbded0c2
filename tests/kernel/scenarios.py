"""Small runs, one per feature. Together they lead to every event and every step from phase to phase; their histories
are recorded once (`tools/record_golden.py`) and replayed for ever (`tests/golden`). Loops and joins:
`scenarios_in_crowds.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.events import ParentLink
from perdure.model.policies import SECOND, Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig

Scenario = Callable[[], Rig]
SCENARIOS: dict[str, Scenario] = {}


def scenario(make: Scenario) -> Scenario:
    SCENARIOS[make.__name__] = make
    return make


def small_run(nodes: dict[str, Any], edges: str = "", limits: Limits | None = None, **settings: Any) -> Rig:
    document = flow({"s": "start", **nodes}, edges, **settings)
    return Rig(document, input={"order": 7}, limits=limits or Limits())


RETRY = {"attempts": 3, "initial": 1, "jitter": 0.5}


@scenario
def sequence() -> Rig:
    rig = small_run({"a": "step", "b": "step", "e": "end"}, "s>a a>b b>e")
    rig.complete("a", {"x": 1}, vars={"seen": "a"})
    rig.complete("b", {"x": 2}, size=5000)
    return rig


@scenario
def branch_and_join() -> Rig:
    nodes = {"c": {"type": "choose", "outcome": "yes"}, "a": "step", "b": "step", "j": "pass", "e": "end"}
    rig = small_run(nodes, "s>c c>a:yes c>b:no a>j b>j j>e", whens={"j>e": "data.x > 0"})
    rig.complete("a", {"x": 1})
    return rig


@scenario
def own_condition() -> Rig:
    return small_run({"a": {"type": "step", "condition": "input.order > 9"}, "e": "end"}, "s>a a>e")


@scenario
def retries() -> Rig:
    rig = small_run({"a": {"type": "step", "retry": RETRY}, "e": "end"}, "s>a a>e")
    rig.fail("a", retryable=True)
    rig.wake()
    rig.tell(c.Heartbeat(rig.live("a").id, 2, {"percent": 10}))
    rig.fail("a", retryable=True, retry_after=90 * SECOND)
    rig.wake()
    rig.complete("a", "at last")
    return rig


@scenario
def error_edge() -> Rig:
    rig = small_run({"a": "step", "b": "step"}, "s>a a>b:error")
    rig.fail("a", code="CARD_DECLINED")
    rig.complete("b")
    return rig


@scenario
def failure_node() -> Rig:
    rig = small_run({"a": "step", "f": "step"}, "s>a", on_failure="f")
    rig.fail("a")
    rig.complete("f", "handled")
    return rig


@scenario
def failed_and_retried() -> Rig:
    nodes = {
        "a": "step",
        "b": {"type": "step", "retry": RETRY},
        "z": {"type": "sleep", "us": 50},
        "w": {"type": "signal", "name": "go", "us": 9000},
        "k": "call",
        "l": {"type": "loop", "count": 1},
        "i": {"type": "step", "parent": "l"},
        "e": "end",
    }
    rig = small_run(nodes, "s>a s>b s>z s>w s>k s>l a>e b>e z>e w>e k>e l>e")
    rig.fail("b", retryable=True)
    rig.fail("a", code="BROKEN")
    rig.stopped("i")
    rig.tell(c.RetryRun(new_key=True))
    rig.child_ended("k", output="child")
    rig.signal("go", "now")
    for node in ("a", "b", "i"):
        rig.complete(node, node)
    rig.wake()
    return rig


@scenario
def timed_out() -> Rig:
    rig = small_run({"a": "step"}, "s>a", Limits(active_time=SECOND))
    rig.tell(c.FireTimers(), after=SECOND)
    rig.stopped("a", unknown=True)
    return rig


@scenario
def cancelled() -> Rig:
    nodes = {
        "a": "step",
        "b": "step",
        "r": {"type": "step", "retry": RETRY},
        "z": {"type": "sleep", "us": 50},
        "w": {"type": "signal", "name": "go"},
        "k": "call",
        "l": {"type": "loop", "items": [], "add": "more"},
    }
    rig = small_run(nodes, "s>a s>b s>r s>z s>w s>k s>l")
    rig.fail("r", retryable=True)
    rig.tell(c.Cancel("not needed any more"))
    rig.complete("a", "too late")
    rig.stopped("b")
    return rig


@scenario
def suspended_and_resumed() -> Rig:
    rig = small_run({"a": "step", "w": {"type": "signal", "name": "go"}, "e": "end"}, "s>a a>w w>e")
    rig.tell(c.Suspend("maintenance"))
    rig.complete("a")
    rig.signal("go", 1)
    rig.tell(c.Resume())
    return rig


@scenario
def sleeping() -> Rig:
    rig = small_run({"z": {"type": "sleep", "us": 5 * SECOND}, "e": "end"}, "s>z z>e")
    rig.wake()
    return rig


@scenario
def signals() -> Rig:
    nodes = {"a": "step", "v": {"type": "signal", "name": "go"}, "w": {"type": "signal", "name": "go", "us": 50}}
    rig = small_run({**nodes, "late": "step"}, "s>a a>v v>w w>late:timeout")
    rig.signal("go", "early", id="one")
    rig.signal("other", "never taken")
    rig.complete("a")
    rig.wake()
    rig.complete("late")
    return rig


@scenario
def signal_in_time() -> Rig:
    rig = small_run({"w": {"type": "signal", "name": "go", "us": 50, "mode": "transient"}, "e": "end"}, "s>w w>e")
    rig.signal("go", {"answer": 42}, id="one")
    return rig


@scenario
def unheard_signal() -> Rig:
    nodes = {"a": "step", "w": {"type": "signal", "name": "go", "mode": "transient"}, "e": "end"}
    rig = small_run(nodes, "s>a a>w w>e")
    rig.signal("go", "too early", id="one")
    rig.complete("a")
    rig.signal("go", "in time", id="two")
    return rig


@scenario
def unanswered_signal() -> Rig:
    rig = small_run({"w": {"type": "signal", "name": "go", "us": 50}}, "s>w")
    rig.wake()
    return rig


@scenario
def children() -> Rig:
    rig = small_run(
        {"k": {"type": "call", "retry": RETRY}, "n": {"type": "call", "wait": False}, "e": "end"}, "s>k k>n n>e"
    )
    rig.child_ended("k", "FAILED")
    rig.wake()
    rig.child_ended("k", output={"y": 2})
    rig.child_ended("n", "STARTED")
    return rig


@scenario
def failed_child() -> Rig:
    rig = small_run({"k": "call"}, "s>k")
    rig.child_ended("k", "TIMED_OUT")
    return rig


@scenario
def a_child_itself() -> Rig:
    rig = Rig(flow({"s": "start", "a": "step"}, "s>a"), parent=ParentLink("parent", 3, 2), input=[1, None, "x"])
    rig.complete("a", "told")
    return rig


@scenario
def compensation() -> Rig:
    undoable = {"type": "step", "compensate": "u", "compensate_on_cancel": True}
    rig = small_run({"a": undoable, "b": undoable, "c": "step", "u": "step", "n": "json"}, "s>a a>b b>c", after=["n"])
    rig.complete("a", 1)
    rig.complete("b", 2)
    rig.fail("c")
    rig.complete("u")
    rig.fail("u", code="CANNOT_UNDO")
    return rig


@scenario
def taken_over() -> Rig:
    rig = small_run({"a": "step", "o": {"type": "step", "at_most_once": True}}, "s>a a>o")
    rig.tell(c.TakeOver(alive_until=rig.now + SECOND), after=60 * SECOND)
    rig.complete("a")
    rig.tell(c.TakeOver())
    return rig


@scenario
def continued() -> Rig:
    rig = small_run({"a": "step", "g": {"type": "again", "input": {"order": 8}}}, "s>a a>g:more")
    rig.complete("a", 1, outcome="more")
    rig.complete("a", 2, outcome="stop")
    return rig


@scenario
def rolled_over() -> Rig:
    rig = small_run({"a": "step", "b": "step"}, "s>a a>b", Limits(generation_events=3))
    rig.complete("a", 1)
    rig.complete("b", 2)
    return rig


@scenario
def terminated() -> Rig:
    rig = small_run({"a": "step", "b": "step", "e": {"type": "end", "terminate": True}}, "s>a s>b a>e")
    rig.complete("a", "over")
    rig.stopped("b")
    return rig


@scenario
def side_effects_attributes_and_messages() -> Rig:
    rig = small_run({"m": {"type": "say", "kind": "ordered"}, "a": "step"}, "s>m m>a")
    rig.tell(c.RecordSideEffect("dice", 4), c.SetAttributes({"colour": "red"}))
    rig.complete("a", 2**70)
    return rig


@scenario
def timers_of_a_program() -> Rig:
    rig = small_run({"a": "step"}, "s>a")
    rig.emit(e.TimerArmed("one", rig.now + 50, "user"), e.TimerArmed("two", rig.now + 60, "user"))
    rig.emit(e.TimerCancelled("one"))
    rig.wake()
    rig.complete("a")
    return rig


@scenario
def open_run() -> Rig:
    """Not ended: its timers, signals, iterations and tokens must be there after a replay."""
    nodes = {
        "a": "step",
        "z": {"type": "sleep", "us": 50},
        "w": {"type": "signal", "name": "go", "us": 70},
        "k": "call",
        "l": {"type": "loop", "items": ["x", "y"]},
        "i": {"type": "step", "parent": "l"},
        "j": "pass",
    }
    rig = small_run(nodes, "s>a s>z s>w s>k s>l a>j z>j")
    rig.signal("later", {"kept": True}, id="x")
    rig.complete("a", "half arrived")
    return rig


@scenario
def condition_that_fails_after_a_sleep() -> Rig:
    rig = small_run({"z": {"type": "sleep", "us": 50}, "e": "end"}, "s>z z>e", whens={"z>e": "data.nothing.here > 1"})
    rig.wake()
    assert (rig.state.final, rig.failure.node) == ("FAILED", "z")
    return rig
