"""The widgets of a view as they stand in a configuration. Their fields have Drift's names."""
# ruff: noqa: N815

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from perdure.model.views import MOST_VALUES


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
