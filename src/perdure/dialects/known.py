"""The dialects that Perdure reads, and which of them a document is written in."""

from __future__ import annotations

from typing import Any

from perdure.dialects.dialect import Dialect
from perdure.dialects.drift import Drift
from perdure.dialects.native import Native
from perdure.dialects.yantra import Yantra

NATIVE: Dialect = Native()
DIALECTS: tuple[Dialect, ...] = (Drift(), Yantra(), NATIVE)
"""In the order in which they are asked; the native one takes the rest."""
BY_KIND = {dialect.kind: dialect for dialect in DIALECTS}


def dialect_of(document: Any) -> Dialect:
    if not isinstance(document, dict):
        return NATIVE
    return next(dialect for dialect in DIALECTS if dialect.recognises(document))
