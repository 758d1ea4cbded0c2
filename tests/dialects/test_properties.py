"""Java properties, as `java.util.Properties` reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.dialects.properties import parse_properties, read_properties
from perdure.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("a=1", {"a": "1"}),
        ("a = 1\nb: 2\nc 3\nd\te\n", {"a": "1", "b": "2", "c": "3", "d": "e"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("=a", {"": "a"}),
        ("a = = b", {"a": "= b"}),
        ("a : = b", {"a": "= b"}),
        ("a  b = c", {"a": "b = c"}),
        ("  # comment\n! another\na=1 # none\n", {"a": "1 # none"}),
        ("a=1\r\nb=2\rc=3\n", {"a": "1", "b": "2", "c": "3"}),
        ("a=one, \\\n    two\\\n\tthree", {"a": "one, twothree"}),
        ("a=one\\\n", {"a": "one"}),
        ("a=one\\\\\nb=2", {"a": "one\\", "b": "2"}),
        ("a=x\\\n# no comment", {"a": "x# no comment"}),
        ("a\\ b=1\na\\=b=2\na\\:b=3", {"a b": "1", "a=b": "2", "a:b": "3"}),
        ("a=\\t\\n\\r\\f\\q\\\\", {"a": "\t\n\r\fq\\"}),
        ("a=\\u00e9\\u20AC", {"a": "é€"}),
        ("\\u00e9=1", {"é": "1"}),
        ("a=\\ud83d\\ude00", {"a": "😀"}),
        ("a=\\ud83d", {"a": "\ufffd"}),
        ("a=Grüße ✓", {"a": "Grüße ✓"}),
        ("\ufeffa=1", {"a": "1"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=  b  ", {"a": "b  "}),
        ("a=\\  b", {"a": "  b"}),
        ("\n\n   \n", {}),
    ],
)
def test_it_is_read_as_in_java(text: str, expected: dict[str, str]) -> None:
    assert parse_properties(text) == expected


@pytest.mark.parametrize("text", ["a=\\u12", "a=1\nb=\\u12g4", "a=1\nb=\\u"])
def test_a_character_that_is_none_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(InvalidInput, match=f"line {text.count(chr(10)) + 1}"):
        parse_properties(text)


def test_each_entry_says_where_it_begins() -> None:
    found = list(read_properties("# head\na=1\n\nb=2\\\n 3\nc=4"))
    assert [(each.key, each.value, each.line) for each in found] == [("a", "1", 2), ("b", "23", 4), ("c", "4", 6)]


def written(text: str, *, is_key: bool) -> str:
    """As `Properties.store` writes it."""
    found = []
    for place, sign in enumerate(text):
        if sign == " ":
            found.append("\\ " if is_key or place == 0 else " ")
        elif sign in "\t\n\r\f":
            found.append("\\" + {"\t": "t", "\n": "n", "\r": "r", "\f": "f"}[sign])
        elif sign in "\\=:#!":
            found.append("\\" + sign)
        elif " " < sign <= "~":
            found.append(sign)
        else:
            units = sign.encode("utf-16-be")
            found += [f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)]
    return "".join(found)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.dictionaries(TEXTS, TEXTS, max_size=5))
def test_what_java_writes_is_read_again(values: dict[str, str]) -> None:
    lines = [f"{written(key, is_key=True)}={written(value, is_key=False)}" for key, value in values.items()]
    assert parse_properties("\n".join(lines)) == values


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_properties(text)
    except InvalidInput:
        return
    assert all(isinstance(value, str) for value in found.values())
