"""Start keys of runs that ended long ago are removed bit by bit, beside the commits.

Until then they do no harm: a start that meets an expired key takes its place (`turns.py`).
"""

from __future__ import annotations

import apsw

from perdure.ports.clock import Clock
from perdure.stores.sqlite.connection import is_fatal
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.turns import KEY_TTL

AT_ONCE = 2_000
EVERY = 1_024
"""Commits between two bits of work."""

_Q = queries("keys")
_BEGINNING = ("", "")


class KeyPurge:
    def __init__(self, connection: apsw.Connection, clock: Clock, at_once: int = AT_ONCE) -> None:
        self._connection = connection
        self._clock = clock
        self._at_once = at_once
        self._commits = 0
        self._place: tuple[str, str] = _BEGINNING

    def after_commit(self) -> None:
        self._commits += 1
        if self._commits % EVERY == 0:
            self.when_idle()

    def when_idle(self) -> None:
        """Looks at the next keys in order and removes the expired ones among them."""
        try:
            end = self._connection.execute(_Q["end"], (*self._place, self._at_once - 1)).fetchone()
            expired = self._clock.now() - KEY_TTL
            if end is None:
                self._connection.execute(_Q["purge rest"], (*self._place, expired))
            else:
                self._connection.execute(_Q["purge"], (*self._place, *end, expired))
            self._place = end or _BEGINNING
        except apsw.Error as problem:
            if is_fatal(problem):
                raise

    def finish(self) -> None:
        """Nothing is held."""
