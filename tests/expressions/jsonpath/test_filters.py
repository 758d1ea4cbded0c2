"""What filters think of values: comparisons, existence, logic and functions of RFC 9535."""

from typing import Any

import pytest

from perdure.expressions.jsonpath import compile_jsonpath


def holds(test: str, value: Any, root: Any = None) -> bool:
    """Whether `value` passes the test, as an item of a list and as a member of an object alike."""
    document = {"root": root, "list": [value], "object": {"member": value}}
    in_list = compile_jsonpath(f"$.list[?{test}]").find(document) == [value]
    in_object = compile_jsonpath(f"$.object[?{test}]").nodes(document) == [("$['object']['member']", value)]
    assert in_list is in_object
    return in_list


# What the RFC calls Nothing is `@.none` here: a query that finds nothing.
OPERANDS = ["@.none", "null", "true", "false", "1", "1.0", "2", "'a'", "'b'", "'1'", "@.list", "@.other", "@.object"]
VALUE = {"list": [1], "other": [1, 2], "object": {"x": [1.0, None]}, "twin": {"x": [1, None]}}
EQUAL = {("1", "1.0"), ("1.0", "1")}
LESS = {("1", "2"), ("1.0", "2"), ("'1'", "'a'"), ("'1'", "'b'"), ("'a'", "'b'")}


@pytest.mark.parametrize("left", OPERANDS)
@pytest.mark.parametrize("right", OPERANDS)
def test_every_kind_is_compared_with_every_kind(left: str, right: str) -> None:
    equal = left == right or (left, right) in EQUAL
    less, greater = (left, right) in LESS, (right, left) in LESS
    assert holds(f"{left} == {right}", VALUE) is equal
    assert holds(f"{left} != {right}", VALUE) is not equal
    assert holds(f"{left} < {right}", VALUE) is less
    assert holds(f"{left} > {right}", VALUE) is greater
    assert holds(f"{left} <= {right}", VALUE) is (less or equal)
    assert holds(f"{left} >= {right}", VALUE) is (greater or equal)


TRUE: list[tuple[str, Any]] = [
    # equality is deep and typed
    ("@.object == @.twin", VALUE),
    ("@.a == @.b", {"a": {"x": 1, "y": [2]}, "b": {"y": [2.0], "x": 1}}),
    ("@.a != @.b", {"a": [1, 2], "b": [2, 1]}),
    ("@.a != @.b", {"a": {"x": 1}, "b": {"x": 1, "y": 1}}),
    ("@.a != @.b", {"a": {}, "b": []}),
    ("@.a != @.b", {"a": [], "b": ""}),
    ("@.a != @.b", {"a": 0, "b": False}),
    ("@.a != @.b", {"a": 1, "b": True}),
    ("@.a != @.b", {"a": None, "b": 0}),
    ("@.a == @.b", {}),
    ("@.a != @.b", {"a": None}),
    ("@.a == null", {"a": None}),
    ("@ == 1", 1),
    ("@ == 'é'", "é"),
    ("@ != 'é'", "e\u0301"),
    # numbers
    ("@ == 1e2", 100),
    ("@ == 1E+2", 100),
    ("@ == 100e-2", 1),
    ("@ == -0", 0),
    ("@ == -0.0", 0),
    ("@ == 0.0e5", 0),
    ("@ == -1.5", -1.5),
    ("@ == 9007199254740993", 9007199254740993),
    ("@ != 9007199254740992", 9007199254740993),
    ("@ < 1.5", 1),
    ("@ >= -0.5", -0.5),
    # text is ordered by code points
    ("@ < 'b'", "a"),
    ("@ < 'a'", "Z"),
    ("@ > 'Z'", "a"),
    ("@ < 'ab'", "a"),
    ("@ < 'a'", ""),
    ("@ > '\uffff'", "😀"),
    # existence
    ("@.a", {"a": None}),
    ("@.a", {"a": False}),
    ("@.a", {"a": 0}),
    ("!@.a", {"b": 1}),
    ("@", None),
    ("@[0]", [None]),
    ("!@[1]", [None]),
    ("@.*", [0]),
    ("!@.*", []),
    ("!@.*", 1),
    ("@..a", [{"a": 0}]),
    ("!@..b", [{"a": 0}]),
    ("@[?@ > 1]", [1, 2]),
    ("!@[?@ > 2]", [1, 2]),
    ("@['a','b']", {"b": 1}),
    ("@[1:]", [1, 2]),
    # logic
    ("@.a && @.b", {"a": 1, "b": 1}),
    ("@.a || @.b", {"b": 1}),
    ("@.a || @.b && @.c", {"a": 1}),
    ("!(@.a && @.b)", {"a": 1}),
    ("!(@.a || @.b)", {}),
    ("(@.a || @.b) && @.c", {"b": 1, "c": 1}),
    ("((@.a))", {"a": 1}),
    ("!(!(@.a))", {"a": 1}),
    ("! @.b && ! ( @.c )", {"a": 1}),
    ("@.a == 1 && @.b == 2 || @.c == 3 && @.d == 4", {"c": 3, "d": 4}),
    ("@.a&&@.b||@.c", {"c": 1}),
    # length
    ("length(@) == 3", "abc"),
    ("length(@) == 2", "é😀"),
    ("length(@) == 2", [1, [2, 3]]),
    ("length(@) == 1", {"a": {"b": 1}}),
    ("length(@) == 0", ""),
    ("length('abc') == 3", None),
    ("length(@.none) == @.none", {}),
    ("length(@) == @.none", 1),
    ("length(@) == length(null)", True),
    ("length(@) == length(value(@.none))", None),
    ("length(value(@.*)) == 2", ["ab"]),
    # count
    ("count(@.*) == 2", [1, 2]),
    ("count(@..*) == 3", [1, [2]]),
    ("count(@.none) == 0", {}),
    ("count(@['a','a']) == 2", {"a": 1}),
    ("count(@) == 1", None),
    # value
    ("value(@..x) == 1", {"a": {"x": 1}}),
    ("value(@.*) == @.none", [1, 1]),
    ("value(@.none) == @.none", {}),
    ("value(@.none) != null", {}),
    # match and search
    ("match(@, 'a.c')", "abc"),
    ("!match(@, 'a.c')", "xabc"),
    ("!match(@, 'a.c')", "a\nc"),
    ("search(@, 'a.c')", "xabcx"),
    ("!search(@, 'a.c')", "ac"),
    ("match(@, '[0-9]{4}-[0-9]{2}')", "2026-11"),
    (r"match(@, '\\p{Lu}+')", "ÄÖ"),
    ("!match(@, 'a')", None),
    ("!match(@, 'a')", ["a"]),
    ("!match(@.none, 'a')", {}),
    ("!match('a', 1)", None),
    ("!match('a', @.none)", {}),
    ("match(@.text, @.pattern)", {"text": "aab", "pattern": "a+b"}),
    ("!match(@.text, @.pattern)", {"text": "aab", "pattern": 5}),
    ("!match(@.text, @.pattern)", {"text": "aab", "pattern": "("}),
    ("!match('(', '(')", None),
    ("!search('a', '*')", None),
    ("match(value(@.*), 'x')", ["x"]),
    ("search(@, '^ab')", "abc"),
    ("!search(@, '^bc')", "abc"),
    # functions in conditions
    ("length(@) < 4 && match(@, '.*')", "abc"),
    ("!(length(@) > 4) || search(@, 'z')", "abc"),
    ("count(@[?length(@) > 1]) == 1", ["a", "bb"]),
    ("count( @.* ) == length( 'ab' )", [1, 2]),
]
FALSE: list[tuple[str, Any]] = [
    ("@.a", {"b": 1}),
    ("!@.a", {"a": None}),
    ("!@", None),
    ("@.a.b", {"a": 1}),
    ("@.a == @.b", {"a": None}),
    ("@.a && @.b", {"a": 1}),
    ("@.a || @.b && @.c", {"b": 1}),
    ("@ < true", False),
    ("@ <= @.none", None),
    ("@ < 1", "0"),
    ("@ > 1", [2]),
    ("match(@, '')", "a"),
    ("length(@) >= 0", 5),
    ("length(@) < 99", None),
    ("count(@.*) > 0", []),
]


@pytest.mark.parametrize(("test", "value"), TRUE, ids=lambda part: str(part)[:40])
def test_it_holds(test: str, value: Any) -> None:
    assert holds(test, value)


@pytest.mark.parametrize(("test", "value"), FALSE, ids=lambda part: str(part)[:40])
def test_it_does_not_hold(test: str, value: Any) -> None:
    assert not holds(test, value)


def test_and_binds_tighter_than_or() -> None:
    for a in (0, 1):
        for b in (0, 1):
            for c in (0, 1):
                value = {"a": a, "b": b, "c": c}
                assert holds("@.a == 1 || @.b == 1 && @.c == 1", value) is bool(a or (b and c))
                assert holds("@.a == 1 && @.b == 1 || @.c == 1", value) is bool((a and b) or c)
                assert holds("(@.a == 1 || @.b == 1) && @.c == 1", value) is bool((a or b) and c)


def test_the_root_is_visible_in_filters_at_any_depth() -> None:
    document = {"limit": 2, "rows": [[1, 2, 3], [4]]}
    assert compile_jsonpath("$.rows[*][?@ > $.limit]").find(document) == [3, 4]
    assert compile_jsonpath("$.rows[?@[?@ > $.limit && @ < $.rows[1][0]]]").find(document) == [[1, 2, 3]]


def test_the_current_value_of_an_inner_filter_is_the_inner_one() -> None:
    document = [{"a": 1, "b": [{"a": 2}]}, {"a": 2, "b": [{"a": 1}]}]
    assert compile_jsonpath("$[?@.b[?@.a == 2]].a").find(document) == [1]


def test_filters_apply_to_items_and_members_and_to_nothing_else() -> None:
    assert compile_jsonpath("$[?@ > 1]").nodes([1, 2]) == [("$[1]", 2)]
    assert compile_jsonpath("$[?@ > 1]").nodes({"a": 1, "b": 2}) == [("$['b']", 2)]
    assert compile_jsonpath("$[?@ != 5]").find("text") == []
    assert compile_jsonpath("$[?@.a]").find({"a": 1}) == []


def test_several_filters_in_one_bracket_find_values_twice() -> None:
    assert compile_jsonpath("$[?@ > 1, ?@ < 3, 0]").find([1, 2, 3]) == [2, 3, 1, 2, 1]


def test_a_pattern_from_the_document_is_read_for_each_value() -> None:
    document = [{"p": "a+", "t": "aa"}, {"p": "b", "t": "aa"}, {"p": "[", "t": "["}]
    assert compile_jsonpath("$[?match(@.t, @.p)].p").find(document) == ["a+"]
