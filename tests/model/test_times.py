"""Durations and dates as people write them; rows 34 to 37, 43 and 44 of the bad inputs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.model.times import LONGEST, SECOND, from_moment, iso, parse_duration, to_moment
from perdure.model.zones import parse_moment, zone

DAY = 86_400 * SECOND


@pytest.mark.parametrize(
    ("written", "micros"),
    [
        (0, 0),
        (90, 90 * SECOND),
        (0.25, 250_000),
        ("90", 90 * SECOND),
        ("1.5", 1_500_000),
        ("250ms", 250_000),
        ("30s", 30 * SECOND),
        ("5m", 300 * SECOND),
        ("1h30m", 5400 * SECOND),
        ("1h 30m", 5400 * SECOND),
        ("1.5h", 5400 * SECOND),
        ("2d", 2 * DAY),
        ("1w", 7 * DAY),
        (" 10s ", 10 * SECOND),
        ("PT1H30M", 5400 * SECOND),
        ("P2D", 2 * DAY),
        ("P1W", 7 * DAY),
        ("P1DT12H", 36 * 3600 * SECOND),
        ("PT0.5S", 500_000),
        ("100w", 700 * DAY),
    ],
)
def test_durations(written: str | float, micros: int) -> None:
    assert parse_duration(written) == micros


@pytest.mark.parametrize(
    "written",
    [-1, -0.1, 1e305, -1e305, 10**400, float("nan"), float("inf"), 1e18, True, "", " ",
     "s", "5 minutes", "-5s", "5x", "1e3s", "P", "PT", "P1Y",
     "P1M", "PT-5M", "1h30", "٣s", "10**9d", "1000000000d", "5m5m" * 2000, "9" * 5000 + "s"],
)  # fmt: skip
def test_durations_that_are_none(written: str | float) -> None:
    with pytest.raises(ValueError, match=r"duration"):
        parse_duration(written)


def test_the_longest_duration_is_a_hundred_years() -> None:
    assert parse_duration("18300d") < LONGEST
    with pytest.raises(ValueError, match="100 years"):
        parse_duration("36601d")


@given(st.integers(-(10**16), 10**17))
def test_moments_and_dates_are_the_same_thing(micros: int) -> None:
    assert to_moment(from_moment(micros)) == micros
    assert parse_moment(iso(micros)) == micros


@pytest.mark.parametrize(
    ("written", "place", "utc"),
    [
        ("2025-12-25T10:00", "America/New_York", "2025-12-25T15:00:00Z"),
        ("2025-12-25 10:00", "America/New_York", "2025-12-25T15:00:00Z"),
        ("2025-12-25 10:00:30", "America/New_York", "2025-12-25T15:00:30Z"),
        ("2025-12-25T10:00:00.250", "America/New_York", "2025-12-25T15:00:00.250000Z"),
        ("2025-12-25", "America/New_York", "2025-12-25T05:00:00Z"),
        ("2025-12-25T10:00:00Z", "America/New_York", "2025-12-25T10:00:00Z"),
        ("2025-12-25T10:00:00+01:00", "America/New_York", "2025-12-25T09:00:00Z"),
        ("2025-12-25T10:00:00.123456789+0530", "UTC", "2025-12-25T04:30:00.123456Z"),
        ("2025-12-25", "UTC", "2025-12-25T00:00:00Z"),
        ("2024-02-29", "UTC", "2024-02-29T00:00:00Z"),
        ("2038-01-19T03:14:08Z", "UTC", "2038-01-19T03:14:08Z"),
        ("9999-12-31T23:59:59Z", "UTC", "9999-12-31T23:59:59Z"),
    ],
)
def test_dates(written: str, place: str, utc: str) -> None:
    assert iso(parse_moment(written, place)) == utc


@pytest.mark.parametrize(
    ("written", "place", "utc"),
    [
        # the clocks go from 02:00 to 03:00: half past two is half past three
        ("2026-03-08T02:30", "America/New_York", "2026-03-08T07:30:00Z"),
        ("2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30:00Z"),
        # half an hour only
        ("2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-03T15:45:00Z"),
        # a whole day that Samoa never had
        ("2011-12-30T12:00", "Pacific/Apia", "2011-12-30T22:00:00Z"),
        # the clocks show 01:30 twice: the first counts
        ("2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00Z"),
        ("2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00Z"),
    ],
)
def test_when_the_clocks_change(written: str, place: str, utc: str) -> None:
    assert iso(parse_moment(written, place)) == utc


@pytest.mark.parametrize(
    "written",
    ["", "tomorrow", "2026-02-30", "2026-13-01", "2026-1-1",
     "25.12.2025", "2026-01-01T25:00", "10000-01-01", "2026-01-01T10:00+25:00", "2025-02-29",
     "9999-12-31T23:59", "2026-01-01T10", "٢٠٢٦-٠١-٠١"],
)  # fmt: skip
def test_dates_that_are_none(written: str) -> None:
    with pytest.raises(ValueError, match="no date"):
        parse_moment(written, "America/New_York")


@pytest.mark.parametrize(
    "name",
    ["", "Mars/Base", "America", "../../etc/passwd", "/etc/localtime", "localtime", "posixrules", "UTC+1 ",
     "Europe/Berlin\0", "europe/berlin", "right/UTC", "Europe//Berlin", "x" * 10_000, "EST5EDT4,M3.2.0,M11.1.0"],
)  # fmt: skip
def test_zones_that_are_none(name: str) -> None:
    with pytest.raises(ValueError, match="not an IANA time zone"):
        zone(name)


def test_a_zone_that_was_meant_is_suggested() -> None:
    with pytest.raises(ValueError, match="did you mean 'Europe/Berlin'"):
        zone("Europe/Berln")
