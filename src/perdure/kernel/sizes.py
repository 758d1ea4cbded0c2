"""How much of a run's data a value is."""

from __future__ import annotations

from perdure.model.values import Json, encode_json

UNCOUNTED = 64
"""Outputs of up to so many bytes do not count against the limit on data."""


def counted(size: int) -> int:
    """Small change is not worth counting, nor worth writing down."""
    return size if size > UNCOUNTED else 0


def measured(value: Json) -> int:
    return counted(len(encode_json(value)))
