"""Definitions that refer to one another."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import ExpressionSyntax, ReferenceCycle, ValueMissing
from perdure.expressions import find_cycle, resolve_variables


def test_definitions_are_resolved_in_the_order_they_need() -> None:
    definitions = {"c": "${a + b}", "a": "${b * 2}", "b": 2, "text": "c is {{c}}", "nested": {"x": ["${c}"]}}
    assert resolve_variables(definitions) == {"c": 6, "a": 4, "b": 2, "text": "c is 6", "nested": {"x": [6]}}
    assert list(resolve_variables(definitions)) == list(definitions)


@pytest.mark.parametrize(
    ("definitions", "cycle"),
    [
        ({"a": "${b}", "b": "${a}"}, "a → b → a"),
        ({"a": "${a}"}, "a → a"),
        ({"a": "{{b}}", "b": "x ${c.d}", "c": {"d": ["{{a}}"]}}, "a → b → c → a"),
        ({"ok": "${x}", "x": "${y}", "y": "${z}", "z": "${y}"}, "y → z → y"),
        ({"a": "${true ? 1 : b}", "b": "${a}"}, "a → b → a"),
    ],
)
def test_a_cycle_is_refused_by_name_before_anything_is_evaluated(definitions: dict[str, Any], cycle: str) -> None:
    """D10."""
    with pytest.raises(ReferenceCycle) as caught:
        resolve_variables(definitions)
    assert cycle in caught.value.message
    assert caught.value.details["cycle"] == cycle.split(" → ")
    assert find_cycle(definitions) == cycle.split(" → ")


def test_definitions_may_be_reached_under_a_name() -> None:
    definitions = {"a": "${vars.b}!", "b": "{{vars.c}}", "c": "${input.x}"}
    assert resolve_variables(definitions, {"input": {"x": 5}}, under="vars") == {"a": "5!", "b": 5, "c": 5}
    with pytest.raises(ReferenceCycle, match="a → b → a"):
        resolve_variables({"a": "${vars.b}", "b": "${vars.a}"}, under="vars")
    assert find_cycle({"a": "${b}", "b": "${a}"}, under="vars") is None


def test_reading_all_definitions_is_reading_every_other_one() -> None:
    found = resolve_variables({"all": "${vars}", "b": "${vars.c}", "c": 1}, under="vars")
    assert found == {"all": {"b": 1, "c": 1}, "b": 1, "c": 1}
    assert resolve_variables({"x": "${vars[vars.k]}", "k": "y", "y": 3}, under="vars") == {"x": 3, "k": "y", "y": 3}


def test_what_was_there_under_the_name_stays_readable() -> None:
    env = {"vars": {"old": 1, "b": "hidden"}}
    assert resolve_variables({"a": "${vars.old}", "b": 2, "c": "${vars.b}"}, env, under="vars") == {
        "a": 1, "b": 2, "c": 2,
    }  # fmt: skip


def test_data_is_not_read_as_a_definition() -> None:
    assert resolve_variables({"a": "${x}"}, {"x": "${a}"}) == {"a": "${a}"}
    assert resolve_variables({"a": "${b}", "b": "${x}"}, {"x": "${a}"}) == {"a": "${a}", "b": "${a}"}


def test_a_definition_hides_a_name_of_the_environment() -> None:
    assert resolve_variables({"a": 1, "b": "${a}"}, {"a": 2}) == {"a": 1, "b": 1}


def test_modes_are_those_of_templates() -> None:
    assert resolve_variables({"a": "x ${nothing}", "b": "${a}"}, mode="lenient")["b"] == "x ${nothing}"
    with pytest.raises(ValueMissing) as caught:
        resolve_variables({"a": {"b": "${nothing}"}})
    assert caught.value.pointer == "/a/b"
    with pytest.raises(ExpressionSyntax) as wrong:
        resolve_variables({"a": ["${1 +}"]})
    assert wrong.value.pointer == "/a/0"


def test_long_chains_and_long_cycles_are_no_trouble() -> None:
    chain = {f"v{number}": f"${{v{number + 1}}}" for number in range(5000)} | {"v5000": 1}
    assert resolve_variables(chain)["v0"] == 1
    with pytest.raises(ReferenceCycle) as caught:
        resolve_variables(chain | {"v5000": "${v0}"})
    assert len(caught.value.details["cycle"]) == 5002
    assert len(caught.value.message) < 200


@given(st.dictionaries(st.integers(0, 8), st.sets(st.integers(0, 8), max_size=3), max_size=9))
def test_a_cycle_is_found_exactly_when_there_is_one(graph: dict[int, set[int]]) -> None:
    definitions: dict[str, Any] = {
        f"v{name}": [f"${{v{need} ?? 0}}" for need in sorted(needs)] for name, needs in graph.items()
    }
    edges = {name: {need for need in needs if need in graph} for name, needs in graph.items()}
    left = dict(edges)
    while free := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in free:
            del left[name]
    cycle = find_cycle(definitions)
    assert (cycle is not None) == bool(left)
    if cycle is None:
        assert resolve_variables(definitions).keys() == definitions.keys()
    else:
        numbers = [int(name[1:]) for name in cycle]
        assert numbers[0] == numbers[-1]
        assert all(after in edges[before] for before, after in pairwise(numbers))
