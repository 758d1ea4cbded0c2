"""json_to_csv (C09): what RFC 4180 asks for, rows with different keys, and tables that are too large for a turn."""

import csv
import io
from typing import Any

import pytest

from perdure.assembly import Perdure
from tests.nodes.flows import Doc, failure, given, node, output, row


def converted(rows: Any, **config: Any) -> Any:
    return output(given({"data": rows}), node("json_to_csv", config))


CASES: list[tuple[str, Any, dict[str, Any], str]] = [
    ("plain", [{"a": 1, "b": 2}, {"a": 3, "b": 4}], {}, "a,b\n1,2\n3,4\n"),
    ("commas", [{"name": "Lovelace, Ada"}], {}, 'name\n"Lovelace, Ada"\n'),
    ("quotes", [{"said": 'he said "no"'}], {}, 'said\n"he said ""no"""\n'),
    ("newlines", [{"a": "one\ntwo", "b": 1}], {}, 'a,b\n"one\ntwo",1\n'),
    ("carriage returns", [{"a": "one\r\ntwo"}, {"a": "one\rtwo"}], {}, 'a\n"one\r\ntwo"\n"one\rtwo"\n'),
    ("quotes and newlines", [{"a": '"\n"'}], {}, 'a\n"""\n"""\n'),
    ("JSON in a cell", [{"k": '{"a": [1, 2]}'}], {}, 'k\n"{""a"": [1, 2]}"\n'),
    ("utf8", [{"α": "ʤ😀", "b": "Köln"}], {}, "α,b\nʤ😀,Köln\n"),
    ("empty cells", [{"a": "", "b": "", "c": ""}], {}, "a,b,c\n,,\n"),
    ("one column of empty cells", [{"a": ""}, {"a": None}, {"a": "x"}], {}, 'a\n""\n""\nx\n'),
    ("no rows", [], {}, ""),
    ("no rows with columns", [], {"columns": ["a", "b"]}, "a,b\n"),
    ("types", [{"i": 7, "f": 1.5, "t": True, "n": None, "o": {"x": [1]}, "l": [1, "a"]}], {},
     'i,f,t,n,o,l\n7,1.5,true,,"{""x"":[1]}","[1,""a""]"\n'),
    ("keys of all rows", [{"b": 1}, {"a": 2, "b": 3}, {"c": 4}], {}, "b,a,c\n1,,\n3,2,\n,,4\n"),
    ("headers that need quotes", [{"a,b": 1, 'c"d': 2}], {}, '"a,b","c""d"\n1,2\n'),
    ("another delimiter", [{"a": "1,5", "b": "x;y"}], {"delimiter": ";"}, 'a;b\n1,5;"x;y"\n'),
    ("tabs", [{"a": "x\ty", "b": 1}], {"delimiter": "tab"}, 'a\tb\n"x\ty"\t1\n'),
    ("a delimiter that patterns know", [{"a": "x]y", "b": "^"}], {"delimiter": "]"}, 'a]b\n"x]y"]^\n'),
    ("no headers", [{"a": 1}], {"includeHeaders": False}, "1\n"),
    ("crlf", [{"a": 1}, {"a": 2}], {"line_break": "crlf"}, "a\r\n1\r\n2\r\n"),
    ("columns", [{"a": 1, "b": {"c": 2}}, {"a": 3}], {"columns": [{"key": "b.c", "header": "See"}, {"key": "a"}]},
     "See,a\n2,1\n,3\n"),
    ("a key with a dot before the path", [{"a.b": 1, "a": {"b": 2}}], {"columns": ["a.b"]}, "a.b\n1\n"),
    ("rows of lists", [[1, "x"], [2]], {}, "column1,column2\n1,x\n2,\n"),
    ("rows of lists with columns", [[1, "x"]], {"columns": [{"key": "1", "header": "second"}]}, "second\nx\n"),
    ("plain values", ["a", None, 3], {}, 'value\na\n""\n3\n'),
    ("one object", {"a": 1}, {}, "a\n1\n"),
    ("JSON text", '[{"a": 1}]', {}, "a\n1\n"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "config", "text"), [each[1:] for each in CASES], ids=[each[0] for each in CASES])
def test_what_is_written(rows: Any, config: dict[str, Any], text: str) -> None:
    result = converted(rows, **config)
    assert result["data"] == result["csv"] == text
    assert result["converted"] is True


@pytest.mark.parametrize(("rows", "config", "text"), [each[1:] for each in CASES], ids=[each[0] for each in CASES])
def test_a_reader_gets_back_the_cells_that_the_array_has(rows: Any, config: dict[str, Any], text: str) -> None:
    cells = converted(rows, outputFormat="array", **config)["data"]
    sign = {"tab": "\t"}.get(config.get("delimiter", ","), config.get("delimiter", ","))
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=sign)) == cells


def test_counts_and_headers_are_told() -> None:
    result = converted([{"a": 1}, {"b": 2}])
    assert (result["row_count"], result["headers"]) == (2, ["a", "b"])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\r=1"])
def test_text_that_looks_like_a_formula_is_defused_on_demand(text: str) -> None:
    kept = converted([{"a": text, "n": -5}], outputFormat="array")["data"][1]
    assert kept == [text, "-5"]
    defused = converted([{"a": text, "n": -5}], outputFormat="array", escape_formulas=True)["data"][1]
    assert defused == ["'" + text, "-5"]  # a number is no text


def test_a_path_leads_to_the_rows() -> None:
    result = output(given({"x": {"rows": [{"a": 1}]}}), node("json_to_csv", {"arrayPath": "input.x.rows"}))
    assert result["csv"] == "a\n1\n"
    result = output(node("json_to_csv", {"data": "${input.list}"}), input={"list": [{"a": 1}]})
    assert result["csv"] == "a\n1\n"


@pytest.mark.parametrize(
    ("value", "config", "told"),
    [
        ({"data": "not json"}, {}, "text"),
        ({"data": [{"a": 1}, [2]]}, {}, "row 0 is an object and row 1 is a list"),
        ({"data": [{"a": 1}, 5]}, {}, "row 1 is a plain value"),
        ({"data": []}, {"arrayPath": "nowhere"}, "leads nowhere"),
        (5, {}, "a plain value"),
    ],
)
def test_what_makes_no_table_is_refused(value: Any, config: Doc, told: str) -> None:
    problem = failure(given(value), node("json_to_csv", config))
    assert problem.code == "CSV_INVALID"
    assert told in problem.message


LARGE = [{"number": n, "text": f'"{n}", twice'} for n in range(15_000)]


@pytest.mark.parametrize("kind", ["string", "blob"])
async def test_a_large_table_is_written_beside_the_turn(kind: str) -> None:
    async with Perdure.open("memory://") as app:
        config = {"data": "${input}", "outputFormat": kind}
        await app.deploy(row(node("json_to_csv", config)), id="large")
        run = await app.start("large", LARGE)
        result = await run.result()
        assert result["row_count"] == len(LARGE)
        text = result["data"]
        if kind == "blob":
            assert "csv" not in result
            parts = [part async for part in app.store.blobs.read(app.namespace, text["hash"])]
            assert len(b"".join(parts)) == text["size"]
            text = b"".join(parts).decode()
        assert list(csv.DictReader(io.StringIO(text)))[-1] == {"number": "14999", "text": '"14999", twice'}
        kinds = [type(each.event).__name__ for each in await run.history()]
        assert "ActivationScheduled" in kinds


async def test_rows_that_all_have_keys_of_their_own_cannot_blow_up_the_table() -> None:
    async with Perdure.open("memory://") as app:
        await app.deploy(row(node("json_to_csv")), id="wide")
        run = await app.start("wide", [{f"k{n}": n} for n in range(12_000)])
        with pytest.raises(Exception, match="columns"):
            await run.result()
