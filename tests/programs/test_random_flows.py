"""Random flows in random orders of completion: the kernel does what a small, slow interpreter of the same law does.

After every command the kernel's state is compared with a replay of the log and with a restored snapshot, byte for byte
(`tests/kernel/rig.py`), and with the reference interpreter (`reference/`): what is alive, in which phase, under which
key; outputs, shared data, signals, result. `PERDURE_FLOWS=20000` runs the large programme.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from perdure.programs.flow.validate import validate_flow
from tests.kernel.catalogue import CATALOGUE
from tests.programs.sparring import Sparring
from tests.programs.strategies import CHOICES, flows

PART = 50
PARTS = int(os.environ.get("PERDURE_FLOWS", "600")) // PART

random_flows = settings(
    max_examples=PART,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_random_flow_does_what_the_reference_says(part: int) -> None:
    """Each part draws its flows from its own seed; every fourth has larger ones."""
    size, depth = (13, 3) if part % 4 == 3 else (9, 2)

    @seed(part)
    @random_flows
    @given(document=flows(size, depth), choices=CHOICES)
    def spar(document: dict[str, Any], choices: list[int]) -> None:
        Sparring(document, choices).run()

    spar()


@settings(max_examples=100, deadline=None, database=None)
@seed(1)
@given(document=flows())
def test_random_flows_are_valid(document: dict[str, Any]) -> None:
    flow, problems = validate_flow(document, CATALOGUE)
    assert flow is not None, problems
