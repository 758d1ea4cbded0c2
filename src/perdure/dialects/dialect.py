"""What a dialect is: documents of one shape, and how they become flows.

A document is stored, hashed and exported in the shape in which it came. It is translated each time that it is checked
or compiled, so there is no second truth; problems point into the document that the user wrote.
"""

from __future__ import annotations

from typing import Any, Protocol

from perdure.model.problems import Problem
from perdure.model.values import Json
from perdure.programs.flow.graph import Graph
from perdure.programs.flow.nodetypes import Catalogue


class Dialect(Protocol):
    kind: str
    """What definitions of this dialect are called in the store."""

    def recognises(self, document: dict[str, Any]) -> bool:
        """Whether a document is meant to be of this dialect, however many mistakes it has. Asked in order; the native
        one, which is last, takes what nobody else does."""
        ...

    def id_of(self, document: dict[str, Any]) -> str | None:
        """The id of the definition, where whoever saves it gives none."""
        ...

    def validate(self, document: Any, catalogue: Catalogue) -> list[Problem]:
        """Every mistake at once, with pointers into this document. Never raises."""
        ...

    def compile(self, document: Any, catalogue: Catalogue) -> Graph:
        """Of a document without mistakes. Raises NotInstalled for a node type that is not here."""
        ...

    def semantic(self, document: Json) -> Json:
        """The document without what is only for people's eyes: what is hashed."""
        ...
