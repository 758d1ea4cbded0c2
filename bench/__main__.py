"""`make bench`: the cells W1 … W7 on SQLite and on PostgreSQL, beside the raw commit floor of the same database.

    python -m bench [--databases sqlite,postgres] [--cells W1,W2,…] [--json FILE] [--short]

A lone time says nothing about another machine: every figure stands beside the floor measured in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.cells import CELLS, Bench
from bench.floor import postgres_floor, sqlite_floor
from tests.fixtures.postgres import start_cluster


async def measure(database: str, directory: Path, cells: list[str], short: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if database == "sqlite":
        found["floor"] = sqlite_floor(directory / "floor.db")
        url = f"sqlite:///{directory / 'bench.db'}"
        await _measure_cells(url, cells, short, found)
    else:
        with start_cluster(directory / "postgres") as cluster:
            found["floor"] = await postgres_floor(cluster.create_database())
            await _measure_cells(cluster.create_database(), cells, short, found)
    return found


async def _measure_cells(url: str, cells: list[str], short: bool, found: dict[str, Any]) -> None:
    bench = Bench(url, short)
    async with bench:
        for name in cells:
            found[name] = await CELLS[name](bench)
            sys.stderr.write(f"{url.partition(':')[0]} {name} {found[name]}\n")


def table(results: dict[str, dict[str, Any]]) -> str:
    lines = [f"{'cell':<28}" + "".join(f"{database:>22}" for database in results)]
    rows = sorted({(cell, figure) for found in results.values() for cell in found for figure in found[cell]})
    for cell, figure in rows:
        values = [found.get(cell, {}).get(figure) for found in results.values()]
        lines.append(f"{cell + ' ' + figure:<28}" + "".join(f"{_show(value):>22}" for value in values))
    lines += ["", f"{'against the floor':<28}"]
    for text, ratio in RATIOS.items():
        values = [_try(ratio, found) for found in results.values()]
        lines.append(f"{text:<28}" + "".join(f"{_show(value):>22}" for value in values))
    return "\n".join(lines)


RATIOS: dict[str, Any] = {
    "W1 turns / floor grouped": lambda found: found["W1"]["turns_per_s"] / found["floor"]["grouped_rows_per_s"],
    "W2 p50 / 2 commits": lambda found: found["W2"]["p50_ms"] / (2 * found["floor"]["commit_ms"]),
    "W3 step / commit": lambda found: found["W3"]["ms_per_step_2000"] / found["floor"]["commit_ms"],
    "W3 2000 / 100": lambda found: found["W3"]["ms_per_step_2000"] / found["W3"]["ms_per_step_100"],
    "W6 p50 / commit": lambda found: found["W6"]["p50_ms"] / found["floor"]["commit_ms"],
}


def _try(ratio: Any, found: dict[str, Any]) -> float | None:
    try:
        return float(ratio(found))
    except KeyError:
        return None


def _show(value: Any) -> str:
    return "–" if value is None else f"{value:,.2f}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.partition("\n")[0])
    parser.add_argument("--databases", default="sqlite,postgres")
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--short", action="store_true", help="a few seconds per cell, for a first look")
    options = parser.parse_args()
    results = {}
    for database in options.databases.split(","):
        with tempfile.TemporaryDirectory(prefix="perdure-bench-") as directory:
            Path(directory).chmod(0o755)
            results[database] = asyncio.run(measure(database, Path(directory), options.cells.split(","), options.short))
    sys.stdout.write(table(results) + "\n")
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
