"""Measures one thing at one size and prints what it found as JSON.

    python -m bench.scale NAME URL [SIZE …]        e.g. python -m bench.scale waking sqlite:///x.db 10000

The tests in tests/cost run these small and check the bounds; `make scale` runs them at full size.
"""

from __future__ import annotations

import asyncio
import json
import sys

from bench.scale.measures import MEASURES


def main() -> None:
    name, url, *sizes = sys.argv[1:]
    found = asyncio.run(MEASURES[name](url, *map(int, sizes)))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
