"""`make bench`: the cells W1 … W7 on SQLite and on PostgreSQL, beside the raw commit floor of the same database.

    python -m bench [--databases sqlite,postgres] [--cells W1,W2,…] [--json FILE] [--short]

A lone time says nothing about another machine, so what is bound by commits stands beside the floor of the same run:
what the bare database does with the same number of commits. CPU times hardly change with the load of the machine; wall
times do, and the table says how busy it was. Engines of other people, side by side: `bench/peer_adapter.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.cells import CELLS, Bench
from bench.figures import Results, table
from bench.floor import postgres_floor, sqlite_floor
from tests.fixtures.postgres import start_cluster

DATABASES = ("sqlite", "postgres")


async def measure(database: str, directory: Path, cells: list[str], short: bool) -> dict[str, Any]:
    seconds = 0.7 if short else 2.0
    if database == "sqlite":
        floor = sqlite_floor(directory / "floor.db", seconds)
        return {"floor": floor, **await _cells(f"sqlite:///{directory / 'bench.db'}", database, cells, short)}
    with start_cluster(directory / "postgres") as cluster:
        floor = await postgres_floor(cluster.create_database(), seconds)
        return {"floor": floor, **await _cells(cluster.create_database(), database, cells, short)}


async def _cells(url: str, database: str, cells: list[str], short: bool) -> Results:
    found: Results = {}
    async with Bench(url, short) as bench:
        for number, name in enumerate(cells, 1):
            begun = time.perf_counter()
            _say(f"{database:>8}  {name}  {number}/{len(cells)}  {CELLS[name].__doc__} … ")
            found[name] = await CELLS[name](bench)
            _say(f"{time.perf_counter() - begun:.1f} s\n")
    return found


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--databases", default=",".join(DATABASES), help="sqlite, postgres or both (the default)")
    parser.add_argument("--cells", default=",".join(CELLS), help=f"some of {', '.join(CELLS)}")
    parser.add_argument("--json", type=Path, default=None, help="write all figures to this file")
    parser.add_argument("--short", action="store_true", help="less than a minute in all, for a first look")
    options = parser.parse_args()
    databases, cells = options.databases.split(","), options.cells.split(",")
    if unknown := (set(databases) - set(DATABASES)) | (set(cells) - set(CELLS)):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    about, results = machine(), {}
    for database in databases:
        with tempfile.TemporaryDirectory(prefix="perdure-bench-") as directory:
            Path(directory).chmod(0o755)  # the server of PostgreSQL runs as another user
            results[database] = asyncio.run(measure(database, Path(directory), cells, options.short))
    sys.stdout.write(table(about, results))
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": about, "results": results}, indent=1) + "\n")
        _say(f"figures: {options.json}\n")


if __name__ == "__main__":
    main()
