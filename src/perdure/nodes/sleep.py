"""sleep: a pause of seconds to years, or until a date. Nothing is held meanwhile, and restarts do not matter.

A date in the past does not pause at all: the node completes at once with `sleep_skipped: true`. A local time that the
clocks skip moves forward by the gap; one that they show twice is the first of the two.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.model.times import iso, parse_duration
from perdure.model.zones import parse_moment, zone
from perdure.nodes.config import DynamicDuration, NodeConfig, has_placeholder, micros_of, template
from perdure.nodes.inputs import carried
from perdure.programs.flow.fields import TEMPLATE
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan, Refuse, Sleep

Unit = Literal["seconds", "minutes", "hours", "days", "weeks"]
UNITS: dict[str, int] = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400, "weeks": 604_800}


def _amount(value: Any) -> Any:
    if not has_placeholder(value):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("a number is expected, or a placeholder that gives one")
        if not value >= 0:
            raise ValueError("a duration cannot be negative")
    return value


def _date(value: str) -> str:
    if not has_placeholder(value):
        parse_moment(value)
    return value


def _zone(value: str) -> str:
    if not has_placeholder(value):
        zone(value)
    return value


DateText = Annotated[str, AfterValidator(_date), TEMPLATE]
ZoneText = Annotated[str, AfterValidator(_zone), TEMPLATE]
Amount = Annotated[str | int | float, BeforeValidator(_amount), TEMPLATE]


class SleepConfig(NodeConfig):
    duration: DynamicDuration | None = Field(
        None, title="For", description="How long to sleep.", examples=["2d", "1h30m", "PT15M", "${input.pause}"]
    )
    until: DateText | None = Field(
        None,
        title="Until",
        description="A date, with or without a time; without an offset it is a local time of `timezone`.",
        examples=["2025-12-25T10:00", "2025-12-25T10:00:00Z", "${data.due}"],
    )
    timezone: ZoneText = Field(
        "UTC", title="Time zone", description="IANA name.", examples=["America/New_York", "Europe/Berlin"]
    )
    mode: Literal["relative", "absolute"] | None = Field(
        None, title="Mode", description="Follows from the other fields. If stated, only the fields of that mode count."
    )
    duration_value: Amount | None = Field(None, title="Amount", description="With `duration_unit`.", examples=[7])
    duration_unit: Unit = Field("seconds", title="Unit", description="Of `duration_value`.")
    target_date: DateText | None = Field(None, title="Target date", description="The same as `until`.")

    @model_validator(mode="after")
    def _one_way(self) -> SleepConfig:
        relative, absolute = ("duration", "duration_value"), ("until", "target_date")
        names = {"relative": relative, "absolute": absolute, None: relative + absolute}[self.mode]
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) != 1:
            found = f"found {' and '.join(given)}" if given else "found none"
            raise ValueError(f"give exactly one of {', '.join(names)} ({found})")
        if given[0] == "duration_value" and not has_placeholder(self.duration_value):
            _span(self.duration_value, self.duration_unit)
        if given[0] in absolute:
            date, place = self.until or self.target_date or "", self.timezone
            if not has_placeholder(date) and not has_placeholder(place):
                parse_moment(date, place)
        return self


class Prepared(msgspec.Struct, frozen=True):
    mode: str
    amount: Template
    unit: str | None
    timezone: Template


def prepare(config: SleepConfig) -> Prepared:
    place = template(config.timezone)
    if config.mode != "absolute":
        if config.duration is not None:
            return Prepared("relative", template(config.duration), None, place)
        if config.duration_value is not None:
            return Prepared("relative", template(config.duration_value), config.duration_unit, place)
    return Prepared("absolute", template(config.until or config.target_date), None, place)


def _span(value: Any, unit: str) -> int:
    """Microseconds. Raises ValueError."""
    if isinstance(value, str):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number of {unit}")
    if abs(value) > 1e15:
        raise ValueError("a duration of more than 100 years")
    return parse_duration(value * UNITS[unit])


def wake_at(prepared: Prepared, moment: Plan) -> int:
    place = moment.resolve(prepared.timezone)
    given = moment.resolve(prepared.amount)
    if not isinstance(place, str):
        raise ValueError(f"{place!r} is not an IANA time zone")
    zone(place)
    if prepared.mode == "absolute":
        if not isinstance(given, str):
            raise ValueError(f"{given!r} is no date")
        return parse_moment(given, place)
    return moment.now + (_span(given, prepared.unit) if prepared.unit is not None else micros_of(given))


def plan(prepared: Prepared, moment: Plan) -> Directive:
    try:
        until = wake_at(prepared, moment)
    except ValueError as problem:
        return Refuse(Failure("SLEEP_INVALID", str(problem)))
    output = carried(moment.input)
    if until <= moment.now:
        why = "the target date is not in the future" if prepared.mode == "absolute" else "the duration is zero"
        skipped = {"slept_until": iso(until), "sleep_skipped": True, "reason": why, "mode": prepared.mode}
        return Done({**output, **skipped})
    output |= {
        "sleep_scheduled_until": iso(until),
        "sleep_duration_ms": (until - moment.now) // 1000,
        "mode": prepared.mode,
        "scheduled_at": iso(moment.now),
    }
    return Sleep(until, output)


TYPE = NodeType(
    name="sleep",
    title="Sleep",
    description="Sleeps for a time or until a date, holding nothing. Hands on the fields of its input.",
    config=SleepConfig,
    prepare=prepare,
    plan=plan,
    group="Time",
    icon="moon",
    examples=(
        {"duration": "2d"},
        {"until": "2030-12-25T10:00", "timezone": "America/New_York"},
    ),
)
