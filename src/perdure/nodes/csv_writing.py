"""Rows of JSON as CSV, quoted as RFC 4180 has it. Pure; raises ValueError for data that makes no table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from perdure.expressions import MISSING, Path
from perdure.model.values import Json, encode_json

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With what a text begins that spreadsheets take for a formula."""
SCALAR = "value"
"""The name of the only column where the rows are plain values."""


class Column(msgspec.Struct, frozen=True):
    key: str | int
    header: str
    path: Path | None = None
    """Where the row has no such key: the way to the value inside it."""

    def of(self, row: Any) -> Any:
        if isinstance(row, dict):
            if self.key in row:
                return row[self.key]
            found = self.path.find(row) if self.path is not None else MISSING
            return None if found is MISSING else found
        if isinstance(row, list):
            place = int(self.key) if isinstance(self.key, int) or self.key.isdecimal() else len(row)
            return row[place] if place < len(row) else None
        return row


class Style(msgspec.Struct, frozen=True):
    delimiter: str = ","
    line_break: str = "\n"
    include_headers: bool = True
    escape_formulas: bool = False


class Table(msgspec.Struct, frozen=True):
    headers: list[str]
    rows: list[list[str]]
    """Without the headers, each cell as text."""


def rows_of(data: Json) -> list[Any]:
    """A list of rows. One object is one row; nothing is none."""
    if isinstance(data, list):
        kinds = {dict if isinstance(row, dict) else list if isinstance(row, list) else None for row in data}
        if len(kinds) > 1:
            first = _kind(data[0])
            other = next(number for number, row in enumerate(data) if _kind(row) != first)
            raise ValueError(f"row 0 is {first} and row {other} is {_kind(data[other])}; they make no table")
        return data
    if isinstance(data, dict):
        return [data]
    if data is None:
        return []
    raise ValueError(f"a list of rows is expected; this is {_kind(data)}")


def cells_in(rows: Sequence[Any], columns: Sequence[Column] | None) -> int:
    """About how many there are to write, without looking into them."""
    if columns is not None:
        return len(rows) * len(columns)
    return sum(len(row) if isinstance(row, dict | list) else 1 for row in rows)


def columns_of(rows: Sequence[Any]) -> list[Column]:
    """Every key that any row has, in the order of first appearance."""
    if not rows:
        return []
    if isinstance(rows[0], dict):
        return [Column(key, key) for key in dict.fromkeys(key for row in rows for key in row)]
    if isinstance(rows[0], list):
        return [Column(place, f"column{place + 1}") for place in range(max(len(row) for row in rows))]
    return [Column(SCALAR, SCALAR)]


def tabled(rows: Sequence[Any], columns: Sequence[Column] | None, style: Style) -> Table:
    chosen = columns_of(rows) if columns is None else columns
    headers = [_guarded(column.header, style) for column in chosen]
    return Table(headers, [[_cell(column.of(row), style) for column in chosen] for row in rows])


def lines(table: Table, style: Style) -> Iterator[str]:
    """Each with its line break."""
    unusual = re.compile(f'[{re.escape(style.delimiter)}"\r\n]').search
    quoted = [table.headers, *table.rows] if style.include_headers and table.headers else table.rows
    for row in quoted:
        # A lone empty cell would be an empty line, which readers skip.
        if len(row) == 1 and not row[0]:
            yield f'""{style.line_break}'
            continue
        cells = [f'"{cell.replace(chr(34), chr(34) * 2)}"' if unusual(cell) else cell for cell in row]
        yield style.delimiter.join(cells) + style.line_break


def _cell(value: Json, style: Style) -> str:
    if isinstance(value, str):
        return _guarded(value, style)
    if value is None:
        return ""
    return encode_json(value).decode()


def _guarded(text: str, style: Style) -> str:
    return f"'{text}" if style.escape_formulas and text.startswith(FORMULA) else text


def _kind(value: Json) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "text" if isinstance(value, str) else "a plain value"
