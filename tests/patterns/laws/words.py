"""The words in which the laws are written. Times are seconds; `first` and `last` are the numbers of the events, for
what happened in the same second."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from perdure.model import events as e
from perdure.testing.pure import BEGIN, SECOND
from tests.patterns.harness import Fact, Scenario, Story

Law = Callable[[Story, Scenario], None]
LAWS: dict[int, Law] = {}


def law(number: int) -> Callable[[Law], Law]:
    def keep(function: Law) -> Law:
        LAWS[number] = function
        return function

    return keep


def the(story: Story, node: str) -> Fact:
    """The one time that the node completed."""
    (found,) = story.completed(node)
    return found


def begun(story: Story, *nodes: str) -> list[Fact]:
    return [fact for fact in story.of(*nodes) if fact.began is not None]


def goes_before(one: Fact, other: Fact) -> None:
    assert one.end == "completes"
    assert one.last < other.first


def begins_with(follower: Fact, cause: Fact) -> None:
    """At the very moment when the other completes."""
    goes_before(cause, follower)
    assert follower.began == cause.ended


def never_together(facts: list[Fact]) -> None:
    order = sorted(facts, key=lambda fact: fact.first)
    for one, other in pairwise(order):
        assert one.last < other.first, f"{one.label} and {other.label}"


def did_not(story: Story, node: str) -> None:
    assert not begun(story, node)


class Came(NamedTuple):
    number: int
    """Of the event, to compare with `first` and `last`."""
    at: float
    payload: Any


def received(story: Story, name: str) -> list[Came]:
    """The signals of this name, in the order in which they came."""
    numbered = enumerate(((at, event) for at, events in story.run.turns for event in events), start=1)
    return [
        Came(number, (at - BEGIN) / SECOND, event.payload)
        for number, (at, event) in numbered
        if isinstance(event, e.SignalReceived) and event.name == name
    ]
