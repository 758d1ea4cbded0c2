"""Small runs, one per feature. Together they lead to every event and every step from phase to phase; their histories
are recorded once (`tools/record_golden.py`) and replayed for ever (`tests/golden`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.model import commands as c
from perdure.model.events import ParentLink
from perdure.model.policies import SECOND, Limits
from tests.kernel.catalogue import flow
from tests.kernel.rig import Rig

Scenario = Callable[[], Rig]
SCENARIOS: dict[str, Scenario] = {}


def scenario(make: Scenario) -> Scenario:
    SCENARIOS[make.__name__] = make
    return make


def _rig(nodes: dict[str, Any], edges: str = "", limits: Limits | None = None, **settings: Any) -> Rig:
    document = flow({"s": "start", **nodes}, edges, **settings)
    return Rig(document, input={"order": 7}, limits=limits or Limits())


RETRY = {"attempts": 3, "initial": 1, "jitter": 0.5}


@scenario
def sequence() -> Rig:
    rig = _rig({"a": "step", "b": "step", "e": "end"}, "s>a a>b b>e")
    rig.complete("a", {"x": 1}, vars={"seen": "a"})
    rig.complete("b", {"x": 2}, size=5000)
    return rig


@scenario
def branch_and_join() -> Rig:
    nodes = {"c": {"type": "choose", "outcome": "yes"}, "a": "step", "b": "step", "j": "pass", "e": "end"}
    rig = _rig(nodes, "s>c c>a:yes c>b:no a>j b>j j>e", whens={"j>e": "data.x > 0"})
    rig.complete("a", {"x": 1})
    return rig


@scenario
def own_condition() -> Rig:
    return _rig({"a": {"type": "step", "condition": "input.order > 9"}, "e": "end"}, "s>a a>e")


@scenario
def retries() -> Rig:
    rig = _rig({"a": {"type": "step", "retry": RETRY}, "e": "end"}, "s>a a>e")
    rig.fail("a", retryable=True)
    rig.wake()
    rig.tell(c.Heartbeat(rig.live("a").id, 2, {"percent": 10}))
    rig.fail("a", retryable=True, retry_after=90 * SECOND)
    rig.wake()
    rig.complete("a", "at last")
    return rig


@scenario
def error_edge() -> Rig:
    rig = _rig({"a": "step", "b": "step"}, "s>a a>b:error")
    rig.fail("a", code="CARD_DECLINED")
    rig.complete("b")
    return rig


@scenario
def failure_node() -> Rig:
    rig = _rig({"a": "step", "f": "step"}, "s>a", on_failure="f")
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
    rig = _rig(nodes, "s>a s>b s>z s>w s>k s>l a>e b>e z>e w>e k>e l>e")
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
    rig = _rig({"a": "step"}, "s>a", Limits(active_time=SECOND))
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
    rig = _rig(nodes, "s>a s>b s>r s>z s>w s>k s>l")
    rig.fail("r", retryable=True)
    rig.tell(c.Cancel("not needed any more"))
    rig.complete("a", "too late")
    rig.stopped("b")
    return rig


@scenario
def suspended_and_resumed() -> Rig:
    rig = _rig({"a": "step", "w": {"type": "signal", "name": "go"}, "e": "end"}, "s>a a>w w>e")
    rig.tell(c.Suspend("maintenance"))
    rig.complete("a")
    rig.signal("go", 1)
    rig.tell(c.Resume())
    return rig


@scenario
def sleeping() -> Rig:
    rig = _rig({"z": {"type": "sleep", "us": 5 * SECOND}, "e": "end"}, "s>z z>e")
    rig.wake()
    return rig


@scenario
def signals() -> Rig:
    nodes = {"a": "step", "v": {"type": "signal", "name": "go"}, "w": {"type": "signal", "name": "go", "us": 50}}
    rig = _rig({**nodes, "late": "step"}, "s>a a>v v>w w>late:timeout")
    rig.signal("go", "early", id="one")
    rig.signal("other", "never taken")
    rig.complete("a")
    rig.wake()
    rig.complete("late")
    return rig


@scenario
def signal_in_time() -> Rig:
    rig = _rig({"w": {"type": "signal", "name": "go", "us": 50, "mode": "transient"}, "e": "end"}, "s>w w>e")
    rig.signal("go", {"answer": 42}, id="one")
    return rig


@scenario
def unanswered_signal() -> Rig:
    rig = _rig({"w": {"type": "signal", "name": "go", "us": 50}}, "s>w")
    rig.wake()
    return rig


@scenario
def children() -> Rig:
    rig = _rig({"k": {"type": "call", "retry": RETRY}, "n": {"type": "call", "wait": False}, "e": "end"}, "s>k k>n n>e")
    rig.child_ended("k", "FAILED")
    rig.wake()
    rig.child_ended("k", output={"y": 2})
    rig.child_ended("n", "STARTED")
    return rig


@scenario
def failed_child() -> Rig:
    rig = _rig({"k": "call"}, "s>k")
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
    rig = _rig({"a": undoable, "b": undoable, "c": "step", "u": "step", "n": "json"}, "s>a a>b b>c", after=["n"])
    rig.complete("a", 1)
    rig.complete("b", 2)
    rig.fail("c")
    rig.complete("u")
    rig.fail("u", code="CANNOT_UNDO")
    return rig


@scenario
def loops() -> Rig:
    nodes = {
        "l": {"type": "loop", "items": ["x", "y", "z"], "concurrency": 2},
        "a": {"type": "step", "parent": "l"},
        "m": {"type": "loop", "count": 2, "parent": "l"},
        "b": {"type": "expr", "expr": "item", "parent": "m", "item": "n"},
        "e": "end",
    }
    rig = _rig(nodes, "s>l l>e a>m")
    for index in (1, 0, 2):
        rig.complete("a", index, path=f"l.{index}")
    return rig


@scenario
def skipped_items() -> Rig:
    nodes = {
        "l": {"type": "loop", "count": 2, "concurrency": 2, "on": "skip"},
        "a": {"type": "step", "parent": "l", "compensate": "u"},
        "b": {"type": "step", "parent": "l"},
        "o": {"type": "step", "parent": "l"},
        "u": "step",
        "e": "end",
    }
    rig = _rig(nodes, "s>l l>e a>b")
    rig.complete("a", path="l.0")
    rig.fail("b", path="l.0")
    rig.stopped("o", path="l.0")
    rig.complete("u")
    rig.complete("a", path="l.1")
    rig.complete("o", path="l.1")
    rig.complete("b", "fine", path="l.1")
    return rig


@scenario
def failed_loop() -> Rig:
    nodes = {
        "l": {"type": "loop", "count": 2, "concurrency": 2},
        "a": {"type": "step", "parent": "l"},
        "f": "step",
    }
    rig = _rig(nodes, "s>l l>f:error")
    rig.fail("a", path="l.0")
    rig.stopped("a", path="l.1")
    rig.complete("f")
    return rig


@scenario
def enough() -> Rig:
    nodes = {"l": {"type": "loop", "count": 3, "concurrency": 3, "need": 1}, "a": {"type": "step", "parent": "l"}}
    rig = _rig({**nodes, "e": "end"}, "s>l l>e")
    rig.complete("a", "first", path="l.1")
    rig.stopped("a", path="l.0")
    rig.stopped("a", path="l.2")
    return rig


@scenario
def enough_and_the_rest_goes_on() -> Rig:
    nodes = {
        "l": {"type": "loop", "count": 2, "concurrency": 2, "need": 1, "cancel_rest": False},
        "a": {"type": "step", "parent": "l"},
        "e": "end",
    }
    rig = _rig(nodes, "s>l l>e")
    rig.complete("a", "first", path="l.1")
    rig.complete("a", "unheeded", path="l.0")
    return rig


@scenario
def items_added() -> Rig:
    nodes = {"l": {"type": "loop", "items": [1], "add": "more", "close": "stop"}, "a": {"type": "step", "parent": "l"}}
    rig = _rig({**nodes, "e": "end"}, "s>l l>e")
    rig.signal("more", [2, 3])
    rig.complete("a", 1)
    rig.complete("a", 2)
    rig.signal("more", None)
    rig.signal("stop")
    rig.stopped("a")
    return rig


@scenario
def items_from_blobs() -> Rig:
    nodes = {"l": {"type": "loop", "chunks": [["x", 2, 9], ["y", 1, 5]]}, "a": {"type": "step", "parent": "l"}}
    rig = _rig({**nodes, "e": "end"}, "s>l l>e")
    loop = rig.live("l").id
    rig.tell(c.ItemsLoaded(loop, 0, ["one", "two"]))
    rig.complete("a", 1)
    rig.tell(c.ItemsLoaded(loop, 1, ["three"]))
    rig.complete("a", 2)
    rig.complete("a", 3)
    return rig


@scenario
def long_results() -> Rig:
    nodes = {"l": {"type": "loop", "count": 3}, "a": {"type": "json", "data": "x" * 150_000, "parent": "l"}}
    return _rig({**nodes, "e": "end"}, "s>l l>e")


@scenario
def cycle() -> Rig:
    nodes = {"m": {"type": "pass", "join": "any"}, "a": "step", "e": "end"}
    rig = _rig(nodes, "s>m m>a a>m:more a>e:done")
    rig.complete("a", 1, outcome="more")
    rig.complete("a", 2, outcome="more")
    rig.complete("a", 3, outcome="done")
    return rig


@scenario
def first_of_several() -> Rig:
    nodes = {
        "a": "step",
        "b": "step",
        "j": {"type": "step", "join": {"rule": "first", "cancel_rest": True}},
        "e": "end",
    }
    rig = _rig(nodes, "s>a s>b a>j b>j j>e")
    rig.complete("b", "won")
    rig.stopped("a")
    rig.complete("j", "done")
    return rig


@scenario
def race() -> Rig:
    nodes = {
        "w": {"type": "signal", "name": "go", "race": "r"},
        "z": {"type": "sleep", "us": 50, "race": "r"},
        "e": {"type": "end", "join": "any"},
    }
    rig = _rig(nodes, "s>w s>z w>e z>e")
    rig.wake()
    return rig


@scenario
def critical_sections() -> Rig:
    nodes = {f"a{i}": {"type": "step", "mutex": "m"} for i in range(3)}
    rig = _rig({**nodes, "b": {"type": "step", "milestone": {"after": "a0"}}}, "s>a0 s>a1 s>a2 s>b")
    for node in ("a0", "b", "a1", "a2"):
        rig.complete(node)
    return rig


@scenario
def taken_over() -> Rig:
    rig = _rig({"a": "step", "o": {"type": "step", "at_most_once": True}}, "s>a a>o")
    rig.tell(c.TakeOver(alive_until=rig.now + SECOND), after=60 * SECOND)
    rig.complete("a")
    rig.tell(c.TakeOver())
    return rig


@scenario
def continued() -> Rig:
    rig = _rig({"a": "step", "g": {"type": "again", "input": {"order": 8}}}, "s>a a>g:more")
    rig.complete("a", 1, outcome="more")
    rig.complete("a", 2, outcome="stop")
    return rig


@scenario
def rolled_over() -> Rig:
    rig = _rig({"a": "step", "b": "step"}, "s>a a>b", Limits(generation_events=3))
    rig.complete("a", 1)
    rig.complete("b", 2)
    return rig


@scenario
def terminated() -> Rig:
    rig = _rig({"a": "step", "b": "step", "e": {"type": "end", "terminate": True}}, "s>a s>b a>e")
    rig.complete("a", "over")
    rig.stopped("b")
    return rig


@scenario
def side_effects_attributes_and_messages() -> Rig:
    rig = _rig({"m": {"type": "say", "kind": "ordered"}, "a": "step"}, "s>m m>a")
    rig.tell(c.RecordSideEffect("dice", 4), c.SetAttributes({"colour": "red"}))
    rig.complete("a", 2**70)
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
    rig = _rig(nodes, "s>a s>z s>w s>k s>l a>j z>j")
    rig.signal("later", {"kept": True}, id="x")
    rig.complete("a", "half arrived")
    return rig
