"""Dotted paths into JSON."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import ExpressionFailed, ExpressionLimit, ExpressionSyntax, ValueMissing
from perdure.expressions import MISSING, Path

DATA: dict[str, Any] = {
    "items": [{"name": "Desk"}, {"name": "Lamp", "tags": ["a", "b"]}],
    "a": {"b c": {"d": 1}, "x.y": 2, "0": "zero", "007": "bond", 'q"': 3},
    "null": None,
    "two words": 4,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", DATA),
        ("items", DATA["items"]),
        ("items.0.name", "Desk"),
        ("items[1].tags[0]", "a"),
        ("items.1.tags.1", "b"),
        ("items[-1].name", "Lamp"),
        ('a["b c"].d', 1),
        ("a['b c']['d']", 1),
        ('a["x.y"]', 2),
        ("a.0", "zero"),
        ("a.007", "bond"),
        ('a["q\\""]', 3),
        ("a.b c.d", 1),
        ("two words", 4),
        ("null", None),
    ],
)
def test_a_path_leads_to_a_value(text: str, expected: Any) -> None:
    path = Path.parse(text)
    assert path.get(DATA) == expected
    assert path.has(DATA)


@pytest.mark.parametrize(
    "text", ["x", "items.2", "items.-1", "items[-3]", "items.name", "null.x", "items.0.name.x", "a.7", "a.b.c"]
)
def test_a_path_may_lead_nowhere(text: str) -> None:
    path = Path.parse(text)
    assert path.find(DATA) is MISSING
    assert not path.has(DATA)
    with pytest.raises(ValueMissing):
        path.get(DATA)


def test_the_step_that_led_nowhere_is_named() -> None:
    with pytest.raises(ValueMissing, match=r"`items.0.nam` leads nowhere; did you mean 'name'\?") as caught:
        Path.parse("items.0.nam.first").get(DATA)
    assert caught.value.details["path"] == "items.0.nam.first"


@pytest.mark.parametrize(
    "text", [".", ".a", "a.", "a..b", "a[", "a]", "a[]", "a[x]", "a['b]", "a[1", "[1]a", "a[1.5]", " a"]
)
def test_what_is_not_a_path_is_refused(text: str) -> None:
    with pytest.raises(ExpressionSyntax):
        Path.parse(text)


def test_paths_have_limits() -> None:
    for text in ("a" * 2000, ".".join("a" * 100)):
        with pytest.raises(ExpressionLimit):
            Path.parse(text)


def test_a_path_is_parsed_once() -> None:
    assert Path.parse("items.0.name") is Path.parse("items.0.name")


def test_setting_makes_a_copy_along_the_path() -> None:
    before = {"a": {"b": 1}, "other": {"x": 1}}
    after = Path.parse("a.c.d").set(before, 5)
    assert after == {"a": {"b": 1, "c": {"d": 5}}, "other": {"x": 1}}
    assert before == {"a": {"b": 1}, "other": {"x": 1}}
    assert after["other"] is before["other"]


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("", 1, 9),
        ("a", {}, {"a": 9}),
        ("a.b", None, {"a": {"b": 9}}),
        ("a.0", {"a": [1, 2]}, {"a": [9, 2]}),
        ("a[-1]", {"a": [1, 2]}, {"a": [1, 9]}),
        ("a.2", {"a": [1, 2]}, {"a": [1, 2, 9]}),
        ("a.0", {"a": {}}, {"a": {"0": 9}}),
        ("a.0.x", {"a": []}, {"a": [{"x": 9}]}),
        ("a.b", {"a": None}, {"a": {"b": 9}}),
    ],
)
def test_setting(text: str, before: Any, after: Any) -> None:
    assert Path.parse(text).set(before, 9) == after


@pytest.mark.parametrize(
    ("text", "before"), [("a.b", {"a": 5}), ("a.b", {"a": [1]}), ("a.5", {"a": [1]}), ("a.b", {"a": "x"})]
)
def test_setting_into_what_has_no_such_parts_fails(text: str, before: Any) -> None:
    with pytest.raises(ExpressionFailed):
        Path.parse(text).set(before, 9)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("a.b", {"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}),
        ("a.0", {"a": [1, 2]}, {"a": [2]}),
        ("a[-1]", {"a": [1, 2]}, {"a": [1]}),
        ("x.y", {"a": 1}, {"a": 1}),
        ("", {"a": 1}, {"a": 1}),
    ],
)
def test_removing(text: str, before: Any, after: Any) -> None:
    assert Path.parse(text).remove(before) == after


STEPS = st.lists(st.one_of(st.text(min_size=0, max_size=6), st.integers(0, 999)), max_size=6)


@given(STEPS)
def test_a_path_can_be_written_and_read_again(steps: list[str | int]) -> None:
    path = Path(tuple(steps))
    read = Path.parse(str(path))
    assert [str(step) for step in read.steps] == [str(step) for step in path.steps]


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=10,
)


@given(
    st.dictionaries(st.sampled_from("abc"), JSON),
    st.lists(st.sampled_from(["a", "b", "0", "1", "c"]), min_size=1, max_size=4),
    JSON,
)
def test_what_was_set_is_found_and_what_was_removed_is_not(data: dict[str, Any], words: list[str], new: Any) -> None:
    path = Path.parse(".".join(words))
    try:
        changed = path.set(data, new)
    except ExpressionFailed:
        return
    assert path.get(changed) == new
    if isinstance(Path(path.steps[:-1]).find(changed), dict):
        assert not path.has(path.remove(changed))
