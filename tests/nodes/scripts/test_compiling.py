"""What is known of a script without running it: its mistakes, with line and column, and what it reads."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perdure
from perdure.errors import DocumentInvalid
from perdure.nodes.scripts import check_script, compile_script
from perdure.nodes.scripts.bindings import pruned
from perdure.nodes.scripts.names import Names
from perdure.nodes.scripts.reading import readings
from perdure.nodes.scripts.rewriting import rewritten
from perdure.nodes.scripts.script import compilations

REFUSED = [
    ("x = = 1", "SCRIPT_SYNTAX", 1, 5, "invalid syntax"),
    ("x = 1\ny = (2,\n", "SCRIPT_SYNTAX", 2, 5, "'(' was never closed"),
    ("if True:\nx = 1", "SCRIPT_SYNTAX", 2, 1, "expected an indented block"),
    ("x = 'é' +", "SCRIPT_SYNTAX", 1, 10, "invalid syntax"),
    ("'é'; import os", "SCRIPT_SYNTAX", 1, 6, "no module 'os'"),
    ("import os.path", "SCRIPT_SYNTAX", 1, 1, "no module 'os.path'"),
    ("from subprocess import run", "SCRIPT_SYNTAX", 1, 1, "no module 'subprocess'"),
    ("from . import x", "SCRIPT_SYNTAX", 1, 1, "each by itself"),
    ("from math import *", "SCRIPT_SYNTAX", 1, 1, "each by itself"),
    ("x = {}\ndel x['a']", "SCRIPT_SYNTAX", 2, 1, "cannot use `del`"),
    ("def f():\n    yield 1\nf()", "SCRIPT_SYNTAX", 2, 5, "cannot use `yield`"),
    ("await f()", "SCRIPT_SYNTAX", 1, 1, "cannot use `await`"),
    ("async def f(): pass", "SCRIPT_SYNTAX", 1, 1, "cannot use `async`"),
    ("x = 1\ndef f():\n    global x", "SCRIPT_SYNTAX", 3, 5, "cannot use `global`"),
    ("class A(dict): pass", "SCRIPT_SYNTAX", 1, 1, "cannot inherit"),
    ("break", "SCRIPT_SYNTAX", 1, 1, "not inside a loop"),
    ("for x in []:\n    def f():\n        continue", "SCRIPT_SYNTAX", 3, 9, "not inside a loop"),
    ("''.__class__", "SCRIPT_SYNTAX", 1, 1, "cannot use __class__"),
    ("_perdure_given", "SCRIPT_SYNTAX", 1, 1, "are taken"),
    ("", "SCRIPT_SYNTAX", 1, 1, "is empty"),
    ("# nothing\n", "SCRIPT_SYNTAX", 1, 1, "is empty"),
    ("x = '\0'", "SCRIPT_SYNTAX", 1, 1, "null bytes"),
    ("(" * 300 + ")" * 300, "SCRIPT_SYNTAX", 1, None, "nested"),
    ("-" * 5000 + "1", "SCRIPT_SYNTAX", 1, 1, "nested"),
    ("x = 1" + "+1" * 5000, "SCRIPT_SYNTAX", 1, None, "nested"),
    ("9" * 5000, "SCRIPT_SYNTAX", 1, None, "Exceeds the limit"),
    ("\n".join("  " * n + f"def f{n}():" for n in range(12)) + " pass", "SCRIPT_SYNTAX", 10, None, "8 functions"),
    ("1 #" + "x" * 70_000, "SCRIPT_SYNTAX", 1, 1, "65,536 are allowed"),
    ("x = 1\nopen('x')", "SCRIPT_NAME", 2, 1, "no open"),
    ("eval('1')", "SCRIPT_NAME", 1, 1, "no eval"),
    ("é = __import__('os')", "SCRIPT_NAME", 1, 5, "no __import__"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "code", "line", "column", "told"), REFUSED, ids=range(len(REFUSED)))
def test_b10_a_mistake_is_told_with_line_and_column(
    source: str, code: str, line: int, column: int | None, told: str
) -> None:
    script, problems = check_script(source, "python", "/nodes/0/config/script")
    assert script is None
    problem = problems[0]
    assert (problem.code, problem.pointer, problem.line) == (code, "/nodes/0/config/script", line)
    assert column is None or problem.column == column
    assert told in problem.message
    with pytest.raises(DocumentInvalid) as error:
        compile_script(source)
    assert error.value.problems[0]["line"] == line


def test_all_that_a_script_cannot_use_is_told_at_once() -> None:
    _, problems = check_script("import os\nimport sys\ndel x\nyield 1", "python")
    assert sorted(problem.line or 0 for problem in problems) == [1, 2, 3, 4]


def test_there_are_two_languages() -> None:
    _, problems = check_script("1", "perl")
    assert (problems[0].code, problems[0].expected) == ("SCRIPT_LANGUAGE", "one of python, groovy")


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=60), st.text(alphabet="ab_=+.[](){}:'\"\\\n\t #f1,*lambdinorw", max_size=80)))
def test_any_text_is_a_script_or_has_a_problem(source: str) -> None:
    script, problems = check_script(source, "python")
    assert (script is None) == bool(problems)


READS: list[tuple[str, str, set[tuple[Any, ...]]]] = [
    ("python", "1", set()),
    ("python", "_global.order.id", {("_global", "order", "id")}),
    ("python", "_global['order']['id']", {("_global", "order", "id")}),
    ("python", "_global.get('order').get('id', 5)", {("_global", "order", "id")}),
    ("python", "_global.order.items[0].price", {("_global", "order", "items")}),
    ("python", "_global[input.key].x", {("_global",), ("input", "key")}),
    ("python", "for x in _global: pass", {("_global",)}),
    ("python", "x = _global.order\nx.id", {("_global", "order")}),
    ("python", "_global.order.keys()", {("_global", "order")}),
    ("python", "f'{_global.a.b} {vars.c}'", {("_global", "a", "b"), ("vars", "c")}),
    ("python", "nodes.first.output.x", {("nodes", "first", "output", "x")}),
    ("python", "data = data.x", {("data",)}),
    ("python", "data = 5\ndata", set()),
    ("python", "if run:\n    data = 5\ndata", {("run",), ("data",)}),
    ("python", "[item for item in vars.items]", {("vars", "items")}),
    ("python", "def f(input): return input\nf(1)", set()),
    ("python", "def f(): return input.a\nf()", {("input", "a")}),
    ("python", "item.x + index", {("item", "x"), ("index",)}),
    ("python", "import math\nmath.pi + len('') + int(True)", set()),
    ("python", "total += 1", {("total",)}),
    ("python", "_global.order.total = 1", {("_global", "order", "total")}),
    ("groovy", "_global.order.id + _thread.tenant", {("_global", "order", "id"), ("_thread", "tenant")}),
    ("groovy", "_global.order?.id", {("_global", "order", "id")}),
    ("groovy", "_global.order['id']", {("_global", "order")}),
    ("groovy", "_global[input.key]", {("_global",), ("input", "key")}),
    ("groovy", "_global.each { k, v -> println k }; 1", {("_global",)}),
    ("groovy", "1", set()),
]


@pytest.mark.parametrize(("language", "source", "reads"), READS, ids=[source for _, source, _ in READS])
def test_a_script_tells_what_it_reads(language: str, source: str, reads: set[tuple[Any, ...]]) -> None:
    found = compile_script(source, language).reads
    if language == "python":
        assert found == reads
    else:  # it may read more than it must
        assert {read[0] for read in found} == {read[0] for read in reads}
        for read in found:
            assert any(each[: len(read)] == read for each in reads)


def test_only_what_is_read_is_sent() -> None:
    bindings = {"_global": {"a": {"b": 1, "secret": 2}, "c": [{"d": 1}]}, "vars": {"big": "x"}, "input": 5}
    reads = compile_script("_global.a.b + _global.c[0].d + _global.nothing.x").reads
    assert pruned(reads, bindings) == {"_global": {"a": {"b": 1}, "c": [{"d": 1}]}}
    assert pruned({("input", "x"), ("item",)}, bindings) == {"input": 5}
    assert pruned({("vars",), ("vars", "big")}, bindings) == {"vars": {"big": "x"}}


def test_b14_ten_thousand_evaluations_compile_once() -> None:
    source = "total = 0  # a script of this test's own\n_global.order.id"
    before = compilations()
    for _ in range(10_000):
        compile_script(source)
    assert compilations() - before == 1


SOURCES = sorted(Path(perdure.__file__).parent.rglob("*.py"))[::4]


def test_any_python_is_written_anew_line_by_line() -> None:
    """Our own sources, as samples of real Python: what comes out is Python, with as many lines, and the same but for
    attributes."""
    assert len(SOURCES) > 80
    for path in SOURCES:
        source = path.read_text().replace("from __future__ import annotations\n", "\n")
        tree = ast.parse(source)
        names = Names(tree)
        lines, above = rewritten(source, tree, readings(tree, names), names)
        assert len(lines) - above - source.count("\n") in (1, 2), path
        again = ast.parse("\n".join(lines))
        function = again.body[-1]
        assert isinstance(function, ast.FunctionDef), path
        for old, new in zip(ast.parse(source).body, function.body, strict=False):
            assert old.lineno + above == new.lineno, path
