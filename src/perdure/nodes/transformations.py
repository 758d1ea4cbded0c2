"""The five operations of the transform node. Each is pure, and raises ValueError for data that does not suit it."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from perdure.errors import PerdureError
from perdure.expressions import MISSING, Path
from perdure.expressions.jsonpath import JsonPath
from perdure.model.values import Json, decode_json, encode_json
from perdure.nodes.inputs import find, subject
from perdure.programs.flow.nodetypes import Plan


class Operation(Protocol):
    @property
    def name(self) -> str: ...
    def apply(self, value: Json, moment: Plan, also: Json = None) -> Json: ...


def parse_path(text: str) -> Path:
    """A dotted path; `$.` before it, as JSONPath has it, is allowed. Raises ValueError."""
    text = text.strip()
    try:
        return Path.parse(text[2:] if text.startswith("$.") else text.removeprefix("$"))
    except PerdureError as problem:
        raise ValueError(f"{text[:64]!r} is no path: {problem.message}") from None


class Map(msgspec.Struct, frozen=True):
    """Fields under other names; of a list, item by item."""

    pairs: list[tuple[Path, Path, bool]]
    """From, to, whether the source is removed."""
    keep: bool
    each: bool = True
    name: str = "map"

    def apply(self, value: Json, moment: Plan, also: Json = None) -> Json:
        base = subject(value)
        if isinstance(base, list) and self.each:
            return [self._one(item, _object(item, f"item {index}"), also) for index, item in enumerate(base)]
        if not isinstance(base, dict):
            base = value  # `data` may be a plain answer, as after a condition; its neighbours are mapped then
        return self._one(value, _object(base, "the input"), also)

    def _one(self, value: Json, base: dict[str, Any], also: Json) -> Json:
        result: Json = dict(base) if self.keep else {}
        found = [(to, find(source, value, also)) for source, to, _ in self.pairs]
        for source, _, removed in self.pairs:
            if removed and self.keep:
                result = source.remove(result)
        for to, part in found:
            if part is not MISSING:
                result = _put(to, result, part)
        return result


class Extract(msgspec.Struct, frozen=True):
    path: Path
    key: str | None
    default: Any = MISSING
    every: bool = False
    """As a list, of one or none."""
    name: str = "extract"

    def apply(self, value: Json, moment: Plan, also: Json = None) -> Json:
        found = find(self.path, value, also)
        if self.every:
            found = [] if found is MISSING else [found]
        elif found is MISSING:
            found = self.default
        if found is MISSING:
            raise ValueError(f"`{self.path}` leads nowhere")
        return {self.key: found} if self.key is not None else found


class Select(msgspec.Struct, frozen=True):
    """The same by JSONPath."""

    path: JsonPath
    one: bool
    key: str | None
    default: Any = MISSING
    name: str = "extract"

    def apply(self, value: Json, moment: Plan, also: Json = None) -> Json:
        values = moment.query(self.path, value)
        if not values and isinstance(value, dict) and isinstance(value.get("data"), dict | list):
            values = moment.query(self.path, value["data"])
        found: Any = values
        if self.one:
            found = values[0] if values else self.default
        if found is MISSING:
            raise ValueError(f"`{self.path.source}` finds nothing")
        return {self.key: found} if self.key is not None else found


class Parse(msgspec.Struct, frozen=True):
    source: Path
    target: Path
    name: str = "parse"

    def apply(self, value: Json, moment: Plan, also: Json = None) -> Json:
        text = find(self.source, value, also)
        if text is MISSING:
            raise ValueError(f"`{self.source}` leads nowhere")
        if not isinstance(text, str):
            raise ValueError(f"`{self.source}` is no text")
        try:
            return _put(self.target, _base(value, self.target), decode_json(text))
        except PerdureError as problem:
            raise ValueError(f"`{self.source}`: {problem.message}") from None


class Stringify(msgspec.Struct, frozen=True):
    source: Path
    target: Path
    name: str = "stringify"

    def apply(self, value: Json, moment: Plan, also: Json = None) -> Json:
        found = find(self.source, value, also)
        if found is MISSING:
            raise ValueError(f"`{self.source}` leads nowhere")
        return _put(self.target, _base(value, self.target), encode_json(found).decode())


class Concat(msgspec.Struct, frozen=True):
    sources: list[Path]
    separator: str
    key: str
    name: str = "concat"

    def apply(self, value: Json, moment: Plan, also: Json = None) -> Json:
        found = [find(source, value, also) for source in self.sources]
        text = self.separator.join(_text(each) for each in found if each is not MISSING and each is not None)
        return {**_object(_base(value, None), "the input"), self.key: text}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else encode_json(value).decode()


def _base(value: Json, target: Path | None) -> Json:
    """What the result is put into: the input's `data`, or the input. Of no use where the result replaces everything."""
    if target is not None and not target.steps:
        return None
    base = subject(value)
    return _object(base if isinstance(base, dict) else value, "the input")


def _object(value: Json, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is no object")
    return value


def _put(path: Path, value: Json, part: Json) -> Json:
    try:
        return path.set(value, part)
    except PerdureError as problem:
        raise ValueError(problem.message) from None
