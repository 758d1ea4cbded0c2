"""Kernel events made comparable across backends: everything but the time of day, the seeds of children, and, where
steps race, the order between them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from perdure.model.events import ActivationScheduled, Event, IterationStarted, NodeEvaluated, Recorded
from perdure.model.values import Json, encode_json

TIMES_OF_DAY = ("scheduled_at", "sleep_scheduled_until", "slept_until")
"""Fields that a sleeping node puts into its output."""


def told(events: Sequence[Recorded]) -> list[dict[str, Any]]:
    """The events in order. Due times count from the moment at which they were set, to the microsecond."""
    return [{"seq": each.seq, **_plain(each)} for each in events]


def _plain(recorded: Recorded) -> dict[str, Any]:
    fields: dict[str, Any] = _timeless(msgspec.to_builtins(recorded.event))
    if "due" in fields:
        fields["due"] -= recorded.at
    if fields.get("trigger") == "child":
        fields.pop("seed", None)
    return fields


def _timeless(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _timeless(each) for name, each in value.items() if name not in TIMES_OF_DAY}
    return [_timeless(each) for each in value] if isinstance(value, list) else value


class Unordered(msgspec.Struct):
    """What happened, and in which order to each activation, whatever happened elsewhere in between."""

    all: Counter[bytes]
    """The events, with names in place of the numbers that depend on who was first."""
    by_activation: dict[str, list[str]]


def unordered(events: Sequence[Recorded]) -> Unordered:
    names: dict[int, str] = {}
    paths: dict[int, str] = {0: ""}
    found = Unordered(Counter(), defaultdict(list))
    for recorded in events:
        event = recorded.event
        if isinstance(event, IterationStarted):
            paths[event.scope] = f"{names[event.activation]}[{event.index}]/"
        elif isinstance(event, ActivationScheduled | NodeEvaluated):
            names[event.id] = f"{paths[event.scope]}{event.node}#{event.visit}"
        subject = _subject(event)
        fields = _plain(recorded)
        for name in ("id", "activation"):
            if isinstance(fields.get(name), int):
                fields[name] = names[fields[name]]
        if "scope" in fields:
            fields["scope"] = paths[fields["scope"]]
        found.all[encode_json(fields)] += 1
        found.by_activation[names.get(subject, "the run")].append(type(event).__name__)
    return found


def _subject(event: Event) -> int:
    number = getattr(event, "activation", None) or getattr(event, "id", None)
    return number if isinstance(number, int) else 0
