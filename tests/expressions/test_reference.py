"""The reference page: every example on it is run, and it leaves nothing out."""

import json
import re
from dataclasses import fields
from pathlib import Path as File
from typing import Any

import pytest

from perdure import errors
from perdure.errors import ExpressionError
from perdure.expressions import DEFAULT_LIMITS, Path, compile_expression, compile_template, resolve_variables
from perdure.expressions.functions import ALIASES, GROUPS

PAGE = (File(__file__).parents[2] / "docs" / "reference" / "expressions.md").read_text(encoding="utf-8")
ENV: dict[str, Any] = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])


def rows(*header: str) -> list[list[str]]:
    """The rows of all tables with these first columns."""
    found: list[list[str]] = []
    inside = False
    for line in PAGE.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            inside = False
        elif tuple(cells[: len(header)]) == header:
            inside = True
        elif inside and not set(line) <= set("|-"):
            found.append(cells)
    return found


def code(cell: str) -> str:
    assert cell.startswith("`")
    assert cell.endswith("`")
    return cell[1:-1]


def outcome(action: Any) -> Any:
    try:
        return action()
    except ExpressionError as fault:
        return fault.code


def expected(cell: str) -> Any:
    return json.loads(code(cell)) if cell.startswith("`") else cell


def check(found: Any, wanted: Any) -> None:
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize("row", rows("expression", "value"), ids=lambda row: row[0])
def test_expressions(row: list[str]) -> None:
    check(outcome(lambda: compile_expression(code(row[0])).evaluate(ENV)), expected(row[1]))


@pytest.mark.parametrize("row", rows("template", "result"), ids=lambda row: row[0])
def test_templates(row: list[str]) -> None:
    check(outcome(lambda: compile_template(json.loads(code(row[0]))).resolve(ENV)), expected(row[1]))


@pytest.mark.parametrize("row", rows("html template", "result"), ids=lambda row: row[0])
def test_html_templates(row: list[str]) -> None:
    template = compile_template(json.loads(code(row[0])), escape="html")
    check(template.resolve(ENV), expected(row[1]))


@pytest.mark.parametrize("row", rows("mode", "template", "result"), ids=lambda row: f"{row[0]} {row[1]}")
def test_modes(row: list[str]) -> None:
    mode: Any = row[0]
    check(outcome(lambda: compile_template(json.loads(code(row[1])), mode=mode).resolve(ENV)), expected(row[2]))


@pytest.mark.parametrize("row", rows("definitions", "result"), ids=lambda row: row[0])
def test_definitions(row: list[str]) -> None:
    check(outcome(lambda: resolve_variables(json.loads(code(row[0])), ENV)), expected(row[1]))


@pytest.mark.parametrize("row", rows("path", "value"), ids=lambda row: row[0])
def test_paths(row: list[str]) -> None:
    check(outcome(lambda: Path.parse(code(row[0])).get(ENV)), expected(row[1]))


EXAMPLES = [example for row in rows("function", "gives") for example in row[2].split("<br>")]


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_functions(example: str) -> None:
    source, value = example.rsplit(" → ", 1)
    check(compile_expression(code(source)).evaluate(ENV), expected(value))


def test_every_function_is_listed_as_the_table_has_it() -> None:
    listed = [(code(row[0]), row[1], row[2].split("<br>")) for row in rows("function", "gives")]
    wanted = [
        (entry.usage, entry.summary, [f"`{source}` → `{value}`" for source, value in entry.examples])
        for group in GROUPS.values()
        for entry in group
    ]
    assert listed == wanted
    for alias, name in ALIASES.items():
        assert f"`{alias}`" in PAGE
        assert f"for `{name}`" in " ".join(PAGE.split())


def test_every_limit_is_listed_with_its_default() -> None:
    listed = {code(row[0]): int(row[1].replace(",", "")) for row in rows("limit", "default")}
    assert listed == {each.name: getattr(DEFAULT_LIMITS, each.name) for each in fields(DEFAULT_LIMITS) if each.compare}


def test_every_error_is_listed() -> None:
    codes = {
        each.code for each in vars(errors).values() if isinstance(each, type) and issubclass(each, ExpressionError)
    }
    assert {code(row[0]) for row in rows("code", "when")} == codes - {ExpressionError.code}


def test_the_python_of_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "expressions.md", "exec"), {"env": ENV})  # noqa: S102 - our own page


def test_the_tables_are_found() -> None:
    """A renamed heading must not silently end the checking."""
    assert len(rows("expression", "value")) >= 80
    assert len(rows("template", "result")) >= 25
    assert len(EXAMPLES) >= 80
    assert len(rows("mode", "template", "result")) >= 7
