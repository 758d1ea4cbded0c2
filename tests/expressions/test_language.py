"""What expressions mean: literals, operators, precedence, paths, and the spellings people bring along."""

from typing import Any

import pytest

from perdure.errors import ExpressionFailed, ExpressionSyntax
from perdure.expressions import compile_expression

ENV: dict[str, Any] = {
    "order": {
        "total": 150,
        "status": "PAID",
        "items": [{"name": "Desk", "price": 100.0, "tags": ["wood"]}, {"name": "Lamp", "price": 50.0, "tags": []}],
        "a b": 1,
        "class": "gold",
        "in": "keyword",
    },
    "limit": 100,
    "user": {"name": "Ada", "tier": "gold", "active": True},
    "zero": 0,
    "one": 1,
    "yes": True,
    "no": False,
    "nothing": None,
    "matrix": [[1, 2], [3, 4]],
    "größe": 7,
    "len": 5,
}


def value(source: str, env: dict[str, Any] = ENV) -> Any:
    return compile_expression(source).evaluate(env)


def table(text: str) -> list[tuple[str, str]]:
    """Lines «expression => Python value»."""
    rows = [line.strip().rsplit(" => ", 1) for line in text.strip().splitlines() if line.strip()]
    return [(row[0].strip(), row[1].strip()) for row in rows]


def check(source: str, expected: str) -> None:
    found, wanted = value(source), eval(expected)  # noqa: S307 - the expectations are ours
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("source", "expected"),
    table(
        r"""
        1 => 1
        -7 => -7
        1_000_000 => 1000000
        1.5 => 1.5
        .5 => 0.5
        1e3 => 1000.0
        2.5E-1 => 0.25
        'single' => "single"
        "double" => "double"
        'it\'s' => "it's"
        "tab\tnew\nline \\ \/" => "tab\tnew\nline \\ /"
        "\u00e9\x41" => "éA"
        "\ud83d\ude00" => "😀"
        true => True
        True => True
        false => False
        null => None
        nil => None
        none => None
        None => None
        [] => []
        [1, 'a', null] => [1, 'a', None]
        [1, 2,] => [1, 2]
        (1, 2) => [1, 2]
        (1,) => [1]
        () => []
        (1) => 1
        {} => {}
        {'a': 1, "b": [2]} => {'a': 1, 'b': [2]}
        {user.tier: limit} => {'gold': 100}
        """
    ),
)
def test_literals(source: str, expected: str) -> None:
    check(source, expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    table(
        """
        1 + 2 * 3 => 7
        (1 + 2) * 3 => 9
        7 / 2 => 3.5
        7 // 2 => 3
        -7 // 2 => -4
        7 % 3 => 1
        -7 % 3 => 2
        2 ** 10 => 1024
        2 ** 3 ** 2 => 512
        -2 ** 2 => -4
        2 ** -1 => 0.5
        10 - 3 - 2 => 5
        - - 3 => 3
        +limit => 100
        -limit => -100
        'a' + 'b' => 'ab'
        'ab' * 2 => 'abab'
        2 * 'ab' => 'abab'
        [1] + [2] => [1, 2]
        [0] * 3 => [0, 0, 0]
        1 + 0.5 => 1.5
        0.1 + 0.2 => 0.30000000000000004
        2 ** 100 => 1267650600228229401496703205376
        """
    ),
)
def test_arithmetic(source: str, expected: str) -> None:
    check(source, expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    table(
        """
        1 == 1.0 => True
        1 == '1' => False
        1 == true => False
        one == true => False
        one == yes => False
        zero == no => False
        yes == true => True
        yes == one => False
        true == one => False
        0 == false => False
        [1] == [true] => False
        [1] == [1.0] => True
        {'a': [1]} == {'a': [1]} => True
        {'a': 1} == {'a': true} => False
        {'a': 1} == {'b': 1} => False
        [1, 2] == [1] => False
        nothing == null => True
        null == nothing => True
        nothing == false => False
        '' == null => False
        1 != 2 => True
        'a' != 'a' => False
        one != true => True
        1 === 1 => True
        1 !== 1 => False
        order.status == 'PAID' => True
        'PAID' == order.status => True
        order.status is not null => True
        nothing is null => True
        nothing is None => True
        1 < 2 => True
        2 <= 1 => False
        1 < 1.5 => True
        'a' < 'b' => True
        'b' >= 'b' => True
        0 < limit <= 100 => True
        0 < limit < 100 => False
        0 < limit + 1 < 102 => True
        1 < 2 < 3 < 4 => True
        1 == 1 == 1 => True
        (1 < 2) == true => True
        1 in [1, 2] => True
        true in [1, 2] => False
        1 in [true] => False
        one in (1, 2) => True
        yes in (1, 2) => False
        3 not in [1, 2] => True
        'gold' in ('gold', 'silver') => True
        user.tier in ('silver', 'bronze') => False
        limit in (100, 200) => True
        [1] in matrix => False
        [1, 2] in matrix => True
        'da' in user.name => True
        'total' in order => True
        'x' not in order => True
        1 in order => False
        null in [null] => True
        """
    ),
)
def test_comparison(source: str, expected: str) -> None:
    check(source, expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    table(
        """
        true and false => False
        true or false => True
        not true => False
        !true => False
        yes && no => False
        yes || no => True
        1 and 'x' => 'x'
        0 or 'x' => 'x'
        '' || null || 5 => 5
        not order => False
        not [] => True
        not {} => True
        not 'false' => False
        not 1 == 2 => True
        !1 == 2 => False
        !zero == true => True
        ! !yes => True
        no and missing => False
        yes or missing => True
        true or false and false => True
        not no and yes => True
        1 if yes else 2 => 1
        1 if no else 2 => 2
        1 if no else 2 if no else 3 => 3
        yes ? 1 : 2 => 1
        no ? 1 : 2 => 2
        no ? 1 : no ? 2 : 3 => 3
        yes ? no ? 1 : 2 : 3 => 2
        limit > 50 ? 'big' : 'small' => 'big'
        yes ? [1, 2][0] : {'a': 1}['a'] => 1
        yes ? 1 : missing => 1
        yes?.5:1 => 0.5
        """
    ),
)
def test_logic(source: str, expected: str) -> None:
    check(source, expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    table(
        """
        order.total => 150
        order['total'] => 150
        order["a b"] => 1
        order.items[0].name => 'Desk'
        order.items[-1].name => 'Lamp'
        order.items.0.name => 'Desk'
        order.items.1.price => 50.0
        matrix.1.0 => 3
        matrix[1][0] => 3
        matrix[one][zero] => 3
        order[user.tier == 'gold' ? 'total' : 'x'] => 150
        user.name[0] => 'A'
        user.name[-1] => 'a'
        order.class => 'gold'
        order.in => 'keyword'
        größe => 7
        matrix[0][1:] => [2]
        'abcdef'[1:4] => 'bcd'
        'abcdef'[::-1] => 'fedcba'
        'abcdef'[::2] => 'ace'
        'abcdef'[:2] => 'ab'
        'abcdef'[10:] => ''
        [1, 2, 3][:-1] => [1, 2]
        len => 5
        len(order.items) => 2
        {'a': {'b': 2}}.a.b => 2
        [10, 20][1] => 20
        first(order.items).name => 'Desk'
        """
    ),
)
def test_paths(source: str, expected: str) -> None:
    check(source, expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    table(
        """
        [x.name for x in order.items] => ['Desk', 'Lamp']
        [x * 2 for x in [1, 2, 3] if x > 1] => [4, 6]
        [x for x in [1, 2, 3, 4] if x > 1 if x < 4] => [2, 3]
        [x * y for x in [1, 2] for y in [10, 20]] => [10, 20, 20, 40]
        [y for row in matrix for y in row] => [1, 2, 3, 4]
        [[y * 2 for y in row] for row in matrix] => [[2, 4], [6, 8]]
        {x.name: x.price for x in order.items} => {'Desk': 100.0, 'Lamp': 50.0}
        {k: v + 1 for k, v in items({'a': 1})} => {'a': 2}
        [i + x for i, x in enumerate([10, 20])] => [10, 21]
        [a + b for (a, b) in matrix] => [3, 7]
        [k for k in {'a': 1, 'b': 2}] => ['a', 'b']
        sum(x.price for x in order.items) => 150.0
        any(x.price > 90 for x in order.items) => True
        (x for x in [1]) => [1]
        [order for order in [1]] => [1]
        [limit for x in [1, 2]] => [100, 100]
        [x for x in (yes ? [1] : [2])] => [1]
        [x if x > 1 else 0 for x in [1, 2]] => [0, 2]
        [x for x in []] => []
        [t for x in order.items for t in x.tags] => ['wood']
        """
    ),
)
def test_comprehensions(source: str, expected: str) -> None:
    check(source, expected)


def test_variables_of_a_comprehension_end_with_it() -> None:
    assert value("[[x for x in [1]], x]", {"x": "outer"}) == [[1], "outer"]
    assert compile_expression("[x for x in xs] + [x]").names == {"xs", "x"}
    assert compile_expression("[x for x in xs]").names == {"xs"}


@pytest.mark.parametrize(
    ("source", "expected"),
    table(
        """
        ${limit} => 100
        ${order.total > limit} => True
        ${limit} + ${limit} => 200
        order[${'total'}] => 150
        ${order[${user.tier == 'gold' ? 'status' : 'x'}]} => 'PAID'
        """
    ),
)
def test_a_placeholder_inside_an_expression_is_a_bracket(source: str, expected: str) -> None:
    check(source, expected)


def test_the_value_of_an_inner_placeholder_is_never_read_as_text() -> None:
    env = {"outer": {"x['y']": "by key", "x": {"y": "by path"}}, "key": "x['y']"}
    assert value("${outer[${key}]}", env) == "by key"


def test_an_expression_may_have_several_lines() -> None:
    assert value("limit\n  > 50\nand\torder.total\n> 1") is True


@pytest.mark.parametrize(
    "source",
    [
        "true + 1", "1 + true", "true * 2", "-true", "+'a'", "1 + 'a'", "'a' + 1", "'a' - 'b'", "'a' % 2", "'%s' % 1",
        "[1] - [1]", "{} + {}", "null + 1", "'a' * 1.5", "'a' * true", "'a' * 'b'", "[1] * [1]", "2 ** 'a'",
        "1 < 'a'", "'a' < 1", "null < 1", "1 > null", "true < 2", "1 < true", "true > false", "[1] < [2]", "{} < {}",
        "1 in 5", "1 in null", "1 in 'abc'", "null in 'abc'", "true in 1.5",
        "1 / 0", "1 // 0", "1 % 0", "1.5 / 0", "0 ** -1", "(-8) ** 0.5", "1e308 * 10", "1e308 + 1e308",
        "10 ** 400 * 1.0",
        "'abc'.x", "limit.x", "yes.x", "matrix.x", "'abc'['x']", "limit[0]", "matrix['0']", "matrix[true]",
        "matrix[0.0]", "matrix[null]", "order[0]", "order[null]", "{1: 2}", "{null: 1}", "{x: 1 for x in [1]}",
        "limit[1:]", "order[1:]", "matrix['a':]", "matrix[::0]", "[x for x in 'abc']", "[x for x in 5]",
        "[x for x in null]", "[a for a, b in [1]]", "[a for a, b in ['xy']]", "[a for a, b in [[1]]]",
    ],
)  # fmt: skip
def test_wrong_types_fail_and_are_never_converted_silently(source: str) -> None:
    with pytest.raises(ExpressionFailed):
        value(source)


@pytest.mark.parametrize(
    "source",
    [
        "", "   ", "1 +", "+", "(", ")", "(1", "[1", "{'a'", "{'a': 1", "1 2", "a b", "a = 1", "a := 1", "x ? 1",
        "x ? 1 :", "1 if 2", "a.", "a..b", ".a", "a[]", "a[1", "a[1:2:3:4]", "a[1 2]", "'open", '"open', "'\\q'",
        "'\\ud800'", "007", "1__0", "0x1F", "1abc", "1e999", "a; b", "a, b", "lambda: 1", "lambda x: x", "{1, 2}",
        "{'a', 'b'}", "f'x'", "b'x'", "`x`", "a | b", "a & b", "a ^ b", "~a", "a << 1", "a -> b", "a => b", "a =~ 'x'",
        "@a", "#a", "a\\b", "a ? : b", "for", "in", "not", "if", "else", "and", "x for x in y", "[x for]",
        "[x for x]", "[x for x in]", "[for x in y]", "[x for x.y in z]", "[x for x[0] in z]", "[x for true in z]",
        "[x for x, x in z]", "[x async for x in y]", "await x", "yield x", "import os", "*a", "[*a]", "{**a}", "f(*a)",
        "f(**a)", "len(x=1)", "len()", "len(1, 2)", "round(1, places=1, places=2)", "round(1, number=2)",
        "sorted(reverse=true, [1])", "no_such(1)", "x.no_such()", "(1)(2)", "x[0](1)", "'a'()", "len(1)(2)", "x.0()",
        "}", "${", "${1", "1}", "in x", "1 in", "a not b", "a is", "a ??", "?? a", "a ?.", "!", "$x", "$", "a $ b",
        "\x00", "a\x00b", "\ud800", "a ;", "print 1", "<%= 1 %>", "#{1}", "{{ 1 }}", "a\u200bb", "１", "a²",
    ],
)  # fmt: skip
def test_bad_syntax_is_refused_when_it_is_compiled(source: str) -> None:
    with pytest.raises(ExpressionSyntax) as caught:
        compile_expression(source)
    assert caught.value.line is not None
    assert caught.value.column is not None
    assert "^" in caught.value.details["snippet"]


def test_an_expression_that_is_not_text_is_refused() -> None:
    with pytest.raises(ExpressionSyntax, match="is text, not int"):
        compile_expression(5)  # type: ignore[arg-type]


def test_names_are_exactly_the_keys_that_are_written() -> None:
    """Python folds full-width letters; here they are another name."""
    assert compile_expression("ｏｓ").names == {"ｏｓ"}
    assert value("ｏｓ", {"ｏｓ": 1, "os": 2}) == 1


def test_names_and_reads_tell_what_an_expression_looks_at() -> None:
    found = compile_expression("order.total > limit and user.tier in ('gold', 'silver') or x[y].z or a.b[0].c ?? d")
    assert found.names == {"order", "limit", "user", "x", "y", "a", "d"}
    assert found.reads == {
        ("order", "total"), ("limit",), ("user", "tier"), ("x",), ("y",), ("a", "b", 0, "c"), ("d",),
    }  # fmt: skip


def test_results_may_share_parts_with_the_environment_and_never_change_it() -> None:
    env = {"a": {"b": [1, 2]}}
    assert value("a.b", env) is env["a"]["b"]
    assert value("a.b + [3]", env) == [1, 2, 3]
    assert value("sorted(a.b, reverse=true)", env) == [2, 1]
    assert value("merge(a, {'c': 1})", env) == {"b": [1, 2], "c": 1}
    assert env == {"a": {"b": [1, 2]}}


def test_literals_are_new_in_every_evaluation() -> None:
    found = compile_expression("[{'a': []}]")
    first = found.evaluate({})
    first[0]["a"].append(1)
    assert found.evaluate({}) == [{"a": []}]
