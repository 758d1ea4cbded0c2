"""`make bench` works: a table for people, JSON for programs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.figures import FIGURES, table
from tests.cost.measuring import ROOT

ABOUT = {"cores": 2, "system": "Linux", "python": "3.11", "load_before": 0.1}


@pytest.mark.serial
@pytest.mark.slow
def test_a_short_bench_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    command = [sys.executable, "-m", "bench", "--short", "--databases", "sqlite", "--cells", "W2,W4,W6"]
    done = subprocess.run([*command, "--json", str(file)], cwd=ROOT, capture_output=True, text=True, check=True)
    results = json.loads(file.read_text())["results"]["sqlite"]
    assert results.keys() == {"floor", "W2", "W4", "W6"}
    assert 0 < results["W2"]["p50_ms"] <= results["W2"]["p99_ms"]
    assert "start to result, one step: median" in done.stdout
    assert "W6  3/3" in done.stderr


def test_the_table_compares_with_the_floor_of_the_same_database() -> None:
    floor = {"commit_ms": 0.5, "grouped_rows_per_s": 1000.0}
    lines = table(ABOUT, {"sqlite": {"floor": floor, "W2": {"p50_ms": 3.0}}}).splitlines()
    assert "SQLite" in lines[2]
    assert lines[-1].split()[-3:] == ["3.00", "ms", "3.00"]  # two commits would take 1 ms
    assert not any(line.startswith("W1") for line in lines)


def test_every_figure_of_a_cell_has_a_name_and_a_unit() -> None:
    assert len({(figure.cell, figure.name) for figure in FIGURES}) == len(FIGURES)
    assert all(figure.unit and figure.text for figure in FIGURES)


def test_an_unknown_cell_is_refused() -> None:
    command = [sys.executable, "-m", "bench", "--cells", "W9"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown: W9" in done.stderr
