"""Small runs, one per feature, continued: loops, cycles, joins, races, critical sections."""

from __future__ import annotations

from perdure.model import commands as c
from tests.kernel.rig import Rig
from tests.kernel.scenarios import scenario, small_run


@scenario
def loops() -> Rig:
    nodes = {
        "l": {"type": "loop", "items": ["x", "y", "z"], "concurrency": 2},
        "a": {"type": "step", "parent": "l"},
        "m": {"type": "loop", "count": 2, "parent": "l"},
        "b": {"type": "expr", "expr": "item", "parent": "m", "item": "n"},
        "e": "end",
    }
    rig = small_run(nodes, "s>l l>e a>m")
    for index in (1, 0, 2):
        rig.complete("a", index, path=f"l.{index}")
    return rig


@scenario
def loop_with_pauses() -> Rig:
    nodes = {"l": {"type": "loop", "count": 2, "pause": 50}, "a": {"type": "step", "parent": "l"}, "e": "end"}
    rig = small_run(nodes, "s>l l>e")
    rig.complete("a", path="l.0")
    rig.wake()
    rig.complete("a", path="l.1")
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
    rig = small_run(nodes, "s>l l>e a>b")
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
    rig = small_run(nodes, "s>l l>f:error")
    rig.fail("a", path="l.0")
    rig.stopped("a", path="l.1")
    rig.complete("f")
    return rig


@scenario
def enough() -> Rig:
    nodes = {"l": {"type": "loop", "count": 3, "concurrency": 3, "need": 1}, "a": {"type": "step", "parent": "l"}}
    rig = small_run({**nodes, "e": "end"}, "s>l l>e")
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
    rig = small_run(nodes, "s>l l>e")
    rig.complete("a", "first", path="l.1")
    rig.complete("a", "unheeded", path="l.0")
    return rig


@scenario
def items_added() -> Rig:
    nodes = {"l": {"type": "loop", "items": [1], "add": "more", "close": "stop"}, "a": {"type": "step", "parent": "l"}}
    rig = small_run({**nodes, "e": "end"}, "s>l l>e")
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
    rig = small_run({**nodes, "e": "end"}, "s>l l>e")
    loop = rig.live("l").id
    rig.tell(c.ItemsLoaded(loop, 0, ["one", "two"]))
    rig.complete("a", 1)
    rig.tell(c.ItemsLoaded(loop, 1, ["three"]))
    rig.complete("a", 2)
    rig.complete("a", 3)
    return rig


@scenario
def long_results() -> Rig:
    nodes = {"l": {"type": "loop", "count": 3}, "a": {"type": "step", "parent": "l"}}
    rig = small_run({**nodes, "e": "end"}, "s>l l>e")
    for _ in range(3):
        rig.complete("a", "x" * 150_000, size=150_002)
    return rig


@scenario
def cycle() -> Rig:
    nodes = {"m": {"type": "pass", "join": "any"}, "a": "step", "e": "end"}
    rig = small_run(nodes, "s>m m>a a>m:more a>e:done")
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
    rig = small_run(nodes, "s>a s>b a>j b>j j>e")
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
    rig = small_run(nodes, "s>w s>z w>e z>e")
    rig.wake()
    return rig


@scenario
def critical_sections() -> Rig:
    nodes = {f"a{i}": {"type": "step", "mutex": "m"} for i in range(3)}
    rig = small_run({**nodes, "b": {"type": "step", "milestone": {"after": "a0"}}}, "s>a0 s>a1 s>a2 s>b")
    for node in ("a0", "b", "a1", "a2"):
        rig.complete(node)
    return rig
