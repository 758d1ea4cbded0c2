"""What all events have in common; they themselves stand in `events.py` and `task_events.py`."""

from __future__ import annotations

import msgspec


class Event(msgspec.Struct, frozen=True, tag=True, tag_field="event", omit_defaults=True, gc=False):
    """Base of all. Fields that hold users' values are listed in `codec.VALUE_FIELDS`."""
