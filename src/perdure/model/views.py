"""A view: what a person is shown, as data. The widgets are Drift's.

`VIEW_SCHEMA` is published (docs/reference/view.schema.json), and every view that is built is held against it, so that
whoever draws one can rely on it. Static texts are shown, all other widgets take an answer (`model.answers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from perdure.errors import InvalidInput
from perdure.model.schemas import Schema
from perdure.model.values import Json, text_of

MOST_OPTIONS = 500
MOST_VALUES = 5_000

TAGS = {
    "ui.static_text": "A text that is only shown; it takes no answer. `ehc.static_text` is the same.",
    "ui.dropdown": "One of `possibleValues`.",
    "ui.multi_select": "A list of `possibleValues`.",
    "ui.button": "One of `possibleValues`; without any, `true` when it was pressed.",
    "ui.complete": "The button that sends the answers. It may be left out of them.",
    "ui.free_text": "A text of at most 10,000 characters.",
    "ui.date_picker": "A date, or a date with a time, as ISO 8601 has it.",
    "ui.required": "There is no answer without it.",
}
"""What a widget is. Others are kept and shown; they change nothing."""

_TEXT = {"type": "string"}
_OPTION: dict[str, Any] = {
    "title": "Option",
    "description": "One widget.",
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string", "minLength": 1, "maxLength": 256, "description": "Its name in the answer."},
        "parentId": {**_TEXT, "description": "The widget on whose answer this one depends."},
        "description": {**_TEXT, "description": "What the person reads."},
        "tags": {
            "description": "What the widget is, such as ui.dropdown.",
            "type": "object",
            "required": ["values"],
            "properties": {"values": {"type": "array", "items": _TEXT, "maxItems": 50}},
        },
        "possibleValues": {
            "description": "What can be chosen.",
            "type": "array",
            "maxItems": MOST_VALUES,
            "items": {
                "title": "PossibleValue",
                "type": "object",
                "required": ["value"],
                "properties": {
                    "displayValue": {**_TEXT, "description": "What the person reads."},
                    "value": {"description": "What the answer holds."},
                    "metaData": {"description": "Whatever the drawer of the view may need."},
                },
            },
        },
        "possibleDependentValues": {
            "description": "What the widget is, by the value that was chosen for its parent.",
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/Dependent"},
        },
        "instructions": {
            "description": "Texts that the drawer of the view has, by id.",
            "type": "array",
            "items": {
                "title": "Instruction",
                "type": "object",
                "required": ["templateId"],
                "properties": {
                    "templateId": _TEXT,
                    "templateVariables": {"type": "object", "description": "What the text is filled with."},
                },
            },
        },
    },
}

VIEW_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "View",
    "description": "What a person is shown when a run waits for an answer.",
    "type": "object",
    "required": ["inputOptions"],
    "properties": {
        "layoutId": {**_TEXT, "description": "Which layout the drawer of the view takes."},
        "inputOptions": {
            "description": "The widgets, from top to bottom.",
            "type": "array",
            "maxItems": MOST_OPTIONS,
            "items": {"$ref": "#/$defs/Option"},
        },
    },
    "$defs": {"Option": _OPTION, "Dependent": {**_OPTION, "title": "Dependent", "required": []}},
}


@lru_cache(maxsize=1)
def _schema() -> Schema:
    return Schema(VIEW_SCHEMA)


def built_view(options: Json, layout: str | None, look_up: Callable[[str], Json]) -> dict[str, Any]:
    """The view of these options, whose templates have been resolved. `look_up` gives what stands at a dotted path.
    Raises InvalidInput for what is no view."""
    if not isinstance(options, list):
        raise InvalidInput("the options of a view are no list", pointer="/inputOptions", expected="a list of options")
    view: dict[str, Any] = {"layoutId": layout} if layout is not None else {}
    view["inputOptions"] = [made for option in options for made in _dynamic(_written(option), look_up)]
    misfit = _schema().first_misfit(view)
    if misfit is not None:
        raise InvalidInput(f"this is no view: {misfit.message}", pointer=misfit.path, expected="what its schema allows")
    _refuse_twins(view["inputOptions"])
    return view


def _dynamic(option: Json, look_up: Callable[[str], Json]) -> Iterator[Json]:
    """An option that names a place gets its values from there, or is replaced by the options that stand there."""
    path = option.get("possibleDynamicValues") if isinstance(option, dict) else None
    if path is None:
        yield option
        return
    kept = {name: value for name, value in option.items() if name != "possibleDynamicValues"}
    found = look_up(path) if isinstance(path, str) else path
    if not isinstance(found, list):
        found = []
    if any(isinstance(each, dict) and "id" in each and "value" not in each for each in found):
        yield from (_written(each) for each in found)
    elif found or "possibleValues" in kept or len(kept) > 1:
        values = [_value(each) for each in found]
        yield {**kept, "possibleValues": values or kept.get("possibleValues", [])}


def _value(each: Json) -> Json:
    """One of `possibleValues`, of what stands in the data."""
    return _texts(each) if isinstance(each, dict) else {"displayValue": str(text_of(each)), "value": each}


_TEXTS = frozenset({"id", "parentId", "description", "displayValue", "templateId"})


def _written(part: Json) -> Json:
    """Fields that are null are as good as not there; numbers that were computed for texts are written as text."""
    if not isinstance(part, dict):
        return part
    return _texts({name: value for name, value in part.items() if value is not None})


def _texts(part: Json) -> Json:
    if not isinstance(part, dict):
        return part
    made = {name: text_of(value) if name in _TEXTS else value for name, value in part.items()}
    for name in ("possibleValues", "instructions"):
        if isinstance(made.get(name), list):
            made[name] = [_texts(each) for each in made[name]]
    if isinstance(dependent := made.get("possibleDependentValues"), dict):
        made["possibleDependentValues"] = {value: _texts(each) for value, each in dependent.items()}
    tags = made.get("tags")
    if isinstance(tags, dict) and isinstance(tags.get("values"), list):
        made["tags"] = {**tags, "values": [text_of(each) for each in tags["values"]]}
    return made


def _refuse_twins(options: list[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for number, option in enumerate(options):
        if option["id"] in seen:
            raise InvalidInput(
                f"two widgets are called {option['id']!r}", pointer=f"/inputOptions/{number}/id", expected="another id"
            )
        seen.add(option["id"])
