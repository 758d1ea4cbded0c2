"""An error while a script runs is reported at the line of the Groovy that caused it."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.dialects.groovy import translate
from tests.dialects.groovy.running import Failed, run_in_python


def line_of(script: str, **given: Any) -> int | None:
    bindings: dict[str, Any] = {"_global": {}, **given}
    found = run_in_python(translate(script), bindings)
    assert isinstance(found, Failed)
    return found.line


def test_a_plain_statement() -> None:
    assert line_of("def a = 1\ndef b = _global.x.y\nb") == 2


def test_a_path_after_a_branch() -> None:
    assert line_of("if (true) {\n    def a = 1\n    _global.x.y = a\n}") == 3


def test_an_entry_of_a_map_over_several_lines() -> None:
    assert line_of("return [\n    a: 1,\n    b: [\n        c: _global.x.y\n    ]\n]") == 4


def test_a_call_in_a_chain_over_several_lines() -> None:
    assert line_of("def r = [1, 2]\n    .collect { it + 1 }\n    .findAll { it.foo }\n    .join(',')\nr") == 3


def test_a_condition_over_several_lines() -> None:
    assert line_of("if (_global.a == 1 ||\n    _global.b.c == 2) {\n    1\n}") == 2


def test_a_statement_in_a_closure() -> None:
    assert line_of("[1].each {\n    def x = it\n    x.foo\n}") == 3


def test_a_closure_with_a_name_is_blamed_where_it_fails_not_where_it_is_called() -> None:
    assert line_of("def f = { x ->\n    x.foo.bar\n}\n\nf(1)") == 2


def test_a_method() -> None:
    assert line_of("def f(x) {\n    1 / x\n}\nf(0)") == 2


def test_a_loop() -> None:
    assert line_of("for (int i = 0; i < 3; i++) {\n    def a = 1\n    a.foo\n}") == 3


def test_a_thrown_exception() -> None:
    assert line_of("\n\nthrow new RuntimeException('x')") == 3


def test_an_error_that_no_catch_wants_keeps_its_place() -> None:
    assert line_of("try {\n    _global.x.y\n} catch (NumberFormatException e) {\n    1\n}") in {2, 3}


def test_a_string_with_values_over_several_lines() -> None:
    assert line_of('def s = """\n${_global.a}\n${_global.b.c}\n"""\ns') == 3


@pytest.mark.parametrize("script", ["1", "def a = [\n  1,\n  2\n]\na.size()", "[1].each {\n  it\n}\n[a: 1]"])
def test_every_line_of_python_has_a_line_of_groovy_or_none(script: str) -> None:
    translation = translate(script)
    assert len(translation.lines) == len(translation.python.splitlines())
    assert set(translation.lines) <= set(range(script.count("\n") + 2))


def test_lines_that_belong_to_no_script_are_passed_over() -> None:
    translation = translate("def a = _global.x\na.y")
    (place,) = [number for number, line in enumerate(translation.lines, start=1) if line == 2]
    assert translation.groovy_line([len(translation.lines), place, 3]) == 2
    assert translation.groovy_line([3]) is None
    assert translation.groovy_line([]) is None
    assert translation.groovy_line([10_000, -1]) is None
