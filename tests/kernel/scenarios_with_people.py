"""Small runs in which a person is asked, a handler answers with a wait, or somebody asks for a node. See
`scenarios.py`."""

from __future__ import annotations

from perdure.model import commands as c
from perdure.model.policies import SECOND
from perdure.model.waits import AwaitSignal, Sleep
from tests.kernel.catalogue import asks
from tests.kernel.rig import Rig
from tests.kernel.scenarios import scenario, small_run

ASK = {"type": "ask", "us": 100 * SECOND, "remind": (10 * SECOND, 10 * SECOND, 3), "escalate": 25 * SECOND}


@scenario
def asked_and_answered() -> Rig:
    nodes = {"t": {**ASK, "decides": True}, "a": "step", "b": "step", "e": "end"}
    rig = small_run(nodes, "s>t t>a:yes t>b:no a>e b>e")
    rig.answer("t", "no", id="form-1", by="Ada")
    rig.complete("b")
    return rig


@scenario
def answered_by_signal() -> Rig:
    rig = small_run({"t": "ask", "e": "end"}, "s>t t>e")
    rig.signal("t:viewResponse", {"selectedOptions": {"decision": "yes", "remark": "x" * 5000}}, id="one")
    return rig


@scenario
def reminded_and_escalated() -> Rig:
    rig = small_run({"t": ASK, "r": "step", "x": "step", "e": "end"}, "s>t t>e t>r:reminder t>x:escalation")
    rig.wake()
    rig.complete("r", 1)
    rig.wake()
    rig.complete("r", 2)
    rig.wake()
    rig.complete("x")
    rig.answer("t")
    return rig


@scenario
def nobody_answers() -> Rig:
    rig = small_run({"t": {"type": "ask", "us": 50}, "l": "step"}, "s>t t>l:timeout")
    rig.wake()
    rig.complete("l")
    return rig


@scenario
def task_of_a_failed_run() -> Rig:
    rig = small_run({"a": "step", "t": ASK, "r": "step", "e": "end"}, "s>a s>t t>r:reminder t>e a>e")
    rig.wake()
    rig.complete("r")
    rig.fail("a")
    rig.tell(c.RetryRun())
    rig.complete("a")
    rig.answer("t")
    return rig


@scenario
def task_taken_back() -> Rig:
    nodes = {"t": {**ASK, "race": "first"}, "w": {"type": "signal", "name": "go", "race": "first"}, "r": "step"}
    rig = small_run({**nodes, "e": "end"}, "s>t s>w t>r:reminder t>e w>e")
    rig.signal("go")
    return rig


@scenario
def handlers_that_wait() -> Rig:
    nodes = {"a": "step", "b": "step", "d": {"type": "step", "compensate": "u"}, "u": "step", "e": "end"}
    rig = small_run(nodes, "s>a a>b b>d d>e")
    rig.waits("a", Sleep(rig.now + 50, "slept"))
    rig.wake()
    rig.waits("b", AwaitSignal("go", rig.now + 50))
    rig.signal("go", "come")
    rig.waits("d", asks({"us": 50}, rig.now))
    rig.answer("d")
    return rig


@scenario
def wait_that_is_undone() -> Rig:
    undoable = {"type": "step", "compensate": "u", "compensate_on_cancel": True}
    rig = small_run({"a": undoable, "u": "step"}, "s>a")
    rig.waits("a", Sleep(rig.now + 50))
    rig.tell(c.Cancel("not needed"))
    rig.complete("u")
    return rig


@scenario
def node_on_demand() -> Rig:
    nodes = {"t": "ask", "e": "end", "d": {"type": "step", "on_demand": True}, "i": {"type": "pass", "on_demand": True}}
    rig = small_run(nodes, "s>t t>e")
    rig.tell(c.RunNode("d", {"city": "Bern"}, id="one"))
    rig.tell(c.RunNode("i", 1))
    rig.complete("d", {"sun": True})
    rig.tell(c.RunNode("d", {"city": "Genoa"}))
    rig.answer("t")
    rig.complete("d", {"sun": False})
    return rig


@scenario
def open_task() -> Rig:
    rig = small_run({"t": ASK, "r": "step"}, "s>t t>r:reminder")
    rig.wake()
    return rig
