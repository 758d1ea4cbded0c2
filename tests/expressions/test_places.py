"""Errors say where: line, column and a caret under the place in the text that was written."""

import pytest

from perdure.errors import ExpressionError
from perdure.expressions import check_expression, compile_expression
from perdure.expressions.places import line_and_column, nearest, offset_of, snippet


def fault(source: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source).evaluate({"order": {"total": 1}, "name": "Ada"})
    return caught.value


@pytest.mark.parametrize(
    ("source", "line", "column", "under"),
    [
        ("order.totl > 5", 1, 7, "totl"),
        ("1 + ordr.total", 1, 5, "ordr"),
        ("order.total +\n  name", 1, 1, "order.total +"),
        ("true &&\n  order.totl", 2, 9, "totl"),
        ("true ?\n 1 :\n 2 3", 3, 4, "3"),
        ("!order || $", 1, 11, "$"),
        ("a === 'x' && (b", 1, 16, ""),
        ("no_such(1)", 1, 1, "no_such"),
        ("name.no_such()", 1, 6, "no_such"),
        ("[1, 2, 3 4]", 1, 10, "4"),
        ("'abc", 1, 1, "'abc"),
        ("1 / (order.total - 1)", 1, 1, "1 / (order.total - 1)"),
        ("[x.y for x in [{'z': 1}]]", 1, 4, "y"),
        ("name + upper(5)", 1, 8, "upper(5)"),
        ("'ü' + ordr", 1, 7, "ordr"),
    ],
)
def test_line_column_and_caret(source: str, line: int, column: int, under: str) -> None:
    found = fault(source)
    assert (found.line, found.column) == (line, column)
    text, carets = found.details["snippet"].split("\n")
    start = carets.index("^")
    assert text[start : start + carets.count("^")] == under
    assert found.source == source
    assert found.as_dict()["line"] == line


def test_positions_are_those_of_the_original_text_after_pasted_operators() -> None:
    """`&&` and `? :` are not rewritten to anything of another length."""
    assert fault("order.total === 1 && !false && (true ? ordr : 2)").column == 40


def test_a_long_line_is_cut_around_the_place() -> None:
    source = "1 + " * 100 + "ordr" + " + 1" * 100
    text, carets = fault(source).details["snippet"].split("\n")
    assert len(text) <= 110
    start = carets.index("^")
    assert text[start : start + 4] == "ordr"


def test_messages_name_kinds_and_keys_but_no_values() -> None:
    found = fault("name + order.total")
    assert found.message == "text and a number cannot be added: `name + order.total`"
    assert "Ada" not in str(found.as_dict())


def test_place_and_offset_are_inverse() -> None:
    source = "ab\ncd\n\nef"
    for offset in range(len(source) + 1):
        assert offset_of(source, *line_and_column(source, offset)) == offset


def test_a_snippet_is_one_line_and_its_carets() -> None:
    assert snippet("ab\ncd ef\ngh", 6, 8) == "cd ef\n   ^^"
    assert snippet("", 0, 0) == "\n^"


@pytest.mark.parametrize(
    ("wanted", "keys", "meant"),
    [
        ("totl", ["x", "total"], "total"),
        ("order_id", ["orderId"], "orderId"),
        ("ORDER-ID", ["order_id"], "order_id"),
        ("toatl", ["total"], "total"),
        ("totals", ["total"], "total"),
        ("tital", ["total"], "total"),
        ("ab", ["cd", "ac"], None),
        ("total", ["amount"], None),
        ("total", [1, None, "total"], None),
    ],
)
def test_the_nearest_key_is_one_slip_away(wanted: str, keys: list[object], meant: str | None) -> None:
    assert nearest(wanted, keys) == meant


def test_check_expression_lists_problems_and_never_raises() -> None:
    assert check_expression("order.total > 5") == []
    found = check_expression("no_such(len()) + other(1)")
    assert [(each.code, each.line, each.column) for each in found] == [
        ("EXPRESSION_SYNTAX", 1, 1),
        ("EXPRESSION_SYNTAX", 1, 9),
        ("EXPRESSION_SYNTAX", 1, 18),
    ]
    assert check_expression("lenn(x)")[0].remedy == "did you mean 'len'?"
    assert check_expression("(" * 1000)[0].code == "EXPRESSION_LIMIT"
    assert check_expression(None)[0].code == "EXPRESSION_SYNTAX"  # type: ignore[arg-type]
