"""Perdure: durable workflows. What user code needs is exported here; everything else is reachable by its module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from perdure.assembly import Perdure
    from perdure.engine import ActivationContext, ActivationError, Result
    from perdure.errors import PerdureError
    from perdure.service.handles import Run

__all__ = ["ActivationContext", "ActivationError", "Perdure", "PerdureError", "Result", "Run", "__version__"]

_HOMES = {
    "ActivationContext": "perdure.engine",
    "ActivationError": "perdure.engine",
    "Perdure": "perdure.assembly",
    "PerdureError": "perdure.errors",
    "Result": "perdure.engine",
    "Run": "perdure.service.handles",
}


def __getattr__(name: str) -> Any:
    """Imports on first use, so that `import perdure` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'perdure' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
