"""Walking over a text with every place of the pattern at once.

A state is the set of places that the text so far can have led to. States and the ways between them are made when they
are first needed and kept, so that most characters cost two look-ups. What is *charged* does not depend on what was
kept: a character costs as much as if its state had to be made, so the same text always meets the same limit.
"""

from __future__ import annotations

from typing import Final

from perdure.expressions.iregexp.positions import Positions
from perdure.expressions.limits import Meter, spend

#: Ways between states, and characters, that one machine keeps before it begins anew: what it meets is others' choice.
_KEPT: Final = 2_000
#: What a character and a place that it leaves alive cost, in sixteenths of a unit of work.
_CHARACTER: Final = 16
_PLACE: Final = 8


class Kind:
    """Characters that the same places of the pattern take."""

    __slots__ = ("places",)

    def __init__(self, places: int) -> None:
        self.places = places


class Kinds(dict[str, Kind]):
    """The kind of each character that was met."""

    def __init__(self, positions: Positions) -> None:
        super().__init__()
        self._alphabet = positions.alphabet
        self._by_places: dict[int, Kind] = {}

    def __missing__(self, character: str) -> Kind:
        places = self._alphabet.places(character)
        found = self._by_places.setdefault(places, Kind(places))
        if len(self) >= _KEPT:
            self.clear()
        self[character] = found
        return found


class State(dict[Kind, "State"]):
    """A set of places, and where each kind of character leads from here."""

    __slots__ = ("_machine", "accepting", "accepting_at_end", "alive", "cost", "over")

    def __init__(self, machine: Machine, alive: int, edges: str = "$") -> None:
        super().__init__()
        self._machine = machine
        self.alive = alive
        last = machine.positions.last
        self.accepting = bool(alive & last)
        self.accepting_at_end = bool(machine.positions.at_edge(alive, edges) & last)
        #: Whether the rest of the text changes nothing.
        self.over = self.accepting if machine.anywhere else not alive
        self.cost = _CHARACTER + _PLACE * alive.bit_count()

    def __missing__(self, kind: Kind) -> State:
        return self._machine.step(self, kind)


class Machine:
    """Answers for one pattern, either about whole texts or about parts found anywhere in them."""

    def __init__(self, positions: Positions, *, anywhere: bool) -> None:
        self.positions = positions
        self.anywhere = anywhere
        self._kinds = Kinds(positions)
        self._ways = 0
        self._states: dict[int, State] = {}
        self._first = State(self, positions.at_edge(1, "^"))
        self._empty = State(self, positions.at_edge(1, "^$"), "^$")

    def accepts(self, text: str, meter: Meter) -> bool:
        if not text:
            return self._empty.accepting_at_end
        state = self._first
        if state.over:
            return state.accepting
        kinds = self._kinds
        left = meter[1] << 4
        for character in text:
            state = state[kinds[character]]
            left -= state.cost
            if left < 0:
                break
            if state.over:
                meter[1] = left >> 4
                return state.accepting
        spend(meter, meter[1] - (left >> 4))
        return state.accepting_at_end

    def step(self, state: State, kind: Kind) -> State:
        """Where `kind` leads from `state`; remembered there."""
        alive = self.positions.after(state.alive) & kind.places
        if self.anywhere:
            alive |= 1  # a part may begin behind every character
        if self._ways >= _KEPT:
            self._ways = 0
            self._states = {}
            self._first = State(self, self._first.alive)
        found = self._states.get(alive)
        if found is None:
            found = self._states.setdefault(alive, State(self, alive))
        self._ways += 1
        state[kind] = found
        return found
