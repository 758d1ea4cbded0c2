"""Names of runs, turns and workers. All chance comes from one injected source, so a seed gives the same names again."""

from __future__ import annotations

import os
import random
import socket

from perdure.ports.clock import Clock

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: sorts like the number, no i, l, o, u
_PAIRS = [high + low for high in _LETTERS for low in _LETTERS]
_RANDOM_BITS = 80
_STEP_BITS = 32


def base32(number: int, bits: int) -> str:
    """Fixed length, lower case; the order of the texts is the order of the numbers."""
    places = range((bits + 9) // 10 * 10 - 10, -1, -10)
    return "".join([_PAIRS[number >> shift & 1023] for shift in places])


class Ids:
    """128 bits: milliseconds since 1970, then chance. Those of one process grow strictly."""

    def __init__(self, clock: Clock, chance: random.Random | None = None) -> None:
        self._clock = clock
        self._chance = chance or random.SystemRandom()
        self._dice = random.Random(self._chance.getrandbits(64))  # quick, for what need not be unguessable
        self._last = 0

    def run(self) -> str:
        number = (self._clock.now() // 1000) << _RANDOM_BITS
        if number > self._last:
            number |= self._chance.getrandbits(_RANDOM_BITS)
        if number <= self._last:  # the same millisecond, or the clock went back
            number = self._last + 1 + self._chance.getrandbits(_STEP_BITS)
        self._last = number
        return base32(number, 128)

    def seed(self) -> int:
        return self._dice.getrandbits(62)

    def token(self) -> str:
        return base32(self._chance.getrandbits(60), 60)

    def jitter(self, seconds: float) -> float:
        """Between three quarters and five quarters of it."""
        return seconds * (0.75 + self._dice.random() / 2)

    def worker(self) -> str:
        return f"{socket.gethostname()}-{os.getpid()}-{self.token()}"
