"""The functions of the table: their examples, their arguments, their refusals."""

import json
from typing import Any

import pytest

from perdure.errors import ExpressionFailed, ExpressionSyntax
from perdure.expressions import compile_expression
from perdure.expressions.functions import ALIASES, GROUPS, TABLE

#: The environment of the reference page.
ENV: dict[str, Any] = {
    "order": {
        "id": 7,
        "total": 1500.0,
        "note": None,
        "items": [
            {"name": "Desk", "price": 1200.0, "quantity": 1},
            {"name": "Lamp", "price": 150.0, "quantity": 2},
        ],
    },
    "user": {"name": "Ada Lovelace", "tier": "gold", "roles": ["buyer", "editor"]},
    "limit": 1000,
}

EXAMPLES = [(source, expected) for group in GROUPS.values() for entry in group for source, expected in entry.examples]


@pytest.mark.parametrize(("source", "expected"), EXAMPLES)
def test_every_example_in_the_table_is_true(source: str, expected: str) -> None:
    found = compile_expression(source).evaluate(ENV)
    assert found == json.loads(expected)
    assert type(found) is type(json.loads(expected))


@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_function_has_a_summary_and_an_example(name: str) -> None:
    entry = TABLE[name]
    assert entry.summary.endswith(".")
    assert entry.examples
    assert any(entry.name in source for source, _ in entry.examples)


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_every_alias_means_a_function_of_the_table(alias: str) -> None:
    assert TABLE[alias].name == ALIASES[alias]


@pytest.mark.parametrize(
    ("call", "method"),
    [
        ("upper('a')", "'a'.upper()"),
        ("split('a,b', ',')", "'a,b'.split(',')"),
        ("join(['a'], '-')", "'-'.join(['a'])"),
        ("join(['a', 'b'], '-')", "['a', 'b'].join('-')"),
        ("items({'a': 1})", "{'a': 1}.items()"),
        ("get({'k': 1}, 'k', 0)", "{'k': 1}.get('k', 0)"),
        ("starts_with('abc', 'a')", "'abc'.startsWith('a')"),
        ("starts_with('abc', 'a')", "'abc'.startswith('a')"),
        ("contains([1], 1)", "[1].includes(1)"),
        ("trim(' a ')", "' a '.strip()"),
        ("len([1])", "[1].length()"),
        ("fixed(1.5, 2)", "(1.5).toFixed(2)"),
        ("sorted([2, 1])", "[2, 1].sort()"),
        ("sorted([2, 1], reverse=true)", "sorted([2, 1], null, true)"),
        ("sorted([{'a': 2}, {'a': 1}], by='a')", "sorted([{'a': 2}, {'a': 1}], 'a')"),
        ("round(1.234, places=1)", "(1.234).round(1)"),
    ],
)
def test_a_function_may_be_spelled_as_a_method(call: str, method: str) -> None:
    assert compile_expression(call).evaluate({}) == compile_expression(method).evaluate({})


def test_a_variable_named_like_a_function_stays_a_variable() -> None:
    env = {"len": [1, 2], "order": {"items": 3, "keys": 4}}
    assert compile_expression("len(len)").evaluate(env) == 2
    assert compile_expression("order.items + order.keys").evaluate(env) == 7
    assert compile_expression("order.keys()").evaluate(env) == ["items", "keys"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("str(null)", ""),
        ("str(1e20)", "1e+20"),
        ("str({'a': 'é'})", '{"a":"é"}'),
        ("int(' 7 ')", 7),
        ("int('+7')", 7),
        ("float('1e3')", 1000.0),
        ("float(true)", 1.0),
        ("bool(null)", False),
        ("bool([0])", True),
        ("type_of(1.5)", "number"),
        ("type_of(true)", "boolean"),
        ("type_of(null)", "null"),
        ("type_of([])", "list"),
        ("empty(null)", True),
        ("empty(0)", False),
        ("round(3.5)", 4),
        ("round(0.125, 2)", 0.12),
        ("round(7, 2)", 7),
        ("floor(2.9)", 2),
        ("ceil(-0.5)", 0),
        ("fixed(1234567.891, 1)", "1234567.9"),
        ("fixed(10 ** 30, 0)", "1000000000000000000000000000000"),
        ("min(3, 1.5, 2)", 1.5),
        ("max(['b', 'c', 'a'])", "c"),
        ("sum([])", 0),
        ("avg([])", None),
        ("len('😀')", 1),
        ("len({})", 0),
        ("upper('straße')", "STRASSE"),
        ("split('', ',')", [""]),
        ("split('')", []),
        ("join([], ',')", ""),
        ("join(['a', 'b'])", "ab"),
        ("replace('aaa', 'a', '')", ""),
        ("replace('ab', '', '-')", "-a-b-"),
        ("trim('xxaxx', 'x')", "a"),
        ("first([], 'none')", "none"),
        ("last([1, 2])", 2),
        ("sorted(['b', 'a'])", ["a", "b"]),
        ("sorted([1, 0.5])", [0.5, 1]),
        ("sorted([])", []),
        ("[x.n for x in sorted([{'k': 1, 'n': 'a'}, {'k': 1, 'n': 'b'}], 'k')]", ["a", "b"]),
        ("unique([1, 1.0, true, 'a', [1], [1], {'a': 1, 'b': 2}, {'b': 2, 'a': 1}])",
         [1, True, "a", [1], {"a": 1, "b": 2}]),
        ("unique([{'k': 1, 'n': 1}, {'k': 1, 'n': 2}], 'k')", [{"k": 1, "n": 1}]),
        ("flatten([1, [2, [3]]])", [1, 2, [3]]),
        ("flatten([1, [2]], 0)", [1, [2]]),
        ("range(2, 5)", [2, 3, 4]),
        ("range(5, 2)", []),
        ("zip([1, 2, 3], ['a'])", [[1, "a"]]),
        ("enumerate(['a'], 5)", [[5, "a"]]),
        ("index_of([[1]], [1])", 0),
        ("index_of([1], true)", -1),
        ("count([true, 1, 1.0], 1)", 2),
        ("chunk([], 2)", []),
        ("group_by([{'k': 1}, {'k': null}, {'k': true}], 'k')",
         {"1": [{"k": 1}], "": [{"k": None}], "true": [{"k": True}]}),
        ("keys({'b': 1, 'a': 2})", ["b", "a"]),
        ("get({'a.b': 1, 'a': {'b': 2}}, 'a.b')", 1),
        ("get([5, 6], 1)", 6),
        ("get([5, 6], '1')", 6),
        ("get('text', 'x', 0)", 0),
        ("get({'a': null}, 'a', 1)", None),
        ("pick({'a': 1}, [])", {}),
        ("omit({'a': 1}, ['z'])", {"a": 1}),
        ("merge({}, {'a': 1}, {'a': 2})", {"a": 2}),
        ("json(1.0)", "1.0"),
        ("parse_json(' [1, 2.5, \"x\"] ')", [1, 2.5, "x"]),
        ("timestamp('1970-01-01')", 0),
        ("timestamp('1970-01-01T00:00:01.5Z')", 1.5),
        ("timestamp('2026-03-08T10:30:00+01:00') == timestamp('2026-03-08T09:30:00')", True),
        ("timestamp(5)", 5),
        ("iso(0)", "1970-01-01T00:00:00Z"),
        ("iso(0.25)", "1970-01-01T00:00:00.250000Z"),
        ("iso('2026-03-08 10:30:00+01:00')", "2026-03-08T09:30:00Z"),
        ("duration('PT0.5S')", 0.5),
        ("duration('-P1D')", -86400),
        ("duration('P2W')", 1209600),
        ("duration('250 ms')", 0.25),
        ("date('2014-01-02') > date('2014-01-01 23:59:59')", True),
        ("format_time(0, '%Y-%m-%d %H:%M:%S %y %j %A %B %b %p %% done')",
         "1970-01-01 00:00:00 70 001 Thursday January Jan AM % done"),
        ("format_time('2026-12-31T13:05:09Z', '%I %p')", "01 PM"),
        ("format_time(0, 'plain')", "plain"),
        ("url_encode('é/?')", "%C3%A9%2F%3F"),
        ("url_encode(5)", "5"),
        ("base64_decode(base64_encode('ü'))", "ü"),
    ],
)  # fmt: skip
def test_edges(source: str, expected: Any) -> None:
    found = compile_expression(source).evaluate({})
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "source",
    [
        "len(5)", "len(null)", "len(true)", "upper(5)", "lower(null)", "trim(1)", "split(1, ',')", "split('a', '')",
        "split('a', 1)", "join('ab')", "join([[1]])", "join([null])", "join([1], 2)", "replace('a', 1, 'b')",
        "contains(5, 1)", "starts_with('a', 1)", "ends_with(1, 'a')", "pad_start('a', 3, 'xx')", "pad_end(1, 3)",
        "pad_start('a', 1.5)", "abs('1')", "abs(true)", "round('1')", "round(1.5, 1.5)", "round(1, true)",
        "floor(null)",
        "ceil('a')", "fixed('1', 2)", "fixed(1, -1)", "fixed(1, 1.5)", "sum(5)", "sum(['a'])", "sum([true])", "avg(1)",
        "min([])", "min(5)", "max([1, 'a'])", "max(1, null)", "min([true, false])", "int('1.5')", "int('a')", "int('')",
        "int('--1')", "int(null)", "int([])", "int('１')", "float('nan')", "float('inf')", "float('1_0')", "float('')",
        "float({})", "float('1e999')", "first(5)", "last('abc')", "sorted(5)", "sorted([1, 'a'])", "sorted([null])",
        "sorted([true, false])", "sorted([1], 5)", "reversed(5)", "unique(5)", "flatten(5)", "flatten([], 'a')",
        "any(5)", "all(null)", "range('a')", "range(1.5)", "range(1, 2, 0)", "range(true)", "zip(5)", "zip([1], 5)",
        "enumerate(5)", "enumerate([], 'a')", "index_of(5, 1)", "index_of('a', 1)", "count(5, 1)", "chunk([1], 0)",
        "chunk([1], -1)", "chunk(5, 1)", "group_by(5, 'a')", "keys([])", "values(5)", "items('a')", "from_items([1])",
        "from_items([[1, 2]])", "from_items(5)", "get({}, null)", "get({}, true)", "merge({}, [])", "pick({}, 'a')",
        "pick({}, [1])", "omit([], [])", "parse_json('{')", "parse_json('NaN')", "parse_json('Infinity')",
        "parse_json('1e999')", "parse_json('')", "parse_json(5)", "parse_json('\"\\\\ud800\"')",
        "timestamp('yesterday')",
        "timestamp(null)", "timestamp(true)", "timestamp('')", "timestamp(1e20)", "iso('x')", "iso([])", "iso(1e300)",
        "duration('1')", "duration('P')", "duration('PT')", "duration('P1Y')", "duration(5)", "duration('1 year')",
        "format_time('x', '%Y')", "format_time(0, '%Q')", "format_time(0, 5)", "format_time(0, 'x' * 300)",
        "format_time(0, '%e')", "base64_decode('***')", "base64_decode('/w==')", "base64_encode(1)",
    ],
)  # fmt: skip
def test_arguments_of_the_wrong_kind_are_refused(source: str) -> None:
    with pytest.raises(ExpressionFailed) as caught:
        compile_expression(source).evaluate({})
    assert caught.value.column == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("round()", "round needs 1 argument"),
        ("replace('a', 'b')", "replace needs 3 arguments"),
        ("round(1, 2, 3)", "round takes at most 2, not 3 arguments"),
        ("sorted([1], up=true)", "sorted has no parameter 'up'"),
        ("sorted([1], 'a', by='b')", "sorted gets 'by' twice"),
        ("merge(of={})", "merge has no parameter 'of'"),
        ("exists()", "exists needs 1 argument"),
        ("default(1)", "default needs 2 arguments"),
        ("coalesce()", "coalesce needs 1 argument"),
        ("sorte([1])", "there is no function 'sorte'"),
    ],
)
def test_wrong_calls_are_found_when_they_are_compiled(source: str, message: str) -> None:
    with pytest.raises(ExpressionSyntax) as caught:
        compile_expression(source)
    assert caught.value.message == message
    assert caught.value.remedy is not None
