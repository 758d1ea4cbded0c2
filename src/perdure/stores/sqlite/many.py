"""Many rows in one statement.

Each call into SQLite gives the interpreter lock away and has to win it back from a busy loop, which can cost up to 5 ms
a time. So what is one row for one turn is one statement for a whole group, never one statement per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import apsw

_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)


@cache
def _placeholders(columns: int, rows: int) -> str:
    row = "(" + ",".join("?" * columns) + ")"
    return " " + ",".join([row] * rows)


def insert_padded(connection: apsw.Connection, statement: str, columns: int, values: list[Any]) -> None:
    """Rows for a view whose trigger ignores NULLs: padded to one of few sizes, so that statements stay prepared."""
    rows = len(values) // columns
    size = next(size for size in _SIZES if size >= rows)
    if size > rows:
        values.extend([None] * (columns * (size - rows)))
    connection.execute(statement + _placeholders(columns, size), values)


def insert_rows(connection: apsw.Connection, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    """Rows for a table: exactly these, in few statements of few sizes."""
    done = 0
    while done < len(rows):
        size = max(size for size in _SIZES if size <= len(rows) - done)
        values = [value for row in rows[done : done + size] for value in row]
        connection.execute(statement + _placeholders(len(rows[0]), size), values)
        done += size
