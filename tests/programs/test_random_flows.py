"""Random flows in random orders of completion: the kernel does what a small, slow interpreter of the same law does.

After every command the kernel's state is compared with a replay of the log and with a restored snapshot, byte for byte
(`tests/kernel/rig.py`). `PERDURE_FLOWS=20000` runs the large programme.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from perdure.programs.flow.validate import validate_flow
from tests.kernel.catalogue import CATALOGUE
from tests.programs.sparring import Sparring
from tests.programs.strategies import CHOICES, flows

FLOWS = int(os.environ.get("PERDURE_FLOWS", "600"))

many = settings(
    max_examples=FLOWS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)


@many
@given(document=flows(), choices=CHOICES)
def test_a_random_flow_does_what_the_reference_says(document: dict[str, Any], choices: list[int]) -> None:
    Sparring(document, choices).run()


@settings(max_examples=200, deadline=None)
@given(document=flows())
def test_random_flows_are_valid(document: dict[str, Any]) -> None:
    flow, problems = validate_flow(document, CATALOGUE)
    assert flow is not None, problems
