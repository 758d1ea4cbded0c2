"""When a flow of Yantra's is started: by hand, by a clock, by a web hook.

The start node says it (`triggerType`, `cronSchedule`, `timezone`, `webhookPath`), or the document itself (`schedule`,
`timezone`, `webhookPath`). A cron line has five fields, or six with the seconds first, or is one of the words @hourly,
@daily, @weekly, @monthly and @yearly; it is meant in its zone, so that 9 o'clock is 9 o'clock in summer and in winter.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, timedelta
from typing import Any, Literal, NamedTuple

from perdure.dialects.yantra.drawing import START, graph_of
from perdure.model.problems import Problem, pointed
from perdure.model.times import from_moment, to_moment
from perdure.model.zones import zone
from perdure.programs.flow.checks.options import why_not_cron

WORDS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
TYPES = ("manual", "cron", "webhook", "both")
LONGEST_PATH = 100
FIVE = (
    "five fields: minute, hour, day of month, month, day of week; or six, with the second first; or a word like @daily"
)


class Trigger(NamedTuple):
    kind: Literal["manual", "cron", "webhook"]
    cron: str | None = None
    timezone: str = "UTC"
    path: str | None = None
    secret_required: bool = False

    def fires_after(self, moment: int) -> Iterator[int]:
        """The times at which its clock starts the flow, after this one; all in microseconds since 1970."""
        assert self.cron is not None
        from cronsim import CronSim  # most flows have no clock

        seconds, line = _fields(self.cron)
        begin = from_moment(moment).astimezone(zone(self.timezone))
        # a minute may have begun, and have seconds left
        for found in CronSim(line, begin - timedelta(minutes=1)):
            for second in seconds:
                due = to_moment(found.replace(second=second).astimezone(UTC))
                if due > moment:
                    yield due


class _Said(NamedTuple):
    trigger: str
    cron: str | None
    cron_place: str
    timezone: str
    zone_place: str
    path: Any
    path_place: str


def triggers_of(document: dict[str, Any]) -> list[Trigger]:
    """How a document without mistakes says that it is started. It can always be started by hand."""
    said = _said(document)
    found = [Trigger("manual")]
    if said.cron is not None and said.trigger in ("cron", "both"):
        found.append(Trigger("cron", cron=said.cron, timezone=said.timezone))
    if said.trigger in ("webhook", "both"):
        path = said.path if isinstance(said.path, str) and said.path else None
        found.append(Trigger("webhook", path=path, secret_required=True))
    return found


def trigger_problems(document: dict[str, Any]) -> Iterator[Problem]:
    said = _said(document)
    if said.trigger not in TYPES:
        told = f"{said.trigger[:64]!r} is no way to start a flow"
        yield Problem("CONFIG_VALUE", said.zone_place, told, expected=f"one of {', '.join(TYPES)}")
    if said.cron is not None:
        wrong = why_no_clock(said.cron)
        if wrong is not None:
            yield Problem("BAD_CRON", said.cron_place, f"{said.cron[:64]!r}: {wrong}", expected=FIVE)
    elif said.trigger in ("cron", "both"):
        yield Problem("BAD_CRON", said.cron_place, "when the clock starts it is not said", expected=FIVE)
    try:
        zone(said.timezone)
    except ValueError as problem:
        yield Problem("BAD_TIMEZONE", said.zone_place, str(problem), expected="an IANA name such as Europe/Berlin")
    if said.path is not None and why_no_path(said.path) is not None:
        expected = f"at most {LONGEST_PATH} characters without slashes and .."
        yield Problem("CONFIG_VALUE", said.path_place, str(why_no_path(said.path)), expected=expected)


def why_no_clock(line: str) -> str | None:
    """What is wrong with a cron line; None if it will fire some day."""
    try:
        _, five = _fields(line)
    except ValueError as problem:
        return str(problem)
    return why_not_cron(five)


def why_no_path(path: Any) -> str | None:
    if not isinstance(path, str):
        return "the path of a web hook is text"
    if len(path) > LONGEST_PATH or ".." in path or "/" in path or "\\" in path or not path.isprintable():
        return f"{path[:64]!r} cannot be the path of a web hook"
    return None


def _fields(line: str) -> tuple[list[int], str]:
    """The seconds, and the five other fields. Raises ValueError."""
    text = line.strip()
    if text.startswith("@"):
        if text not in WORDS:
            raise ValueError(f"there is no word {text[:32]!r}")
        return [0], WORDS[text]
    fields = text.split()
    if len(fields) != 6:
        return [0], text
    return _seconds(fields[0]), " ".join(fields[1:])


def _seconds(field: str) -> list[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = ("0", "", "59") if span == "*" else span.partition("-")
        numbers = (first, last or (first if not step else "59"), step or "1")
        if not all(each.isdecimal() and each.isascii() and len(each) < 4 for each in numbers):
            raise ValueError(f"{field[:32]!r} are no seconds")
        begin, end, every = map(int, numbers)
        if end > 59 or begin > end or every < 1:
            raise ValueError(f"{field[:32]!r} are no seconds")
        found.update(range(begin, end + 1, every))
    return sorted(found)


def _said(document: dict[str, Any]) -> _Said:
    graph, base = graph_of(document)
    config: dict[str, Any] = {}
    place = ""
    nodes = graph.get("nodes")
    for index, node in enumerate(nodes if isinstance(nodes, list) else []):
        if isinstance(node, dict) and node.get("type") == START:
            data = node.get("data")
            if isinstance(data, dict) and isinstance(data.get("config"), dict):
                config, place = data["config"], pointed(base, "nodes", index, "data", "config")
            elif isinstance(node.get("config"), dict):
                config, place = node["config"], pointed(base, "nodes", index, "config")
            break

    def either(own: str, whole: str) -> tuple[Any, str]:
        if config.get(own):
            return config[own], pointed(place, own)
        return (document[whole], pointed("", whole)) if document.get(whole) else (None, pointed(place, own))

    cron, cron_place = either("cronSchedule", "schedule")
    place_name, zone_place = either("timezone", "timezone")
    path, path_place = either("webhookPath", "webhookPath")
    trigger = config.get("triggerType")
    if not trigger:
        trigger = "cron" if cron else "manual"
        trigger = ("both" if cron else "webhook") if path else trigger
    return _Said(
        trigger if isinstance(trigger, str) else str(trigger),
        cron if isinstance(cron, str) else None if cron is None else str(cron),
        cron_place,
        place_name if isinstance(place_name, str) else "UTC" if place_name is None else str(place_name),
        zone_place if trigger in TYPES else pointed(place, "triggerType"),
        path,
        path_place,
    )


__all__ = ["Trigger", "trigger_problems", "triggers_of", "why_no_clock"]
