"""Nothing that a script says reaches a Python attribute, a builtin or a function of the prelude."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.dialects.groovy import check_groovy, translate
from perdure.dialects.groovy.library import definitions
from tests.dialects.groovy.running import Failed, run_in_python

OWN = re.compile(r"[gvft]_[A-Za-z0-9_]*")
PRELUDE = definitions(dates=True)
ALLOWED = {"script", "bool", "print", "Exception", *PRELUDE}

NASTY = [
    "__class__", "__globals__", "__init__", "__import__", "__builtins__", "__subclasses__", "mro", "f_back", "gi_frame",
    "tb_frame", "eval", "exec", "open", "getattr", "globals", "script", "prop", "failure", "Decimal", "as_json", "text",
    "v_x", "g_x", "f_1", "t_1", "it", "None", "True", "lambda", "yield", "async", "nonlocal", "del", "ﬁ",
    "ｅｖａｌ", "_", "$",
]  # fmt: skip


def script_part(python: str) -> ast.Module:
    """Without the prelude, whose source is ours."""
    tree = ast.parse(python)
    tree.body = [
        node
        for node in tree.body
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Assign)
        and not (isinstance(node, ast.FunctionDef) and node.name != "script")
    ]
    return tree


def assert_isolated(python: str) -> None:
    for node in ast.walk(script_part(python)):
        assert not isinstance(node, ast.Attribute | ast.Import | ast.ImportFrom | ast.ClassDef | ast.Global | ast.Await)
        names = []
        if isinstance(node, ast.Name):
            names = [node.id]
        elif isinstance(node, ast.arg):
            names = [node.arg]
        elif isinstance(node, ast.FunctionDef):
            names = [node.name]
        elif isinstance(node, ast.Nonlocal):
            names = node.names
        for name in names:
            known = name in ALLOWED or name in {"_global", "_enum_store", "_thread", "_response", "input", "vars"}
            assert known or OWN.fullmatch(name), name
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assert OWN.fullmatch(name), name


@pytest.mark.parametrize("name", NASTY)
def test_a_property_is_a_key_whatever_its_name(name: str) -> None:
    translation = translate(f"def m = [:]\nm.'{name}' = 5\nm['{name}'] += 1\n[m.'{name}', _global.'{name}']")
    assert_isolated(translation.python)
    assert run_in_python(translation, {"_global": {name: 7}}) == [6, 7]


@pytest.mark.parametrize("name", [name for name in NASTY if name not in {"script", "prop"}])
def test_a_method_that_is_not_in_the_table_is_refused_whatever_its_name(name: str) -> None:
    translation, problems = check_groovy(f"_global.{name}()")
    assert translation is None
    assert problems


@pytest.mark.parametrize("name", [name for name in NASTY if name != "it"])
def test_a_variable_may_have_any_name(name: str) -> None:
    translation = translate(f"def {name} = 5\n[1].each {{ {name} += it }}\n{name} + 1")
    assert_isolated(translation.python)
    assert run_in_python(translation, {}) == 7


@pytest.mark.parametrize("name", [name for name in NASTY if name != "it"])
def test_a_closure_and_a_method_may_have_any_name(name: str) -> None:
    for script in (f"def {name} = {{ a -> a + 1 }}\n{name}(1)", f"def {name}(a) {{ a + 1 }}\n{name}(1)"):
        translation = translate(script)
        assert_isolated(translation.python)
        assert run_in_python(translation, {}) == 2


@pytest.mark.parametrize("value", [5, 1.5, True, "text", [1], {"a": 1}, None])
def test_no_value_shows_its_python_attributes(value: Any) -> None:
    translation = translate("_global.x.'__class__'")
    found = run_in_python(translation, {"_global": {"x": value}})
    assert found is None or isinstance(found, Failed)


@given(st.text(max_size=40))
def test_text_of_the_script_stays_text(text: str) -> None:
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        return
    quoted = "".join(f"\\u{ord(character):04x}" if ord(character) < 0x10000 else character for character in text)
    translation = translate(f"['{quoted}', [(\"${{'{quoted}'}}\"): 1]]")
    assert_isolated(translation.python)
    assert run_in_python(translation, {}) == [text, {text: 1}]


@given(st.from_regex(r"[A-Za-z_$\u00e0-\u017f][A-Za-z0-9_$\u00e0-\u017f]{0,12}", fullmatch=True), st.integers(0, 3))
def test_names_stay_names(name: str, nesting: int) -> None:
    script = f"def {name} = 1\n" + f"[1].each {{ {name} = {name} + 1; " * nesting + "1" + " }" * nesting + f"\n{name}"
    translation, problems = check_groovy(script)
    if translation is None:
        assert problems  # a word of the language
        return
    assert_isolated(translation.python)
    assert run_in_python(translation, {}) == 1 + nesting


def test_no_function_of_the_prelude_has_the_name_of_a_builtin_or_of_a_script() -> None:
    functions = {name for name, definition in PRELUDE.items() if definition.module is None}
    assert not functions & (set(dir(builtins)) | set(keyword.kwlist) | {"script"})
    assert not [name for name in functions if OWN.fullmatch(name)]
