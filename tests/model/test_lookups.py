"""Dotted keys of look-ups, read flat and as paths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.model.lookups import nested


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, {}),
        ({"a": 1}, {"a": 1}),
        ({"ims.vip": "v"}, {"ims.vip": "v", "ims": {"vip": "v"}}),
        ({"a.b.c": 1, "a.b.d": 2}, {"a.b.c": 1, "a.b.d": 2, "a": {"b": {"c": 1, "d": 2}}}),
        ({"a.b": 2, "a": 1}, {"a": 1, "a.b": 2}),
        ({"a.b.c": 2, "a.b": 1}, {"a.b": 1, "a.b.c": 2, "a": {"b": 1}}),
        ({"a": {"x": 1}, "a.b": 2}, {"a": {"x": 1}, "a.b": 2}),
        ({"a": None, "a.b": 2}, {"a": None, "a.b": 2}),
        ({"a.": 1, ".b": 2, "c..d": 3, ".": 4}, {"a.": 1, ".b": 2, "c..d": 3, ".": 4}),
        ({".".join("a" * 40): 1}, {".".join("a" * 40): 1}),
    ],
)
def test_a_key_is_a_path_too_unless_a_value_stands_in_its_way(values: dict[str, Any], expected: Any) -> None:
    assert nested(values) == expected


KEYS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(".".join)


@given(st.dictionaries(KEYS, st.integers() | st.dictionaries(KEYS, st.integers(), max_size=2), max_size=12))
def test_every_key_reads_its_value_and_no_value_is_changed(values: dict[str, Any]) -> None:
    before = repr(values)
    found = nested(values)
    assert repr(values) == before
    for key, value in values.items():
        assert found[key] == value
        steps = key.split(".")
        if not any(".".join(steps[:length]) in values for length in range(1, len(steps))):
            at: Any = found
            for step in steps:
                at = at[step]
            assert at == value
