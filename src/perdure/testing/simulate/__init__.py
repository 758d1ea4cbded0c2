"""Deterministic simulation: several workers, one store, a virtual clock, and faults drawn from a seed.

    perdure simulate --seed 4711          one history, printed, with its digest: the same bytes every time
    perdure simulate --seeds 5000         many; says which seeds went wrong and which faults were met how often

Everything that runs is the real engine, kernel and flow program on a real store (in memory, or SQLite in memory).
Only the clock, the order of what is ready at the same moment, chance and misfortune come from the seed.
"""

from perdure.testing.simulate.campaign import main
from perdure.testing.simulate.story import Verdict, tell

__all__ = ["Verdict", "main", "tell"]
