"""Any text whatever is either translated into Python that compiles, or refused with places. Never an exception."""

from __future__ import annotations

import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.dialects.groovy import check_groovy, limits
from perdure.dialects.groovy.methods import METHODS
from perdure.dialects.groovy.tokens import WORDS
from tests.dialects.groovy.case import Case
from tests.dialects.groovy.cases_collections import COLLECTIONS
from tests.dialects.groovy.cases_language import LANGUAGE
from tests.dialects.groovy.cases_scripts import SCRIPTS
from tests.dialects.groovy.cases_values import VALUES
from tests.dialects.groovy.test_isolation import assert_isolated

CASES: list[Case] = [
    case for table in (LANGUAGE, COLLECTIONS, VALUES, SCRIPTS) for cases in table.values() for case in cases
]
PIECES = [
    *sorted(WORDS), *sorted(METHODS)[::4],
    *"()[]{}()[]{}<>;,.:?!=+-*/%&|^~@#\\$\"'`\n\n\n", " ", "\t", "->", "?.", "*.",
    "?:", "==", "=~", "==~", "..", "..<", "<=>", "+=", "++", "&&", "||", "<<", "'''", '"""', "${", "//", "/*", "*/",
    "_global", "input", "x", "y", "it", "1", "2.5", "'a'", "\"b\"", "String", "Map<", "Date", "Math", "println", "\0",
    "é", "\u2028", "😀", "\r\n",
]  # fmt: skip


def check(source: str) -> None:
    translation, problems = check_groovy(source)
    if translation is None:
        assert 1 <= len(problems) <= limits.PROBLEMS
        last_line = len(source.splitlines()) + 1
        for problem in problems:
            assert problem.message
            assert problem.line is not None
            assert problem.column is not None
            assert 1 <= problem.line <= last_line
            assert problem.column >= 1
        return
    assert not problems
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(translation.python, "<groovy>", "exec")
    assert_isolated(translation.python)
    assert len(translation.lines) == len(translation.python.splitlines())


@given(st.text(max_size=300))
def test_text(source: str) -> None:
    check(source)


@settings(max_examples=400)
@given(st.lists(st.sampled_from(PIECES), max_size=60), st.sampled_from(["", " "]))
def test_pieces_of_groovy_in_any_order(pieces: list[str], between: str) -> None:
    check(between.join(pieces))


@settings(max_examples=400)
@given(st.sampled_from(CASES), st.data())
def test_scripts_with_something_taken_out_or_put_in(case: Case, data: st.DataObject) -> None:
    script = case.script
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(script)))
        end = data.draw(st.integers(start, min(len(script), start + 8)))
        script = script[:start] + data.draw(st.sampled_from(["", *PIECES])) + script[end:]
    check(script)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(CASES), min_size=2, max_size=4), st.sampled_from(["\n", ";", " ", "\n}\n", "\n{\n"]))
def test_scripts_one_after_the_other(cases: list[Case], between: str) -> None:
    check(between.join(case.script for case in cases))


@settings(max_examples=100)
@given(st.sampled_from(PIECES), st.sampled_from(PIECES), st.integers(1, 3000))
def test_the_same_over_and_over(one: str, other: str, count: int) -> None:
    check((one + other) * count)
