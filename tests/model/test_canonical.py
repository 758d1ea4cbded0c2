"""RFC 8785: its own examples, the properties that hashes rest on, and what is left out of a document's hash."""

import json
import math
import random
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InvalidInput
from perdure.model.canonical import canonical, document_hash, number

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=20,
)


def test_the_example_of_section_3_2_3() -> None:
    source = r"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical(json.loads(source)).decode() == expected


def test_keys_are_sorted_by_utf16_code_units() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    expected = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(dict.fromkeys(keys, 0)))) == expected


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef4f", "999999999999999900000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555554", "333333333.33333325"),
        ("41b3de4355555555", "333333333.3333333"),
        ("41b3de4355555556", "333333333.3333334"),
        ("41b3de4355555557", "333333333.33333343"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_the_numbers_of_appendix_b(bits: str, expected: str) -> None:
    assert number(struct.unpack(">d", bytes.fromhex(bits))[0]) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_back_as_itself(value: float) -> None:
    assert float(number(value)) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {1: 2}, {"a": object()}, "\ud800", b"x"])
def test_what_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput):
        canonical(value)


@given(JSON)
def test_it_is_json_and_means_the_same(value: Any) -> None:
    assert json.loads(canonical(value), parse_int=float) == json.loads(json.dumps(value), parse_int=float)


@given(JSON, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: Any, chance: random.Random) -> None:
    assert canonical(shuffled(value, chance)) == canonical(value)


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


def test_large_integers_stay_apart() -> None:
    assert canonical(2**53 + 1) != canonical(2**53)
    assert canonical(1.0) == canonical(1) == b"1"


def document(**changes: Any) -> dict[str, Any]:
    node = {
        "id": "a",
        "type": "json",
        "config": {"data": {"label": "kept"}},
        "position": {"x": 1, "y": 2},
        "label": "A",
    }
    return {"id": "f", "name": "F", "nodes": [{**node, **changes}], "edges": []}


def test_what_is_only_for_people_is_not_hashed() -> None:
    plain = document_hash(document())
    assert document_hash(document(position={"x": 9, "y": 9}, label="B", comment="hm")) == plain
    assert document_hash({**document(), "name": "G", "description": "long"}) == plain
    assert document_hash(document(config={"data": {"label": "other"}})) != plain
    assert document_hash(document(id="b")) != plain
    assert document_hash({**document(), "edges": [{"source": "a", "target": "a"}]}) != plain
    first, second = ({**document(), "edges": [{"source": "a", "target": "a", "label": each}]} for each in ("x", "y"))
    assert document_hash(first) == document_hash(second)
