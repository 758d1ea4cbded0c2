"""Perdure's own flow documents (docs/reference/flow-document.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perdure.dialects import native_parts
from perdure.model.documents import FlowDocument, semantic
from perdure.model.problems import Problem
from perdure.model.references import Parts, Reference
from perdure.model.values import Json
from perdure.programs.flow.graph import Graph, compile_flow
from perdure.programs.flow.nodetypes import Catalogue
from perdure.programs.flow.validate import validate_flow


class Native:
    kind = "flow"

    def recognises(self, document: dict[str, Any]) -> bool:
        return True

    def id_of(self, document: dict[str, Any]) -> str | None:
        return document.get("id")

    def validate(self, document: Any, catalogue: Catalogue) -> list[Problem]:
        return validate_flow(document, catalogue)[1]

    def compile(self, document: Any, catalogue: Catalogue) -> Graph:
        return compile_flow(FlowDocument.model_validate(document), catalogue)

    def semantic(self, document: Json) -> Json:
        return semantic(document)

    def references(self, document: Any) -> Sequence[Reference]:
        return native_parts.references(document)

    def link(self, document: Any, parts: Parts) -> Any:
        return native_parts.link(document, parts)

    def part_problems(self, kind: str, document: Any, catalogue: Catalogue) -> list[Problem] | None:
        return native_parts.part_problems(kind, document, catalogue)
