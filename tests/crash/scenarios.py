"""What is killed: small flows that together use every way in which a run can move, and the client that drives each.

A client is written to be run again from its beginning after a crash, as a real one would: the same keys, the same
signal ids. What was acknowledged to it is in the ledger; it relies on that and does not ask for it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from perdure import ActivationError, Perdure, Run
from perdure.errors import Conflict, RunEnded
from perdure.model.events import TaskAnswered
from perdure.nodes.outgoing.policy import OutgoingSettings
from tests.crash.ledger import Ledger
from tests.crash.webeffects import WebEffects

Client = Callable[[Perdure, Ledger], Awaitable[Run]]


@dataclass
class Scenario:
    name: str
    documents: list[dict[str, Any]]
    client: Client
    effects: int
    """How many different activations act on the world."""
    status: str = "COMPLETED"
    output: Any = None
    check_output: bool = True
    messages: int = 0
    undone: list[str] = field(default_factory=list)
    """Nodes whose compensation must have run, in this order."""


def step(id: str, name: str = "act", **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "python", "config": {"step": name}, **more}


def call(id: str, method: str = "POST") -> dict[str, Any]:
    """A real request; the server counts its Idempotency-Key as the effect."""
    config = {"url": "https://effects.example/${input.n}", "method": method, "body": "${input}", "output": "body"}
    return {"id": id, "type": "http", "config": config}


def flow(id: str, nodes: list[dict[str, Any]], *edges: str, **settings: Any) -> dict[str, Any]:
    """Edges are written "a b" or "a b outcome"."""
    parts = [text.split() for text in edges]
    return {
        "id": id,
        "nodes": [{"id": "start", "type": "start"}, *nodes],
        "edges": [
            {"source": part[0], "target": part[1], **({"outcome": part[2]} if len(part) > 2 else {})} for part in parts
        ],
        "settings": settings,
    }


def register(app: Perdure, ledger: Ledger) -> None:
    async def act(ctx: Any) -> Any:
        ledger.effect(ctx.key)
        return {"did": ctx.node_id}

    async def flaky(ctx: Any) -> Any:
        ledger.effect(ctx.key)
        if ctx.attempt < 3:
            raise RuntimeError("not yet")
        return {"attempts": ctx.attempt}

    async def broken(ctx: Any) -> Any:
        ledger.effect(ctx.key)
        raise ActivationError("BROKEN", "it never works")

    async def undo(ctx: Any) -> Any:
        ledger.effect(ctx.key)
        ledger.write("undo", ctx.input["node"])

    async def count(ctx: Any) -> Any:
        ledger.effect(ctx.key)
        return ctx.vars["total"]

    for function in (act, flaky, broken, undo, count):
        app.register(function)
    app.tools.outgoing = OutgoingSettings(hosts=WebEffects(ledger))


async def _start(app: Perdure, ledger: Ledger, input: Any = None) -> Run:
    run = await app.start("main", input, key="the-run")
    ledger.ack("start", run.id)
    return run


def started(input: Any = None) -> Client:
    async def client(app: Perdure, ledger: Ledger) -> Run:
        return await _start(app, ledger, input)

    return client


def signalling(*names: str) -> Client:
    async def client(app: Perdure, ledger: Ledger) -> Run:
        run = await _start(app, ledger)
        for name in names:
            if f"id-{name}" in ledger.acked("signal"):
                continue
            try:
                await run.signal(name, {"from": name}, id=f"id-{name}")
                ledger.ack("signal", f"id-{name}")
            except Conflict:
                pass  # it has ended: the signal was taken before the crash
        return run

    return client


async def cancelling(app: Perdure, ledger: Ledger) -> Run:
    run = await _start(app, ledger)
    try:
        if not ledger.acked("cancel"):
            await run.cancel("changed my mind")
            ledger.ack("cancel", run.id)
    except Conflict:
        pass
    return run


async def suspending(app: Perdure, ledger: Ledger) -> Run:
    run = await _start(app, ledger)
    try:
        if not ledger.acked("suspend"):
            await run.suspend("lunch")
            ledger.ack("suspend", run.id)
        if not ledger.acked("signal"):
            await run.signal("go", None, id="id-go")
            ledger.ack("signal", "id-go")
        await run.resume()  # behind the rest, though that may only be accepted yet and not decided
    except Conflict:
        pass
    return run


async def answering(app: Perdure, ledger: Ledger) -> Run:
    """Answers when it has been reminded."""
    run = await _start(app, ledger)
    while not ledger.acked("answer"):
        watch = app.engine.watch(run.id)
        answered = [each for each in await run.history() if isinstance(each.event, TaskAnswered)]
        if answered or any(task.reminded for task in await run.tasks()):
            await run.answer({"reason": "late"}, id="id-answer", by="ada")
            ledger.ack("answer", "id-answer")
        else:
            await watch.wait()
        watch.close()
    return run


async def outcome(run: Run) -> tuple[str, Any]:
    try:
        return "COMPLETED", await run.result()
    except RunEnded as ended:
        return ended.status_name, ended.failure


WAIT = {"type": "wait-for-signal"}

SCENARIOS = [
    Scenario(
        "sequence",
        [flow("main", [step("a"), step("b"), step("c")], "start a", "a b", "b c")],
        started(),
        effects=3,
        output={"did": "c"},
    ),
    Scenario(
        "calls",
        [flow("main", [call("a"), call("b", "PUT")], "start a", "a b")],
        started({"n": 1}),
        effects=2,
        output={"did": "PUT"},
    ),
    Scenario(
        "script",
        [
            flow(
                "main",
                [step("a"), {"id": "s", "type": "script", "config": {"script": "data.did + str(input.n)"}}, step("b")],
                "start a",
                "a s",
                "s b",
            )
        ],
        started({"n": 1}),
        effects=2,
        output={"did": "b"},
    ),
    Scenario(
        "handlers",
        [
            flow(
                "main",
                [
                    {"id": "slow", "type": "rate-limit", "config": {"key": "k", "rate": 1, "period": 0.03}},
                    {"id": "check", "type": "processor", "config": {"processor": "act"}},
                    step("kept", cache={"ttl": "1h", "key": "same"}),
                    step("again", cache={"ttl": "1h"}),
                    {"id": "table", "type": "json_to_csv", "config": {"data": [{"a": 1}], "outputFormat": "blob"}},
                    {"id": "way", "type": "branch", "config": {"choices": [{"when": "input.n == 1", "next": "one"}]}},
                    step("one"),
                ],
                "start slow",
                "slow check",
                "check kept next",
                "kept again",
                "again table",
                "table way",
                "way one one",
            )
        ],
        started({"n": 1}),
        effects=4,
        output={"did": "one"},
    ),
    Scenario(
        "branch",
        [
            flow(
                "main",
                [
                    {"id": "if", "type": "conditional", "config": {"condition": "${input.n > 1}"}},
                    step("yes"),
                    step("no"),
                    step("after"),
                ],
                "start if",
                "if yes true",
                "if no false",
                "yes after",
                "no after",
            )
        ],
        started({"n": 2}),
        effects=2,
        output={"did": "after"},
    ),
    Scenario(
        "parallel",
        [
            flow(
                "main",
                [step("a"), step("b"), step("c"), step("join")],
                "start a",
                "start b",
                "start c",
                "a join",
                "b join",
                "c join",
            )
        ],
        started(),
        effects=4,
        output={"did": "join"},
    ),
    Scenario(
        "loop",
        [
            flow(
                "main",
                [
                    {"id": "each", "type": "loop", "config": {"items": "${input.items}"}},
                    step("work", parent="each"),
                ],
                "start each",
            )
        ],
        started({"items": [1, 2, 3]}),
        effects=3,
        output={"count": 3, "results": [{"did": "work"}] * 3},
    ),
    Scenario(
        "nested loops",
        [
            flow(
                "main",
                [
                    {"id": "outer", "type": "loop", "config": {"items": "${input.items}", "concurrency": 2}},
                    {"id": "inner", "type": "loop", "parent": "outer", "config": {"items": "${item}"}},
                    step("work", parent="inner"),
                ],
                "start outer",
            )
        ],
        started({"items": [[1, 2], [3], []]}),
        effects=3,
        check_output=False,
    ),
    Scenario(
        "sleep",
        [
            flow(
                "main",
                [step("a"), {"id": "nap", "type": "sleep", "config": {"duration": 0.03}}, step("b")],
                "start a",
                "a nap",
                "nap b",
            )
        ],
        started(),
        effects=2,
        output={"did": "b"},
    ),
    Scenario(
        "signals",
        [
            flow(
                "main",
                [
                    {**WAIT, "id": "first", "config": {"name": "one"}},
                    step("a"),
                    {**WAIT, "id": "second", "config": {"name": "two"}},
                    step("b"),
                ],
                "start first",
                "first a",
                "a second",
                "second b",
            )
        ],
        signalling("two", "one"),
        effects=2,
        output={"did": "b"},
    ),
    Scenario(
        "child",
        [
            flow("helper", [step("x"), step("y")], "start x", "x y"),
            flow(
                "main",
                [{"id": "call", "type": "sub-flow", "config": {"definition": "helper"}}, step("after")],
                "start call",
                "call after",
            ),
        ],
        started(),
        effects=3,
        output={"did": "after"},
    ),
    Scenario(
        "failing child",
        [
            flow("helper", [step("x", "broken")], "start x"),
            flow(
                "main",
                [{"id": "call", "type": "sub-flow", "config": {"definition": "helper"}}, step("rescue"), step("never")],
                "start call",
                "call never",
                "call rescue error",
            ),
        ],
        started(),
        effects=2,
        output={"did": "rescue"},
    ),
    Scenario(
        "retry",
        [
            flow(
                "main",
                [step("hard", "flaky", retry={"attempts": 5, "initial": 0.005, "multiplier": 1}), step("after")],
                "start hard",
                "hard after",
            )
        ],
        started(),
        effects=2,
        output={"did": "after"},
    ),
    Scenario(
        "compensation",
        [
            flow(
                "main",
                [
                    step("a", compensate="undo-a"),
                    step("b", compensate="undo-b"),
                    step("c", "broken"),
                    step("undo-a", "undo"),
                    step("undo-b", "undo"),
                ],
                "start a",
                "a b",
                "b c",
            )
        ],
        started(),
        effects=5,
        status="FAILED",
        check_output=False,
        undone=["b", "a"],
    ),
    Scenario(
        "cancel",
        [
            flow(
                "main",
                [
                    step("a", compensate="undo-a", compensate_on_cancel=True),
                    {**WAIT, "id": "wait", "config": {"name": "never"}},
                    step("undo-a", "undo"),
                ],
                "start a",
                "a wait",
            )
        ],
        cancelling,
        effects=-1,
        status="CANCELLED",
        check_output=False,
    ),
    Scenario(
        "completion nodes",
        [flow("main", [step("a"), step("bye"), step("really", "broken")], "start a", after=["bye", "really"])],
        started(),
        effects=3,
        output={"did": "a"},
    ),
    Scenario(
        "messages",
        [
            flow(
                "main",
                [
                    step("a"),
                    {"id": "tell", "type": "publish", "config": {"type": "order.paid", "payload": {"n": 1}}},
                    step("b"),
                    {"id": "again", "type": "publish", "config": {"type": "order.sent", "payload": {"n": 2}}},
                ],
                "start a",
                "a tell",
                "tell b",
                "b again",
            )
        ],
        started(),
        effects=2,
        messages=2,
        check_output=False,
    ),
    Scenario(
        "shared data",
        [
            flow(
                "main",
                [
                    {"id": "set", "type": "set", "config": {"vars": {"total": "${input.n + 1}"}}},
                    step("a"),
                    step("read", "count"),
                ],
                "start set",
                "set a",
                "a read",
            )
        ],
        started({"n": 41}),
        effects=2,
        output=42,
    ),
    Scenario(
        "suspend",
        [
            flow(
                "main",
                [step("a"), {**WAIT, "id": "wait", "config": {"name": "go"}}, step("b")],
                "start a",
                "a wait",
                "wait b",
            )
        ],
        suspending,
        effects=2,
        output={"did": "b"},
    ),
    Scenario(
        "person",
        [
            flow(
                "main",
                [
                    step("a"),
                    {
                        "id": "ask",
                        "type": "instruction",
                        "config": {
                            "inputOptions": [{"id": "reason", "tags": {"values": ["ui.free_text", "ui.required"]}}],
                            "reminder": {"after": 0.02},
                            "escalation": {"after": "1h"},
                            "deadline": "2h",
                        },
                    },
                    step("remind"),
                    step("boss"),
                    step("b"),
                ],
                "start a",
                "a ask",
                "ask remind reminder",
                "ask boss escalation",
                "ask b",
            )
        ],
        answering,
        effects=3,
        check_output=False,
    ),
]
