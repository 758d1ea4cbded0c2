"""The flows that both backends run, and what happens to them meanwhile.

Where several things run at once, either the order in which they end is fixed (one opens the gate of the next), or the
scenario is marked as `racing` and only the order within each activation is compared.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from perdure.model.events import ActivationCompleted, ActivationScheduled
from perdure.model.policies import DEFAULT_LIMITS, Limits
from perdure.model.values import Json
from tests.temporal.backends import Playing

Script: TypeAlias = Callable[[Playing], Coroutine[Any, Any, None]]


async def nothing(run: Playing) -> None:
    """It runs by itself."""


class Scenario(msgspec.Struct, frozen=True):
    document: Json
    ends: str = "COMPLETED"
    script: Script = nothing
    input: Json = None
    children: Mapping[str, Json] = {}
    racing: bool = False
    limits: Limits = DEFAULT_LIMITS


def flow(nodes: Sequence[Json], edges: str, **settings: Any) -> Json:
    """Edges are written as `a b, a c:true`: source, target and, after a colon, the outcome."""
    pairs = [pair.split() for pair in edges.split(",")]
    drawn = [{"source": a, "target": b.partition(":")[0], "outcome": b.partition(":")[2] or None} for a, b in pairs]
    return {
        "nodes": [{"id": "start", "type": "start"}, *nodes, {"id": "end", "type": "end"}],
        "edges": drawn,
        "settings": settings,
    }


def node(id: str, type: str, config: Json = None, **more: Any) -> Json:
    return {"id": id, "type": type, "config": config or {}, **more}


def step(id: str, name: str, arguments: Json = None, **more: Any) -> Json:
    return node(id, "python", {"step": name} | ({"arguments": arguments} if arguments else {}), **more)


async def reaches(run: Playing, status: str) -> None:
    """Each question is a round trip to the backend, so this gives way to others."""
    while await run.status() != status:
        pass


async def completes(run: Playing, node: str) -> None:
    while True:
        events = [recorded.event for recorded in await run.events()]
        ids = {event.id for event in events if isinstance(event, ActivationScheduled) and event.node == node}
        if any(isinstance(event, ActivationCompleted) and event.id in ids for event in events):
            return


# -- scripts -------------------------------------------------------------------------------------


def end_in_order(*nodes: str) -> Script:
    """Lets these end one after another, each when the end of the one before has been recorded."""

    async def script(run: Playing) -> None:
        for node in nodes:
            run.stage.gates[node].set()
            await completes(run, node)

    return script


async def signal_early(run: Playing) -> None:
    await run.stage.began["first"].wait()
    await run.signal("approved", {"z": 1, "a": [True, None, 0.5, "ä"]})
    run.stage.gates["first"].set()


async def signal_while_waiting(run: Playing) -> None:
    run.stage.gates["first"].set()
    await reaches(run, "WAITING")
    await run.signal("unheard", None)
    await run.signal("approved", {"by": "Ada"})


async def answer_by_signal(run: Playing) -> None:
    """A signal with the name of the node is an answer to its task."""
    await reaches(run, "WAITING")
    await run.signal("woken", {"by": "Ada"})
    await run.signal("ask", {"selectedOptions": {"decision": "reject", "comment": "no"}})


async def cancel_while_sleeping(run: Playing) -> None:
    await reaches(run, "SLEEPING")
    await run.cancel("changed my mind")


async def cancel_while_executing(run: Playing) -> None:
    await run.stage.began["work"].wait()
    await run.cancel("changed my mind")


async def cancel_with_a_child(run: Playing) -> None:
    await run.stage.began["inner"].wait()
    await run.cancel("changed my mind")


# -- documents -----------------------------------------------------------------------------------

APPROVAL = flow(
    [step("first", "hold"), node("approval", "wait-for-signal", {"name": "approved", "timeout": "1h"})],
    "start first, first approval, approval end",
)
PATIENT = flow(
    [
        step("charge", "echo", compensate="refund", compensate_on_cancel=True),
        step("refund", "echo"),
        step("work", "hold"),
    ],
    "start charge, charge work, work end",
)
ADULT = {"condition": "data.age >= 18", "output": "input"}
NESTED = [
    node("rows", "loop", {"items": "data", "item": "row", "index": "r", "concurrency": 2}),
    step("before", "double", {"n": "${row}"}, parent="rows"),
    node("columns", "loop", {"range": {"stop": 3}, "item": "column", "index": "c", "concurrency": 3}, parent="rows"),
    step("cell", "double", {"n": "${row * 10 + column}"}, parent="columns"),
    step("last", "echo", parent="columns"),
]
NESTED_EDGES = "start rows, before columns, cell last, rows end"
CHILD = flow([step("inner", "double", {"n": "${input.n}"})], "start inner, inner end")

SCENARIOS: dict[str, Scenario] = {
    "sequence": Scenario(
        flow(
            [
                step("one", "double", {"n": "${input.n}"}),
                node("two", "json", {"data": {"doubled": "${data.z}", "keys": "${data}"}}),
                step("three", "choose", None),
                step("four", "echo"),
            ],
            "start one, one two, two three, three four, four end",
        ),
        input={"n": 21, "b": 1, "a": 2},
    ),
    "branch": Scenario(
        flow(
            [node("adult", "conditional", ADULT), step("yes", "echo"), step("no", "echo"), step("after", "echo")],
            "start adult, adult yes:true, adult no:false, yes after, no after, after end",
        ),
        input={"age": 40},
    ),
    "parallel, in a fixed order": Scenario(
        flow(
            [
                step("a", "hold"),
                step("b", "hold"),
                step("c", "hold"),
                node("of-b", "json", {"data": "${nodes.b.output}"}),
                step("after", "echo"),
            ],
            "start a, start b, start c, b of-b, a after, of-b after, c after, after end",
        ),
        script=end_in_order("b", "a", "c"),
    ),
    "parallel, one at a time": Scenario(
        flow(
            [step("a", "echo"), step("b", "echo"), step("c", "echo"), step("d", "echo")],
            "start a, start b, start c, a d, b d, c d, d end",
            max_parallel=1,
        ),
        input="x",
    ),
    "parallel, racing": Scenario(
        flow(
            [step(name, "double", {"n": n}) for n, name in enumerate("abcdefgh")],
            ", ".join(f"start {name}, {name} end" for name in "abcdefgh"),
        ),
        racing=True,
    ),
    "loops, one at a time": Scenario(flow(NESTED, NESTED_EDGES, max_parallel=1), input=[1, 2, 3]),
    "loops, racing": Scenario(flow(NESTED, NESTED_EDGES), input=[1, 2, 3], racing=True),
    "sleep": Scenario(
        flow(
            [node("nap", "sleep", {"duration": "200ms"}), node("pause", "delay", {"milliseconds": 100})],
            "start nap, nap pause, pause end",
        ),
        input={"tired": True},
    ),
    "a person, and a handler that waits": Scenario(
        flow(
            [step("nap", "doze"), node("ask", "approval", {"title": "Go on?", "comment": "on_rejection"})],
            "start nap, nap ask, ask end:rejected",
        ),
        script=answer_by_signal,
    ),
    "signal, early": Scenario(APPROVAL, script=signal_early),
    "signal, while waiting": Scenario(APPROVAL, script=signal_while_waiting),
    "signal, too late": Scenario(
        flow(
            [node("approval", "wait-for-signal", {"name": "approved", "timeout": "100ms"}), step("late", "echo")],
            "start approval, approval end:signal, approval late:timeout, late end",
        )
    ),
    "cancel, while sleeping": Scenario(
        flow([node("nap", "sleep", {"duration": "1d"})], "start nap, nap end"), "CANCELLED", cancel_while_sleeping
    ),
    "cancel, while executing": Scenario(PATIENT, "CANCELLED", cancel_while_executing, input={"amount": 7}),
    "retry": Scenario(
        flow([step("try", "flaky", retry={"attempts": 3, "initial": "20ms"})], "start try, try end"),
    ),
    "failure, routed": Scenario(
        flow(
            [step("try", "broken"), step("handle", "echo"), step("dead", "echo")],
            "start try, try dead, try handle:error, handle end, dead end",
        ),
    ),
    "failure, compensated": Scenario(
        flow(
            [step("charge", "echo", compensate="refund"), step("refund", "echo"), step("try", "broken")],
            "start charge, charge try, try end",
        ),
        "FAILED",
        input={"amount": 7},
    ),
    "an attempt takes too long": Scenario(
        flow(
            [step("slow", "hold", timeout="100ms"), step("late", "echo")],
            "start slow, slow end, slow late:timeout, late end",
        ),
    ),
    "the run takes too long": Scenario(PATIENT, "TIMED_OUT", input={"amount": 7}, limits=Limits(active_time=700_000)),
    "child": Scenario(
        flow([node("call", "sub-flow", {"definition": "child", "input": {"n": 4}})], "start call, call end"),
        children={"child": CHILD},
    ),
    "child, not waited for": Scenario(
        flow(
            [node("call", "sub-flow", {"definition": "child", "input": {"n": 4}, "wait": False})],
            "start call, call end",
        ),
        children={"child": CHILD},
    ),
    "child, failing": Scenario(
        flow(
            [node("call", "sub-flow", {"definition": "child"}), step("handle", "echo")],
            "start call, call end, call handle:error, handle end",
        ),
        children={"child": flow([step("inner", "broken")], "start inner, inner end")},
    ),
    "child, cancelled with its parent": Scenario(
        flow([node("call", "sub-flow", {"definition": "child"})], "start call, call end"),
        "CANCELLED",
        cancel_with_a_child,
        children={"child": flow([step("inner", "hold")], "start inner, inner end")},
    ),
    "child, that does not exist": Scenario(
        flow([node("call", "sub-flow", {"definition": "nowhere"})], "start call, call end"), "FAILED"
    ),
    "continued as new": Scenario(
        flow(
            [
                node("more", "conditional", {"condition": "input.n < 3", "output": "input"}),
                step("work", "double", {"n": "${input.n}"}),
                node("again", "continue-as-new", {"input": {"n": "${input.n + 1}"}}),
            ],
            "start more, more work:true, work again, more end:false",
        ),
        input={"n": 1},
    ),
}
