"""Mustache by its specification: our own cases for each rule, another implementation as oracle, and the official files.

The official files (github.com/mustache/spec, MIT) are not part of this repository. To run them:
PERDURE_MUSTACHE_SPEC=…/spec/specs python -m pytest tests/expressions/test_mustache.py
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import ExpressionError, ExpressionLimit
from perdure.expressions import Limits, compile_template


def render(template: str, data: Any, partials: dict[str, str] | None = None) -> Any:
    """As the specification wants it: missing values are nothing, and HTML is escaped."""
    return compile_template(template, mode="blank", escape="html", partials=partials or {}).resolve(data)


CASES: dict[str, tuple[str, Any, str]] = {
    # variables
    "text without tags": ("Hi {there}!\n", {}, "Hi {there}!\n"),
    "a variable": ("Hi, {{who}}!\n", {"who": "you"}, "Hi, you!\n"),
    "escaped": ("<{{x}}>", {"x": '& " < >'}, "<&amp; &quot; &lt; &gt;>"),
    "three braces": ("<{{{x}}}>", {"x": '& " < >'}, '<& " < >>'),
    "ampersand": ("<{{&x}}>", {"x": '& " < >'}, '<& " < >>'),
    "integer": ("{{n}} km", {"n": 85}, "85 km"),
    "decimal": ("{{n}} W {{{n}}} {{&n}}", {"n": 1.21}, "1.21 W 1.21 1.21"),
    "null": ("({{n}}{{{n}}}{{&n}})", {"n": None}, "()"),
    "missing": ("({{n}}{{{n}}}{{&n}})", {}, "()"),
    "dotted": ("{{a.b.c}}", {"a": {"b": {"c": "x"}}}, "x"),
    "dotted is a section in short": ("{{p.n}}={{#p}}{{n}}{{/p}}", {"p": {"n": "J"}}, "J=J"),
    "broken chain": ("({{a.b.c}})", {"a": {}}, "()"),
    "chain does not go up": ("({{a.b.c.n}})", {"a": {"b": {}}, "c": {"n": "J"}}, "()"),
    "first part resolves like any name": (
        "{{#a}}{{b.c}}{{/a}}",
        {"a": {"b": {"c": "in"}}, "b": {"c": "out"}},
        "in",
    ),
    "former resolution counts": ("({{#a}}{{b.c}}{{/a}})", {"a": {"b": {}}, "b": {"c": "no"}}, "()"),
    "dotted names are never single keys": ("({{a.b}})", {"a.b": "c"}, "()"),
    "no masking": ("({{a.b}})", {"a.b": "c", "a": {"b": "d"}}, "(d)"),
    "implicit iterator at the top": ("Hi, {{.}}!", "you", "Hi, you!"),
    "implicit iterator escaped": ("{{.}} {{{.}}} {{&.}} ", "<", "&lt; < < "),
    "white space around a variable": ("| {{s}} |", {"s": "-"}, "| - |"),
    "a variable is never standalone": ("  {{s}}\n", {"s": "-"}, "  -\n"),
    "padding": ("|{{ s }}|{{{ s }}}|{{& s }}|", {"s": "-"}, "|-|-|-|"),
    # sections
    "true": ("({{#b}}yes{{/b}})", {"b": True}, "(yes)"),
    "false": ("({{#b}}yes{{/b}})", {"b": False}, "()"),
    "null is false": ("({{#b}}yes{{/b}})", {"b": None}, "()"),
    "an object is a context": ("{{#c}}Hi {{n}}{{/c}}", {"c": {"n": "Joe"}}, "Hi Joe"),
    "an empty object is one too": ("({{#c}}x{{/c}})", {"c": {}}, "(x)"),
    "parents": ("{{#s}}{{a}},{{b}},{{c.d}}{{/s}}", {"a": 1, "b": 0, "s": {"b": 2}, "c": {"d": 3}}, "1,2,3"),
    "the value itself": ("{{#foo}}{{.}} is {{foo}}{{/foo}}", {"foo": "bar"}, "bar is bar"),
    "a list": ("{{#l}}{{i}}{{/l}}", {"l": [{"i": 1}, {"i": 2}]}, "12"),
    "an empty list": ("({{#l}}x{{/l}})", {"l": []}, "()"),
    "nested lists": (
        "{{#t}}{{#m}}{{n.l}}{{k}}.{{#b}}{{n.u}}{{k}}{{v}}.{{/b}}{{/m}}{{/t}}",
        {"t": [{"n": {"u": "A", "l": "a"}, "m": [{"k": "1", "b": [{"v": "x"}, {"v": "y"}]}]}]},
        "a1.A1x.A1y.",
    ),
    "items as themselves": ("{{#l}}({{.}}){{/l}}", {"l": ["a", 1, 2.5]}, "(a)(1)(2.5)"),
    "items escaped": ("{{#l}}({{.}}{{{.}}}){{/l}}", {"l": ["&", "<"]}, "(&amp;&)(&lt;<)"),
    "lists of lists": ("{{#l}}({{#.}}{{.}}{{/.}}){{/l}}", {"l": [[1, 2], ["a"]]}, "(12)(a)"),
    "a list at the top": ("{{#.}}({{v}}){{/.}}", [{"v": 1}, {"v": 2}], "(1)(2)"),
    "twice": ("{{#b}}\n* 1\n{{/b}}\n* {{t}}\n{{#b}}\n* 3\n{{/b}}\n", {"b": True, "t": 2}, "* 1\n* 2\n* 3\n"),
    "nested true": ("|A {{#b}}B {{#b}}C{{/b}} D{{/b}} E|", {"b": True}, "|A B C D E|"),
    "nested false": ("|A {{#b}}B {{#b}}C{{/b}} D{{/b}} E|", {"b": False}, "|A  E|"),
    "missing section": ("[{{#m}}x{{/m}}]", {}, "[]"),
    "dotted section": ("{{#a.b}}x{{/a.b}}", {"a": {"b": True}}, "x"),
    "dotted section, broken": ("[{{#a.b.c}}x{{/a.b.c}}]", {"a": {}}, "[]"),
    "inline white space": (" | {{#b}}\t|\t{{/b}} | \n", {"b": True}, " | \t|\t | \n"),
    "inner white space": (" | {{#b}} {{! c }}\n {{/b}} | \n", {"b": True}, " |  \n  | \n"),
    "indented inline": (" {{#b}}Y{{/b}}\n {{#b}}G{{/b}}\n", {"b": True}, " Y\n G\n"),
    "standalone lines": ("| This\n{{#b}}\n|\n{{/b}}\n| Is\n", {"b": True}, "| This\n|\n| Is\n"),
    "indented standalone lines": ("| This\n  {{#b}}\n|\n  {{/b}}\n| Is\n", {"b": True}, "| This\n|\n| Is\n"),
    "standalone with CRLF": ("|\r\n{{#b}}\r\n{{/b}}\r\n|", {"b": True}, "|\r\n|"),
    "standalone on the first line": ("  {{#b}}\n#{{/b}}\n/", {"b": True}, "#\n/"),
    "standalone on the last line": ("#{{#b}}\n/\n  {{/b}}", {"b": True}, "#\n/\n"),
    "standalone lines in a row": ("{{#b}}\n  {{#b}}\n    x\n  {{/b}}\n{{/b}}\n.", {"b": True}, "    x\n."),
    "padded section": ("|{{# b }}={{/ b }}|", {"b": True}, "|=|"),
    # inverted sections
    "inverted false": ("({{^b}}no{{/b}})", {"b": False}, "(no)"),
    "inverted true": ("({{^b}}no{{/b}})", {"b": True}, "()"),
    "inverted null": ("({{^b}}no{{/b}})", {"b": None}, "(no)"),
    "inverted object": ("({{^b}}no{{/b}})", {"b": {"x": 1}}, "()"),
    "inverted list": ("({{^b}}no{{/b}})", {"b": [1]}, "()"),
    "inverted empty list": ("({{^b}}no{{/b}})", {"b": []}, "(no)"),
    "inverted missing": ("({{^b}}no{{/b}})", {}, "(no)"),
    "inverted dotted": ("{{^a.b}}no{{/a.b}}", {"a": {}}, "no"),
    "inverted standalone": ("| This\n{{^b}}\n|\n{{/b}}\n| Is\n", {"b": False}, "| This\n|\n| Is\n"),
    # comments
    "comment": ("12{{! c }}34", {}, "1234"),
    "comment of many lines": ("12{{!\n  a\n  b\n}}34\n", {}, "1234\n"),
    "standalone comment": ("Begin.\n{{! c }}\nEnd.\n", {}, "Begin.\nEnd.\n"),
    "indented standalone comment": ("Begin.\n  {{! c }}\nEnd.\n", {}, "Begin.\nEnd.\n"),
    "standalone comment of many lines": ("Begin.\n{{!\nx\n}}\nEnd.\n", {}, "Begin.\nEnd.\n"),
    "inline comment keeps its line": ("  12 {{! 34 }}\n", {}, "  12 \n"),
    "comments have no names": ("({{! c }})({{!c}})", {"! c": 1, "!c": 2, "c": 3}, "()()"),
    # delimiters
    "pair": ("{{=<% %>=}}(<%t%>)", {"t": "Hey!"}, "(Hey!)"),
    "special characters": ("({{=[ ]=}}[t])", {"t": "It!"}, "(It!)"),
    "set twice": ("{{=| |=}}|a||={{ }}=|{{a}}", {"a": 1}, "11"),
    "in sections": (
        "[\n{{#s}}\n  {{d}}\n  |d|\n{{/s}}\n\n{{= | | =}}\n|#s|\n  {{d}}\n  |d|\n|/s|\n]\n",
        {"s": True, "d": "I"},
        "[\n  I\n  |d|\n\n  {{d}}\n  I\n]\n",
    ),
    "standalone delimiters": ("Begin.\n{{=@ @=}}\nEnd.\n", {}, "Begin.\nEnd.\n"),
    "delimiters inline": ("| {{=@ @=}} |", {}, "|  |"),
    "delimiters with padding": ("|{{= @   @ =}}|", {}, "||"),
}

PARTIALS: dict[str, tuple[str, Any, dict[str, str], str]] = {
    "basic": ('"{{>t}}"', {}, {"t": "from partial"}, '"from partial"'),
    "unknown": ('"{{>t}}"', {}, {}, '""'),
    "context": ('"{{>p}}"', {"t": "c"}, {"p": "*{{t}}*"}, '"*c*"'),
    "recursion": (
        "{{>n}}",
        {"c": "X", "k": [{"c": "Y", "k": []}]},
        {"n": "{{c}}<{{#k}}{{>n}}{{/k}}>"},
        "X<Y<>>",
    ),
    "nested": ("{{>o}}", {"a": "h", "b": "w"}, {"o": "*{{a}} {{>i}}*", "i": "{{b}}!"}, "*h w!*"),
    "white space": ("| {{>p}} |", {}, {"p": "\t|\t"}, "| \t|\t |"),
    "inline indentation": ("  {{d}}  {{> p}}\n", {"d": "|"}, {"p": ">\n>"}, "  |  >\n>\n"),
    "standalone with CRLF": ("|\r\n{{>p}}\r\n|", {}, {"p": ">"}, "|\r\n>|"),
    "standalone on the first line": ("  {{>p}}\n>", {}, {"p": ">\n>"}, "  >\n  >>"),
    "standalone on the last line": (">\n  {{>p}}", {}, {"p": ">\n>"}, ">\n  >\n  >"),
    "indentation": ("\\\n {{>p}}\n/\n", {"c": "<\n->"}, {"p": "|\n{{{c}}}\n|\n"}, "\\\n |\n <\n->\n |\n/\n"),
    "padding": ("|{{> p }}|", {}, {"p": "[]"}, "|[]|"),
    "delimiters do not reach a partial": (
        "[ {{>i}} ]\n{{= | | =}}\n[ |>i| ]\n",
        {"v": "y"},
        {"i": ".{{v}}."},
        "[ .y. ]\n[ .y. ]\n",
    ),
    "delimiters do not leave a partial": (
        "[ {{>i}} ]\n[ .{{v}}.  .|v|. ]\n",
        {"v": "y"},
        {"i": ".{{v}}. {{= | | =}} .|v|."},
        "[ .y.  .y. ]\n[ .y.  .|v|. ]\n",
    ),
}


@pytest.mark.parametrize(("template", "data", "expected"), CASES.values(), ids=CASES.keys())
def test_the_rules_of_the_specification(template: str, data: Any, expected: str) -> None:
    assert render(template, data) == expected


@pytest.mark.parametrize(("template", "data", "partials", "expected"), PARTIALS.values(), ids=PARTIALS.keys())
def test_partials(template: str, data: Any, partials: dict[str, str], expected: str) -> None:
    assert render(template, data, partials) == expected


FETCHED = Path(__file__).resolve().parents[2] / ".venv" / "specs" / "package" / "specs"


def official() -> list[Any]:
    """Those that `make test` has fetched (version 1.1 of the specification), or another folder's."""
    folder = Path(os.environ.get("PERDURE_MUSTACHE_SPEC") or FETCHED)
    if not folder.is_dir():
        return [
            pytest.param(None, marks=pytest.mark.skip(reason="neither make test nor anybody else has fetched them"))
        ]
    files = [each for each in sorted(folder.glob("*.json")) if not each.name.startswith("~")]
    return [
        pytest.param(test, id=f"{each.stem}: {test['name']}")
        for each in files
        for test in json.loads(each.read_text(encoding="utf-8"))["tests"]
    ]


@pytest.mark.parametrize("test", official())
def test_the_official_specification(test: dict[str, Any]) -> None:
    assert render(test["template"], test["data"], test.get("partials")) == test["expected"]


# -- against another implementation ------------------------------------------------------------------------------------

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["", "x", "<b>&", "{{a}}", "0"]))
DATA = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.recursive(
        SCALARS,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    max_size=3,
)
# No indentation: the other one forgets that a line is still empty after a tag that took a whole line with it.
TEXT = st.sampled_from(["", "x", "\n", "\r\n", "x\n", "| ", " x"])


def variables(name: str) -> st.SearchStrategy[str]:
    return st.sampled_from([f"{{{{{name}}}}}", f"{{{{{{{name}}}}}}}", f"{{{{& {name} }}}}", "{{! c }}"])


def templates(names: list[str], sections: str) -> st.SearchStrategy[str]:
    return st.recursive(
        st.one_of(TEXT, st.sampled_from(names).flatmap(variables)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4).map("".join),
            st.tuples(st.sampled_from(names), st.sampled_from(sections), inner).map(
                lambda each: f"{{{{{each[1]}{each[0]}}}}}{each[2]}{{{{/{each[0]}}}}}"
            ),
        ),
        max_leaves=12,
    )


# The other one takes what is not there for the context of an inverted section, so «.» means something else in it.
TEMPLATES = st.one_of(
    templates(["a", "b", "c", "a.b", "b.a", "a.0", "missing"], "#^"),
    templates(["a", "b", "a.0", "missing", "."], "#"),
)


def oracle_value(value: Any) -> Any:
    """What we write for a value that is not text; the other implementation writes Python's form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "" if value is None else str(value)


def oracle_getter(scope: Any, scopes: Any, key: str, default: Any = None) -> Any:
    """Only dicts and lists, and no way back out of a name that was found: the rule of the specification."""

    def step(of: Any, part: str) -> Any:
        if isinstance(of, dict) and part in of:
            return of[part]
        if isinstance(of, list | str) and part.isdigit() and int(part) < len(of):
            return of[int(part)]
        return default

    if key == ".":
        return scope
    first, *rest = key.split(".")
    marker = default
    for each in (scope, *reversed(scopes)):
        found = step(each, first)
        if found is not marker or (marker is None and isinstance(each, dict) and first in each):
            for part in rest:
                found = step(found, part)
            return found
    return default


@given(TEMPLATES, DATA)
def test_another_implementation_renders_the_same(template: str, data: dict[str, Any]) -> None:
    mstache = pytest.importorskip("mstache")
    # The other one takes a tag right behind a tag for the only one on its line. And a template that is a single tag
    # would keep the type of its value here.
    template = template.replace("}}{{", "}}x{{") + "\x01"
    expected = mstache.render(
        template,
        data,
        getter=oracle_getter,
        stringify=lambda value, _: oracle_value(value).encode(),
        strict=True,
    )
    assert render(template, data) == expected


# -- ours --------------------------------------------------------------------------------------------------------------


def test_partials_that_call_themselves_for_ever_meet_a_limit() -> None:
    with pytest.raises(ExpressionLimit, match="partials are nested deeper"):
        render("{{>p}}", {}, {"p": "x{{>p}}"})
    with pytest.raises(ExpressionLimit):
        render("{{>p}}", {"a": [1] * 10}, {"p": "{{#a}}{{>p}}{{/a}}"})


def test_an_unknown_partial_is_a_mistake_in_strict_mode() -> None:
    with pytest.raises(ExpressionError, match="there is no partial 'p'"):
        compile_template("{{>p}}")
    assert compile_template("<{{>p}}>", partials={"p": "{{a}}"}).resolve({"a": 1}) == "<1>"
    assert compile_template("{{>p}}", partials={"p": "{{a.b}}{{>p}}"}).names == {"a"}


def test_a_mistake_in_a_partial_is_found_when_the_template_is_compiled() -> None:
    with pytest.raises(ExpressionError, match="is not closed"):
        compile_template("{{>p}}", partials={"p": "{{#a}}"})


def test_the_nesting_of_sections_is_limited() -> None:
    def nested(levels: int) -> str:
        return "{{#a}}" * levels + "x" + "{{/a}}" * levels

    assert render(nested(8), {"a": True}) == "x"
    with pytest.raises(ExpressionLimit):
        compile_template(nested(9))
    assert compile_template(nested(9), limits=Limits(sections=9)).resolve({"a": True}) == "x"
