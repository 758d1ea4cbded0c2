"""Expressions by the rules of the Go library gval, in which Yantra's conditions are written."""

from typing import Any

import pytest

from perdure.errors import ExpressionError, ExpressionFailed, ExpressionSyntax
from perdure.expressions import check_expression, compile_expression

DATA: dict[str, Any] = {
    "id": 4, "name": "Ada", "age": "30", "xs": [1, 2], "minus": -3, "user": {"active": True, "tags": ["a"]},
    "none": None, "mail": "ada@example.com", "price": 1.5, "day": "2026-03-01",
}  # fmt: skip


def value(source: str) -> Any:
    return compile_expression(source, missing="gval").evaluate(DATA)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("id % 2 == 0", True), ("minus % 2", -1), ("minus % 2.5", -0.5), ("2 ** 3", 8), ("id / 8", 0.5),
        ("id - 1 == 3", True), ("name + ' ' + id", "Ada 4"), ("id + '!'", "4!"), ("id + 1", 5), ("'a' + 'b'", "ab"),
        ("price + 'x'", "1.5x"), ("user.active + ''", "true"),
        ("age < 40", True), ("age > 40", False), ("age * 2", 60), ("'a' < 'b'", True), ("1 < id < age", True),
        ("0 < (id - 3) <= 1", True), ("age >= 30", True), ("age <= '4'", True),
        ("id == 4.0", True), ("age == 30", False), ("age == '30'", True), ("user == user", True),
        ("missing == nil", True), ("missing.a.b == nil", True), ("name.a == nil", True), ("none == nil", True),
        ("missing != nil", False), ("id != nil", True), ("missing ?? 'x'", "x"), ("!user.active", False),
        ("user.active && id == 4", True), ("missing == 1 || id == 4", True), ("id > 3 ? 'more' : 'less'", "more"),
        ("name === 'Ada'", True), ("name !== 'Ada'", False), ("1 in xs", True), ("3 in xs", False),
        ("1 in missing", False), ("1 not in missing", True), ("'a' in user.tags", True), ("'active' in user", True),
        ("contains(name, 'da')", True), ("contains(xs, 2)", True), ("contains(missing, 2)", False),
        ("contains(mail, 'example')", True), ("contains('a42', 42)", True), ("xs[1] == 2", True),
        ("user['active'] == true", True), ("date('2026-02-28') < date(day)", True),
        ("name =~ '^A.a$'", True), ("name =~ 'd'", True), ("name =~ '^d'", False), ("name !~ '[0-9]'", True),
        ("name =~ '^\\\\w+$'", True), ("mail =~ '^[\\\\w.-]+@[^@\\\\s]+\\\\.(?:com|org)$'", True),
        ("'a-1' =~ '\\\\d'", True), ("'ab' =~ '^\\\\D+?$'", True), ("'a/b' =~ 'a\\\\/b'", True),
        ("'5$' =~ '\\\\$$'", True), ("'x]' =~ '[]x]+$'", True), ("'[' =~ '[[]'", True),
    ],
)  # fmt: skip
def test_operators_do_what_they_do_in_gval(source: str, expected: Any) -> None:
    found = value(source)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "source", ["missing < 1", "user - 1", "id / 0", "id =~ 'a'", "name =~ id", "user < id", "-name"]
)
def test_what_has_no_value_fails(source: str) -> None:
    with pytest.raises(ExpressionError):
        value(source)


@pytest.mark.parametrize("source", ["name =~ '(?i)ada'", "name =~ '\\\\bA'", "name =~ '('", "name !~ '[\\\\D]'"])
def test_a_pattern_that_cannot_be_matched_in_linear_time_is_refused_when_it_is_compiled(source: str) -> None:
    with pytest.raises(ExpressionSyntax):
        compile_expression(source, missing="gval")
    assert check_expression(source, missing="gval")


def test_a_pattern_that_is_computed_and_cannot_be_used_fails_when_it_is_asked() -> None:
    with pytest.raises(ExpressionError):
        value("name =~ ('(' + '')")


def test_a_pattern_made_to_take_for_ever_takes_no_time() -> None:
    bad = compile_expression("text =~ '^(a+)+$'", missing="gval")
    assert bad.evaluate({"text": "a" * 20_000 + "b"}) is False


@pytest.mark.parametrize("source", ["a =~ 'x'", "a !~ 'x'"])
def test_elsewhere_there_are_no_patterns(source: str) -> None:
    with pytest.raises(ExpressionSyntax) as caught:
        compile_expression(source)
    assert caught.value.remedy is not None


def test_elsewhere_text_and_numbers_are_not_added() -> None:
    with pytest.raises(ExpressionFailed):
        compile_expression("'a' + 1", missing="null").evaluate({})
