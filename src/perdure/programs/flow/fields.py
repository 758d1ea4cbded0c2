"""Which fields of a configuration are expressions, templates, paths or scripts.

A node type says so in the annotation of the field. Everybody who has to know reads it from there: validation at save
(every text is checked where it stands), the JSON Schema (`x-perdure`, by which an editor chooses its input), the
reference pages.

    class Config(NodeConfig):
        condition: Annotated[str, EXPRESSION]
        output: Annotated[Any, TEMPLATE] = None
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import AliasChoices, BaseModel, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

from perdure.model.problems import Problem, pointed


class Kind(StrEnum):
    EXPRESSION = "expression"
    """Text of one expression, with or without `${ }` around it."""
    TEMPLATE = "template"
    """Any JSON value whose strings may hold `${ }` and `{{ }}`."""
    PATH = "path"
    """A dotted path into JSON."""
    LETTER = "letter"
    """Text for people: a template, or one in the syntax of Go where it is written in that."""
    QUERY = "path-or-jsonpath"
    """A dotted path, or a JSONPath, which begins with `$`."""
    MIXED = "expression-or-template"
    """Text is an expression; any other value is a template."""
    SCRIPT = "script"
    """A program in a language of its own."""
    TEMPLATE_OR_SCRIPT = "template-or-script"
    """An object with a script in it; any other value is a template."""


class Named(NamedTuple):
    """A name that a script reads, and where it first does so."""

    name: str
    place: str
    """From the field to the script's text."""
    line: int
    column: int


class Examined(NamedTuple):
    """What is known of a script without running it."""

    problems: list[Problem]
    """Their pointers begin at the field."""
    names: list[Named]
    reads: list[tuple[str | int, ...]]


class Written:
    """The mark. `read` takes the value as it stands in the document to the value that holds the texts; `names` says
    from the configuration which names the text can read besides those that everybody can; `examine` looks at a value
    (and the object around it) that is a script, and says nothing of what is none."""

    __slots__ = ("examine", "kind", "names", "read")

    def __init__(
        self,
        kind: Kind,
        read: Callable[[Any], Any] | None = None,
        names: Callable[[dict[str, Any]], Iterable[str]] | None = None,
        examine: Callable[[Any, dict[str, Any]], Examined | None] | None = None,
    ) -> None:
        self.kind = kind
        self.read = read
        self.names = names
        self.examine = examine

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "x-perdure": self.kind.value}


EXPRESSION = Written(Kind.EXPRESSION)
TEMPLATE = Written(Kind.TEMPLATE)
PATH = Written(Kind.PATH)
LETTER = Written(Kind.LETTER)
QUERY = Written(Kind.QUERY)
MIXED = Written(Kind.MIXED)


class Text(NamedTuple):
    pointer: str
    kind: Kind
    value: Any
    names: frozenset[str] = frozenset()
    script: Examined | None = None


class _Field(NamedTuple):
    keys: tuple[str, ...]
    mark: Written | None
    models: tuple[type[BaseModel], ...]


def texts(model: type[BaseModel], raw: Any, pointer: str = "") -> Iterator[Text]:
    """The texts in a configuration as it stands in the document, whether it is valid or not."""
    if not isinstance(raw, dict):
        return
    for field in _fields(model):
        for key in field.keys:
            if key not in raw:
                continue
            value, place = raw[key], pointed(pointer, key)
            if field.mark is not None:
                if field.mark.read is not None:
                    value = field.mark.read(value)
                kind = field.mark.kind
                script = field.mark.examine(value, raw) if field.mark.examine is not None else None
                if kind in (Kind.MIXED, Kind.TEMPLATE_OR_SCRIPT) and script is not None:
                    kind = Kind.SCRIPT
                elif kind is Kind.MIXED:
                    kind = Kind.EXPRESSION if isinstance(value, str) else Kind.TEMPLATE
                elif kind is Kind.TEMPLATE_OR_SCRIPT:
                    kind = Kind.TEMPLATE
                names = frozenset(field.mark.names(raw)) if field.mark.names is not None else frozenset()
                yield Text(place, kind, value, names, script)
            else:
                yield from _inner(field.models, value, place)


def _inner(models: tuple[type[BaseModel], ...], value: Any, place: str) -> Iterator[Text]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _inner(models, item, pointed(place, number))
    elif isinstance(value, dict):
        for model in models:
            if _agrees(model, value):
                yield from texts(model, value, place)
                return


def _agrees(model: type[BaseModel], value: dict[str, Any]) -> bool:
    """Whether the constant fields of the model (its `type`) are what the value has."""
    for name, field in model.model_fields.items():
        if get_origin(field.annotation) is Literal and name in value and value[name] not in get_args(field.annotation):
            return False
    return True


@lru_cache(maxsize=1024)
def _fields(model: type[BaseModel]) -> tuple[_Field, ...]:
    found = []
    for name, field in model.model_fields.items():
        mark = next((each for each in field.metadata if isinstance(each, Written)), None) or _mark(field.annotation)
        models = tuple(models_in(field.annotation)) if mark is None else ()
        if mark is not None or any(_fields(inner) for inner in models):
            found.append(_Field(keys_of(name, field), mark, models))
    return tuple(found)


def keys_of(name: str, field: FieldInfo) -> tuple[str, ...]:
    """Every spelling under which a document may give the field, the preferred one first."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return tuple(dict.fromkeys([*(each for each in alias.choices if isinstance(each, str)), name]))
    return (alias, name) if isinstance(alias, str) else (name,)


def _mark(annotation: Any) -> Written | None:
    """A mark inside a union: `Annotated[str, EXPRESSION] | None`."""
    if get_origin(annotation) is Annotated:
        for each in get_args(annotation)[1:]:
            if isinstance(each, Written):
                return each
    return next((mark for each in get_args(annotation) if (mark := _mark(each)) is not None), None)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a value of this type may be made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        if not isinstance(each, str | int | bool):
            yield from models_in(each)
