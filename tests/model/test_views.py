"""Views and the answers that fit them: row J02."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.errors import InvalidInput
from perdure.model.answers import check_answer
from perdure.model.schemas import Schema
from perdure.model.views import MOST_OPTIONS, TAGS, VIEW_SCHEMA, built_view

Option = dict[str, Any]


def widget(id: str, *tags: str, values: list[Any] | None = None, **more: Any) -> Option:
    found: Option = {"id": id, "tags": {"values": list(tags)}, **more}
    if values is not None:
        found["possibleValues"] = [{"displayValue": str(value), "value": value} for value in values]
    return found


def view(*options: Option) -> dict[str, Any]:
    return built_view(list(options), None, lambda path: None)


CITY = widget("city", "ui.dropdown", values=["bern", "genoa"])
FORM = view(
    widget("text", "ui.static_text", description="Hello"),
    widget("note", "ehc.static_text", "ui.required"),
    CITY,
    widget("many", "ui.multi_select", values=["a", "b", 1]),
    widget("press", "ui.button"),
    widget("send", "ui.complete"),
    widget("say", "ui.free_text", "ui.required"),
    widget("day", "ui.date_picker"),
    widget("odd", "x.unknown"),
    widget("flag", "ui.dropdown", values=[True, False]),
    widget(
        "street",
        "ui.dropdown",
        parentId="city",
        possibleDependentValues={"bern": widget("street", "ui.dropdown", values=["aare", "zeit"]), "genoa": {
            "tags": {"values": ["ui.free_text", "ui.required"]}}},
    ),
    widget("kind", "ui.button", values=["gift", "sale"], possibleDependentValues={
        "gift": widget("card", "ui.free_text", "ui.required")}),
)  # fmt: skip

GOOD: list[dict[str, Any]] = [
    {"say": "x"},
    {"say": "x" * 10_000, "city": "bern", "street": "aare"},
    {"say": "x", "city": "genoa", "street": "anything at all"},
    {"say": "x", "many": []},
    {"say": "x", "many": ["a", 1]},
    {"say": "x", "press": True, "send": "ok"},
    {"say": "x", "day": "2026-01-31"},
    {"say": "x", "day": "2026-01-31T09:30:00Z"},
    {"say": "x", "odd": {"whatever": [1]}},
    {"say": "x", "flag": False},
    {"say": "x", "city": None, "text": None},
    {"say": "x", "kind": "gift", "card": "for you"},
    {"say": "x", "kind": "sale"},
]

BAD: list[tuple[dict[str, Any], str, str]] = [
    ({}, "say", "'say' is required"),
    ({"say": ""}, "say", "'say' is required"),
    ({"say": None}, "say", "'say' is required"),
    ({"say": "x" * 10_001}, "say", "no answer"),
    ({"say": 3}, "say", "no answer"),
    ({"say": "x", "nobody": 1}, "nobody", "no widget"),
    ({"say": "x", "text": "mine"}, "text", "no answer"),
    ({"say": "x", "city": "rome"}, "city", "no answer"),
    ({"say": "x", "city": ["bern"]}, "city", "no answer"),
    ({"say": "x", "many": "a"}, "many", "no answer"),
    ({"say": "x", "many": ["a", "z"]}, "many", "no answer"),
    ({"say": "x", "many": [True]}, "many", "no answer"),
    ({"say": "x", "flag": 1}, "flag", "no answer"),
    ({"say": "x", "press": 3}, "press", "no answer"),
    ({"say": "x", "day": "tomorrow"}, "day", "no answer"),
    ({"say": "x", "day": "2026-02-30"}, "day", "no answer"),
    ({"say": "x", "day": 20260131}, "day", "no answer"),
    ({"say": "x", "city": "bern", "street": "elsewhere"}, "street", "no answer"),
    ({"say": "x", "city": "genoa"}, "street", "required"),
    ({"say": "x", "street": "aare"}, "street", "does not apply"),
    ({"say": "x", "kind": "gift"}, "card", "required"),
    ({"say": "x", "kind": "sale", "card": "hm"}, "card", "does not apply"),
]


@pytest.mark.parametrize("selected", GOOD)
def test_what_fits_is_accepted(selected: dict[str, Any]) -> None:
    check_answer(FORM, {"selectedOptions": selected})


@pytest.mark.parametrize(("selected", "name", "told"), BAD)
def test_what_does_not_fit_is_refused_with_the_place_and_what_was_expected(
    selected: dict[str, Any], name: str, told: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_answer(FORM, {"selectedOptions": selected})
    assert refused.value.pointer == f"/selectedOptions/{name}"
    assert told in refused.value.message
    assert refused.value.expected


@pytest.mark.parametrize("response", [None, [], "x", {}, {"selectedOptions": []}, {"selectedOptions": {}, "x": 1}])
def test_what_is_no_answer_at_all_is_refused(response: Any) -> None:
    with pytest.raises(InvalidInput, match="no answer to a view"):
        check_answer(FORM, response)


def test_every_tag_that_is_told_of_is_in_these_tests() -> None:
    used = {tag for option in FORM["inputOptions"] for tag in option["tags"]["values"]}
    assert set(TAGS) <= used


# -- building --------------------------------------------------------------------------------------------


def test_the_form_fits_the_published_schema() -> None:
    assert Schema(VIEW_SCHEMA).first_misfit(FORM) is None


def test_null_fields_are_left_out() -> None:
    made = view({"id": "a", "parentId": None, "description": None, "possibleValues": None})
    assert made == {"inputOptions": [{"id": "a"}]}


def test_dynamic_values_are_taken_from_their_place() -> None:
    data = {"slots": ["9:00", "10:00"], "own": [{"value": 1, "displayValue": "one"}], "all": [{"id": "x"}, {"id": "y"}]}
    options = [
        {"id": "a", "tags": {"values": ["ui.dropdown"]}, "possibleDynamicValues": "slots"},
        {"id": "b", "possibleDynamicValues": "own"},
        {"id": "c", "possibleDynamicValues": "all"},
        {"id": "d", "possibleDynamicValues": "nowhere"},
    ]
    made = built_view(options, "plain", data.get)
    assert made["layoutId"] == "plain"
    assert [option["id"] for option in made["inputOptions"]] == ["a", "b", "x", "y"]
    assert made["inputOptions"][0]["possibleValues"][0] == {"displayValue": "9:00", "value": "9:00"}
    assert made["inputOptions"][1]["possibleValues"] == data["own"]


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ("text", "/inputOptions"),
        ([{"description": "no id"}], "/inputOptions/0"),
        ([{"id": "a", "description": [3]}], "/inputOptions/0/description"),
        ([{"id": "a"}, {"id": "a"}], "/inputOptions/1/id"),
        ([{"id": str(n)} for n in range(MOST_OPTIONS + 1)], "/inputOptions"),
        ([{"id": "a", "tags": ["ui.button"]}], "/inputOptions/0/tags"),
    ],
)
def test_what_is_no_view_is_refused(options: Any, pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        built_view(options, None, lambda path: None)
    assert refused.value.pointer == pointer


def test_a_view_of_texts_only_is_answered_by_whatever_says_that_it_was_read() -> None:
    texts = {"inputOptions": [widget("text", "ui.static_text"), widget("note", "ehc.static_text")]}
    for said in ({}, {"text": "OK"}, {"proceed": "PROCEED"}):
        check_answer(texts, {"selectedOptions": said})
    with pytest.raises(InvalidInput):
        check_answer(texts, {"said": 1})
