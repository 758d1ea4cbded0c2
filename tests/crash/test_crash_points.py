"""A real SIGKILL before and after every commit: nothing acknowledged is lost, nothing recorded is done twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.nodes.catalogue import CATALOGUE
from perdure.programs.flow.nodetypes import NodeKind
from tests.crash.scenarios import SCENARIOS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.crash
@pytest.mark.timeout(900)
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_a_kill_before_or_after_any_commit_loses_nothing_and_repeats_nothing_that_was_recorded(database: str) -> None:
    command = [sys.executable, "-m", "tests.crash.runner", "--database", database]
    if os.environ.get("PERDURE_CRASH") == "dense":
        command.append("--dense")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


POSTED = {"email", "slack"}
"""Killed in `test_posting.py`, with the servers that they need."""


def test_every_type_that_is_executed_by_a_handler_is_among_what_is_killed() -> None:
    killed = {node["type"] for scenario in SCENARIOS for flow in scenario.documents for node in flow["nodes"]}
    executed = {name for name, type in CATALOGUE.items() if type.kind is not NodeKind.INLINE}
    assert executed - killed - POSTED == set()
