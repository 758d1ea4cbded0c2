"""Local times: IANA zones, and moments from what people write.

A local time that the clocks skip moves forward by the gap; one that they show twice is the first of the two. Both
follow from `fold=0`, the offset before the change.
"""

from __future__ import annotations

import difflib
import re
import zoneinfo
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from perdure.model.times import to_moment

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9][A-Za-z0-9_+-]*){0,3}")
_NOT_ZONES = frozenset({"localtime", "posixrules", "Factory", "leapseconds", "tzdata"})
_DATE = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)(?:[Tt ](?P<time>\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s?(?P<zone>[Zz]|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)


@lru_cache(maxsize=512)
def zone(name: str) -> zoneinfo.ZoneInfo:
    """The zone of that name. Raises ValueError with a suggestion; never looks outside the zone database."""
    if _NAME.fullmatch(name) and name not in _NOT_ZONES and not name.startswith(("posix/", "right/")):
        try:
            return zoneinfo.ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            pass
    near = difflib.get_close_matches(name[:64], _known(), 1, 0.7)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name[:64]!r} is not an IANA time zone{hint}")


@lru_cache(maxsize=1)
def _known() -> list[str]:
    return sorted(zoneinfo.available_timezones() - _NOT_ZONES)


def parse_moment(text: str, zone_name: str = "UTC") -> int:
    """Microseconds since 1970 of a date, perhaps with a time; in its own offset or the zone. Raises ValueError."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text[:64]!r} is no date; write 2025-12-25, 2025-12-25 10:00 or 2025-12-25T10:00:00+01:00")
    place = zone(zone_name)
    time = found["time"] or "00:00"
    whole, _, fraction = time.partition(".")
    try:
        local = datetime.fromisoformat(f"{found['date']}T{whole}")
        local += timedelta(microseconds=int(fraction[:6].ljust(6, "0")) if fraction else 0)
        if found["zone"]:
            return to_moment(datetime.fromisoformat(f"{local.isoformat()}{found['zone'].upper()}"))
        return to_moment(local.replace(tzinfo=place, fold=0).astimezone(UTC))
    except (ValueError, OverflowError) as problem:
        raise ValueError(f"{text[:64]!r} is no date: {problem}") from None
