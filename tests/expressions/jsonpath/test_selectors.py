"""What queries find: segments and selectors of RFC 9535, rule by rule, each with its normalized paths."""

import json
from types import MappingProxyType
from typing import Any

import pytest

from perdure.expressions.jsonpath import compile_jsonpath

SHOP: Any = {
    "goods": [
        {"kind": "lamp", "maker": "Ikaro", "price": 19},
        {"kind": "desk", "maker": "Orbis", "price": 240.5, "code": "D-1"},
        {"kind": "lamp", "maker": "Orbis", "price": 8.25, "code": "L-7"},
    ],
    "owner": {"name": "Ada", "price": None},
}

# query, document, what is found: normalized path and value
FOUND: dict[str, tuple[str, Any, list[tuple[str, Any]]]] = {
    # the root
    "the root": ("$", {"k": "v"}, [("$", {"k": "v"})]),
    "the root of a scalar": ("$", 7, [("$", 7)]),
    "the root is null": ("$", None, [("$", None)]),
    # names
    "a name": ("$.a", {"a": 1, "b": 2}, [("$['a']", 1)]),
    "a name in single quotes": ("$['a']", {"a": 1}, [("$['a']", 1)]),
    "a name in double quotes": ('$["a"]', {"a": 1}, [("$['a']", 1)]),
    "a name whose value is null": ("$.a", {"a": None}, [("$['a']", None)]),
    "a name that is not there": ("$.c", {"a": 1}, []),
    "a name in a list": ("$.a", [1], []),
    "a name in text": ("$.a", "abc", []),
    "digits in quotes are a name": ("$['0']", {"0": 1}, [("$['0']", 1)]),
    "digits in quotes are no index": ("$['0']", [1], []),
    "the empty name": ("$['']", {"": 1}, [("$['']", 1)]),
    "names with dots and brackets": ("$['a.b[c]']", {"a.b[c]": 1}, [("$['a.b[c]']", 1)]),
    "names in a row": ("$.a['b'].c", {"a": {"b": {"c": 1}}}, [("$['a']['b']['c']", 1)]),
    "names are case sensitive": ("$.A", {"a": 1}, []),
    "names with underscores and digits": ("$._a1", {"_a1": 1}, [("$['_a1']", 1)]),
    "names beyond ASCII": ("$.é中😀", {"é中😀": 1}, [("$['é中😀']", 1)]),
    "keywords are names": (
        "$.true.null.length",
        {"true": {"null": {"length": 1}}},
        [("$['true']['null']['length']", 1)],
    ),
    "names are not normalized": ("$['\u00e9']", {"e\u0301": 1}, []),
    "names are no attributes": ("$.__class__", {"a": 1}, []),
    # indexes
    "an index": ("$[1]", ["a", "b"], [("$[1]", "b")]),
    "an index from the end": ("$[-2]", ["a", "b"], [("$[0]", "a")]),
    "an index outside": ("$[2]", ["a", "b"], []),
    "an index outside at the front": ("$[-3]", ["a", "b"], []),
    "an index in an object": ("$[0]", {"0": 1}, []),
    "an index in text": ("$[0]", "abc", []),
    "the largest index": ("$[9007199254740991]", [1], []),
    "the smallest index": ("$[-9007199254740991]", [1], []),
    # wildcards
    "all members": ("$.*", {"a": 1, "b": [2]}, [("$['a']", 1), ("$['b']", [2])]),
    "all items": ("$[*]", ["a", "b"], [("$[0]", "a"), ("$[1]", "b")]),
    "all of nothing": ("$.*", [], []),
    "all of a scalar": ("$.*", 1, []),
    "all of text": ("$[*]", "ab", []),
    "all of all": ("$.*.*", {"a": [1], "b": {"c": 2}}, [("$['a'][0]", 1), ("$['b']['c']", 2)]),
    # several selectors
    "two names": ("$['b','a']", {"a": 1, "b": 2}, [("$['b']", 2), ("$['a']", 1)]),
    "the same twice": ("$[0,0]", [7], [("$[0]", 7), ("$[0]", 7)]),
    "all kinds at once": (
        "$[0, -1, 1:3, 'a', *]",
        [5, 6],
        [("$[0]", 5), ("$[1]", 6), ("$[1]", 6), ("$[0]", 5), ("$[1]", 6)],
    ),
    "selectors are applied to one value after the other": (
        "$.*['a','b']",
        [{"a": 1, "b": 2}, {"b": 3}],
        [("$[0]['a']", 1), ("$[0]['b']", 2), ("$[1]['b']", 3)],
    ),
    # descendants
    "a name everywhere": (
        "$..price",
        SHOP,
        [
            ("$['goods'][0]['price']", 19),
            ("$['goods'][1]['price']", 240.5),
            ("$['goods'][2]['price']", 8.25),
            ("$['owner']['price']", None),
        ],
    ),
    "an index everywhere": ("$..[0]", [[1, [2]], 3], [("$[0]", [1, [2]]), ("$[0][0]", 1), ("$[0][1][0]", 2)]),
    "everything": (
        "$..*",
        {"a": [1, {"b": 2}]},
        [("$['a']", [1, {"b": 2}]), ("$['a'][0]", 1), ("$['a'][1]", {"b": 2}), ("$['a'][1]['b']", 2)],
    ),
    "a value comes before what is below it": (
        "$..a",
        {"a": {"a": {"a": 1}}},
        [("$['a']", {"a": {"a": 1}}), ("$['a']['a']", {"a": 1}), ("$['a']['a']['a']", 1)],
    ),
    "several selectors everywhere": (
        "$..['a','b']",
        [{"a": 1, "b": {"a": 2}}],
        [("$[0]['a']", 1), ("$[0]['b']", {"a": 2}), ("$[0]['b']['a']", 2)],
    ),
    "everywhere below everywhere finds things twice": (
        "$..a..b",
        {"a": {"a": {"b": 1}}},
        [("$['a']['a']['b']", 1), ("$['a']['a']['b']", 1)],
    ),
    "everywhere in a scalar": ("$..a", 1, []),
    "everywhere with brackets": ("$..['a']", {"a": 1}, [("$['a']", 1)]),
    "everywhere with a slice": ("$..[:1]", [[1, 2], 3], [("$[0]", [1, 2]), ("$[0][0]", 1)]),
    "everywhere, filtered": (
        "$..[?@.code]",
        SHOP,
        [("$['goods'][1]", SHOP["goods"][1]), ("$['goods'][2]", SHOP["goods"][2])],
    ),
    # what follows finds nothing in scalars
    "below a scalar": ("$.owner.name.x", SHOP, []),
    "below null": ("$.owner.price.x", SHOP, []),
    # escapes in names
    "escapes": (r"$['\b\f\n\r\t\/\\\'']", {"\b\f\n\r\t/\\'": 1}, [(r"$['\b\f\n\r\t/\\\'']", 1)]),
    "an escaped double quote": (r'$["\""]', {'"': 1}, [("$['\"']", 1)]),
    "a code": (r"$['\u00e9\u00E9']", {"éé": 1}, [("$['éé']", 1)]),
    "a pair of codes": (r"$['\uD83D\ude00']", {"😀": 1}, [("$['😀']", 1)]),
    "a code that is not text elsewhere": (r"$['\u0000\u000b']", {"\0\x0b": 1}, [(r"$['\u0000\u000b']", 1)]),
    "the other quote": ('$["\'"]', {"'": 1}, [(r"$['\'']", 1)]),
    "the last code before the pairs": (r"$['\ud7ff\ue000']", {"\ud7ff\ue000": 1}, [("$['\ud7ff\ue000']", 1)]),
    # blanks
    "blanks between everything": (
        "$ \t\n\r.a [ 0 , 'b' ,\n: , * ] ..c",
        {"a": [{"c": 1}]},
        [("$['a'][0]['c']", 1)] * 3,
    ),
    "blanks in slices": ("$[ 0 : 2 : 1 ]", [1, 2, 3], [("$[0]", 1), ("$[1]", 2)]),
}


@pytest.mark.parametrize("case", FOUND)
def test_a_query_finds(case: str) -> None:
    query, document, expected = FOUND[case]
    path = compile_jsonpath(query)
    before = json.dumps(document)
    assert path.nodes(document) == expected
    assert path.find(document) == [value for _, value in expected]
    assert path.first(document, "nothing") == (expected[0][1] if expected else "nothing")
    assert json.dumps(document) == before


LETTERS = ["a", "b", "c", "d", "e", "f", "g"]
SLICES = {
    "1:3": "bc", "5:": "fg", "1:5:2": "bd", "5:1:-2": "fd", "::-1": "gfedcba", ":": "abcdefg", "::": "abcdefg",
    ":2": "ab", "-2:": "fg", ":-5": "ab", "-3:-1": "ef", "3:1": "", "1:1": "", "0:0": "", "::2": "aceg", "::3": "adg",
    "::-2": "geca", "3::-1": "dcba", ":3:-1": "gfe", "-2::-2": "fdb", "5:-9:-1": "fedcba", "-9:2": "ab", "5:99": "fg",
    "99::-3": "gda", "-99:99:5": "af", "1:3:0": "", "::0": "", "::99": "a", "::-99": "g", "99:": "", ":-99": "",
    "9007199254740991:": "", "-9007199254740991:2": "ab", ":9007199254740991:9007199254740991": "a",
    "::-9007199254740991": "g", "0:7:1": "abcdefg", "6:0:-1": "gfedcb", "-1:-8:-1": "gfedcba", "-1:0:-1": "gfedcb",
}  # fmt: skip


@pytest.mark.parametrize("bounds", SLICES)
def test_a_slice_has_the_bounds_of_the_rfc(bounds: str) -> None:
    path = compile_jsonpath(f"$[{bounds}]")
    assert "".join(path.find(LETTERS)) == SLICES[bounds]
    for place, value in path.nodes(LETTERS):
        assert place == f"$[{LETTERS.index(value)}]"
    assert path.find([]) == path.find({"a": 1}) == path.find("text") == path.find(None) == []


def test_what_is_found_is_the_value_itself_and_no_copy() -> None:
    document: Any = {"a": [{"b": {}}]}
    assert compile_jsonpath("$..b").find(document)[0] is document["a"][0]["b"]
    assert compile_jsonpath("$").find(document)[0] is document


def test_null_is_a_value_and_not_nothing() -> None:
    assert compile_jsonpath("$.a").first({"a": None}, "default") is None
    assert compile_jsonpath("$.a").first({}, "default") == "default"
    assert compile_jsonpath("$.a.b").first({"a": None}, "default") == "default"
    assert compile_jsonpath("$.*").first({}) is None


def test_other_mappings_are_objects_too() -> None:
    document: Any = MappingProxyType({"a": MappingProxyType({"b": [1]})})
    assert compile_jsonpath("$..b[?@ == 1]").nodes(document) == [("$['a']['b'][0]", 1)]
    assert compile_jsonpath("$.*.*").find(document) == [[1]]


@pytest.mark.parametrize(
    ("query", "singular"),
    [
        ("$", True),
        ("$.a['b'][0]", True),
        ("$[-1]", True),
        ("$[ 'a' ]", True),
        ("$.*", False),
        ("$..a", False),
        ("$[0,0]", False),
        ("$[0:1]", False),
        ("$[?@.a]", False),
        ("$.a.*.b", False),
    ],
)
def test_a_query_of_names_and_indexes_finds_one_value_at_most(query: str, singular: bool) -> None:
    assert compile_jsonpath(query).is_singular is singular


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("$.order.total", {"order"}),
        ("$['a','b'].*", {"a", "b"}),
        ("$.items[?@.price > $.limit && @.kind == $.kinds[0]]", {"items", "limit", "kinds"}),
        ("$.a[?count($.b..*) > 1]", {"a", "b"}),
        ("$[0]", set()),
        ("$[0:2, 'a']", {"a"}),
        ("$", None),
        ("$.*", None),
        ("$..a", None),
        ("$[?@.a]", None),
        ("$.a[?@.b == value($..c)]", None),
        ("$.a[?@.b == $]", None),
    ],
)
def test_a_query_names_what_it_reads_of_the_root(query: str, names: set[str] | None) -> None:
    assert compile_jsonpath(query).names == names
