"""json_to_csv: writes rows as CSV.

The rows are objects, lists or plain values. Without `columns` there is one column for every key that any row has, in
the order of first appearance; a value that a row lacks, and null, is an empty cell; objects and lists are written as
JSON. Cells are quoted as RFC 4180 has it. A small table is written inside the turn, a large one by a handler.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, AliasChoices, Field

from perdure.engine.context import ActivationContext
from perdure.engine.handlers import ActivationError, HandlerSpec
from perdure.errors import PerdureError
from perdure.expressions import MISSING, Path, Template
from perdure.model.failures import Failure
from perdure.model.values import Json, decode_json
from perdure.nodes.config import NodeConfig, template
from perdure.nodes.csv_writing import Column, Style, Table, cells_in, columns_of, lines, rows_of, tabled
from perdure.nodes.inputs import find
from perdure.nodes.json_value import JsonData, read
from perdure.nodes.transformations import parse_path
from perdure.programs.flow.fields import PATH
from perdure.programs.flow.nodetypes import Directive, Done, Execute, NodeKind, NodeType, Plan, Refuse

CELLS_IN_A_TURN = 20_000
"""More are written by the handler, beside the turns of others."""
COST_OF_A_CELL = 10
WIDEST = 10_000


def _one_sign(text: str) -> str:
    text = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(text) != 1 or text in '"\r\n':
        raise ValueError("a delimiter is one character, and neither a quote nor a line break")
    return text


def _path(text: str) -> str:
    parse_path(text)
    return text


class ColumnConfig(NodeConfig):
    key: str = Field(
        min_length=1,
        title="Key",
        description="The key of the value in each row, or a dotted path to it.",
        examples=["name", "address.city"],
    )
    header: str | None = Field(
        None, title="Header", description="What stands above the column. Without it, the key.", examples=["Full name"]
    )


class JsonToCsvConfig(NodeConfig):
    data: JsonData = Field(
        None,
        title="Data",
        description="A list, JSON text, or a placeholder that gives one. Without it, what the node was given.",
        examples=["${nodes.load.output.rows}", [{"name": "Ada", "age": 36}]],
    )
    array_path: Annotated[str, AfterValidator(_path), PATH] | None = Field(
        None,
        validation_alias=AliasChoices("arrayPath", "array_path"),
        title="Path to the rows",
        description="A dotted path into the data. Without it: the data, or its `data`, `items` or `array`.",
        examples=["result.users"],
    )
    columns: list[str | ColumnConfig] | None = Field(
        None,
        max_length=WIDEST,
        title="Columns",
        description="Which columns, in which order. Without it, every key that any row has.",
        examples=[[{"key": "name", "header": "Full name"}, {"key": "age"}], ["name", "age"]],
    )
    delimiter: Annotated[str, AfterValidator(_one_sign)] = Field(
        ",", title="Delimiter", description="One character between the cells.", examples=[";", "tab"]
    )
    include_headers: bool = Field(
        True,
        validation_alias=AliasChoices("includeHeaders", "include_headers"),
        title="With headers",
        description="The first line names the columns.",
        examples=[False],
    )
    output_format: Literal["string", "array", "blob"] = Field(
        "string",
        validation_alias=AliasChoices("outputFormat", "output_format"),
        title="Output as",
        description="What `data` is: the text, a list of lines of cells, or a blob (`hash`, `size`) beside the run.",
        examples=["array"],
    )
    line_break: Literal["lf", "crlf"] = Field(
        "lf", title="Line breaks", description="How lines end: `lf` as on Unix, `crlf` as RFC 4180 has it.",
        examples=["crlf"],
    )  # fmt: skip
    escape_formulas: bool = Field(
        False,
        title="Defuse formulas",
        description="Puts `'` before text that a spreadsheet would take for a formula (it begins with = + - @).",
        examples=[True],
    )


class Prepared(msgspec.Struct, frozen=True):
    data: Template | None
    path: Path | None
    columns: list[Column] | None
    style: Style
    format: str


def prepare(config: JsonToCsvConfig) -> Prepared:
    columns = None
    if config.columns is not None:
        given = [ColumnConfig(key=each) if isinstance(each, str) else each for each in config.columns]
        columns = [Column(each.key, each.key if each.header is None else each.header, _way(each.key)) for each in given]
    breaks = {"lf": "\n", "crlf": "\r\n"}
    style = Style(config.delimiter, breaks[config.line_break], config.include_headers, config.escape_formulas)
    data = template(read(config.data)) if "data" in config.model_fields_set and config.data is not None else None
    path = parse_path(config.array_path) if config.array_path else None
    return Prepared(data, path, columns, style, config.output_format)


def _way(key: str) -> Path | None:
    """A key that is no path is a key only."""
    try:
        path = parse_path(key)
    except ValueError:
        return None
    return path if len(path.steps) > 1 else None


def rows_in(prepared: Prepared, data: Json) -> list[Any]:
    """Raises ValueError."""
    if prepared.path is not None:
        found = find(prepared.path, data)
        if found is MISSING:
            raise ValueError(f"`{prepared.path}` leads nowhere in the data")
        return rows_of(_parsed(found))
    data = _parsed(data)
    if isinstance(data, dict):
        for key in ("data", "items", "array"):
            if isinstance(data.get(key), list):
                return rows_of(data[key])
        if isinstance(data.get("data"), dict | str):
            return rows_of(_parsed(data["data"]))
    return rows_of(data)


def _parsed(data: Json) -> Json:
    """Rows may come as JSON text, as from a step before."""
    if isinstance(data, str):
        try:
            return decode_json(data)
        except PerdureError:
            return data
    return data


def converted(prepared: Prepared, table: Table, text: str) -> dict[str, Any]:
    style = prepared.style
    data: Any = text
    if prepared.format == "array":
        data = [table.headers, *table.rows] if style.include_headers and table.headers else table.rows
    return {"data": data, "csv": text, "row_count": len(table.rows), "headers": table.headers, "converted": True}


def plan(prepared: Prepared, moment: Plan) -> Directive:
    data = moment.input if prepared.data is None else moment.resolve(prepared.data)
    try:
        rows = rows_in(prepared, data)
        cells = cells_in(rows, prepared.columns)
        if prepared.format == "blob" or cells > CELLS_IN_A_TURN:
            return Execute()
        if prepared.columns is None:
            # Rows with keys of their own make a table that is far wider than they are.
            columns = columns_of(rows)
            cells = len(rows) * len(columns)
            if cells > CELLS_IN_A_TURN:
                return Execute()
        moment.spend(cells * COST_OF_A_CELL)
        table = tabled(rows, prepared.columns, prepared.style)
    except ValueError as problem:
        return Refuse(Failure("CSV_INVALID", str(problem)))
    return Done(converted(prepared, table, "".join(lines(table, prepared.style))))


# -- large ones --------------------------------------------------------------------------------------------------------


async def write(ctx: ActivationContext) -> Json:
    """What `plan` left to a handler: in a thread, as it would keep the others waiting."""
    prepared = prepare(JsonToCsvConfig.model_validate(ctx.config))
    try:
        data = ctx.input if prepared.data is None else prepared.data.resolve(ctx.bindings)
        table, text = await asyncio.to_thread(_write, prepared, data)
    except ValueError as problem:
        raise ActivationError("CSV_INVALID", str(problem)) from None
    if prepared.format != "blob":
        return converted(prepared, table, text)
    info = await ctx.blobs.write(_parts(text.encode()))
    blob = {"hash": info.hash, "size": info.size, "content_type": "text/csv; charset=utf-8"}
    return {"data": blob, "row_count": len(table.rows), "headers": table.headers, "converted": True}


def _write(prepared: Prepared, data: Json) -> tuple[Table, str]:
    rows = rows_in(prepared, data)
    columns = columns_of(rows) if prepared.columns is None else prepared.columns
    if len(columns) > WIDEST:
        raise ValueError(f"the rows have {len(columns):,} different keys; a table has at most {WIDEST:,} columns")
    table = tabled(rows, columns, prepared.style)
    return table, "".join(lines(table, prepared.style))


async def _parts(data: bytes) -> AsyncIterator[bytes]:
    yield data


HANDLER = HandlerSpec(write, kind=NodeKind.ISOLATED.value)

TYPE = NodeType(
    name="json_to_csv",
    title="JSON to CSV",
    description="Writes rows as CSV. Output: `data` (also as `csv`), `row_count`, `headers`, `converted`.",
    config=JsonToCsvConfig,
    kind=NodeKind.ISOLATED,
    prepare=prepare,
    plan=plan,
    reads=lambda prepared: prepared.data.reads if prepared.data is not None else (),
    group="Data",
    icon="table",
    examples=(
        {"data": "${nodes.load.output.rows}", "columns": [{"key": "name", "header": "Full name"}, {"key": "age"}]},
    ),
)
