"""All scenarios together."""

from tests.kernel import scenarios_in_crowds
from tests.kernel.scenarios import SCENARIOS

assert scenarios_in_crowds.__name__
__all__ = ["SCENARIOS"]
