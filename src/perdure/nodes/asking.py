"""What the node types that ask a person have in common: how long they wait, whom they remind, to whom it is said."""

from __future__ import annotations

from typing import Any

import msgspec
from pydantic import Field, model_validator

from perdure.errors import InvalidInput
from perdure.expressions import Template
from perdure.model.waits import ANSWERED, ESCALATION, REMINDER, Ask, Reminders
from perdure.nodes.config import DynamicDuration, NodeConfig, TemplateValue, micros_of, template
from perdure.programs.flow.nodetypes import Plan

MOST_REMINDERS = 1_000
_COUNT = 10
_SHORTEST = 1_000_000


class Reminder(NodeConfig):
    """When to remind: the edges with the outcome `reminder` are taken, and the task stays open."""

    after: DynamicDuration | None = Field(
        None, title="After", description="The first one, so long after the task was opened. Without it: `every`."
    )
    every: DynamicDuration | None = Field(None, title="Every", description="Then again and again.", examples=["1d"])
    count: int | None = Field(
        None,
        ge=1,
        le=MOST_REMINDERS,
        title="How often",
        description=f"At most so often; without it {_COUNT} times, or once where there is no `every`.",
    )

    @model_validator(mode="after")
    def _says_when(self) -> Reminder:
        if self.after is None and self.every is None:
            raise ValueError("say `after`, `every` or both")
        return self


class Escalation(NodeConfig):
    """When others are to be told: the edges with the outcome `escalation` are taken, and the task stays open."""

    after: DynamicDuration = Field(title="After", description="So long after the task was opened.", examples=["3d"])


class AskingConfig(NodeConfig):
    """Fields of every node that asks a person."""

    deadline: DynamicDuration | None = Field(
        None,
        title="Wait at most",
        description="After that it fails with TASK_TIMEOUT; an edge with the outcome `timeout` takes care of it.",
        examples=["2d", "${vars.patience}"],
    )
    reminder: Reminder | None = Field(
        None,
        title="Reminder",
        description="Takes the edges with the outcome `reminder` while nobody has answered.",
        examples=[{"after": "1d", "every": "1d", "count": 3}],
    )
    escalation: Escalation | None = Field(
        None,
        title="Escalation",
        description="Takes the edges with the outcome `escalation` if nobody has answered by then.",
        examples=[{"after": "3d"}],
    )
    assignees: TemplateValue = Field(
        None, title="Assignees", description="Who is asked, as whoever lists the tasks knows them.", examples=[["ada"]]
    )
    candidates: TemplateValue = Field(
        None, title="Candidates", description="Groups of which anybody may answer.", examples=[["accounting"]]
    )


def outcomes_of(config: AskingConfig, own: tuple[str, ...] = (ANSWERED,)) -> tuple[str, ...]:
    reminder = (REMINDER,) if getattr(config, "reminder", None) is not None else ()
    escalation = (ESCALATION,) if getattr(config, "escalation", None) is not None else ()
    return (*own, *reminder, *escalation)


class Asking(msgspec.Struct, frozen=True):
    """The same, prepared."""

    deadline: Template | None
    after: Template | None
    every: Template | None
    count: int
    escalate: Template | None
    people: dict[str, Template]


def asking(config: AskingConfig) -> Asking:
    reminder, escalation = config.reminder, config.escalation
    first = reminder.after if reminder is not None and reminder.after is not None else None
    every = reminder.every if reminder is not None else None
    given = {"assignees": config.assignees, "candidates": config.candidates}
    return Asking(
        _template(config.deadline),
        _template(first if first is not None else every),
        _template(every),
        (reminder.count if reminder is not None else None) or (_COUNT if every is not None else 1),
        _template(escalation.after if escalation is not None else None),
        {name: template(value) for name, value in given.items() if value is not None},
    )


def _template(value: Any) -> Template | None:
    return template(value) if value is not None else None


def ask(asking: Asking, moment: Plan, view: dict[str, Any], details: dict[str, Any], **rest: Any) -> Ask:
    """The task. Raises InvalidInput for durations that are none."""
    reminders = None
    if asking.after is not None:
        every = _span(asking.every, moment, "/reminder/every")
        first = _span(asking.after, moment, "/reminder/after")
        assert first is not None
        reminders = Reminders(first, max(every, _SHORTEST) if every is not None else None, asking.count)
    deadline = _span(asking.deadline, moment, "/deadline")
    details = {**details, **{name: moment.resolve(each) for name, each in asking.people.items()}}
    return Ask(
        view,
        moment.now + deadline if deadline is not None else None,
        reminders,
        _span(asking.escalate, moment, "/escalation/after"),
        {name: value for name, value in details.items() if value is not None} or None,
        **rest,
    )


def _span(given: Template | None, moment: Plan, pointer: str) -> int | None:
    if given is None:
        return None
    try:
        return micros_of(moment.resolve(given))
    except ValueError as problem:
        raise InvalidInput(str(problem), pointer=pointer, expected="a duration, such as 2d") from None
