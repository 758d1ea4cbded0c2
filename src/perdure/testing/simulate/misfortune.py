"""Faults, drawn from the seed. Each site is switched on in some seeds only, so that rare combinations come up too."""

from __future__ import annotations

import random
from collections import Counter
from enum import Enum

from perdure.testing.faults import Fault

ACTIVE_SHARE = 0.4
"""How many of the seeds meet a given kind of misfortune."""


class Site(Enum):
    CRASH = "a worker is killed"
    HAND_OVER = "a worker leaves in good order"
    PAUSE = "a worker stands still past its lease"
    OUTAGE = "a worker cannot reach the store"
    LOST_AFTER = "the answer to a commit is lost, it was committed"
    LOST_BEFORE = "the answer to a commit is lost, it was not committed"
    LATE = "a commit comes after its answer was given up"
    UNAVAILABLE = "a commit is refused by the store"
    FULL = "the store is full"
    SKEW = "a worker's clock is wrong"
    DUPLICATE = "a client sends a command again"
    HANDLER_FAILS = "a step fails"


_RATES = {
    Fault.LOST_AFTER: (Site.LOST_AFTER, 0.06),
    Fault.LOST_BEFORE: (Site.LOST_BEFORE, 0.04),
    Fault.LATE: (Site.LATE, 0.04),
    Fault.UNAVAILABLE: (Site.UNAVAILABLE, 0.06),
    Fault.FULL: (Site.FULL, 0.03),
}


class Misfortune:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.active = {site for site in Site if chance.random() < ACTIVE_SHARE}
        self.met: Counter[Site] = Counter()

    def strikes(self, site: Site, share: float) -> bool:
        if site in self.active and self.chance.random() < share:
            self.met[site] += 1
            return True
        return False

    def commit_faults(self) -> dict[Fault, float]:
        return {fault: rate for fault, (site, rate) in _RATES.items() if site in self.active}

    def count_commits(self, faults: list[Fault]) -> None:
        for fault in faults:
            self.met[_RATES[fault][0]] += 1
