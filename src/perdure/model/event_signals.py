"""By which signal an outside event reaches the runs that wait for it.

Whoever waits for events and whoever delivers them agree on this name and on nothing else. An event is of a type, and
may carry a key that says whom it concerns (an order's number); with the key it goes only to those who wait for it.
"""

from __future__ import annotations

from hashlib import blake2b

PREFIX = "event:"
LONGEST = 200
"""Names that would be longer are shortened to a hash of themselves."""


def event_signal(type: str, key: str | None = None) -> str:
    """The type's own text cannot be mistaken for a key: a colon in it is doubled."""
    name = PREFIX + type.replace(":", "::") + ("" if key is None else f":={key}")
    if len(name) <= LONGEST:
        return name
    return f"{PREFIX}#{blake2b(name.encode(), digest_size=24).hexdigest()}"
