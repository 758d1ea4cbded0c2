"""SQL lives in files: numbered migrations, and queries that are loaded by their names.

A file of queries is a sequence of `-- name: …` lines, each followed by one statement.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def load_queries(file: str) -> dict[str, str]:
    """The statements of `sql/<file>.sql` by name."""
    found: dict[str, str] = {}
    for block in (_HERE / "sql" / f"{file}.sql").read_text("utf-8").split("-- name: ")[1:]:
        name, _, statement = block.partition("\n")
        if name in found:
            raise ValueError(f"{file}.sql has two queries named {name}")
        found[name.strip()] = statement.strip()
    return found
