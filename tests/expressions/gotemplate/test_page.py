"""The reference page: every example on it is run, and it leaves no function out."""

import json
import re
from typing import Any

import pytest

from perdure.errors import ExpressionError
from perdure.expressions.gotemplate import compile_go_template
from perdure.expressions.gotemplate.functions import FUNCTIONS
from tests.expressions.page_tables import REFERENCE, code, rows

PAGE = (REFERENCE / "go-templates.md").read_text(encoding="utf-8")
DATA: Any = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])


@pytest.mark.parametrize("row", rows(PAGE, "template", "result"), ids=lambda row: row[0])
def test_templates(row: list[str]) -> None:
    assert compile_go_template(code(row[0])).render(DATA) == code(row[1])


@pytest.mark.parametrize("row", rows(PAGE, "html template", "result"), ids=lambda row: row[0])
def test_html_templates(row: list[str]) -> None:
    assert compile_go_template(code(row[0]), escape="html").render(DATA) == code(row[1])


@pytest.mark.parametrize("row", rows(PAGE, "template", "error"), ids=lambda row: row[0])
def test_errors(row: list[str]) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_go_template(code(row[0])).render(DATA)
    assert caught.value.code == row[1]


@pytest.mark.parametrize("row", rows(PAGE, "function", "gives"), ids=lambda row: row[0])
def test_functions(row: list[str]) -> None:
    action, result = row[2].split(" → ")
    assert compile_go_template(f"{{{{{code(action)}}}}}").render(DATA) == code(result)


def test_every_function_is_listed() -> None:
    listed = [code(name) for row in rows(PAGE, "function", "gives") for name in row[0].split(", ")]
    assert sorted(listed) == sorted(FUNCTIONS)


def test_the_python_of_the_page_runs() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "go-templates.md", "exec"), {"data": DATA})  # noqa: S102 - our own page


def test_the_tables_are_found() -> None:
    """A renamed heading must not silently end the checking."""
    assert len(rows(PAGE, "template", "result")) >= 28
    assert len(rows(PAGE, "template", "error")) >= 10
    assert len(rows(PAGE, "html template", "result")) >= 3
