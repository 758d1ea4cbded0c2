"""delay, sleep, wait-for-signal: rows C04, C05, I01 to I04, I08, I11."""

from typing import Any

import pytest

from perdure.model.events import SignalReceived, TimerArmed
from perdure.model.times import iso
from perdure.testing.pure import BEGIN, PureRunner
from tests.nodes.flows import failure, given, node, output, row, run

SECOND = 1_000_000


def slept(config: dict[str, Any], input: Any = None) -> tuple[float, Any]:
    """Seconds that passed, and the output."""
    runner = PureRunner(row(node("sleep", config)), restart=True)
    result = runner.run(input)
    assert result.status == "COMPLETED", result.failure
    return (runner.now - BEGIN) / SECOND, result.output


@pytest.mark.parametrize(
    ("config", "seconds"),
    [
        ({}, 1.0),
        ({"milliseconds": 250}, 0.25),
        ({"duration": 1500}, 1.5),
        ({"milliseconds": "2s"}, 2.0),
        ({"milliseconds": "250"}, 0.25),
        ({"milliseconds": "${input.ms}"}, 0.75),
        ({"milliseconds": 0}, 0.0),
    ],
)
def test_a_delay_is_a_timer(config: dict[str, Any], seconds: float) -> None:
    runner = PureRunner(row(node("delay", config)), restart=True)
    result = runner.run({"ms": 750})
    assert (runner.now - BEGIN) / SECOND == seconds
    assert result.output == {"ms": 750, "data": True, "delayed_ms": seconds * 1000}
    assert len(result.of(TimerArmed)) == 1


@pytest.mark.parametrize("value", [-1, "soon", None, [], True, 1e300])
def test_a_delay_that_is_none(value: Any) -> None:
    assert failure(node("delay", {"milliseconds": "${input.ms}"}), input={"ms": value}).code == "DURATION_INVALID"


def test_the_fields_of_the_input_are_handed_on() -> None:
    before = {"data": {"when": 1, "status": "inner"}, "status": 200}
    assert output(given(before), node("delay", {"milliseconds": 5})) == {
        "when": 1,
        "status": 200,
        "data": {"when": 1, "status": "inner"},
        "delayed_ms": 5,
    }
    assert output(given([1]), node("delay", {"milliseconds": 5})) == {"data": [1], "delayed_ms": 5}


@pytest.mark.parametrize(
    ("unit", "seconds"), [("seconds", 1), ("minutes", 60), ("hours", 3600), ("days", 86_400), ("weeks", 604_800)]
)
def test_sleeping_for_each_unit(unit: str, seconds: int) -> None:
    passed, found = slept({"mode": "relative", "duration_value": 3, "duration_unit": unit})
    assert passed == 3 * seconds
    assert found == {
        "data": True,
        "sleep_scheduled_until": iso(BEGIN + 3 * seconds * SECOND),
        "sleep_duration_ms": 3 * seconds * 1000,
        "mode": "relative",
        "scheduled_at": "2026-01-01T00:00:00Z",
    }


@pytest.mark.parametrize(
    ("config", "seconds"),
    [
        ({"duration": "1h30m"}, 5400),
        ({"duration": 2.5}, 2.5),
        ({"duration": "${input.d}"}, 90),
        ({"duration": "{{input.n}}m"}, 120),
        ({"duration_value": "${input.n}", "duration_unit": "hours"}, 7200),
        ({"duration_value": 1.5, "duration_unit": "hours"}, 5400),
        ({"duration": "18262d"}, 18_262 * 86_400),
    ],
)
def test_sleeping_for_a_time(config: dict[str, Any], seconds: float) -> None:
    assert slept(config, {"d": "PT90S", "n": 2})[0] == seconds


@pytest.mark.parametrize(
    ("config", "wakes"),
    [
        ({"until": "2026-12-25T10:00", "timezone": "America/New_York"}, "2026-12-25T15:00:00Z"),
        ({"target_date": "2026-12-25T10:00:00Z", "timezone": "America/New_York"}, "2026-12-25T10:00:00Z"),
        ({"until": "2026-12-25", "timezone": "${input.zone}"}, "2026-12-24T23:00:00Z"),
        ({"until": "{{input.day}} 08:00"}, "2026-05-01T08:00:00Z"),
        ({"until": "2026-03-08T02:30", "timezone": "America/New_York"}, "2026-03-08T07:30:00Z"),
        ({"until": "2026-11-01T01:30", "timezone": "America/New_York"}, "2026-11-01T05:30:00Z"),
        ({"until": "9999-12-31T23:59:59Z"}, "9999-12-31T23:59:59Z"),
    ],
)
def test_sleeping_until_a_date(config: dict[str, Any], wakes: str) -> None:
    _, found = slept(config, {"zone": "Europe/Berlin", "day": "2026-05-01"})
    assert found["sleep_scheduled_until"] == wakes
    assert found["mode"] == "absolute"


def test_a_date_in_the_past_is_skipped() -> None:
    passed, found = slept({"mode": "absolute", "target_date": "2020-01-01T00:00:00Z"}, {"x": 1})
    assert passed == 0
    assert found == {
        "x": 1,
        "data": True,
        "slept_until": "2020-01-01T00:00:00Z",
        "sleep_skipped": True,
        "reason": "the target date is not in the future",
        "mode": "absolute",
    }
    assert slept({"until": iso(BEGIN)})[1]["sleep_skipped"] is True
    assert slept({"duration": 0})[1]["sleep_skipped"] is True


@pytest.mark.parametrize(
    "config",
    [
        {"until": "${input.x}"},
        {"duration": "${input.x}"},
        {"duration_value": "${input.x}", "duration_unit": "days"},
        {"until": "2027-01-01", "timezone": "${input.x}"},
        {"duration": "1s", "timezone": "${input.x}"},
    ],
)
@pytest.mark.parametrize("value", ["Mars/Base", -1, None, {}, "", "1e999", 1e300])
def test_computed_nonsense_fails_the_node(config: dict[str, Any], value: Any) -> None:
    assert failure(node("sleep", config), input={"x": value}).code == "SLEEP_INVALID"


def test_a_sleeping_run_says_so() -> None:
    runner = PureRunner(row(node("sleep", {"duration": "2d"})))
    sleeping = runner.start()
    assert sleeping.status == "SLEEPING"
    runner.advance(86_400)
    assert sleeping.status == "SLEEPING"
    runner.advance(86_400)
    assert sleeping.status == "COMPLETED"


# -- signals -----------------------------------------------------------------------------------------


def test_a_signal_and_its_payload() -> None:
    result = run(
        node("wait-for-signal", {"name": "go-{{input.id}}"}), input={"id": 7}, signals=[(60, "go-7", {"a": 1})]
    )
    assert (result.status, result.output) == ("COMPLETED", {"a": 1})


def test_a_signal_that_came_before_counts_unless_the_wait_is_transient() -> None:
    early = [(1, "go", "early"), (10, "go", "late")]
    nodes = [node("delay", {"milliseconds": 5000}, id="d")]
    kept = run(*nodes, node("wait-for-signal", {"name": "go"}), signals=early)
    assert kept.output == "early"
    later = run(*nodes, node("wait-for-signal", {"name": "go", "mode": "transient"}), signals=early)
    assert later.output == "late"


@pytest.mark.parametrize(
    ("waits", "kept"),
    [
        ([("go", "transient")], 0),
        ([("g${'o'}", "transient")], 0),
        ([("go", "transient"), ("go", "persistent")], 1),
        ([("go", "transient"), ("${input.name}", "persistent")], 1),
        ([("go", "transient"), ("stop", "persistent")], 0),
        ([("${input.name}", "transient")], 0),
        ([("stop", "transient")], 1),
    ],
)
def test_a_signal_is_kept_if_a_later_wait_may_take_it(waits: list[tuple[str, str]], kept: int) -> None:
    delay = node("delay", {"milliseconds": 5000}, id="d")
    nodes = [node("wait-for-signal", {"name": name, "mode": mode}, id=f"w{n}") for n, (name, mode) in enumerate(waits)]
    result = run(delay, *nodes, input={"name": "x"}, signals=[(1, "go", "early")])
    assert [event.kept for event in result.of(SignalReceived)] == [bool(kept)]


def test_nobody_signals_in_time() -> None:
    wrong = failure(node("wait-for-signal", {"name": "go", "timeout": "1h"}), signals=[(3601, "go", 1)])
    assert wrong.code == "SIGNAL_TIMEOUT"
    assert output(node("wait-for-signal", {"name": "go", "timeout": "1h"}), signals=[(3599, "go", 1)]) == 1


def test_edges_for_the_signal_and_for_the_time_limit() -> None:
    document = {
        "nodes": [
            {"id": "start", "type": "start"},
            node("wait-for-signal", {"name": "go", "timeout": "${input.patience}"}, id="wait"),
            node("json", {"data": 1}, id="came"),
            node("json", {"data": 2}, id="late"),
        ],
        "edges": [
            {"source": "start", "target": "wait"},
            {"source": "wait", "target": "came", "outcome": "signal"},
            {"source": "wait", "target": "late", "outcome": "timeout"},
        ],
    }
    for at, expected in ((5, "came"), (15, "late")):
        result = PureRunner(document).run({"patience": 10}, signals=[(at, "go", None)])
        assert result.status == "COMPLETED"
        assert result.trace == ["start", "wait", expected]


@pytest.mark.parametrize("name", ["", None, {}, "x" * 300])
def test_a_name_that_is_none(name: Any) -> None:
    assert failure(node("wait-for-signal", {"name": "${input.x}"}), input={"x": name}).code == "SIGNAL_NAME_INVALID"
