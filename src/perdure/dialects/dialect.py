"""What a dialect is: documents of one shape, and how they become flows.

A document is stored, hashed and exported in the shape in which it came. It is translated each time that it is checked
or compiled, so there is no second truth; problems point into the document that the user wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from perdure.model.problems import Problem
from perdure.model.references import Parts, Reference
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

    def references(self, document: Any) -> Sequence[Reference]:
        """What it uses that is stored apart from it, and is not in it yet. Never raises, whatever the document is.

        Asked again of a linked document, because a part may use others; `ALL_LOOKUPS` where anything reads
        `_enum_store`."""
        ...

    def link(self, document: Any, parts: Parts) -> Any:
        """The document with these parts in it, in place of the references to them; the document itself is not changed.
        A reference that `parts` does not have stays. Validation and compilation get the linked document."""
        ...

    def part_problems(self, kind: str, document: Any, catalogue: Catalogue) -> list[Problem] | None:
        """What is wrong with a stored part by itself. None: it is not of this dialect. The native one, which is asked
        last, takes what nobody else does."""
        ...
