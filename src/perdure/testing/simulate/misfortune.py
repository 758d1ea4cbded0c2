"""Faults, drawn from the seed. Each site is switched on in some seeds only, so that rare combinations come up too."""

from __future__ import annotations

import random
from collections import Counter
from enum import Enum

from perdure.testing.faults import Fault, FaultyStore, Troubles

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
    SLOW = "a call to the store comes late, or its answer does"
    LOST_HINT = "a hint is lost"
    LOST_SEND = "the answer to a command's sender is lost"
    SKEW = "a worker's clock is wrong"
    CLOCK_SET = "a worker's clock is set"
    DUPLICATE = "a client sends a command again"
    REPEATED_REPORT = "what a handler reported is reported again later"
    HANDLER_FAILS = "a step fails"
    SUBSCRIBER_FAILS = "a subscriber does not take a message"
    LACKING = "a worker leaves a run to others, because it lacks a step for a while"


_COMMITS = {
    Fault.LOST_AFTER: (Site.LOST_AFTER, 0.06),
    Fault.LOST_BEFORE: (Site.LOST_BEFORE, 0.04),
    Fault.LATE: (Site.LATE, 0.04),
    Fault.UNAVAILABLE: (Site.UNAVAILABLE, 0.06),
    Fault.FULL: (Site.FULL, 0.03),
}
_CALLS = {
    "slow": (Site.SLOW, 0.15),
    "lost_hints": (Site.LOST_HINT, 0.5),
    "lost_sends": (Site.LOST_SEND, 0.3),
}


class Misfortune:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.active = {site for site in Site if chance.random() < ACTIVE_SHARE}
        self.met: Counter[Site] = Counter()

    def strikes(self, site: Site, share: float) -> bool:
        if self.befalls(site, share):
            self.met[site] += 1
            return True
        return False

    def befalls(self, site: Site, share: float) -> bool:
        """The same where it is counted elsewhere, when it has consequences."""
        return site in self.active and self.chance.random() < share

    def commit_faults(self) -> dict[Fault, float]:
        return {fault: rate for fault, (site, rate) in _COMMITS.items() if site in self.active}

    def troubles(self) -> Troubles:
        return Troubles(**{name: rate for name, (site, rate) in _CALLS.items() if site in self.active})

    def count(self, store: FaultyStore) -> None:
        """What this store has met."""
        for fault, _ in store.struck:
            self.met[_COMMITS[fault][0]] += 1
        for name, times in store.met.items():
            self.met[_CALLS[name][0]] += times
