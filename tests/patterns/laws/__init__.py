"""What defines each pattern, checked on any history of its document, whatever order things happened in.

Each law is given the story of a run and raises if it was broken.
"""

from tests.patterns.laws import branching, instances, states
from tests.patterns.laws.words import LAWS

__all__ = ["LAWS", "branching", "instances", "states"]
