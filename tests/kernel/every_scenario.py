"""All scenarios together."""

from tests.kernel import scenarios_in_crowds, scenarios_with_people
from tests.kernel.scenarios import SCENARIOS

assert scenarios_in_crowds.__name__
assert scenarios_with_people.__name__
__all__ = ["SCENARIOS"]
