"""When a flow of Yantra's is started."""

from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pytest

from perdure.dialects.yantra import Trigger, triggers_of
from perdure.model.times import iso, to_moment
from tests.dialects.yantra.graphs import edge, graph, node, told


def started(config: Any = None, **rest: Any) -> dict[str, Any]:
    return graph([node("start", config), node("end")], [edge("start-1", "end-1")], **rest)


def fires(trigger: Trigger, year: int, month: int, day: int, count: int) -> list[str]:
    begin = to_moment(datetime(year, month, day, tzinfo=UTC))
    return [iso(each) for each in islice(trigger.fires_after(begin), count)]


CRON = {"triggerType": "cron", "cronSchedule": "0 9 * * *", "timezone": "America/New_York"}


def test_a_flow_can_always_be_started_by_hand() -> None:
    assert triggers_of(started()) == [Trigger("manual")]
    assert triggers_of(started({"triggerType": "manual", "cronSchedule": "0 9 * * *", "webhookPath": ""})) == [
        Trigger("manual")
    ]


def test_nine_o_clock_is_nine_o_clock_in_summer_and_in_winter() -> None:
    [_, clock] = triggers_of(started(CRON))
    assert fires(clock, 2026, 3, 7, 3) == ["2026-03-07T14:00:00Z", "2026-03-08T13:00:00Z", "2026-03-09T13:00:00Z"]
    assert fires(clock, 2026, 10, 31, 3) == ["2026-10-31T13:00:00Z", "2026-11-01T14:00:00Z", "2026-11-02T14:00:00Z"]


def test_the_document_may_say_it_instead_of_the_start() -> None:
    document = started(None, schedule="0 9 * * *", timezone="America/New_York")
    assert triggers_of(document) == triggers_of(started(CRON))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("@hourly", ["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"]),
        ("@daily", ["2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"]),
        ("30 0 9 * * *", ["2026-01-01T09:00:30Z", "2026-01-02T09:00:30Z"]),
        ("*/30 * * * * *", ["2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"]),
        ("0 0 1 1 *", ["2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"]),
    ],
)
def test_six_fields_and_words(line: str, expected: list[str]) -> None:
    document = started({"triggerType": "cron", "cronSchedule": line})
    assert told(document) == []
    assert fires(triggers_of(document)[1], 2026, 1, 1, 2) == expected


def test_a_web_hook_has_a_path_and_needs_a_secret() -> None:
    hook = Trigger("webhook", path="orders", secret_required=True)
    assert triggers_of(started({"triggerType": "webhook", "webhookPath": "orders"})) == [Trigger("manual"), hook]
    both = {**CRON, "triggerType": "both", "webhookPath": "orders"}
    assert [each.kind for each in triggers_of(started(both))] == ["manual", "cron", "webhook"]


@pytest.mark.parametrize(
    ("config", "code", "field"),
    [
        ({**CRON, "cronSchedule": "61 * * * *"}, "BAD_CRON", "cronSchedule"),
        ({**CRON, "cronSchedule": "often"}, "BAD_CRON", "cronSchedule"),
        ({**CRON, "cronSchedule": "@often"}, "BAD_CRON", "cronSchedule"),
        ({**CRON, "cronSchedule": "70 0 9 * * *"}, "BAD_CRON", "cronSchedule"),
        ({**CRON, "cronSchedule": "0 0 31 2 *"}, "BAD_CRON", "cronSchedule"),
        ({**CRON, "cronSchedule": ""}, "BAD_CRON", "cronSchedule"),
        ({**CRON, "timezone": "Mars/Base"}, "BAD_TIMEZONE", "timezone"),
        ({"triggerType": "telepathy"}, "CONFIG_VALUE", "triggerType"),
        ({"triggerType": "webhook", "webhookPath": "../x"}, "CONFIG_VALUE", "webhookPath"),
        ({"triggerType": "webhook", "webhookPath": "x" * 101}, "CONFIG_VALUE", "webhookPath"),
        ({"triggerType": "webhook", "webhookPath": 7}, "CONFIG_VALUE", "webhookPath"),
    ],
)
def test_a_trigger_that_cannot_be_is_refused_at_its_place(config: Any, code: str, field: str) -> None:
    assert told(started(config)) == [(code, f"/nodes/0/data/config/{field}")]


def test_a_schedule_of_the_document_is_checked_too() -> None:
    assert told(started(None, schedule="x", timezone="UTC")) == [("BAD_CRON", "/schedule")]
    assert told(started(None, schedule="0 9 * * *", timezone="Nowhere")) == [("BAD_TIMEZONE", "/timezone")]
