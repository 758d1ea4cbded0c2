"""The prelude keeps to what the sandbox can do, and a script takes along only what it needs."""

from __future__ import annotations

import ast
import importlib

import pytest

from perdure.dialects.groovy import classes, library, methods, translate, types
from tests.dialects.groovy.running import Failed, run_in_python

KNOWN = library.definitions(dates=True)
SOURCES = {name: each.source for name, each in KNOWN.items() if each.module is None}


@pytest.mark.parametrize("name", SOURCES)
def test_a_function_uses_nothing_that_the_sandbox_lacks(name: str) -> None:
    for node in ast.walk(ast.parse(SOURCES[name])):
        lacking = ast.Delete | ast.Yield | ast.YieldFrom | ast.ClassDef | ast.Global | ast.AsyncFunctionDef | ast.With
        assert not isinstance(node, lacking | ast.JoinedStr)
        assert not isinstance(node, ast.AnnAssign)


def test_every_function_can_be_imported_and_is_checked_like_all_our_code() -> None:
    modules = [importlib.import_module(f"perdure.dialects.groovy.prelude.{name}") for name in library.MODULES]
    assert set(SOURCES) <= {name for module in modules for name in dir(module)}


def test_every_function_that_the_tables_name_is_there() -> None:
    named = {form.function for forms in methods.METHODS.values() for form in forms}
    named |= {form.compares for forms in methods.METHODS.values() for form in forms if form.compares}
    named |= {static.function for static in classes.STATIC_METHODS.values()}
    named |= {name for known in types.TYPES.values() for name in (known.declare, known.convert) if name}
    named |= library.JSON_KEEPERS | library.DATE_MAKERS
    assert named - {"bool"} <= set(SOURCES)


def test_no_method_is_both_there_and_refused() -> None:
    assert not methods.METHODS.keys() & methods.REFUSED.keys()


def test_a_script_takes_along_what_it_needs_and_no_more() -> None:
    assert "def " not in translate("1").python.replace("def script", "")
    python = translate("_global.a?.b == true").python
    assert "def safe_prop(" in python
    assert "def plus(" not in python
    assert "datetime" not in python


def test_only_scripts_with_dates_know_dates() -> None:
    assert "datetime" not in translate("[1, 2].sort().join(',') + _global.a").python
    assert "from datetime import datetime, timedelta, timezone" in translate("new Date().time").python


def test_the_same_script_gives_the_same_python() -> None:
    script = "def a = [3, 1].sort().collect { it / 2 }.join(',') + new Date()\n[a, _global.x, input.y]"
    assert len({translate(script).python for _ in range(5)}) == 1
    asked = [sorted(SOURCES), sorted(SOURCES, reverse=True)]
    assert library.prelude_for(asked[0]) == library.prelude_for(asked[1])


def test_the_whole_prelude_is_python() -> None:
    compile(library.prelude_for(SOURCES), "<prelude>", "exec")


def test_what_stays_json_is_not_converted() -> None:
    assert translate("_global.a + 'x'").python.endswith("\nscript(_global)\n")
    assert translate("_global.a / 2").python.endswith("\nas_json(script(_global))\n")
    assert translate("_global.a = 1\n_global").python.endswith("\nas_json(script(_global))\n")
    assert translate("[(1): 2]").python.endswith("\nas_json(script())\n")


@pytest.mark.parametrize("script", ["def l = []\nl << l\nl", "def m = [:]\nm.x = [m]\nm"])
def test_a_result_that_holds_itself_is_an_error(script: str) -> None:
    found = run_in_python(translate(script), {})
    assert isinstance(found, Failed)
    assert found.message == "StackOverflowError: the result holds itself, or is more than 100 levels deep"


def test_only_the_bindings_that_are_read_are_asked_for() -> None:
    assert translate("1").names == frozenset()
    assert translate('"${_global.a} $input"').names == {"_global", "input"}
    assert translate("[1].collect { _response }\ndef f() { _thread.x }").names == {"_response", "_thread"}
    assert translate("[_global: 1]._global").names == frozenset()
    assert translate("def vars = 1\nvars").names == frozenset()
    assert translate("vars = 1").names == frozenset()
    assert translate("vars += 1").names == {"vars"}
