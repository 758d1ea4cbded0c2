"""What is acknowledged is on disk, as far as a disk keeps what it was told to sync."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CUTS = int(os.environ.get("PERDURE_CUTS", "50"))


@pytest.mark.crash
def test_whenever_the_power_is_cut_every_acknowledged_turn_is_found_again() -> None:
    command = [sys.executable, "-m", "tests.reliability.powercut", "--cuts", str(CUTS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout or "{}")
    assert done.returncode == 0, report or done.stderr
    assert report["cuts"] == CUTS
    assert report["syncs"] > CUTS
