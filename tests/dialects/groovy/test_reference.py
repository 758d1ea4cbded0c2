"""The reference page: every example on it is run, and it leaves nothing out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perdure.dialects.groovy import BINDINGS, check_groovy, translate
from tests.dialects.groovy.running import Failed, run_in_python, same

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "groovy.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def rows(*header: str) -> list[list[str]]:
    """The rows of the tables with these columns."""
    found: list[list[str]] = []
    inside = False
    for line in PAGE.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            inside = False
        elif tuple(cells) == header:
            inside = True
        elif inside and not set(line) <= set("|- "):
            found.append(cells)
    return found


def code(cell: str) -> str:
    return re.fullmatch(r"`(.*)`", cell)[1]  # type: ignore[index]


BINDINGS_SHOWN: dict[str, Any] = json.loads(blocks("json")[0])
EXAMPLES = [*rows("script", "value"), *[row[:2] for row in rows("script", "value", "why")]]


@pytest.mark.parametrize(("script", "value"), EXAMPLES)
def test_an_example_gives_what_the_page_says(script: str, value: str) -> None:
    found = run_in_python(translate(code(script)), BINDINGS_SHOWN)
    if value.startswith("`"):
        assert same(found, json.loads(code(value))), found
    else:
        assert isinstance(found, Failed)
        assert found.message.startswith(value + ": ")


@pytest.mark.parametrize(("script", "refused", "instead"), rows("script", "refused", "instead"))
def test_what_the_page_calls_refused_is_refused(script: str, refused: str, instead: str) -> None:
    _, problems = check_groovy(code(script))
    assert instead
    told = [f"{problem.line}:{problem.column} {problem.message}" for problem in problems]
    assert any(each.removesuffix(" cannot be translated") == refused for each in told), told


def test_there_are_many_examples() -> None:
    assert len(EXAMPLES) > 45
    assert len(rows("script", "refused", "instead")) > 20


def test_the_page_names_every_binding() -> None:
    assert {code(name) for name, _ in rows("variable", "what is in it")} == BINDINGS == set(BINDINGS_SHOWN)


def test_the_translation_is_the_one_that_is_shown() -> None:
    translation = translate(blocks("groovy")[0])
    assert translation.python.endswith("\n\n" + blocks("text")[0])
    found = run_in_python(translation, BINDINGS_SHOWN)
    assert found == {"text": "1 x B2", "total": 1350.45}


def test_the_calls_that_are_shown_work() -> None:
    exec(compile(blocks("python")[0], "<page>", "exec"), {})  # noqa: S102


def test_the_tables_of_the_page_are_up_to_date() -> None:
    tool = ROOT / "tools" / "groovy_page.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
