"""Runs the pattern documents and writes down what happened, in words and as facts.

A line of a trace reads `4s assemble#2 begins`: when, which node (`[0]` is the iteration, `#2` the visit), and what
became of it. Steps are stand-ins that take the time and give the results that a scenario says.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from perdure.engine.handlers import Result
from perdure.model import commands as c
from perdure.model import events as e
from perdure.testing.pure import BEGIN, SECOND, PureRunner, lasting
from perdure.testing.pure_run import PureRun

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "patterns"

Scenario = dict[str, Any]

SKIPS = {
    "dead": "is skipped",
    "condition": "is passed by",
    "milestone": "comes too late",
    "withdrawn": "is withdrawn",
}


class Pattern(msgspec.Struct, frozen=True):
    number: int
    name: str
    slug: str
    document: dict[str, Any]
    scenarios: list[Scenario]

    def __str__(self) -> str:
        return self.slug


def patterns() -> list[Pattern]:
    """All patterns, in the order of their numbers."""
    found = []
    for entry in json.loads((FOLDER / "index.json").read_text())["patterns"]:
        slug = entry["file"].removesuffix(".json")
        document = json.loads((FOLDER / entry["file"]).read_text())
        expected = json.loads((FOLDER / f"{slug}.expected.json").read_text())
        found.append(Pattern(entry["number"], entry["name"], slug, document, expected["scenarios"]))
    return found


# -- steps that do as they are told ---------------------------------------------------------------


class StandIn(lasting):
    """A step whose n-th call takes the n-th time and gives the n-th result; the last ones last."""

    def __init__(self, told: Mapping[str, Any], chance: random.Random | None) -> None:
        super().__init__(0, self._answer)
        self._told = told
        self._chance = chance
        self._call = 0

    @property  # type: ignore[override]
    def seconds(self) -> float:
        self._call += 1
        if self._chance is not None:
            return self._chance.choice((0, 0, 1, 2, 3, 5, 8))
        return float(self._nth("seconds", 0))

    @seconds.setter
    def seconds(self, _: float) -> None: ...

    def _nth(self, name: str, otherwise: Any) -> Any:
        given = self._told.get(name, otherwise)
        return given[min(self._call, len(given)) - 1] if isinstance(given, list) else given

    def _answer(self, context: Any, **arguments: Any) -> Any:
        output = self._nth("returns", arguments or context.node_id)
        return Result(output, outcome=self._nth("outcome", None))


def steps_of(document: Mapping[str, Any], scenario: Scenario, chance: random.Random | None) -> dict[str, StandIn]:
    told = scenario.get("steps", {})
    names = [node["config"]["step"] for node in document["nodes"] if node["type"] == "python"]
    unknown = set(told) - set(names)
    assert not unknown, f"the scenario speaks of steps that are not there: {unknown}"
    return {name: StandIn(told.get(name, {}), chance) for name in names}


class SlowToStop(PureRunner):
    """Handlers that were told to stop take their time."""

    def _plan(self, at: int, target: str, command: c.Command) -> None:
        if isinstance(command, c.CancelDone) and self._chance is not None:
            at += self._chance.choice((0, 0, 1, 4)) * SECOND
        super()._plan(at, target, command)


# -- running --------------------------------------------------------------------------------------


def perform(pattern: Pattern, scenario: Scenario, *, restart: bool = False) -> PureRun:
    """The scenario, exactly as it is written down."""
    children = {pattern.document["id"]: pattern.document}
    runner = PureRunner(
        pattern.document, steps=steps_of(pattern.document, scenario, None), children=children, restart=restart
    )
    return _go(runner, scenario, scenario.get("signals", []), scenario.get("cancel_at"))


def perturb(pattern: Pattern, scenario: Scenario, seed: int) -> PureRun:
    """The scenario with other times for everything: how long steps take and take to stop, when signals come, and in
    which order simultaneous things happen."""
    chance = random.Random(f"{pattern.slug}/{seed}")
    runner = SlowToStop(
        pattern.document,
        steps=steps_of(pattern.document, scenario, chance),
        children={pattern.document["id"]: pattern.document},
        shuffle=seed,
        restart=seed % 2 == 1,
    )
    signals = [
        (at + chance.choice((0, 0, 1, 2, 5)), name, payload) for at, name, payload in scenario.get("signals", [])
    ]
    return _go(runner, scenario, signals, scenario.get("cancel_at"))


def _go(runner: PureRunner, scenario: Scenario, signals: Any, cancel_at: float | None) -> PureRun:
    return runner.run(scenario.get("input"), signals=[tuple(each) for each in signals], cancel_at=cancel_at)


# -- what happened --------------------------------------------------------------------------------


class Fact(msgspec.Struct):
    """One activation of a node, or one time that it was skipped."""

    node: str
    place: str
    visit: int
    began: float | None = None
    """Seconds after the start; None if it was skipped."""
    ended: float | None = None
    end: str | None = None
    """`completes`, `fails`, `is cancelled`, or how it was skipped."""
    first: int = 0
    """Numbers of the events by which it began …"""
    last: int = 0
    """… and ended; they order what happened in the same second."""

    @property
    def label(self) -> str:
        return f"{self.node}{self.place}" + (f"#{self.visit}" if self.visit > 1 else "")


class Story:
    """A run's history as lines for people and as facts for checks."""

    def __init__(self, run: PureRun) -> None:
        self.run = run
        self.lines: list[str] = []
        self.facts: list[Fact] = []
        self._places = {0: ()}
        self._live: dict[int, Fact] = {}
        self._count = 0
        for at, events in run.turns:
            for event in events:
                self._count += 1
                self._tell((at - BEGIN) / SECOND, event)

    def of(self, *nodes: str) -> list[Fact]:
        return [fact for fact in self.facts if fact.node in nodes]

    def completed(self, *nodes: str) -> list[Fact]:
        """In the order of completion."""
        found = [fact for fact in self.of(*nodes) if fact.end == "completes"]
        return sorted(found, key=lambda fact: fact.last)

    def _tell(self, now: float, event: e.Event) -> None:
        match event:
            case e.IterationStarted():
                loop = self._live[event.activation]
                self._places[event.scope] = (*self._place(loop), event.index)
            case e.NodeEvaluated():
                fact = self._new(event.node, event.scope, event.visit)
                fact.began = now
                self._end(fact, now, "completes")
            case e.ActivationScheduled():
                fact = self._new(event.node, event.scope, event.visit)
                fact.began = now
                self._live[event.id] = fact
                self._say(now, fact, "begins")
            case e.NodeSkipped():
                self._end(self._new(event.node, event.scope, event.visit), now, SKIPS[event.reason])
            case e.ActivationCompleted():
                self._end(self._live[event.id], now, "completes")
            case e.ActivationFailed(final=True):
                self._end(self._live[event.id], now, "fails")
            case e.ActivationCancelled():
                self._end(self._live[event.id], now, "is cancelled")
            case e.LoopSatisfied():
                self._say(now, self._live[event.activation], "has enough")
            case _:
                pass

    def _place(self, fact: Fact) -> tuple[int, ...]:
        return tuple(int(part) for part in fact.place[1:-1].split(".")) if fact.place else ()

    def _new(self, node: str, scope: int, visit: int) -> Fact:
        indexes = self._places[scope]
        place = f"[{'.'.join(str(index) for index in indexes)}]" if indexes else ""
        fact = Fact(node, place, visit, first=self._count)
        self.facts.append(fact)
        return fact

    def _end(self, fact: Fact, now: float, how: str) -> None:
        fact.ended, fact.end, fact.last = now, how, self._count
        self._say(now, fact, how)

    def _say(self, now: float, fact: Fact, what: str) -> None:
        self.lines.append(f"{clock(now)} {fact.label} {what}")


def clock(seconds: float) -> str:
    """`90` is 90s, `86410` is 1d+10s."""
    days, rest = divmod(seconds, 86_400)
    if not days:
        return f"{seconds:g}s"
    return f"{days:g}d+{rest:g}s" if rest else f"{days:g}d"
