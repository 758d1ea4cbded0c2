"""Queries that are not well formed or not well typed: each is refused when it is compiled, with its place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import ExpressionError, ExpressionSyntax
from perdure.expressions.jsonpath import compile_jsonpath
from perdure.expressions.jsonpath.functions import FUNCTIONS, Function

# query: the column, and a part of the message or of what is expected
MISTAKES: dict[str, tuple[int, str]] = {
    # the query as a whole
    "": (1, "$, with which every query begins"),
    " $": (1, "$, with which"),
    "$ ": (2, "no blanks"),
    "$.a\n": (4, "no blanks"),
    "a": (1, "$, with which"),
    "@.a": (1, "$, with which"),
    ".a": (1, "$, with which"),
    "$a": (2, "a segment"),
    "$$": (2, "a segment"),
    "$.a b": (5, "a segment"),
    "$.a)": (4, "a segment"),
    "$\u00a0.a": (2, "a segment"),
    # segments
    "$.": (3, "ends too early"),
    "$..": (4, "ends too early"),
    "$.a.": (5, "a name or *"),
    "$...a": (4, "a name, * or ["),
    "$. a": (3, "a name or *"),
    "$.. a": (4, "a name, * or ["),
    "$.1": (3, "a name or *"),
    "$.-a": (3, "a name or *"),
    "$.a-b": (4, "a segment"),
    "$.'a'": (3, "a name or *"),
    "$.[0]": (3, "a name or *"),
    "$.$": (3, "a name or *"),
    "$.*a": (4, "a segment"),
    "$.**": (4, "a segment"),
    "$.a.(b)": (5, "a name or *"),
    # brackets
    "$[": (3, "ends too early"),
    "$[]": (3, "a selector"),
    "$[ ]": (4, "a selector"),
    "$[,]": (3, "a selector"),
    "$[0,]": (5, "a selector"),
    "$[0": (4, "a comma or ]"),
    "$[0 1]": (5, "a comma or ]"),
    "$[a]": (3, "a selector"),
    "$[$.a]": (3, "a selector"),
    "$['a' 'b']": (7, "a comma or ]"),
    "$[0]]": (5, "a segment"),
    "$[(0)]": (3, "a selector"),
    "$[.a]": (3, "a selector"),
    "$['a'.b]": (6, "a comma or ]"),
    # whole numbers
    "$[-0]": (3, "-0 is not an index"),
    "$[01]": (3, "begin with 0"),
    "$[-01]": (3, "begin with 0"),
    "$[+1]": (3, "a selector"),
    "$[- 1]": (3, "behind the sign"),
    "$[1.0]": (4, "a comma or ]"),
    "$[1e0]": (4, "a comma or ]"),
    "$[9007199254740992]": (3, "too large"),
    "$[-9007199254740992]": (3, "too large"),
    "$[" + "9" * 5000 + "]": (3, "too large"),
    "$[٣]": (3, "a selector"),
    # slices
    "$[1:2:3:4]": (8, "a comma or ]"),
    "$[:::]": (5, "a comma or ]"),
    "$[1:a]": (5, "a comma or ]"),
    "$['a':]": (6, "a comma or ]"),
    "$[:-0]": (4, "-0 is not"),
    "$[::01]": (5, "begin with 0"),
    "$[:9007199254740992]": (4, "too large"),
    "$[1 2:]": (5, "a comma or ]"),
    "$[1:2 3]": (7, "a comma or ]"),
    # text
    "$['a": (3, "not closed"),
    "$['a\"]": (3, "not closed"),
    "$['a\\']": (3, "not closed"),
    "$['\n']": (4, "U+000A"),
    "$['\t']": (4, "U+0009"),
    "$['\x1f']": (4, "U+001F"),
    "$['\\\"']": (4, "not an escape"),
    '$["\\\'"]': (4, "not an escape"),
    "$['\\a']": (4, "not an escape"),
    "$['\\x41']": (4, "not an escape"),
    "$['\\0']": (4, "not an escape"),
    "$['\\U0041']": (4, "not an escape"),
    "$['\\u']": (4, "four hexadecimal digits"),
    "$['\\u00g0']": (4, "four hexadecimal digits"),
    "$['\\u{41}']": (4, "four hexadecimal digits"),
    "$['\\ud800']": (4, "surrogate pair"),
    "$['\\udc00']": (4, "surrogate pair"),
    "$['\\ud800x']": (4, "surrogate pair"),
    "$['\\ud800\\n']": (4, "surrogate pair"),
    "$['\\ud800\\ud800']": (4, "surrogate pair"),
    "$['\\udc00\\ud800']": (4, "surrogate pair"),
    "$['\ud800']": (4, "is not text"),
    "$['\0']": (4, "is not text"),
    # filters
    "$[?]": (4, "a query (@ or $), a literal or a function"),
    "$[?@.a": (7, "an operator, a comma or ]"),
    "$[?@.a=1]": (7, "an operator"),
    "$[?@.a===1]": (9, "a query (@ or $)"),
    "$[?@.a<>1]": (8, "a query (@ or $)"),
    "$[?@.a & @.b]": (8, "an operator"),
    "$[?@.a and @.b]": (8, "an operator"),
    "$[?@.a == 1 == 1]": (13, "an operator"),
    "$[?1 < @.a < 2]": (12, "an operator"),
    "$[?@.a ==]": (10, "a query (@ or $)"),
    "$[?== 1]": (4, "a query (@ or $)"),
    "$[?@.a &&]": (10, "a query (@ or $)"),
    "$[?|| @.a]": (4, "a query (@ or $)"),
    "$[?!]": (5, "a query (@ or $)"),
    "$[?!!@.a]": (5, "a query (@ or $)"),
    "$[?@.a == b]": (11, "'b' has no meaning"),
    "$[?@.a == True]": (11, "a query (@ or $)"),
    "$[?@.a == [1]]": (11, "a query (@ or $)"),
    "$[?@.a == {}]": (11, "a query (@ or $)"),
    "$[?@.a + 1 == 2]": (8, "an operator"),
    "$[?(@.a]": (8, "an operator or )"),
    "$[?(@.a))]": (9, "an operator"),
    "$[?()]": (5, "a query (@ or $)"),
    "$[?@a]": (5, "an operator"),
    "$[?@.a in @.b]": (8, "an operator"),
    # what may be compared
    "$[?true]": (4, "must be compared"),
    "$[?'a']": (4, "must be compared"),
    "$[?1]": (4, "must be compared"),
    "$[?null && @.a]": (4, "must be compared"),
    "$[?@.a || 1]": (11, "must be compared"),
    "$[?(1)]": (5, "must be compared"),
    "$[?!true]": (5, "must be compared"),
    "$[?@.* == 1]": (4, "several values"),
    "$[?1 == @.*]": (9, "several values"),
    "$[?@..a == 1]": (4, "several values"),
    "$[?@[0,1] == 1]": (4, "several values"),
    "$[?@[0:1] == 1]": (4, "several values"),
    "$[?@[?@.a] == 1]": (4, "several values"),
    "$[?$.*.a == 1]": (4, "several values"),
    "$[?@[ 'a' ] == 1]": (4, "no blanks"),
    "$[?@[0 ] == 1]": (4, "no blanks"),
    "$[?length(@[ 0]) == 1]": (11, "no blanks"),
    "$[?!@.a == 1]": (5, "! is about"),
    "$[?(@.a) == 1]": (4, "brackets hold"),
    "$[?@.a == (1)]": (11, "a query (@ or $)"),
    "$[?!(@.a) == false]": (5, "! is about"),
    # numbers
    "$[?@ == 01]": (9, "begin with 0"),
    "$[?@ == -01]": (9, "begin with 0"),
    "$[?@ == 00.1]": (9, "begin with 0"),
    "$[?@ == +1]": (9, "a query (@ or $)"),
    "$[?@ == .5]": (9, "a query (@ or $)"),
    "$[?@ == 1.]": (10, "an operator"),
    "$[?@ == 1.e1]": (10, "an operator"),
    "$[?@ == 1e]": (10, "an operator"),
    "$[?@ == -]": (9, "behind the sign"),
    "$[?@ == 0x1]": (10, "an operator"),
    "$[?@ == 1_000]": (10, "an operator"),
    "$[?@ == 1e999]": (9, "too large"),
    "$[?@ == NaN]": (9, "a query (@ or $)"),
    # functions
    "$[?unknown(@)]": (4, "there is no function 'unknown'"),
    "$[?Length(@) == 1]": (4, "a query (@ or $)"),
    "$[?length (@) == 1]": (4, "without blanks"),
    "$[?length == 1]": (4, "length is a function"),
    "$[?length(@ == 1]": (11, "takes a value here"),
    "$[?length(@, ) == 1]": (14, "a query (@ or $)"),
    "$[?length(,) == 1]": (11, "a query (@ or $)"),
    "$[?length() == 1]": (4, "takes 1 argument, not 0"),
    "$[?length(@, @) == 1]": (14, "takes only 1 argument"),
    "$[?match(@) ]": (4, "takes 2 arguments, not 1"),
    "$[?match(@, 'a', 'b')]": (18, "takes only 2 arguments"),
    "$[?length(@)]": (4, "must be compared"),
    "$[?!count(@.*)]": (5, "must be compared"),
    "$[?@.a && value(@.*)]": (11, "must be compared"),
    "$[?match(@, 'a') == true]": (4, "true or false and no value"),
    "$[?true == search(@, 'a')]": (12, "true or false and no value"),
    "$[?length(@.*) == 1]": (11, "several values"),
    "$[?length(@.a == 1) == 1]": (11, "not a condition"),
    "$[?length(@.a && @.b) == 1]": (11, "not a condition"),
    "$[?length(!@.a) == 1]": (11, "not a condition"),
    "$[?length((@.a)) == 1]": (11, "not a condition"),
    "$[?length(match(@, 'a')) == 1]": (11, "true or false and no value"),
    "$[?count(1) == 1]": (10, "takes what a query finds"),
    "$[?count('a') == 1]": (10, "takes what a query finds"),
    "$[?count(length(@)) == 1]": (10, "takes what a query finds"),
    "$[?count(@.a == 1) == 1]": (10, "takes what a query finds"),
    "$[?count((@.*)) == 1]": (10, "takes what a query finds"),
    "$[?value(true) == 1]": (10, "takes what a query finds"),
    "$[?match(@.*, 'a')]": (10, "several values"),
    "$[?match(@, @..a)]": (13, "several values"),
}


@pytest.mark.parametrize("query", MISTAKES, ids=lambda query: ascii(query)[:40])
def test_it_is_refused_with_its_place(query: str) -> None:
    column, told = MISTAKES[query]
    with pytest.raises(ExpressionSyntax) as caught:
        compile_jsonpath(query)
    fault = caught.value
    assert told in f"{fault.message} {fault.expected}"
    assert fault.line == 1
    assert fault.column == column
    assert fault.code == "EXPRESSION_SYNTAX"
    fault.details["snippet"].encode()


def test_lines_are_counted() -> None:
    with pytest.raises(ExpressionSyntax) as caught:
        compile_jsonpath("$.a\n .b\n [?@.c = 1]")
    assert (caught.value.line, caught.value.column) == (3, 8)
    assert caught.value.as_dict()["snippet"] == " [?@.c = 1]\n       ^"


def test_operators_of_other_languages_are_told_apart() -> None:
    for query, remedy in {
        "$[?@.a = 1]": "==",
        "$[?@.a and @.b]": "&&",
        "$[?(@.a | @.b)]": "||",
        "$[name]": "quotes",
        "$.0": "[0]",
        "$[?@.* == 1]": "value(…)",
    }.items():
        with pytest.raises(ExpressionSyntax) as caught:
            compile_jsonpath(query)
        assert remedy in (caught.value.remedy or "")


def test_only_text_is_a_query() -> None:
    others: list[Any] = [5, None, ["$"], {}]
    for other in others:
        with pytest.raises(ExpressionSyntax, match=f"text, not {type(other).__name__}"):
            compile_jsonpath(other)


@given(st.text(alphabet="$@.*[](){}'\"?!&|=<>,:-+ 0159abelngthcou\\u\n", max_size=25), st.booleans())
def test_every_text_is_a_query_or_a_mistake_with_a_place(text: str, rooted: bool) -> None:
    source = f"$[?{text}]" if rooted else text
    column = 1
    try:
        assert compile_jsonpath(source).find([{"a": 1}, 2]) is not None
    except ExpressionError as fault:
        column = (fault.column or 0) if fault.line else 0
    assert 1 <= column <= len(source) + 1


# -- types that no function of the RFC uses today ----------------------------------------------------------------------


@pytest.fixture
def more_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FUNCTIONS, "known", Function("known", ("logical",), "logical", lambda run, truth: truth))
    monkeypatch.setitem(FUNCTIONS, "same", Function("same", ("nodes",), "nodes", lambda run, nodes: nodes))


@pytest.mark.usefixtures("more_functions")
@pytest.mark.parametrize(
    "test",
    [
        "known(@.a)",
        "known(@.*)",
        "known(@.a == 1)",
        "known(!@.b && (@.a))",
        "known(match('a', 'a'))",
        "known(same(@.*))",
        "same(@.*)",
        "!same(@.b)",
        "count(same(@.*)) == 1",
        "value(same(same(@.a))) == 1",
    ],
)
def test_functions_may_take_conditions_and_give_nodes(test: str) -> None:
    assert compile_jsonpath(f"$[?{test}]").find([{"a": 1}]) == [{"a": 1}]


@pytest.mark.usefixtures("more_functions")
@pytest.mark.parametrize(
    "test",
    ["known(1)", "known('a')", "known(length(@))", "known(@.a) == true", "same(@.a) == 1", "length(same(@.a)) == 1"],
)
def test_such_functions_are_checked_too(test: str) -> None:
    with pytest.raises(ExpressionSyntax):
        compile_jsonpath(f"$[?{test}]")
