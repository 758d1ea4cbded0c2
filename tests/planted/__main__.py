"""Plants every bug once, prints who noticed it and when, and puts that into the page.

python -m tests.planted
"""

from __future__ import annotations

import sys

from tests.planted.bugs import BUGS
from tests.planted.oracles import Sighting
from tests.planted.page import row, table, write


def main() -> int:
    found: dict[tuple[str, str], Sighting | None] = {}
    for bug in BUGS.values():
        for watcher in bug.watchers:
            with bug.plant():
                found[bug.name, watcher.name] = watcher.look(bug.name)
            sys.stdout.write(row(bug, watcher, found[bug.name, watcher.name]) + "\n")
            sys.stdout.flush()
    write(table(found))
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
