"""Scripts do what they do in Groovy: in plain Python, and in the sandbox where it is installed.

The expected values were given by Groovy itself; `test_second_opinion` asks it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from perdure.dialects.groovy import translate
from tests.dialects.groovy.case import Case
from tests.dialects.groovy.cases_collections import COLLECTIONS
from tests.dialects.groovy.cases_differences import DIFFERENCES
from tests.dialects.groovy.cases_language import LANGUAGE
from tests.dialects.groovy.cases_scripts import SCRIPTS
from tests.dialects.groovy.cases_values import VALUES
from tests.dialects.groovy.running import Failed, run_in_python, run_in_sandbox, same

TABLES = (LANGUAGE, COLLECTIONS, VALUES, SCRIPTS, DIFFERENCES)
CASES = [
    pytest.param(case, id=f"{sentence}: {case.script[:60]!r}")
    for table in TABLES
    for sentence, cases in table.items()
    for case in cases
]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[tuple[Any, Any]]:
    monty = pytest.importorskip("pydantic_monty", reason="the sandbox is not installed")
    with monty.Monty(max_processes=1, request_timeout=10) as pool:
        yield monty, pool


def check(case: Case, found: Any) -> None:
    if case.fails is not None:
        assert isinstance(found, Failed), found
        assert found.message.split(":")[0] == case.fails
        assert found.line is not None
        assert 1 <= found.line <= case.script.count("\n") + 1
    else:
        assert same(found, case.value), found


@pytest.mark.parametrize("case", CASES)
def test_in_plain_python(case: Case) -> None:
    check(case, run_in_python(translate(case.script), case.bindings))


@pytest.mark.parametrize("case", CASES)
def test_in_the_sandbox(case: Case, sandbox: tuple[Any, Any]) -> None:
    check(case, run_in_sandbox(*sandbox, translate(case.script), case.bindings))


def test_there_are_enough_of_them() -> None:
    assert len(CASES) > 700
