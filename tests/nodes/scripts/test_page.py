"""The tables of the page about scripts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from perdure.nodes.scripts.refusals import MODULES
from perdure.nodes.scripts.script import check_script
from tests.nodes.scripts.conftest import Run

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "scripts.md").read_text()
VALUES = re.findall(
    r"^\| `(.+?)` \| `(.+?)` \|$", PAGE.partition("<!-- values -->")[2].partition("\n\n")[0], re.MULTILINE
)
BINDINGS = {
    "input": {"lines": [{"price": 20, "count": 2}, {"price": 30, "count": 1}]},
    "_thread": {"tenant": "shop"},
}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("source", "value"), VALUES)
async def test_a_script_of_the_page_has_the_value_that_it_says(run: Run, source: str, value: str) -> None:
    assert await run(source, **BINDINGS) == json.loads(value)


def test_the_page_has_the_modules_that_there_are() -> None:
    assert len(VALUES) >= 8
    listed = PAGE.partition("<!-- modules -->\n")[2].partition("\n")[0]
    assert re.findall(r"`(\w+)`", listed) == sorted(MODULES)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("module", sorted(MODULES))
async def test_every_module_of_the_page_is_there(run: Run, module: str) -> None:
    assert await run(f"import {module}\n1") == 1


@pytest.mark.parametrize(
    "source", ["def f():\n yield 1", "del x", "async def f(): pass", "global x", "class A(B): pass", "open('x')"]
)
def test_what_the_page_says_there_is_not(source: str) -> None:
    assert check_script(source, "python")[0] is None
