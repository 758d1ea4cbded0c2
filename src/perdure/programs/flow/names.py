"""The names that every expression of a flow can read; `environment.py` says what each of them is.

Loop variables come on top, each inside its loop. They may not take one of these names, which would hide them.
"""

from __future__ import annotations

ENVIRONMENT_NAMES = frozenset(
    {"input", "data", "vars", "nodes", "run", "_global", "_enum_store", "_metadata", "_thread"}
)
