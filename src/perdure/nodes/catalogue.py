"""The node types that come with Perdure, by name."""

from __future__ import annotations

from types import MappingProxyType

from perdure.nodes import end, python, start
from perdure.programs.flow.nodetypes import Catalogue, NodeType

CATALOGUE: Catalogue = MappingProxyType({each.TYPE.name: each.TYPE for each in (start, end, python)})


def builtin_types() -> dict[str, NodeType]:
    """A fresh dict, to which an embedding program may add types of its own."""
    return dict(CATALOGUE)
