"""The reference page: every example on it is run."""

import json
import re
from typing import Any

import pytest

from perdure.errors import ExpressionError
from perdure.expressions.iregexp import compile_iregexp
from perdure.expressions.jsonpath import compile_jsonpath
from perdure.expressions.jsonpath.functions import FUNCTIONS
from tests.expressions.page_tables import REFERENCE, code, rows

PAGE = (REFERENCE / "jsonpath.md").read_text(encoding="utf-8")
DOCUMENT: Any = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])


def tree(levels: int) -> Any:
    return [tree(levels - 1), tree(levels - 1)] if levels else 0


LARGE = {**DOCUMENT, "tree": tree(13)}


@pytest.mark.parametrize("row", rows(PAGE, "query", "finds"), ids=lambda row: row[0])
def test_queries(row: list[str]) -> None:
    found = compile_jsonpath(code(row[0])).find(DOCUMENT)
    assert json.dumps(found) == json.dumps(json.loads(code(row[1])))


@pytest.mark.parametrize("row", rows(PAGE, "query", "error"), ids=lambda row: row[0])
def test_errors(row: list[str]) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_jsonpath(code(row[0])).find(LARGE)
    assert caught.value.code == row[1]


@pytest.mark.parametrize("row", rows(PAGE, "pattern", "means"), ids=lambda row: row[0])
def test_patterns(row: list[str]) -> None:
    pattern = compile_iregexp(code(row[0]))
    assert pattern.match(code(row[1]))
    assert not pattern.match(code(row[2]))


def test_every_function_is_listed() -> None:
    assert {code(row[0]).partition("(")[0] for row in rows(PAGE, "function", "gives")} == set(FUNCTIONS)


def test_the_python_of_the_page_runs() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "jsonpath.md", "exec"), {"document": DOCUMENT})  # noqa: S102 - our own page


def test_the_tables_are_found() -> None:
    """A renamed heading must not silently end the checking."""
    assert len(rows(PAGE, "query", "finds")) >= 28
    assert len(rows(PAGE, "query", "error")) >= 9
    assert len(rows(PAGE, "pattern", "means")) >= 8
