"""Which signals a flow takes whenever they come, and which only while somebody waits for them.

This follows from the document: a name that only transient waits know is lost on whoever does not wait yet, and will
be. Where a name is computed it may be any.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from perdure.programs.flow.nodetypes import TRANSIENT

if TYPE_CHECKING:
    from perdure.programs.flow.graph import Node


class Names:
    """Some names, or all of them."""

    __slots__ = ("_all", "_some")

    def __init__(self, names: Iterable[str | None]) -> None:
        some = set(names)
        self._all = None in some
        self._some = some

    def __contains__(self, name: str) -> bool:
        return self._all or name in self._some


class Triggers:
    __slots__ = ("_persistent", "_transient")

    def __init__(self, nodes: Iterable[Node]) -> None:
        persistent: list[str | None] = []
        transient: list[str | None] = []
        for node in nodes:
            if node.type.waits is not None:
                waits = node.type.waits(node.prepared)
                (transient if waits.mode == TRANSIENT else persistent).append(waits.name)
            if node.loop is not None:
                persistent += [name for name in (node.loop.add_signal, node.loop.close_signal) if name is not None]
        self._persistent, self._transient = Names(persistent), Names(transient)

    def loses(self, name: str) -> bool:
        """Only transient waits may want it, so nobody will who does not wait for it when it comes. A name that no node
        knows is not lost: it stays in sight, for whoever looks for a mistake."""
        return name in self._transient and name not in self._persistent
