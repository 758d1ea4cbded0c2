"""The widgets of a view as they stand in a configuration. Their fields have Drift's names."""
# ruff: noqa: N815

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from perdure.model.problems import Problem, pointed
from perdure.model.views import MOST_VALUES
from perdure.nodes.config import has_placeholder


class Part(BaseModel):
    """Fields that we do not know are kept: whoever draws the view may."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


class Tags(Part):
    values: list[str] = Field(title="Tags", max_length=50, description="Such as `ui.dropdown` or `ui.required`.")


class PossibleValue(Part):
    displayValue: Any = Field(None, title="Text", description="What the person reads.")
    value: Any = Field(None, title="Value", description="What the answer holds.")
    metaData: Any = Field(None, title="More", description="Whatever the drawer of the view may need.")


class InstructionText(Part):
    templateId: str = Field(title="Template", description="A text that the drawer of the view has.")
    templateVariables: dict[str, Any] | None = Field(None, title="Variables", description="What fills it.")


class Dependent(Part):
    id: str | None = Field(None, title="Id", description="Its name in the answer, where it is a widget of its own.")
    description: str | None = Field(None, title="Text", description="What the person reads.")
    tags: Tags | None = Field(None, title="Tags", description="What the widget is.")
    possibleValues: list[PossibleValue] | None = Field(
        None, title="Values", max_length=MOST_VALUES, description="What can be chosen."
    )


class Option(Part):
    id: str = Field(title="Id", min_length=1, max_length=256, description="Its name in the answer.")
    parentId: str | None = Field(None, title="Parent", description="The widget on whose answer it depends.")
    description: str | None = Field(None, title="Text", description="What the person reads.")
    tags: Tags | None = Field(None, title="Tags", description="What the widget is.")
    possibleValues: list[PossibleValue] | None = Field(
        None, title="Values", max_length=MOST_VALUES, description="What can be chosen."
    )
    possibleDynamicValues: str | None = Field(
        None,
        title="Place of the values",
        description="A dotted path in the data where the values stand, or a list of options that come in its place.",
        examples=["find_slots.free"],
    )
    possibleDependentValues: dict[str, Dependent] | None = Field(
        None, title="By the parent's value", description="What the widget is, by what was chosen for its parent."
    )
    instructions: list[InstructionText] | None = Field(None, title="Instructions", description="Texts by id.")


_CHOSEN = ("dropdown", "multi_select")
_SOURCES = ("possibleValues", "possibleDynamicValues", "possibleDependentValues")


def mistakes(options: list[dict[str, Any]], place: str) -> Iterator[Problem]:
    """What is wrong with these widgets whatever the data will be."""
    ids = [option["id"] for option in options]
    inner = [each.get("id") for option in options for each in (option.get("possibleDependentValues") or {}).values()]
    # Those that are computed, or that come out of the data, may have any id.
    is_open = any(map(has_placeholder, [*ids, *inner])) or any(each.get("possibleDynamicValues") for each in options)
    for number, option in enumerate(options):
        id, parent = option["id"], option.get("parentId")
        if id in ids[:number] and not has_placeholder(id):
            told = f"two widgets are called {id!r}"
            yield Problem("CONFIG_VALUE", pointed(place, number, "id"), told, expected="another id")
        if parent is not None and not (is_open or has_placeholder(parent)) and parent not in {*ids, *inner}:
            known = f"one of {', '.join(ids[:20])}"
            told = f"there is no widget {parent!r} on which {id!r} could depend"
            yield Problem("CONFIG_VALUE", pointed(place, number, "parentId"), told, expected=known)
        tags = (option.get("tags") or {}).get("values", ())
        if any(tag.rpartition(".")[2] in _CHOSEN for tag in tags) and not any(option.get(each) for each in _SOURCES):
            told = f"there is nothing to choose for {id!r}"
            yield Problem("CONFIG_VALUE", pointed(place, number), told, expected=" or ".join(_SOURCES))
