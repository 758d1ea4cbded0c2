"""Runs a measure of `bench.scale` in a process of its own, small here and at full size on request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
IS_FULL = os.environ.get("PERDURE_SCALE") == "full"


def sized(small: int, full: int) -> int:
    """`make scale` (PERDURE_SCALE=full) measures at the promised size, `make test` at one that takes seconds."""
    return full if IS_FULL else small


def measure(name: str, url: str, *sizes: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.scale", name, url, *map(str, sizes)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, float] = json.loads(done.stdout)
    return found
