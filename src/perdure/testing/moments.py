"""A moment that stands still: what a node type's `plan` may look at, without a run around it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from perdure.expressions.gotemplate import GoTemplate
from perdure.expressions.jsonpath import JsonPath
from perdure.model.values import Json

NOW = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z."""


class StillMoment:
    """Implements `perdure.programs.flow.nodetypes.Plan`."""

    def __init__(self, input: Json = None, names: Mapping[str, Any] | None = None) -> None:
        self.now = NOW
        self.input = input
        self.ways: Collection[str] = ()
        self.sources: Sequence[str] = ()
        run = {"id": "run", "definition": "flow", "version": 1, "startedAt": "2026-01-01T00:00:00Z"}
        self.names: dict[str, Any] = {
            "input": input, "data": input, "vars": {}, "nodes": {}, "_global": {}, "_enum_store": {}, "_thread": {},
            "_metadata": {}, "run": run, **(names or {}),
        }  # fmt: skip

    def evaluate(self, expression: Any, more: Mapping[str, Any] | None = None) -> Json:
        return self.apply(expression, {**self.names, **(more or {})})

    def resolve(self, template: Any, more: Mapping[str, Any] | None = None) -> Json:
        return template.resolve({**self.names, **(more or {})})

    def apply(self, expression: Any, env: Mapping[str, Any]) -> Json:
        return expression.evaluate(env)

    def gather(self, reads: Collection[tuple[str | int, ...]]) -> dict[str, Any]:
        wanted = {str(read[0]) for read in reads}
        return {name: value for name, value in self.names.items() if name in wanted}

    def render(self, template: GoTemplate, data: Json) -> str:
        return template.render(data)

    def query(self, path: JsonPath, value: Json) -> list[Json]:
        return path.find(value)

    def spend(self, units: int) -> None:
        """Nobody counts."""
