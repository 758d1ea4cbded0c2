"""The handlers of the node types that act on the world; the engine asks for them by type."""

from __future__ import annotations

from perdure.authoring.steps import Steps
from perdure.engine.handlers import HandlerSpec
from perdure.nodes import python


def builtin_handlers(steps: Steps) -> dict[str, HandlerSpec]:
    """A fresh dict, to which an embedding program may add handlers of its own types."""
    return {python.TYPE.name: HandlerSpec(steps.call, steps.is_blocking, kind=python.TYPE.kind.value)}
