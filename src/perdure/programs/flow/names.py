"""The names that every expression of a flow can read; `environment.py` says what each of them is.

Loop variables come on top, each inside its loop. They may not take one of these names, which would hide them.

Documents of another dialect may have names of their own: then its `Names` say what they mean.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol

from perdure.expressions import MissingPolicy
from perdure.kernel.state import RunState
from perdure.model.values import Json
from perdure.programs.flow.state import FlowScope

if TYPE_CHECKING:
    from perdure.programs.flow.graph import Graph

Reads = Collection[tuple[str | int, ...]]
"""What an expression reads: names, each with the constant keys that follow it."""

ENVIRONMENT_NAMES = frozenset(
    {"input", "data", "vars", "nodes", "run", "_global", "_enum_store", "_metadata", "_thread"}
)


class Names(Protocol):
    """What bare names mean in the documents of a dialect. Any name may be read: which there are shows at run time."""

    language: MissingPolicy
    """Whose rules the expressions follow."""

    def environment(self, graph: Graph, state: RunState, scope: FlowScope, data: Json, reads: Reads) -> dict[str, Any]:
        """The names that are read at a node whose input is `data`: plain values, gathered in about constant time."""
        ...

    def on_edge(
        self, graph: Graph, state: RunState, scope: FlowScope, node: str, output: Json, reads: Reads
    ) -> dict[str, Any]:
        """The same for the condition of an edge, behind a node that is about to give `output`. Such a condition that
        fails, or is neither true nor false, does not take the edge."""
        ...
