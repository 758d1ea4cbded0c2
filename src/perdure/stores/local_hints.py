"""Hints within one process, for stores that only one process can open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from perdure.ports.hints import Hint, Listener


class LocalHints:
    """Listeners are called on the loop's next turn, once for each different hint given until then."""

    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}
        self._given: dict[tuple[Hint, str], None] = {}

    def give(self, hint: Hint, subject: str = "") -> None:
        if not self._listeners:
            return
        if not self._given:
            asyncio.get_running_loop().call_soon(self._spread)
        self._given[hint, subject] = None

    def listen(self, listener: Listener) -> Callable[[], None]:
        place = object()
        self._listeners[place] = listener

        def stop() -> None:
            self._listeners.pop(place, None)

        return stop

    def _spread(self) -> None:
        given, self._given = self._given, {}
        listeners = list(self._listeners.items())
        for hint, subject in given:
            for place, listener in listeners:
                if place in self._listeners:
                    listener(hint, subject)
